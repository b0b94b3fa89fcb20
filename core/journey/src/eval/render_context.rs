//! [`RenderContext`]: the surroundings of a session: what it can read besides its own data.

use wavetank_pace::Partition;
use wavetank_plan::{DataPlan, Escape, Expr, RowChoice, Template, TemplatePart, Think};
use wavetank_units::Nanos;

use super::render_error::RenderError;
use crate::auth::{base64_text, hmac_sha256_hex, uuid_v4};
use crate::body::{address_text, form_text, json_text, path_text, xml_text};
use crate::data::{Table, row};
use crate::extract::ParseCache;
use crate::number::push_decimal;
use crate::state::Session;
use crate::think::sample;
use crate::value::{JsonType, ValueRef, Values};

/// The data that all sessions of a run share, and its changing parts. Each load thread has one.
#[derive(Debug)]
pub struct RenderContext<'a> {
    /// The run's seed.
    pub seed: u64,
    /// Tables by their index in the plan.
    pub tables: &'a [Table],
    /// The plan's settings for each table.
    pub data: &'a [DataPlan],
    /// Milliseconds since 1970.
    pub wall_ms: u64,
    /// The share of the numbers of `seq()` that is handed out here.
    pub share: Partition,
    /// Number of values of `seq()` handed out.
    pub seq: &'a mut u64,
    /// The counts of the whole run; empty until it is over.
    pub counts: &'a [u64],
    /// Memory for intermediate values.
    pub scratch: &'a mut Vec<u8>,
    /// The parsed forms of the current response.
    pub reading: &'a mut ParseCache,
    /// Memory for the values found in it.
    pub finds: &'a mut Values,
}

