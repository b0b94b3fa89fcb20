//! Tokens of an expression (XPath 1.0 §3.7).

/// One token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// `( ) [ ] . .. @ , :: / // | + - = != < <= > >= * $`
    Sign(&'t str),
    /// A name used as an operator: `and`, `or`, `div`, `mod`, or `*` for multiplication.
    Operator(&'t str),
    Number(f64),
    Text(&'t str),
    /// A name, with or without a prefix; also `prefix:*`.
    Name(&'t str),
}

/// Returns all tokens, or the reason why the text has an invalid one.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length;
        let token = if let Some(sign) = sign(rest) {
            length = sign.len();
            // A star is multiplication after an operand.
            if sign == "*" && behind_operand(tokens.last()) {
                Token::Operator("*")
            } else {
                Token::Sign(sign)
            }
        } else if first.is_ascii_digit() || first == '.' {
            length = number_length(rest);
            let number =
                rest[..length].parse().map_err(|_| format!("`{}` is not a number", &rest[..length]))?;
            Token::Number(number)
        } else if matches!(first, '"' | '\'') {
            let Some(inside) = rest[1..].find(first) else {
                return Err("a quoted text is not closed".to_owned());
            };
            length = inside + 2;
            Token::Text(&rest[1..=inside])
        } else if is_name_start(first) {
            let name = name(rest);
            length = name.len();
            let is_operator = matches!(name, "and" | "or" | "div" | "mod") && behind_operand(tokens.last());
            if is_operator { Token::Operator(name) } else { Token::Name(name) }
        } else {
            return Err(format!("`{first}` is not allowed here"));
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn sign(rest: &str) -> Option<&str> {
    const SIGNS: [&str; 20] = [
        "..", "::", "//", "!=", "<=", ">=", "(", ")", "[", "]", "@", ",", "/", "|", "+", "-", "=", "<", ">",
        "*",
    ];
    let found = SIGNS.iter().find(|sign| rest.starts_with(**sign)).map(|sign| &rest[..sign.len()]);
    let lone_dot = || rest.starts_with('.') && !rest[1..].starts_with(|next: char| next.is_ascii_digit());
    found.or_else(|| lone_dot().then(|| &rest[..1])).or_else(|| rest.starts_with('$').then(|| &rest[..1]))
}

/// Whether the previous token ends an operand: then a name or star is an operator.
fn behind_operand(before: Option<&Token<'_>>) -> bool {
    match before {
        None | Some(Token::Operator(_)) => false,
        Some(Token::Sign(sign)) => matches!(*sign, ")" | "]" | "." | ".." | "*"),
        Some(_) => true,
    }
}

fn number_length(rest: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(rest);
    match rest[whole..].strip_prefix('.') {
        Some(fraction) => whole + 1 + digits(fraction),
        None => whole,
    }
}

fn is_name_start(one: char) -> bool {
    one.is_alphabetic() || one == '_'
}

fn plain_name(rest: &str) -> &str {
    let end = rest.find(|one: char| !(one.is_alphanumeric() || matches!(one, '-' | '_' | '.' | '\u{b7}')));
    &rest[..end.unwrap_or(rest.len())]
}

fn name(rest: &str) -> &str {
    let first = plain_name(rest);
    let Some(behind) = rest[first.len()..].strip_prefix(':') else { return first };
    if behind.starts_with(is_name_start) {
        return &rest[..first.len() + 1 + plain_name(behind).len()];
    }
    if behind.starts_with('*') { &rest[..first.len() + 2] } else { first }
}
