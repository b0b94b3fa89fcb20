//! Checks: `check`, `count`, `if`, `while`.

use wavetank_grammar::Diagnostic;
use wavetank_plan::{self as plan, Escape, Op, Quantity};
use wavetank_units::{Code, Number};

use super::LowerError;
use super::scope::ScenarioScope;
use crate::model::{Alternative, Check, CheckOp, CheckSubject, Operand};

impl ScenarioScope<'_> {
    /// Lowers a check, with its text or the name that the file gives it.
    pub(super) fn check(&self, check: &Check, name: Option<&str>) -> Result<plan::Check, LowerError> {
        let subject = match &check.subject {
            CheckSubject::Answer(from) => plan::CheckSubject::Answer(from.text()),
            CheckSubject::Value(template) => {
                plan::CheckSubject::Value(self.template(template, Escape::Plain)?)
            }
        };
        Ok(plan::Check {
            text: name.map_or_else(|| check.text.clone(), str::to_owned),
            subject,
            test: self.test(check)?,
        })
    }

    fn test(&self, check: &Check) -> Result<plan::Test, LowerError> {
        let unfit = || {
            let message = format!("`{}` cannot be checked", check.text);
            LowerError::from(Diagnostic::error(
                Code::BadCheck,
                check.place,
                message,
                "status = 200, body contains \"ok\"",
            ))
        };
        let op = match check.op {
            CheckOp::Equal => Op::Equal,
            CheckOp::NotEqual => Op::NotEqual,
            CheckOp::Less => Op::Less,
            CheckOp::LessEqual => Op::LessEqual,
            CheckOp::Greater => Op::Greater,
            CheckOp::GreaterEqual => Op::GreaterEqual,
            CheckOp::Contains => {
                let texts = check.expected.iter().map(|expected| match expected {
                    Alternative::One(Operand::Text(text)) => self.template(text, Escape::Plain),
                    _ => Err(unfit()),
                });
                return texts.collect::<Result<_, _>>().map(plan::Test::Contains);
            }
            CheckOp::Matches => {
                let patterns = check.expected.iter().map(|expected| match expected {
                    Alternative::One(Operand::Regex(pattern)) => Ok(pattern.clone()),
                    _ => Err(unfit()),
                });
                return patterns.collect::<Result<_, _>>().map(plan::Test::Matches);
            }
        };
        let operands = check.expected.iter().map(|expected| match expected {
            Alternative::One(Operand::Text(text)) => {
                Ok(plan::Operand::Text(self.template(text, Escape::Plain)?))
            }
            Alternative::One(operand) => {
                let (number, quantity) = number(operand).ok_or_else(unfit)?;
                Ok(plan::Operand::Number(number, quantity))
            }
            Alternative::Range(low, high) => {
                let ((low, quantity), (high, _)) = number(low).zip(number(high)).ok_or_else(unfit)?;
                Ok(plan::Operand::Range(low, high, quantity))
            }
        });
        operands.collect::<Result<_, _>>().map(|operands| plan::Test::Compare(op, operands))
    }
}

fn number(operand: &Operand) -> Option<(Number, Quantity)> {
    match operand {
        Operand::Code(code) => Some((u64::from(*code).into(), Quantity::Bare)),
        Operand::Time(time) => Some((Number::Whole(time.0.into()), Quantity::Time)),
        Operand::Size(bytes) => Some(((*bytes).into(), Quantity::Size)),
        Operand::Number(number) => Some((*number, Quantity::Bare)),
        Operand::Text(text) => Some((Number::parse(text.as_fixed()?)?, Quantity::Bare)),
        Operand::Regex(_) => None,
    }
}
