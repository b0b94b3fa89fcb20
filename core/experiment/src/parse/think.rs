//! Think times: `2s`, `1s to 3s`, `exponential 2s`, `normal 2s +- 500ms`, `lognormal 2s p95 8s`.

use wavetank_grammar::Node;
use wavetank_units::quantity::parse_duration;
use wavetank_units::{Code, UserError, did_you_mean};

use super::{Parser, TreeReader as _};
use crate::model::Think;

const SHAPES: &str = "2s · 1s to 3s · exponential 2s · normal 2s +- 500ms · lognormal 2s p95 8s";

impl Parser<'_> {
    /// Reads a think time.
    pub(crate) fn think(&mut self, node: &Node) -> Option<Think> {
        self.quantity(node, "a think time", parse).map(|think| think.value)
    }
}

fn parse(text: &str) -> Result<Think, UserError> {
    let bad = |message: String, hint: String| Err(UserError::usage(Code::BadThink, message, hint));
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["exponential", mean] => Ok(Think::Exponential(parse_duration(mean)?)),
        ["normal", mean, "+-" | "±", deviation] => {
            Ok(Think::Normal { mean: parse_duration(mean)?, deviation: parse_duration(deviation)? })
        }
        ["lognormal", median, "p95", p95] => {
            let (median, p95) = (parse_duration(median)?, parse_duration(p95)?);
            if median < p95 {
                return Ok(Think::Lognormal { median, p95 });
            }
            bad(format!("`{text}`: p95 is not above the median"), "lognormal 2s p95 8s".to_owned())
        }
        [word @ ("exponential" | "normal" | "lognormal"), ..] => {
            let shape = match *word {
                "exponential" => "exponential 2s",
                "normal" => "normal 2s +- 500ms",
                _ => "lognormal 2s p95 8s",
            };
            bad(format!("`{text}` is not a think time"), format!("{word} is written {shape}"))
        }
        _ => match text.split_once(" to ") {
            Some((low, high)) => {
                let (low, high) = (parse_duration(low)?, parse_duration(high)?);
                if low <= high {
                    return Ok(Think::Even(low, high));
                }
                bad(format!("`{text}` is reversed"), "write the shorter time first: 1s to 3s".to_owned())
            }
            None if text.starts_with(|c: char| c.is_ascii_digit()) => Ok(Think::Fixed(parse_duration(text)?)),
            None => {
                let first = words.first().copied().unwrap_or_default();
                let hint = match did_you_mean(first, ["exponential", "normal", "lognormal"]) {
                    Some(near) => format!("did you mean {near}?"),
                    None => SHAPES.to_owned(),
                };
                bad(format!("`{text}` is not a think time"), hint)
            }
        },
    }
}
