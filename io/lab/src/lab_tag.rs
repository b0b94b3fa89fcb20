//! [`LabTag`]: identifies what belongs to a lab.

use wavetank_units::{Code, UserError};

/// Maximum length of a lab's name. The name becomes part of folder names, control group names and
/// interface aliases.
pub(crate) const NAME_CHARS_MAX: usize = 24;

/// The tag of everything in one lab: in command lines of processes, aliases of interfaces and names
/// of control groups. The token distinguishes a lab from an earlier one of the same name, so that
/// cleanup never removes foreign objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabTag {
    name: String,
    token: String,
}

impl LabTag {
    /// Returns a tag for a new lab. Fails if the name is not usable as a folder name, or without
    /// randomness.
    pub fn generate(name: &str) -> Result<Self, UserError> {
        let name = lab_name(name)?;
        let token = getrandom::u32().map_err(|error| {
            let message = format!("cannot get random numbers from the kernel: {error}");
            UserError::refused(Code::LabSystem, message, "a lab needs getrandom(2) for its mark")
        })?;
        Ok(Self { name: name.to_owned(), token: format!("{token:08x}") })
    }

    /// Reads a mark as `Display` writes it.
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

/// The tag as one argument, `wavetank-NAME-TOKEN`.
impl std::fmt::Display for LabTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "wavetank-{}-{}", self.name, self.token)
    }
}

/// Returns `name` if it is a valid lab name, with the rules of the topology file: a letter or
/// digit, then letters, digits and `-`.
pub(crate) fn lab_name(name: &str) -> Result<&str, UserError> {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let fits = name.len() <= NAME_CHARS_MAX && name.bytes().all(|byte| letter(byte) || byte == b'-');
    if fits && name.bytes().next().is_some_and(letter) {
        return Ok(name);
    }
    let message = format!("`{}` is not a valid lab name", wavetank_units::sanitize(name));
    let hint = format!("use at most {NAME_CHARS_MAX} lower-case letters, digits and `-`, e.g. --lab shop");
    Err(UserError::usage(Code::LabName, message, hint))
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