impl RenderContext<'_> {
    /// Seconds since 1970.
    pub(crate) const fn unix_seconds(&self) -> i64 {
        (self.wall_ms / 1_000).cast_signed()
    }

    /// Appends `template` to `out`.
    pub fn render(
        &mut self,
        session: &mut Session,
        template: &Template,
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        for piece in &template.pieces {
            match piece {
                TemplatePart::Fixed(text) => out.extend_from_slice(text),
                TemplatePart::Hole(hole) => self.hole(session, &hole.value, hole.escape, out)?,
            }
        }
        Ok(())
    }

    /// Returns `template` as text, without missing values. For logs and comparisons.
    pub(crate) fn text(&mut self, session: &mut Session, template: &Template) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in &template.pieces {
            match piece {
                TemplatePart::Fixed(text) => out.extend_from_slice(text),
                TemplatePart::Hole(hole) => {
                    // A missing value has no text.
                    let _ = self.hole(session, &hole.value, hole.escape, &mut out);
                }
            }
        }
        out
    }

    /// Sets a variable to the value of `template`. A single hole keeps its type; anything else
    /// becomes text.
    pub(crate) fn set(&mut self, session: &mut Session, slot: u16, template: &Template) {
        let mut value = Values::default();
        if let [TemplatePart::Hole(hole)] = template.pieces.as_slice() {
            match &hole.value {
                Expr::Variable(other) => value = session.variable(*other).cloned().unwrap_or_default(),
                expr => {
                    let mut text = Vec::new();
                    if let Ok(kind) = self.raw(session, expr, &mut text) {
                        value.push(kind, &text);
                    }
                }
            }
        } else {
            value.push(JsonType::Text, &self.text(session, template));
        }
        *session.variable_mut(slot) = value;
    }

    /// Draws the length of a pause.
    pub(crate) fn draw_think(&self, session: &mut Session, think: &Think) -> Nanos {
        match think {
            Think::Fixed(length) => *length,
            _ => sample(*think, session.draw(self.seed)),
        }
    }

    /// Draws a number below `n`, with equal probabilities.
    pub(crate) fn draw_below(&self, session: &mut Session, n: u64) -> u64 {
        ((u128::from(session.draw(self.seed)) * u128::from(n)) >> 64) as u64
    }

    fn hole(
        &mut self,
        session: &mut Session,
        expr: &Expr,
        escape: Escape,
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        if escape == Escape::Plain {
            return self.raw(session, expr, out).map(drop);
        }
        if escape == Escape::JsonValue
            && let Expr::Variable(slot) = expr
            && let Some(list) = session.variable(*slot).filter(|value| value.is_list())
        {
            json_list(list, out);
            return Ok(());
        }
        let mut text = std::mem::take(self.scratch);
        text.clear();
        let kind = self.raw(session, expr, &mut text);
        let result = kind.and_then(|kind| escaped(escape, kind, &text, out));
        *self.scratch = text;
        result
    }

    /// Appends the value of `expr` as text and returns its type.
    fn raw(
        &mut self,
        session: &mut Session,
        expr: &Expr,
        out: &mut Vec<u8>,
    ) -> Result<JsonType, RenderError> {
        match expr {
            Expr::Text(text) => out.extend_from_slice(text.as_bytes()),
            Expr::Variable(slot) => {
                let value = session.variable(*slot).and_then(Values::first);
                let value = value.ok_or(RenderError::Variable(*slot))?;
                out.extend_from_slice(value.text);
                return Ok(value.kind);
            }
            Expr::Column { data, column } => {
                let cell = self.cell(session, *data, *column).ok_or(RenderError::Row(*data))?;
                out.extend_from_slice(cell.text);
                return Ok(cell.kind);
            }
            Expr::Secret { value, .. } => out.extend_from_slice(value.reveal().as_bytes()),
            Expr::Pick(all) => {
                let place = self.draw_below(session, all.len() as u64);
                return match all.get(place as usize) {
                    Some(one) => self.raw(session, one, out),
                    None => Ok(JsonType::Text),
                };
            }
            Expr::Joined(template) => self.render(session, template, out)?,
            Expr::Base64(inner) => {
                let mut text = Vec::new();
                self.raw(session, inner, &mut text)?;
                base64_text(out, &text);
            }
            Expr::HmacSha256(key, inner) => {
                let (mut key_text, mut text) = (Vec::new(), Vec::new());
                self.raw(session, key, &mut key_text)?;
                self.raw(session, inner, &mut text)?;
                hmac_sha256_hex(out, &key_text, &text);
            }
            Expr::Uuid => uuid_v4(out, [session.draw(self.seed), session.draw(self.seed)]),
            Expr::Random(low, high) => {
                // The whole range of i64 has 2^64 numbers, which no u64 can count.
                let count = high.wrapping_sub(*low).cast_unsigned().saturating_add(1);
                let drawn = low.wrapping_add_unsigned(self.draw_below(session, count));
                if drawn < 0 {
                    out.push(b'-');
                }
                push_decimal(out, drawn.unsigned_abs());
                return Ok(JsonType::Number);
            }
            Expr::User | Expr::Session | Expr::Now | Expr::Seq | Expr::Count(_) => {
                push_decimal(out, self.number(session, expr));
                return Ok(JsonType::Number);
            }
        }
        Ok(JsonType::Text)
    }

    fn number(&mut self, session: &Session, expr: &Expr) -> u64 {
        match expr {
            Expr::User => session.identity.user,
            Expr::Session => session.identity.session,
            Expr::Now => self.wall_ms,
            Expr::Count(count) => self.counts.get(usize::from(*count)).copied().unwrap_or(0),
            _ => {
                let number = self.share.nth(*self.seq);
                *self.seq += 1;
                number
            }
        }
    }

    /// Returns the session's value in a column.
    fn cell(&self, session: &Session, data: u16, column: u16) -> Option<ValueRef<'_>> {
        let (table, choice) = (&self.tables[usize::from(data)], self.data[usize::from(data)].row);
        let index = match choice {
            RowChoice::PerUser => session.identity.user,
            RowChoice::Unique => session.row(data),
            RowChoice::InOrder | RowChoice::Random => session.identity.order,
        };
        let row = row(choice, table.rows(), self.seed, u32::from(data), index)?;
        table.cell(row, usize::from(column))
    }
}

/// Appends `text`, a value of this kind, escaped for its place.
fn escaped(escape: Escape, kind: JsonType, text: &[u8], out: &mut Vec<u8>) -> Result<(), RenderError> {
    match escape {
        Escape::Plain => out.extend_from_slice(text),
        Escape::JsonText => json_text(out, text),
        Escape::JsonValue => json_value(kind, text, out),
        Escape::Xml => xml_text(out, text),
        Escape::Form => form_text(out, text),
        Escape::Path => path_text(out, text),
        Escape::Address if !text.starts_with(b"/") => return Err(RenderError::Address),
        Escape::Address => address_text(out, text),
        Escape::Header => {
            if text.iter().any(|&byte| byte < b' ' && byte != b'\t' || byte == 0x7f) {
                return Err(RenderError::Header);
            }
            out.extend_from_slice(text);
        }
    }
    Ok(())
}

fn json_list(list: &Values, out: &mut Vec<u8>) {
    out.push(b'[');
    for (place, value) in list.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        json_value(value.kind, value.text, out);
    }
    out.push(b']');
}

fn json_value(kind: JsonType, text: &[u8], out: &mut Vec<u8>) {
    if kind != JsonType::Text {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    json_text(out, text);
    out.push(b'"');
}
