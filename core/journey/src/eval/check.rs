//! Evaluates a [`CompiledCheck`] on a response and on the data of a session.

use wavetank_plan::{Op, Operand, Quantity};
use wavetank_units::Number;

use super::render_context::RenderContext;
use crate::compiled::{CompiledCheck, CompiledTest, Subject};
use crate::extract::ResponseView;
use crate::state::Session;
use crate::value::{JsonType, ValueRef, Values};

impl CompiledCheck {
    /// Evaluates the check on a response and on the data of `session`. A missing subject passes
    /// only `!=`.
    pub fn eval(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        answer: &ResponseView<'_>,
    ) -> bool {
        let mut finds = std::mem::take(scene.finds);
        self.find(scene, session, answer, &mut finds);
        let holds = self.tested(scene, session, finds.first());
        *scene.finds = finds;
        holds
    }

    /// Returns the actual value for a sample, at most `bytes_max` bytes of it.
    pub fn actual_value(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        answer: &ResponseView<'_>,
        bytes_max: usize,
    ) -> String {
        // Checks compare seconds. For the reader of a failed check, the time gets a unit.
        if matches!(&self.subject, Subject::Answer(extractor) if extractor.text() == "time") {
            return format!("{:.3} ms", answer.time.0.max(0) as f64 / 1e6);
        }
        let mut finds = Values::default();
        self.find(scene, session, answer, &mut finds);
        let Some(found) = finds.first() else { return "nothing".to_owned() };
        String::from_utf8_lossy(&found.text[..found.text.len().min(bytes_max)]).into_owned()
    }

    fn find(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        answer: &ResponseView<'_>,
        finds: &mut Values,
    ) {
        finds.clear();
        match &self.subject {
            // A missing value becomes an empty list.
            Subject::Answer(extractor) => {
                let _ = extractor.first(answer, scene.reading, finds);
            }
            Subject::Value(template) => {
                finds.push_with(JsonType::Text, |out| scene.render(session, template, out).is_ok());
            }
        }
    }

    fn tested(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        found: Option<ValueRef<'_>>,
    ) -> bool {
        let Some(found) = found else { return matches!(self.test, CompiledTest::Compare(Op::NotEqual, _)) };
        match &self.test {
            CompiledTest::Compare(Op::NotEqual, operands) => {
                !operands.iter().any(|operand| compare(scene, session, found, Op::Equal, operand))
            }
            CompiledTest::Compare(op, operands) => {
                operands.iter().any(|operand| compare(scene, session, found, *op, operand))
            }
            CompiledTest::Contains(texts) => texts.iter().any(|text| {
                let wanted = scene.text(session, text);
                memchr::memmem::find(found.text, &wanted).is_some()
            }),
            CompiledTest::Matches(patterns) => patterns.iter().any(|pattern| pattern.is_match(found.text)),
        }
    }
}

fn compare(
    scene: &mut RenderContext<'_>,
    session: &mut Session,
    found: ValueRef<'_>,
    op: Op,
    operand: &Operand,
) -> bool {
    let number = found.as_number();
    match operand {
        Operand::Number(value, quantity) => {
            number.is_some_and(|number| op.holds(number, in_unit(*value, *quantity)))
        }
        Operand::Range(low, high, quantity) => number.is_some_and(|number| {
            let (low, high) = (in_unit(*low, *quantity), in_unit(*high, *quantity));
            match op {
                Op::Equal | Op::NotEqual => (low..=high).contains(&number),
                Op::Less | Op::LessEqual => op.holds(number, low),
                Op::Greater | Op::GreaterEqual => op.holds(number, high),
            }
        }),
        Operand::Text(template) => {
            let wanted = scene.text(session, template);
            let wanted = ValueRef { kind: JsonType::Text, text: &wanted };
            match (number, wanted.as_number()) {
                (Some(number), Some(wanted)) => op.holds(number, wanted),
                _ => op == Op::Equal && found.text == wanted.text,
            }
        }
    }
}

/// Returns `value` in the extractor's unit: the extractor returns `time` in seconds.
const fn in_unit(value: Number, quantity: Quantity) -> Number {
    match quantity {
        Quantity::Bare | Quantity::Size => value,
        Quantity::Time => Number::Real(value.as_f64() / 1e9),
    }
}

impl RenderContext<'_> {
    /// Evaluates a check that uses no response, except the last one's status and time.
    pub(crate) fn holds(&mut self, session: &mut Session, check: &CompiledCheck) -> bool {
        let (status, time) = (session.status, session.time);
        check.eval(self, session, &ResponseView { status, time, size: 0, fields: b"", body: b"", jar: None })
    }
}
