//! Parser from text to an expression. An error is the reason, as part of a sentence.

use super::expr::{Axis, Expr, Op, Step, Test};
use super::function::Function;
use super::token::{Token, tokens};

/// Maximum nesting depth of expressions.
const DEPTH_MAX: u32 = 32;

/// Operators, weakest first. Operators of a row have equal precedence, from the left (XPath 1.0
/// §3.4, §3.5).
const ROWS: [&[(&str, Op)]; 7] = [
    &[("or", Op::Or)],
    &[("and", Op::And)],
    &[("=", Op::Equal), ("!=", Op::Unequal)],
    &[("<", Op::Less), ("<=", Op::LessOrEqual), (">", Op::More), (">=", Op::MoreOrEqual)],
    &[("+", Op::Plus), ("-", Op::Minus)],
    &[("*", Op::Times), ("div", Op::Div), ("mod", Op::Mod)],
    &[("|", Op::Union)],
];
/// A minus sign binds stronger than multiplication and weaker than `|`.
const NEGATIVE_ROW: usize = 6;

pub(super) fn parse(text: &str) -> Result<Expr, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let expr = parser.binary(0)?;
    match parser.peek() {
        None => Ok(expr),
        Some(token) => Err(format!("{} is unexpected here", said(token))),
    }
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).copied()
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.peek() == Some(Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) {
            return Ok(());
        }
        Err(match self.peek() {
            Some(token) => format!("`{sign}` is missing before {}", said(token)),
            None => format!("`{sign}` is missing at the end"),
        })
    }

    fn binary(&mut self, row: usize) -> Result<Expr, String> {
        if row == NEGATIVE_ROW {
            let start = self.at;
            while self.take("-") {}
            let odd = (self.at - start) % 2 == 1;
            let even = self.at > start && !odd;
            let inner = self.rows(row)?;
            return Ok(match (odd, even) {
                (true, _) => Expr::Negative(Box::new(inner)),
                (_, true) => Expr::Call(Function::Number, vec![inner]),
                _ => inner,
            });
        }
        self.rows(row)
    }

    fn rows(&mut self, row: usize) -> Result<Expr, String> {
        let next =
            |parser: &mut Self| if row + 1 < ROWS.len() { parser.binary(row + 1) } else { parser.path() };
        let mut left = next(self)?;
        let mut count = 0;
        loop {
            let Some(Token::Sign(name) | Token::Operator(name)) = self.peek() else { return Ok(left) };
            let Some((_, op)) = ROWS[row].iter().find(|(known, _)| *known == name) else { return Ok(left) };
            // Each operator makes the tree one level deeper.
            count += 1;
            if count > DEPTH_MAX {
                return Err("too many operators".to_owned());
            }
            self.at += 1;
            left = Expr::Binary(*op, Box::new((left, next(self)?)));
        }
    }

    /// Parses an expression within any kind of brackets.
    fn inner(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("it is too deeply nested".to_owned());
        }
        let expr = self.binary(0);
        self.depth -= 1;
        expr
    }

    fn path(&mut self) -> Result<Expr, String> {
        if let Some(start) = self.primary()? {
            let predicates = self.predicates()?;
            let mut steps = Vec::new();
            if self.take("//") {
                steps.push(anywhere());
                self.steps(&mut steps)?;
            } else if self.take("/") {
                self.steps(&mut steps)?;
            }
            if predicates.is_empty() && steps.is_empty() {
                return Ok(start);
            }
            return Ok(Expr::From { start: Box::new(start), predicates, steps });
        }
        let mut steps = Vec::new();
        let mut absolute = true;
        if self.take("//") {
            steps.push(anywhere());
            self.steps(&mut steps)?;
        } else if self.take("/") {
            let begins_step = match self.peek() {
                Some(Token::Name(_)) => true,
                Some(Token::Sign(sign)) => matches!(sign, "." | ".." | "@" | "*"),
                _ => false,
            };
            if begins_step {
                self.steps(&mut steps)?;
            }
        } else {
            absolute = false;
            self.steps(&mut steps)?;
        }
        Ok(Expr::Path { absolute, steps })
    }

    fn steps(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        loop {
            steps.push(self.step()?);
            if self.take("//") {
                steps.push(anywhere());
            } else if !self.take("/") {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> Result<Step, String> {
        let short = |axis| Step { axis, test: Test::Node, predicates: Vec::new() };
        if self.take(".") {
            return Ok(short(Axis::Itself));
        }
        if self.take("..") {
            return Ok(short(Axis::Parent));
        }
        let mut axis = if self.take("@") { Axis::Attribute } else { Axis::Child };
        if let (Some(Token::Name(name)), Some(Token::Sign("::"))) =
            (self.peek(), self.tokens.get(self.at + 1))
        {
            axis = Axis::named(name).ok_or_else(|| format!("`{name}` is not a known axis"))?;
            self.at += 2;
        }
        let test = self.test()?;
        Ok(Step { axis, test, predicates: self.predicates()? })
    }

    fn test(&mut self) -> Result<Test, String> {
        if self.take("*") {
            return Ok(Test::Any);
        }
        let Some(Token::Name(name)) = self.peek() else {
            return Err(match self.peek() {
                Some(Token::Sign("$")) => "variables are not supported".to_owned(),
                Some(token) => format!("a name is missing before {}", said(token)),
                None => "a name is missing at the end".to_owned(),
            });
        };
        self.at += 1;
        if self.take("(") {
            let mut target = None;
            if name == "processing-instruction"
                && let Some(Token::Text(text)) = self.peek()
            {
                target = Some(text.into());
                self.at += 1;
            }
            let test = match name {
                "node" => Test::Node,
                "text" => Test::Text,
                "comment" => Test::Comment,
                "processing-instruction" => Test::Instruction(target),
                _ => return Err(format!("`{name}()` is not a known function")),
            };
            return self.expect(")").map(|()| test);
        }
        Ok(match name.strip_suffix('*') {
            Some(prefix) => Test::Prefix(prefix.into()),
            None => Test::Name(name.into()),
        })
    }

    fn predicates(&mut self) -> Result<Vec<Expr>, String> {
        let mut predicates = Vec::new();
        while self.take("[") {
            predicates.push(self.inner()?);
            self.expect("]")?;
        }
        Ok(predicates)
    }

    /// Parses a number, a text, an expression in parentheses or a function. Returns `None` if a
    /// path of steps starts here.
    fn primary(&mut self) -> Result<Option<Expr>, String> {
        let expr = match self.peek() {
            Some(Token::Number(number)) => Expr::Number(number),
            Some(Token::Text(text)) => Expr::Text(text.into()),
            Some(Token::Sign("(")) => {
                self.at += 1;
                let inner = self.inner()?;
                self.expect(")")?;
                return Ok(Some(inner));
            }
            Some(Token::Name(name)) if self.tokens.get(self.at + 1) == Some(&Token::Sign("(")) => {
                let Some(function) = Function::named(name) else { return Ok(None) };
                self.at += 2;
                let mut arguments = Vec::new();
                if !self.take(")") {
                    loop {
                        arguments.push(self.inner()?);
                        if !self.take(",") {
                            break;
                        }
                    }
                    self.expect(")")?;
                }
                if !function.takes(arguments.len()) {
                    return Err(format!("`{name}()` does not take {} arguments", arguments.len()));
                }
                return Ok(Some(Expr::Call(function, arguments)));
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(expr))
    }
}

/// The step that `//` abbreviates.
fn anywhere() -> Step {
    Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() }
}

fn said(token: Token<'_>) -> String {
    match token {
        Token::Sign(text) | Token::Operator(text) | Token::Name(text) => format!("`{text}`"),
        Token::Text(text) => format!("'{text}'"),
        Token::Number(number) => format!("`{number}`"),
    }
}
