//! [`parse`]: text to directives.

use super::lexer::{LexError, Lexer, Placed, Token};
use super::{Argument, Directive};
use crate::{Finding, Judgement, Place, Verdict};

/// Deepest nesting of blocks. nginx has six contexts; locations nest.
const DEPTH_MAX: usize = 64;

/// Reads the directives of one file, without what it includes. The first mistake of syntax ends the
/// reading, as nginx does.
pub(crate) fn parse(file: &str, text: &str) -> (Vec<Directive>, Option<Finding>) {
    let mut parser = Parser { lexer: Lexer::new(text), file };
    let mut stack: Vec<(Option<Directive>, Vec<Directive>)> = vec![(None, Vec::new())];
    let error = parser.fill(&mut stack).err();
    while stack.len() > 1 {
        close(&mut stack);
    }
    let directives = stack.pop().map(|(_, own)| own).unwrap_or_default();
    (directives, error.map(|error| parser.finding(error)))
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    file: &'t str,
}

/// Puts the innermost block into the one around it.
fn close(stack: &mut Vec<(Option<Directive>, Vec<Directive>)>) {
    let Some((Some(mut head), own)) = stack.pop() else { return };
    head.block = Some(own);
    if let Some((_, around)) = stack.last_mut() {
        around.push(head);
    }
}

impl Parser<'_> {
    fn finding(&self, error: LexError) -> Finding {
        let place = Place { file: self.file.to_owned(), line: error.line, column: error.column };
        Judgement::new(Verdict::Syntax, error.sentence, "run nginx -t").at(&place, "")
    }

    fn fill(&mut self, stack: &mut Vec<(Option<Directive>, Vec<Directive>)>) -> Result<(), LexError> {
        let mut open: Option<Directive> = None;
        while let Some(Placed { token, line, column }) = self.lexer.next()? {
            let error = |sentence: &str| Err(LexError { line, column, sentence: sentence.to_owned() });
            match (token, open.as_mut()) {
                (Token::Term { text, quoted }, Some(directive)) => {
                    directive.args.push(Argument { text, line, quoted });
                }
                (Token::Term { text, .. }, None) => {
                    let place = Place { file: self.file.to_owned(), line, column };
                    open = Some(Directive { name: text, place, args: Vec::new(), block: None });
                }
                (Token::Semicolon, Some(_)) => {
                    if let Some((_, own)) = stack.last_mut() {
                        own.extend(open.take());
                    }
                }
                (Token::Open, Some(directive)) if directive.name.ends_with("_by_lua_block") => {
                    self.lexer.skip_block()?;
                    if let Some((_, own)) = stack.last_mut() {
                        own.extend(open.take());
                    }
                }
                (Token::Open, Some(_)) if stack.len() > DEPTH_MAX => {
                    return error("blocks are nested too deeply");
                }
                (Token::Open, Some(_)) => stack.push((open.take(), Vec::new())),
                (Token::Semicolon, None) => return error("there is no directive before `;`"),
                (Token::Open, None) => return error("there is no directive before `{`"),
                (Token::Close, Some(directive)) => {
                    let sentence = format!("`{}` is not ended by `;` before `}}`", directive.name);
                    let Place { line, column, .. } = directive.place;
                    return Err(LexError { line, column, sentence });
                }
                (Token::Close, None) if stack.len() < 2 => return error("`}` closes no block"),
                (Token::Close, None) => close(stack),
            }
        }
        let unclosed = stack.last().and_then(|(head, _)| head.as_ref());
        let (directive, what) = match (&open, unclosed) {
            (Some(directive), _) => (directive, "is not ended by `;`"),
            (None, Some(head)) => (head, "has a block that is never closed"),
            (None, None) => return Ok(()),
        };
        let Place { line, column, .. } = directive.place;
        Err(LexError { line, column, sentence: format!("`{}` {what}", directive.name) })
    }
}
