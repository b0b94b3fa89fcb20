//! [`sanitize`]: makes text from outside safe to print. [`is_control_char`]: the characters that
//! are not safe. [`shell_quoted`]: quotes arguments of commands that users copy.

use std::borrow::Cow;

/// Returns `text` on one line, with unsafe characters replaced by their escapes. Control
/// characters, line separators and direction marks would control a terminal or reverse the order of
/// characters. Names of directories and runs come from outside.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    escaped(text, is_control_char)
}

/// The same for text that may have lines: newlines and tabulators stay.
pub fn sanitize_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| is_control_char(letter) && !matches!(letter, '\n' | '\t'))
}

fn escaped(text: &str, odd: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&odd) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if odd(letter) {
            safe.extend(letter.escape_default());
        } else {
            safe.push(letter);
        }
    }
    Cow::Owned(safe)
}

/// Returns whether `letter` would control a terminal, a reader or the writing direction. These are
/// control characters, and Unicode's format characters and tags that move or hide other characters
/// (Unicode TR 36, §3.1).
pub fn is_control_char(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(letter, '\u{61c}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// In single quotes unless every letter is harmless to a shell.
pub fn shell_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, one_line: &str, lines: &str) {
        assert_eq!(sanitize(text), one_line, "{text:?}");
        assert_eq!(sanitize_lines(text), lines, "{text:?}");
    }

    #[test]
    fn nothing_steers_a_terminal() {
        check("shop.yaml", "shop.yaml", "shop.yaml");
        check("ä ö 商店 🦀", "ä ö 商店 🦀", "ä ö 商店 🦀");
        check("a\nb\tc", "a\\nb\\tc", "a\nb\tc");
        check("\u{1b}[2J\u{7}\u{9b}", "\\u{1b}[2J\\u{7}\\u{9b}", "\\u{1b}[2J\\u{7}\\u{9b}");
        check("a\u{202e}fdp.exe", "a\\u{202e}fdp.exe", "a\\u{202e}fdp.exe");
        check("a\u{e0041}b", "a\\u{e0041}b", "a\\u{e0041}b");
        check("\u{2066}x\u{feff}", "\\u{2066}x\\u{feff}", "\\u{2066}x\\u{feff}");
    }
}
