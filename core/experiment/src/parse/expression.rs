//! Parses the inside of `${…}`: names, columns, and functions with arguments.

use wavetank_grammar::Span;
use wavetank_units::quantity::parse_count;
use wavetank_units::{Code, did_you_mean};

use super::{Parser, TreeReader as _, is_identifier, unquoted_chars};
use crate::model::{Function, Part, Template};

const FUNCTIONS: [(&str, &str); 7] = [
    ("uuid", "uuid()"),
    ("random", "random(1,100)"),
    ("pick", "pick(red,green)"),
    ("seq", "seq()"),
    ("now", "now()"),
    ("base64", "base64(x)"),
    ("hmac_sha256", "hmac_sha256(key,x)"),
];
/// Maximum number of arguments of `pick`, and maximum nesting of functions.
const ARGUMENTS_MAX: usize = 1_000;
const NESTED_MAX: usize = 8;

impl Parser<'_> {
    /// Parses the inside of `${…}`.
    pub(super) fn part(&mut self, text: &str, place: Span) -> Option<Part> {
        self.part_at(text, place, 0)
    }

    fn part_at(&mut self, text: &str, place: Span, depth: usize) -> Option<Part> {
        if depth > NESTED_MAX {
            let message = format!("more than {NESTED_MAX} nested functions");
            return self.fail(Code::TooDeep, place, message, "use set: {NAME: …} in a separate step");
        }
        if let Some((name, rest)) = text.split_once('(') {
            let Some(inside) = rest.strip_suffix(')') else {
                let message = format!("`{text}` has a misplaced parenthesis");
                return self.fail(
                    Code::TemplateFunction,
                    place,
                    message,
                    "a function looks like ${random(1,100)}",
                );
            };
            return self.call(name.trim(), inside, place, depth).map(Part::Call);
        }
        match text {
            "user" => return Some(Part::User),
            "session" => return Some(Part::Session),
            "" => {
                return self.fail(
                    Code::TemplateEmpty,
                    place,
                    "`${}` has no name",
                    "${NAME}; for the characters themselves: $${}",
                );
            }
            _ => {}
        }
        if let Some(variable) = text.strip_prefix("env:") {
            return self.environment(variable, place).map(Part::Text);
        }
        if let Some(name) = text.strip_prefix("secret:") {
            return self.secret(name, place);
        }
        match text.split_once('.') {
            _ if !is_identifier(text) => {
                let hint =
                    "${NAME}, ${DATA.column}, ${count.NAME}, ${random(1,100)}, ${env:NAME}, ${secret:NAME}";
                self.fail(
                    Code::TemplateSyntax,
                    place,
                    format!("`${{{text}}}` is not a name or a function"),
                    hint,
                )
            }
            Some(("count", name)) => Some(Part::Count(name.to_owned())),
            Some((data, column)) => Some(Part::Column { data: data.to_owned(), column: column.to_owned() }),
            None if FUNCTIONS.iter().any(|(function, _)| *function == text)
                && self.vars.get(text).is_none() =>
            {
                let shape =
                    FUNCTIONS.iter().find(|(function, _)| *function == text).map_or("", |(_, shape)| shape);
                self.fail(
                    Code::TemplateFunction,
                    place,
                    format!("`{text}` is a function"),
                    format!("${{{shape}}}"),
                )
            }
            None => Some(Part::Variable(text.to_owned())),
        }
    }

    fn secret(&mut self, name: &str, place: Span) -> Option<Part> {
        if !(self.has_secret)(name) {
            let message = format!("there is no secret {name}");
            let hint = format!("--secret {name}=@FILE, or the environment's WAVETANK_SECRET_{name}");
            return self.fail(Code::SecretUnknown, place, message, hint);
        }
        Some(Part::Secret(name.to_owned()))
    }

    fn call(&mut self, name: &str, inside: &str, place: Span, depth: usize) -> Option<Function> {
        let arguments = arguments(inside);
        let Some((_, shape)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            let hint = match did_you_mean(name, FUNCTIONS.iter().map(|(known, _)| *known)) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("there is: {}", FUNCTIONS.map(|(_, shape)| shape).join(", ")),
            };
            return self.fail(Code::FunctionUnknown, place, format!("no function `{name}`"), hint);
        };
        let wrong = |reader: &mut Self| {
            let message = format!("`{name}({inside})` does not fit the function");
            reader.fail(Code::TemplateFunction, place, message, format!("${{{shape}}}"))
        };
        match (name, arguments.as_slice()) {
            ("uuid", []) => Some(Function::Uuid),
            ("seq", []) => Some(Function::Seq),
            ("now", []) => Some(Function::Now),
            ("random", [low, high]) => self.random(low, high, place),
            ("pick", [_, ..]) if arguments.len() <= ARGUMENTS_MAX => {
                let ways: Option<Vec<Template>> =
                    arguments.iter().map(|way| self.argument(way, place, depth, true)).collect();
                ways.map(Function::Pick)
            }
            ("base64", [text]) => Some(Function::Base64(Box::new(self.argument(text, place, depth, false)?))),
            ("hmac_sha256", [key, message]) => Some(Function::HmacSha256 {
                key: Box::new(self.argument(key, place, depth, false)?),
                message: Box::new(self.argument(message, place, depth, false)?),
            }),
            _ => wrong(self),
        }
    }

    fn random(&mut self, low: &str, high: &str, place: Span) -> Option<Function> {
        let (low, high) = (self.whole_number(low, place)?, self.whole_number(high, place)?);
        if low > high {
            let message = format!("random({low},{high}) is an empty range");
            return self.fail(Code::TemplateFunction, place, message, format!("random({high},{low})?"));
        }
        Some(Function::Random(low, high))
    }

    fn whole_number(&mut self, word: &str, place: Span) -> Option<i64> {
        let text = match self.vars.get(word).and_then(|node| node.scalar()) {
            Some(scalar) => scalar.text.as_str(),
            None => word,
        };
        let number = match text.strip_prefix('-') {
            Some(digits) => parse_count(digits).ok().map(|count| -(count as i64)),
            None => parse_count(text).ok().map(|count| count as i64),
        };
        if number.is_none() {
            let message = format!("`{word}` is not a whole number");
            return self.fail(
                Code::TemplateFunction,
                place,
                message,
                "${random(1,100)}; variables of vars: are allowed there",
            );
        }
        number
    }

    /// Parses an argument: text in quotes, or the content of `${…}`. With `bare`, unknown names are
    /// text.
    fn argument(&mut self, text: &str, place: Span, depth: usize, bare: bool) -> Option<Template> {
        let quoted = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
        if let Some(inside) = quoted {
            return Some(Template::fixed(inside, place));
        }
        let plain = !text.contains(['(', ':', '.']) && self.vars.get(text).is_none();
        let number = text.parse::<f64>().is_ok();
        if number || (bare && plain && !matches!(text, "user" | "session")) {
            return Some(Template::fixed(text, place));
        }
        let part = self.part_at(text, place, depth + 1)?;
        Some(Template { parts: vec![part], place })
    }
}

/// Splits at commas outside quotes and parentheses.
fn arguments(inside: &str) -> Vec<&str> {
    let (mut depth, mut from) = (0_usize, 0);
    let mut all = Vec::new();
    for (at, letter) in unquoted_chars(inside) {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(inside[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    if !inside.trim().is_empty() {
        all.push(inside[from..].trim());
    }
    all
}
