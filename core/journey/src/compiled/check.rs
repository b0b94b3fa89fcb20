//! [`CompiledCheck`]: a check that is ready to be evaluated.

use wavetank_plan::{Check, CheckSubject, Op, Operand, Template, Test};
use wavetank_units::UserError;

use crate::extract::{Extractor, Pattern};

/// A check with its compiled expressions.
#[derive(Clone, Debug)]
pub struct CompiledCheck {
    pub(crate) text: String,
    pub(crate) subject: Subject,
    pub(crate) test: CompiledTest,
}

#[derive(Clone, Debug)]
pub(crate) enum Subject {
    Answer(Extractor),
    Value(Template),
}

#[derive(Clone, Debug)]
pub(crate) enum CompiledTest {
    Compare(Op, Vec<Operand>),
    Contains(Vec<Template>),
    Matches(Vec<Pattern>),
}

impl CompiledCheck {
    /// Compiles `check`.
    ///
    /// # Errors
    /// If a path, selector or expression in it is invalid.
    pub fn new(check: &Check) -> Result<Self, UserError> {
        let subject = match &check.subject {
            CheckSubject::Answer(part) => Subject::Answer(Extractor::parse(part)?),
            CheckSubject::Value(template) => Subject::Value(template.clone()),
        };
        let test = match &check.test {
            Test::Compare(op, operands) => CompiledTest::Compare(*op, operands.clone()),
            Test::Contains(texts) => CompiledTest::Contains(texts.clone()),
            Test::Matches(expressions) => CompiledTest::Matches(
                expressions.iter().map(|text| Pattern::parse(text)).collect::<Result<_, _>>()?,
            ),
        };
        Ok(Self { text: check.text.clone(), subject, test })
    }

    /// Returns the text as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it checks the status of the response.
    pub(crate) fn checks_status(&self) -> bool {
        matches!(&self.subject, Subject::Answer(extractor) if extractor.text() == "status")
    }

    /// Whether it needs the body of the response.
    pub fn needs_body(&self) -> bool {
        matches!(&self.subject, Subject::Answer(extractor) if extractor.needs_body())
    }
}
