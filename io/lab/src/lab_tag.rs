//! [`LabTag`]: whose something is.

use wavetank_plan::UserError;

/// Letters a lab's name may have: it becomes part of the names of folders, control groups and aliases of interfaces.
pub(crate) const NAME_CHARS_MAX: usize = 24;

/// What everything of one lab bears: processes in their command lines, interfaces in their aliases, control groups in
/// their names. The token tells a lab from an earlier one of the same name, so that nobody removes what is not his.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabTag {
    name: String,
    token: String,
}

impl LabTag {
    /// A mark for a lab that is about to be made. Fails for a name that cannot be a folder's, or without randomness.
    pub fn generate(name: &str) -> Result<Self, UserError> {
        let name = lab_name(name)?;
        let token = getrandom::u32().map_err(|error| {
            let message = format!("the kernel gives no random number: {error}");
            UserError::refused("lab_system", message, "a lab's mark is drawn by getrandom(2)")
        })?;
        Ok(Self { name: name.to_owned(), token: format!("{token:08x}") })
    }

    /// Reads a mark as [`to_string`](Self::to_string) writes it.
    pub fn parse(word: &str) -> Option<Self> {
        let (name, token) = word.strip_prefix("wavetank-")?.rsplit_once('-')?;
        let drawn = token.len() == 8 && token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (drawn && lab_name(name).is_ok()).then(|| Self { name: name.to_owned(), token: token.to_owned() })
    }

    /// The lab's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The mark in one word, `wavetank-NAME-TOKEN`.
impl std::fmt::Display for LabTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "wavetank-{}-{}", self.name, self.token)
    }
}

/// `name`, if a lab can be called so, as its file calls it: a letter or digit, then letters, digits and `-`.
pub(crate) fn lab_name(name: &str) -> Result<&str, UserError> {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let fits = name.len() <= NAME_CHARS_MAX && name.bytes().all(|byte| letter(byte) || byte == b'-');
    if fits && name.bytes().next().is_some_and(letter) {
        return Ok(name);
    }
    let message = format!("`{}` cannot be a lab's name", wavetank_plan::sanitize(name));
    let hint = format!("lower-case letters, digits and `-`, at most {NAME_CHARS_MAX}, e.g. --lab shop");
    Err(UserError::usage("lab_name", message, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, fits: bool) {
        let drawn = LabTag::generate(name);
        assert_eq!(drawn.is_ok(), fits, "{name}: {drawn:?}");
        if let Ok(mark) = drawn {
            assert_eq!(LabTag::parse(&mark.to_string()), Some(mark));
        }
    }

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        check("shop", true);
        check("7-b-c-", true);
        check(&"x".repeat(NAME_CHARS_MAX), true);
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_none() {
        for name in
            ["", "..", ".hidden", "a/b", "a b", "-rf", "Shop", "\u{e9}", &"x".repeat(NAME_CHARS_MAX + 1)]
        {
            check(name, false);
        }
    }

    #[test]
    fn what_is_no_mark_is_not_read_as_one() {
        for word in [
            "",
            "wavetank-",
            "wavetank-shop",
            "wavetank-shop-1234567",
            "shop-12345678",
            "wavetank-shop-1234567G",
        ] {
            assert_eq!(LabTag::parse(word), None, "{word}");
        }
    }

    #[test]
    fn two_labs_of_one_name_have_two_marks() {
        assert_ne!(LabTag::generate("shop"), LabTag::generate("shop"));
    }
}
