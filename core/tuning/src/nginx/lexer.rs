//! Tokens of nginx: terms, quoted terms, `;`, `{` and `}`.

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Term { text: String, quoted: bool },
    Semicolon,
    Open,
    Close,
}

/// A token with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) token: Token,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Why a text has no more tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LexError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) sentence: String,
}

pub(crate) struct Lexer<'t> {
    letters: std::iter::Peekable<std::str::Chars<'t>>,
    line: usize,
    column: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { letters: text.chars().peekable(), line: 1, column: 1 }
    }

    fn bump(&mut self) -> Option<char> {
        let letter = self.letters.next()?;
        if letter == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(letter)
    }

    /// Returns the next token; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Placed>, LexError> {
        loop {
            match self.letters.peek() {
                None => return Ok(None),
                Some('#') => while self.bump().is_some_and(|letter| letter != '\n') {},
                Some(letter) if letter.is_whitespace() => drop(self.bump()),
                Some(_) => break,
            }
        }
        let (line, column) = (self.line, self.column);
        let place = |token| Ok(Some(Placed { token, line, column }));
        match self.letters.peek().copied() {
            Some(';') => {
                self.bump();
                place(Token::Semicolon)
            }
            Some('{') => {
                self.bump();
                place(Token::Open)
            }
            Some('}') => {
                self.bump();
                place(Token::Close)
            }
            Some(quote @ ('"' | '\'')) => {
                self.bump();
                let text = self.quoted(quote, line, column)?;
                place(Token::Term { text, quoted: true })
            }
            _ => place(Token::Term { text: self.term(), quoted: false }),
        }
    }

    fn quoted(&mut self, quote: char, line: usize, column: usize) -> Result<String, LexError> {
        let mut text = String::new();
        while let Some(letter) = self.bump() {
            match letter {
                '\\' => match self.bump() {
                    Some(escaped) if escaped == quote || escaped == '\\' => text.push(escaped),
                    Some(escaped) => text.extend(['\\', escaped]),
                    None => break,
                },
                letter if letter == quote => return Ok(text),
                letter => text.push(letter),
            }
        }
        Err(LexError { line, column, sentence: format!("the quote {quote} is never closed") })
    }

    /// An unquoted term. `${` opens the name of a variable and no block.
    fn term(&mut self) -> String {
        let mut text = String::new();
        while let Some(&letter) = self.letters.peek() {
            match letter {
                '{' if text.ends_with('$') => {
                    while let Some(letter) = self.bump() {
                        text.push(letter);
                        if letter == '}' || letter == '\n' {
                            break;
                        }
                    }
                    continue;
                }
                ';' | '{' | '}' => break,
                '\\' => {
                    text.extend(self.bump());
                    text.extend(self.bump());
                    continue;
                }
                letter if letter.is_whitespace() => break,
                _ => {}
            }
            text.extend(self.bump());
        }
        text
    }

    /// Skips a block of another language up to its closing brace, as in
    /// `content_by_lua_block {…}`.
    pub(crate) fn skip_block(&mut self) -> Result<(), LexError> {
        let (line, column) = (self.line, self.column);
        let mut depth = 1_usize;
        while let Some(letter) = self.bump() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                '"' | '\'' => drop(self.quoted(letter, line, column)?),
                '-' if self.letters.peek() == Some(&'-') => {
                    while self.bump().is_some_and(|letter| letter != '\n') {}
                }
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
        Err(LexError { line, column, sentence: "the block is never closed".to_owned() })
    }
}
