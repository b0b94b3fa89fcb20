//! Texts and names. Variables are not supported: a lab is one file, and `$` belongs to the
//! programs.

use wavetank_grammar::{Entry, Node, Span, Spanned};
use wavetank_units::Code;

use super::{Reader, TreeReader as _};

impl Reader<'_> {
    /// Reads a literal text. Characters that a program's argument or environment cannot contain are
    /// rejected.
    pub(crate) fn clean_text(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let text = self.text(node, what)?;
        if text.value.contains('\0') {
            return self.fail(
                Code::LabValue,
                text.place,
                format!("{what} contains a zero byte"),
                "leave it out",
            );
        }
        Some(text)
    }

    /// Reads one or several literal texts.
    pub(crate) fn clean_texts(&mut self, node: &Node, what: &str) -> Vec<Spanned<String>> {
        self.each(node, |reader, item| reader.clean_text(item, what))
    }

    /// Whether `node` is `false`, which may replace a map.
    pub(crate) fn is_false(node: &Node) -> bool {
        node.scalar().is_some_and(|scalar| scalar.plain && scalar.text == "false")
    }

    /// Reads the name of a network or a service.
    pub(crate) fn name(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let name = self.text(node, what)?;
        if is_name(&name.value) { Some(name) } else { self.bad_name(&name.value, name.place, what) }
    }

    /// Returns the key of `entry` as the name of a network.
    pub(crate) fn own_name(&mut self, entry: &Entry, what: &str) -> Option<Spanned<String>> {
        if is_name(&entry.key) {
            return Some(Spanned::new(entry.key.clone(), entry.place));
        }
        self.bad_name(&entry.key, entry.place, what)
    }

    /// Reads the name of a lab: without `_`, since it becomes part of a system name.
    pub(crate) fn lab_name(&mut self, node: &Node) -> Option<Spanned<String>> {
        let name = self.text(node, "a lab")?;
        if is_label(&name.value) { Some(name) } else { self.bad_name(&name.value, name.place, "a lab") }
    }

    /// Reads a name that hosts resolve.
    pub(crate) fn host_name(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let name = self.text(node, what)?;
        if is_host_name(&name.value) { Some(name) } else { self.bad_host_name(&name.value, name.place, what) }
    }

    /// Reports an invalid name of a host or an address and suggests a valid one.
    pub(crate) fn bad_host_name<T>(&mut self, name: &str, place: Span, what: &str) -> Option<T> {
        if is_like_address(name) {
            let message = format!("`{name}` is not a valid name of {what}: programs read it as an address");
            return self.fail(
                Code::LabBadName,
                place,
                message,
                "a name that ends in a letter: app1, app-1.shop",
            );
        }
        let message = format!("`{name}` is not a valid name of {what}");
        let labels: Vec<String> = name.split('.').map(name_like).filter(|label| !label.is_empty()).collect();
        let near = labels.join(".");
        let advice = if is_host_name(&near) { format!(": {near}?") } else { String::new() };
        let hint = format!(
            "lower-case letters, digits and -, parts separated by dots, a letter or digit at either end, at most {HOST_LETTERS_MAX}{advice}"
        );
        self.fail(Code::LabBadName, place, message, hint)
    }

    /// Reports an invalid name and suggests a valid one.
    pub(crate) fn bad_name<T>(&mut self, name: &str, place: Span, what: &str) -> Option<T> {
        let message = format!("`{name}` is not a valid name of {what}");
        let near = name_like(name);
        let advice = if near.is_empty() { near } else { format!(": {near}?") };
        let hint = format!(
            "lower-case letters, digits and -, a letter or digit at either end, at most {NAME_LETTERS_MAX}{advice}"
        );
        self.fail(Code::LabBadName, place, message, hint)
    }
}

/// Maximum length of the name of a lab, network or service. They become parts of names of folders
/// and cgroups.
pub(crate) const NAME_LETTERS_MAX: usize = 24;
/// Maximum length of the name of a host or an address: `HOST_NAME_MAX` of Linux is 64.
pub(crate) const HOST_LETTERS_MAX: usize = 63;

/// Whether `text` can be the name of a network or a service. The rules are those of a host name,
/// and `_` is allowed inside.
pub(crate) fn is_name(text: &str) -> bool {
    is_label(&text.replace('_', "-"))
}

/// Whether `text` can be the name of a lab.
pub(crate) fn is_label(text: &str) -> bool {
    is_part(text) && text.len() <= NAME_LETTERS_MAX
}

/// Whether `text` can be the name of a host or an address (RFC 1123 §2.1, in lower case, shorter).
pub(crate) fn is_host_name(text: &str) -> bool {
    text.len() <= HOST_LETTERS_MAX && text.split('.').all(is_part) && !is_like_address(text)
}

/// Whether programs read `text` as an address in numbers: its last part is a number, as in `10.1`
/// or `0x7f` (the host parser of the URL standard does the same).
fn is_like_address(text: &str) -> bool {
    let last = text.strip_suffix('.').unwrap_or(text).rsplit('.').next().unwrap_or_default();
    let hexadecimal = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    (!last.is_empty() && last.bytes().all(|digit| digit.is_ascii_digit()))
        || last.strip_prefix("0x").is_some_and(hexadecimal)
        || text.parse::<std::net::IpAddr>().is_ok()
}

/// Whether `text` can be a part of a name: lower-case letters, digits and `-` inside.
fn is_part(text: &str) -> bool {
    let inner = |letter: &u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || *letter == b'-';
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    bytes.iter().all(inner) && ends.iter().all(|end| end.is_some_and(|letter| *letter != b'-'))
}

/// Turns `text` into a valid name with as few changes as possible. The result is empty if nothing
/// is left.
pub(crate) fn name_like(text: &str) -> String {
    let own = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let near: String =
        text.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).chars().map(own).collect();
    let cut = near.get(..near.len().min(NAME_LETTERS_MAX)).unwrap_or_default();
    cut.trim_end_matches('-').to_owned()
}
