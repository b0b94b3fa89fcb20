//! [`split`]: a shell command as its arguments, with the quoting of POSIX and `$'…'` of bash.

use wavetank_units::UserError;

use super::error::bad;

/// Splits a command as a shell does. Arguments are bytes, because `$'\xff'` may be any byte.
///
/// # Errors
/// An open quote, a second command, and text that only a shell can expand.
pub(super) fn split(text: &str) -> Result<Vec<Vec<u8>>, UserError> {
    let mut reader = Reader { rest: text.chars().collect(), at: 0, words: Vec::new(), word: None };
    reader.all()?;
    Ok(reader.words)
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    words: Vec<Vec<u8>>,
    /// The argument in progress; `None` between two.
    word: Option<Vec<u8>>,
}

impl Reader {
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.get(self.at).copied();
        self.at += usize::from(letter.is_some());
        letter
    }

    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn push(&mut self, letter: char) {
        let mut bytes = [0; 4];
        self.word.get_or_insert_default().extend(letter.encode_utf8(&mut bytes).as_bytes());
    }

    fn all(&mut self) -> Result<(), UserError> {
        while let Some(letter) = self.next() {
            match letter {
                ' ' | '\t' | '\r' => self.words.extend(self.word.take()),
                '\n' => self.line_end()?,
                '#' if self.word.is_none() => self.skip_line(),
                '\'' => self.single()?,
                '"' => self.double()?,
                '$' if self.peek() == Some('\'') => {
                    self.next();
                    self.ansi()?;
                }
                '\\' if self.ends_line() => self.skip_line(),
                '\\' => self.next().into_iter().for_each(|other| self.push(other)),
                '|' | ';' | '<' | '>' => return Err(second_command()),
                '&' if self.word.is_none() => return Err(second_command()),
                '`' => return Err(expanded("`")),
                '$' => self.dollar()?,
                other => self.push(other),
            }
        }
        self.words.extend(self.word.take());
        Ok(())
    }

    /// Whether only blanks are left in the line. A backslash before them was meant for its end.
    fn ends_line(&self) -> bool {
        let line = self.rest[self.at..].iter().take_while(|letter| **letter != '\n');
        line.into_iter().all(|letter| letter.is_whitespace())
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|letter| letter != '\n') {}
    }

    /// The command ends with its line, unless the next line begins with an option: then the
    /// backslash between them was lost.
    fn line_end(&mut self) -> Result<(), UserError> {
        self.words.extend(self.word.take());
        while self.peek().is_some_and(char::is_whitespace) {
            self.next();
        }
        match self.peek() {
            None | Some('-' | '#') => Ok(()),
            Some(_) if self.words.is_empty() => Ok(()),
            Some(_) => Err(second_command()),
        }
    }

    fn single(&mut self) -> Result<(), UserError> {
        self.word.get_or_insert_default();
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(letter) => self.push(letter),
                None => return Err(open("'")),
            }
        }
    }

    fn double(&mut self) -> Result<(), UserError> {
        self.word.get_or_insert_default();
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(letter @ ('"' | '\\' | '$' | '`')) => self.push(letter),
                    Some(letter) => {
                        self.push('\\');
                        self.push(letter);
                    }
                    None => return Err(open("\"")),
                },
                Some('`') => return Err(expanded("`")),
                Some('$') => self.dollar()?,
                Some(letter) => self.push(letter),
                None => return Err(open("\"")),
            }
        }
    }

    /// `${…}` is a template. A variable or a command is the shell's, and there is none.
    fn dollar(&mut self) -> Result<(), UserError> {
        match self.peek() {
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' || letter == '(' => {
                Err(expanded(&format!("${letter}")))
            }
            _ => {
                self.push('$');
                Ok(())
            }
        }
    }

    /// The inside of `$'…'`.
    fn ansi(&mut self) -> Result<(), UserError> {
        self.word.get_or_insert_default();
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some('\\') => self.escape()?,
                Some(letter) => self.push(letter),
                None => return Err(open("$'")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), UserError> {
        let Some(letter) = self.next() else { return Err(open("$'")) };
        let byte = match letter {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'v' => 11,
            'x' => match self.number(16, 2) {
                Some(code) => code as u8,
                None => return Err(bad("`\\x` is not followed by a hexadecimal number", "$'\\x41'")),
            },
            '0'..='7' => {
                self.at -= 1;
                self.number(8, 3).unwrap_or_default() as u8
            }
            'u' | 'U' => return self.code_point(if letter == 'u' { 4 } else { 8 }),
            'c' => self.next().map_or(b'c', |control| control as u8 & 0x1f),
            other => {
                if !matches!(other, '\\' | '\'' | '"' | '?') {
                    self.push('\\');
                }
                self.push(other);
                return Ok(());
            }
        };
        self.word.get_or_insert_default().push(byte);
        Ok(())
    }

    /// Reads a code point. Some browsers write one above U+FFFF as two surrogates.
    fn code_point(&mut self, digits_max: usize) -> Result<(), UserError> {
        let wrong = || bad("`\\u` is not followed by a character's number", "$'\\u00e4'");
        let mut code = self.number(16, digits_max).ok_or_else(wrong)?;
        if (0xd800..0xdc00).contains(&code) && self.rest[self.at..].starts_with(&['\\', 'u']) {
            self.at += 2;
            let low = self.number(16, 4).filter(|low| (0xdc00..0xe000).contains(low)).ok_or_else(wrong)?;
            code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        self.push(char::from_u32(code).ok_or_else(wrong)?);
        Ok(())
    }

    fn number(&mut self, radix: u32, digits_max: usize) -> Option<u32> {
        let mut value = None;
        for _ in 0..digits_max {
            let Some(digit) = self.peek().and_then(|letter| letter.to_digit(radix)) else { break };
            self.at += 1;
            value = Some(value.unwrap_or(0) * radix + digit);
        }
        value
    }
}

pub(super) fn open(quote: &str) -> UserError {
    bad(format!("a quote ({quote}) is not closed"), "give the whole command, as it was copied")
}

pub(super) fn second_command() -> UserError {
    bad("there is more than one command", "give one curl command alone, without pipes and redirections")
}

fn expanded(what: &str) -> UserError {
    bad(
        format!("`{what}` is for a shell to expand, and no shell reads this"),
        "write the value, or a template: ${uuid()}, ${secret:NAME}; a dollar as it is in single quotes",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let words = split(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let words: Vec<_> = words.iter().map(|word| String::from_utf8_lossy(word)).collect();
        assert_eq!(words, expected, "{text}");
    }

    #[test]
    fn quotes_are_those_of_a_shell() {
        check("curl a  b\n", &["curl", "a", "b"]);
        check("curl 'a b' \\\n  -H \"x: \\\"y\\\" \\z\"", &["curl", "a b", "-H", "x: \"y\" \\z"]);
        check("a'b'\"c\"d '' \\'", &["abcd", "", "'"]);
        check("'it'\\''s'", &["it's"]);
        check("http://x/?a=b&c=d", &["http://x/?a=b&c=d"]);
        check(r"$'a\'b\n\u0021\x41\101\ud83d\ude00\q'", &["a'b\n!AA😀\\q"]);
        check("\"${uuid()}\" '${a}' $ '$HOME'", &["${uuid()}", "${a}", "$", "$HOME"]);
        check("curl a \\\r\n b", &["curl", "a", "b"]);
        check("curl a \\  \n  -X PUT", &["curl", "a", "-X", "PUT"]);
        check("# saved\n\ncurl a\n  -k\n# end\n", &["curl", "a", "-k"]);
        check("curl http://a/#b -#", &["curl", "http://a/#b", "-#"]);
    }

    #[test]
    fn what_is_for_a_shell_is_refused() {
        for (text, says) in [
            ("curl 'a", "not closed"),
            ("curl \"a", "not closed"),
            ("curl $'a", "not closed"),
            ("curl a | jq .", "more than one command"),
            ("curl a; curl b", "more than one command"),
            ("curl a && curl b", "more than one command"),
            ("curl a > /dev/null", "more than one command"),
            ("curl $HOME", "`$H`"),
            ("curl \"$(date)\"", "`$(`"),
            ("curl `date`", "no shell"),
            ("curl a\ncurl b", "more than one command"),
            (r"curl $'\u'", "number"),
            (r"curl $'\xz'", "hexadecimal"),
        ] {
            let error = split(text).expect_err(text);
            assert!(error.code == "bad_curl" && error.message.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn any_byte_may_be_written() {
        assert_eq!(split(r"$'\xff\0'").expect("one word"), [vec![0xff, 0]]);
    }
}
