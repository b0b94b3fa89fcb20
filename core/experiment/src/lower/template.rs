//! Lowers templates: names become numbers, the file's variables are filled in, and fixed text is
//! escaped for its position.

use wavetank_grammar::{Diagnostic, Span};
use wavetank_plan::redact::REDACTED;
use wavetank_plan::{self as plan, Escape, Expr, Hole, Secret, TemplatePart};
use wavetank_units::Code;

use super::escape::push_text;
use super::scope::ScenarioScope;
use super::shared::index;
use super::{LowerError, body};
use crate::model::{Function, Part, Template, Value};

impl ScenarioScope<'_> {
    /// Lowers `template` for a position with this escape.
    pub(super) fn template(&self, template: &Template, escape: Escape) -> Result<plan::Template, LowerError> {
        let mut out = plan::Template::default();
        self.append(template, escape, &mut out)?;
        Ok(out)
    }

    /// Does the same and appends the result to `out`.
    pub(super) fn append(
        &self,
        template: &Template,
        escape: Escape,
        out: &mut plan::Template,
    ) -> Result<(), LowerError> {
        for part in &template.parts {
            match part {
                Part::Text(text) => push_text(text.as_bytes(), escape, out),
                Part::Variable(name) if self.slot(name).is_none() => match self.redacted(name) {
                    Some(value) => out.pieces.push(TemplatePart::Hole(Hole { value, escape })),
                    None => self.append_value(self.var(name, template.place)?, escape, out)?,
                },
                part => {
                    out.pieces
                        .push(TemplatePart::Hole(Hole { value: self.expr(part, template.place)?, escape }));
                }
            }
        }
        Ok(())
    }

    /// Appends a value as text: lists and maps are written as JSON.
    pub(super) fn append_value(
        &self,
        value: &Value,
        escape: Escape,
        out: &mut plan::Template,
    ) -> Result<(), LowerError> {
        match value {
            Value::Null => push_text(b"null", escape, out),
            Value::Bool(value) => push_text(value.to_string().as_bytes(), escape, out),
            Value::Number(digits) => push_text(digits.as_bytes(), escape, out),
            Value::Text(template) => self.append(template, escape, out)?,
            Value::List(_) | Value::Map(_) => {
                let mut json = plan::Template::default();
                body::json(self, value, &mut json)?;
                match json.as_fixed() {
                    Some(text) => push_text(text, escape, out),
                    None => {
                        out.pieces
                            .push(TemplatePart::Hole(Hole { value: Expr::Joined(Box::new(json)), escape }));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the value of a redacted variable. It is sent like any other, but never shown.
    pub(super) fn redacted(&self, name: &str) -> Option<Expr> {
        if self.slot(name).is_some() {
            return None;
        }
        self.redacted_as(name, self.shared.var(name)?)
    }

    /// Returns `value` as a secret if `redact:` lists `name` and the value is the same for all
    /// sessions.
    pub(super) fn redacted_as(&self, name: &str, value: &Value) -> Option<Expr> {
        if !self.is_redacted(name) {
            return None;
        }
        let value = match value {
            Value::Text(template) => template.as_fixed()?.to_owned(),
            Value::Number(digits) => digits.clone(),
            _ => return None,
        };
        Some(Expr::Secret { name: name.to_owned(), value: Secret::new(value) })
    }

    fn is_redacted(&self, name: &str) -> bool {
        self.shared.experiment.redact.iter().any(|own| own == name)
    }

    /// Returns a line for logs, with `***` in place of the values of redacted variables.
    pub(super) fn redact_template(&self, line: &Template) -> Template {
        let part = |part: &Part| match part {
            Part::Variable(name) if self.is_redacted(name) => Part::Text(REDACTED.to_owned()),
            part => part.clone(),
        };
        Template { parts: line.parts.iter().map(part).collect(), place: line.place }
    }

    /// Returns the value of a variable of the file, which no session sets.
    pub(super) fn var(&self, name: &str, place: Span) -> Result<&Value, LowerError> {
        self.shared.var(name).ok_or_else(|| {
            let message = format!("no variable \"{name}\"");
            let hint = format!("vars: {{{name}: VALUE}}, or --set {name}=VALUE");
            Diagnostic::error(Code::VariableUnknown, place, message, hint).into()
        })
    }

    /// Lowers one hole.
    pub(super) fn expr(&self, part: &Part, place: Span) -> Result<Expr, LowerError> {
        let unknown = |what: &str, name: &str| {
            LowerError::from(Diagnostic::error(
                Code::NameUnknown,
                place,
                format!("no {what} \"{name}\""),
                "check its spelling",
            ))
        };
        Ok(match part {
            Part::Text(text) => Expr::Text(text.clone()),
            Part::Variable(name) => {
                if let Some(slot) = self.slot(name) {
                    return Ok(Expr::Variable(slot));
                }
                if let Some(secret) = self.redacted(name) {
                    return Ok(secret);
                }
                let mut text = plan::Template::default();
                self.append_value(self.var(name, place)?, Escape::Plain, &mut text)?;
                joined(text)
            }
            Part::Column { data, column } => {
                let (data, column) =
                    self.shared.column(data, column).ok_or_else(|| unknown("column", column))?;
                Expr::Column { data, column }
            }
            Part::Count(name) => {
                Expr::Count(index(&self.shared.counts, name).ok_or_else(|| unknown("count", name))?)
            }
            Part::User => Expr::User,
            Part::Session => Expr::Session,
            Part::Secret(name) => Expr::Secret { name: name.clone(), value: self.shared.secret(name)? },
            Part::Call(function) => self.call(function)?,
        })
    }

    fn call(&self, function: &Function) -> Result<Expr, LowerError> {
        let argument = |text: &Template| Ok::<_, LowerError>(joined(self.template(text, Escape::Plain)?));
        Ok(match function {
            Function::Uuid => Expr::Uuid,
            Function::Random(low, high) => Expr::Random(*low, *high),
            Function::Pick(ways) => Expr::Pick(ways.iter().map(argument).collect::<Result<_, _>>()?),
            Function::Seq => Expr::Seq,
            Function::Now => Expr::Now,
            Function::Base64(text) => Expr::Base64(Box::new(argument(text)?)),
            Function::HmacSha256 { key, message } => {
                Expr::HmacSha256(Box::new(argument(key)?), Box::new(argument(message)?))
            }
        })
    }
}

/// Joins the parts of a template to one value.
fn joined(mut template: plan::Template) -> Expr {
    match template.pieces.as_mut_slice() {
        [TemplatePart::Hole(Hole { value, escape: Escape::Plain })] => value.clone(),
        [TemplatePart::Fixed(text)] if std::str::from_utf8(text).is_ok() => {
            Expr::Text(String::from_utf8_lossy(text).into_owned())
        }
        _ => Expr::Joined(Box::new(template)),
    }
}

/// Returns a value for the variable `name`: a single hole keeps its type, everything else is text.
/// A variable listed in `redact:` becomes a secret of the plan.
pub(super) fn set_value(
    names: &ScenarioScope<'_>,
    name: &str,
    value: &Value,
) -> Result<plan::Template, LowerError> {
    let mut out = plan::Template::default();
    if let Some(value) = names.redacted_as(name, value) {
        out.pieces.push(TemplatePart::Hole(Hole { value, escape: Escape::Plain }));
        return Ok(out);
    }
    names.append_value(value, Escape::Plain, &mut out)?;
    Ok(out)
}
