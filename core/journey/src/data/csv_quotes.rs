//! Checks the quotes of a CSV file. The library accepts any text, so a quote that is never closed
//! would make one row of all later ones.

use wavetank_units::{Code, UserError};

/// Checks that each quoted value is closed, and that a separator or a line end follows it (RFC 4180
/// §2). A quote inside a value without quotes is part of it.
pub(super) fn check_quotes(name: &str, text: &str, separator: u8) -> Result<(), UserError> {
    let mut at = Position { text, at: 0, line: 1, line_start: 0 };
    while let Some(first) = at.next() {
        let opened = (at.line, at.column());
        if first != b'"' {
            at.skip_value(first, separator);
            continue;
        }
        at.skip_quoted().ok_or_else(|| never_closed(name, opened))?;
        match at.peek() {
            None => {}
            Some(byte) if byte == separator || matches!(byte, b'\r' | b'\n') => {
                at.next();
            }
            Some(_) => return Err(text_after_quote(name, opened, &at)),
        }
    }
    Ok(())
}

/// The position of the reader in the text.
struct Position<'a> {
    text: &'a str,
    at: usize,
    /// The line of the last byte that was read, from 1.
    line: usize,
    line_start: usize,
}

impl Position<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Reads the next byte. The line end belongs to the line after it.
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        // A line ends with LF, CR LF or CR, as for the library.
        if byte == b'\n' || (byte == b'\r' && self.peek() != Some(b'\n')) {
            self.line += 1;
            self.line_start = self.at;
        }
        Some(byte)
    }

    /// The column of the last byte that was read, from 1, in characters.
    fn column(&self) -> usize {
        self.text.get(self.line_start..self.at).map_or(1, |read| read.chars().count())
    }

    /// Skips the rest of a value without quotes that starts with `first`, and what ends it.
    fn skip_value(&mut self, first: u8, separator: u8) {
        let mut byte = Some(first);
        while byte.is_some_and(|byte| byte != separator && !matches!(byte, b'\r' | b'\n')) {
            byte = self.next();
        }
    }

    /// Skips to the byte after the closing quote. Returns `None` if there is no such quote.
    fn skip_quoted(&mut self) -> Option<()> {
        loop {
            if self.next()? == b'"' {
                if self.peek() != Some(b'"') {
                    return Some(());
                }
                self.next();
            }
        }
    }
}

const HINT: &str = "inside a value in quotes, write a quote twice: \"a \"\"b\"\" c\"";

fn never_closed(name: &str, (line, column): (usize, usize)) -> UserError {
    let message = format!("line {line} of {name}: the quote in column {column} is never closed");
    UserError::usage(Code::DataRow, message, format!("close it with `\"`; {HINT}"))
}

fn text_after_quote(name: &str, opened: (usize, usize), at: &Position<'_>) -> UserError {
    let next = at.text[at.at..].chars().next().unwrap_or_default();
    let (line, column) = (at.line, at.column() + 1);
    let message = format!("line {line} of {name}: `{next}` in column {column} follows a closing quote");
    let begins = match opened {
        (begin, _) if begin == line => String::new(),
        (begin, column) => {
            format!("the value begins in line {begin}, column {column}: is its quote closed? ")
        }
    };
    UserError::usage(
        Code::DataRow,
        message,
        format!("{begins}remove everything between the quote and the separator; {HINT}"),
    )
}
