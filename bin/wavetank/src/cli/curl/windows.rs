//! [`split`]: a command as browsers copy it for the command prompt of Windows, as its arguments.
//!
//! Two programs read such a command: `cmd.exe` removes carets, then the C runtime of curl splits
//! the rest into arguments.

use wavetank_units::UserError;

use super::shell::{open, second_command};

/// Whether the command is quoted for the command prompt: a caret before a quote or at a line's end.
pub(super) fn is_windows(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_end);
    let posix = text.lines().any(|line| line.trim_end().ends_with('\\'));
    let start = text.trim_start();
    let word = start.split_whitespace().nth(1).unwrap_or_default();
    word.starts_with("^\"") || (!posix && lines.any(|line| line.ends_with(" ^")))
}

/// Splits a command as Windows does.
///
/// # Errors
/// An open quote, or a second command.
pub(super) fn split(text: &str) -> Result<Vec<Vec<u8>>, UserError> {
    arguments(&without_carets(text)?)
}

/// Removes carets as `cmd.exe` does. Outside quotes a caret makes the next character an ordinary
/// one. At a line's end it joins the next line, and makes its first character an ordinary one.
fn without_carets(text: &str) -> Result<String, UserError> {
    let text = text.replace("\r\n", "\n");
    let mut out = String::with_capacity(text.len());
    let mut quoted = false;
    let mut letters = text.trim_end().chars();
    while let Some(letter) = letters.next() {
        match letter {
            '^' if !quoted => match letters.next() {
                Some('\n') => out.extend(letters.next()),
                other => out.extend(other),
            },
            '"' => {
                quoted = !quoted;
                out.push(letter);
            }
            '\n' if !quoted && letters.as_str().trim_start().starts_with(['-', '"']) => out.push(' '),
            '\n' | '&' | '|' | '<' | '>' if !quoted => return Err(second_command()),
            _ => out.push(letter),
        }
    }
    Ok(out)
}

/// Splits a command line as the C runtime does. Backslashes are ordinary except before a quote,
/// where two make one and an odd one makes the quote ordinary. A doubled quote inside quotes is a
/// quote.
fn arguments(line: &str) -> Result<Vec<Vec<u8>>, UserError> {
    let mut found = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let mut count = 1;
                while letters.next_if_eq(&'\\').is_some() {
                    count += 1;
                }
                let word = word.get_or_insert_default();
                if letters.peek() == Some(&'"') {
                    word.extend(std::iter::repeat_n('\\', count / 2));
                    if count % 2 == 1 {
                        word.extend(letters.next());
                    }
                } else {
                    word.extend(std::iter::repeat_n('\\', count));
                }
            }
            '"' if quoted && letters.next_if_eq(&'"').is_some() => word.get_or_insert_default().push('"'),
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' | '\t' if !quoted => found.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if quoted {
        return Err(open("\""));
    }
    found.extend(word);
    Ok(found.into_iter().map(String::into_bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert!(is_windows(text), "{text}");
        let found = split(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let found: Vec<_> = found.iter().map(|word| String::from_utf8_lossy(word)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn copies_of_browsers() {
        check(
            "curl ^\"http://localhost/?a=1^&b=2^\" ^\r\n  -H ^\"sec-ch-ua: ^\\^\"Chromium^\\^\";v=^\\^\"130^\\^\"^\" ^\r\n  \
             --data-raw ^\"^{^\\^\"a^\\^\":^\\^\"50^%^\\^\"^}^\"\r\n",
            &[
                "curl",
                "http://localhost/?a=1&b=2",
                "-H",
                "sec-ch-ua: \"Chromium\";v=\"130\"",
                "--data-raw",
                "{\"a\":\"50%\"}",
            ],
        );
        // Older ones have plain quotes, and double those inside.
        check(
            "curl \"http://a/?b=1&c\" ^\n  -H \"A: \"\"b\"\" c\\d\" ^\n  --compressed",
            &["curl", "http://a/?b=1&c", "-H", "A: \"b\" c\\d", "--compressed"],
        );
        // A line break in a body.
        check("curl ^\"http://a/^\" --data-raw ^\"x^\n\ny^\"", &["curl", "http://a/", "--data-raw", "x\ny"]);
        check("curl ^\"http://a/^\" -H ^\"A: ^\\^\\^\"", &["curl", "http://a/", "-H", "A: \\"]);
    }

    #[test]
    fn what_is_no_single_command_is_refused() {
        for (text, says) in [
            ("curl ^\"http://a/^\" & curl ^\"http://b/^\"", "more than one command"),
            ("curl ^\"http://a/^\"\ncurl ^\"http://b/^\"", "more than one command"),
            ("curl ^\"http://a/", "not closed"),
        ] {
            let error = split(text).expect_err(text);
            assert!(error.code == "bad_curl" && error.message.contains(says), "{text}: {error}");
        }
    }
}
