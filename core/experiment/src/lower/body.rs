//! Bodies and queries as templates.

use wavetank_grammar::{Diagnostic, Spanned};
use wavetank_journey::body::Multipart;
use wavetank_plan::{self as plan, Escape, Hole, TemplatePart};
use wavetank_units::Code;

use super::LowerError;
use super::escape::push_text;
use super::scope::ScenarioScope;
use crate::model::{Body, Part, PartContent, SoapCall, SoapVersion, Template, Value};

/// A body and the headers that it brings.
#[derive(Default)]
pub(super) struct BodyTemplate {
    pub(super) body: plan::Template,
    /// `Content-Type` and `SOAPAction`, which are sent unless the user names them.
    pub(super) headers: Vec<(&'static str, plan::Template)>,
}

/// Lowers the body of a request. `number` is the request's, so that no two share a boundary.
pub(super) fn body(
    names: &ScenarioScope<'_>,
    body: &Body,
    number: usize,
) -> Result<BodyTemplate, LowerError> {
    let mut out = plan::Template::default();
    let content_type = match body {
        Body::Json(value) => {
            json(names, value, &mut out)?;
            Some("application/json".to_owned())
        }
        Body::JsonText(text) => {
            json_text_template(names, text, &mut out)?;
            Some("application/json".to_owned())
        }
        Body::Xml(text, call) => {
            xml(names, text, &mut out)?;
            return Ok(BodyTemplate { body: out, headers: xml_headers(names, call.as_ref())? });
        }
        Body::Form(fields) => {
            form(names, fields, &mut out)?;
            Some("application/x-www-form-urlencoded".to_owned())
        }
        Body::Multipart(parts) => Some(multipart(names, parts, number, &mut out)?),
        Body::Text(text) => {
            names.append(text, Escape::Plain, &mut out)?;
            None
        }
        Body::Bytes(bytes) => {
            out.push_fixed(bytes);
            None
        }
        Body::File(file) => {
            out.push_fixed(&bytes(names, file)?);
            None
        }
    };
    let headers = content_type.map(|kind| ("Content-Type", kind.as_str().into()));
    Ok(BodyTemplate { body: out, headers: headers.into_iter().collect() })
}

/// Lowers XML as the user wrote it; only values are escaped.
fn xml(names: &ScenarioScope<'_>, template: &Template, out: &mut plan::Template) -> Result<(), LowerError> {
    for part in &template.parts {
        if let Part::Text(text) = part {
            out.push_fixed(text.as_bytes());
        } else {
            let one = Template { parts: vec![part.clone()], place: template.place };
            names.append(&one, Escape::Xml, out)?;
        }
    }
    Ok(())
}

fn xml_headers(
    names: &ScenarioScope<'_>,
    call: Option<&SoapCall>,
) -> Result<Vec<(&'static str, plan::Template)>, LowerError> {
    let Some(SoapCall { action, version }) = call else {
        return Ok(vec![("Content-Type", "application/xml".into())]);
    };
    let quoted = |before: &str| {
        let mut out = plan::Template::from(before);
        out.push_fixed(b"\"");
        names.append(action, Escape::Header, &mut out)?;
        out.push_fixed(b"\"");
        Ok::<_, LowerError>(out)
    };
    Ok(match version {
        SoapVersion::V1_1 => {
            vec![("Content-Type", "text/xml; charset=utf-8".into()), ("SOAPAction", quoted("")?)]
        }
        SoapVersion::V1_2 => {
            vec![("Content-Type", quoted("application/soap+xml; charset=utf-8; action=")?)]
        }
    })
}

fn bytes(names: &ScenarioScope<'_>, file: &Spanned<String>) -> Result<Vec<u8>, LowerError> {
    (names.shared.input.file)(&file.value).map_err(|error| Diagnostic::from_error(error, file.place).into())
}

/// Lowers a value to JSON. A template that is the whole value keeps the type of its variable.
pub(super) fn json(
    names: &ScenarioScope<'_>,
    value: &Value,
    out: &mut plan::Template,
) -> Result<(), LowerError> {
    match value {
        Value::Null => out.push_fixed(b"null"),
        Value::Bool(value) => out.push_fixed(value.to_string().as_bytes()),
        Value::Number(digits) => out.push_fixed(digits.as_bytes()),
        Value::Text(template) => json_template(names, template, out)?,
        Value::List(items) => {
            out.push_fixed(b"[");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_fixed(b",");
                }
                json(names, item, out)?;
            }
            out.push_fixed(b"]");
        }
        Value::Map(entries) => {
            out.push_fixed(b"{");
            for (at, (name, item)) in entries.iter().enumerate() {
                out.push_fixed(if at > 0 { b",\"" } else { b"\"" });
                push_text(name.as_bytes(), Escape::JsonText, out);
                out.push_fixed(b"\":");
                json(names, item, out)?;
            }
            out.push_fixed(b"}");
        }
    }
    Ok(())
}

fn json_template(
    names: &ScenarioScope<'_>,
    template: &Template,
    out: &mut plan::Template,
) -> Result<(), LowerError> {
    match template.as_single_hole() {
        Some(Part::Variable(name)) if names.slot(name).is_none() => {
            let own = names.var(name, template.place)?;
            let Some(value) = names.redacted(name) else { return json(names, own, out) };
            let escape = if matches!(own, Value::Number(_)) { Escape::Plain } else { Escape::JsonValue };
            out.pieces.push(TemplatePart::Hole(Hole { value, escape }));
            Ok(())
        }
        Some(part) => {
            let value = names.expr(part, template.place)?;
            out.pieces.push(TemplatePart::Hole(Hole { value, escape: Escape::JsonValue }));
            Ok(())
        }
        None => {
            out.push_fixed(b"\"");
            names.append(template, Escape::JsonText, out)?;
            out.push_fixed(b"\"");
            Ok(())
        }
    }
}

/// JSON as the user wrote it. A value inside quotes is escaped as JSON text; any other keeps its
/// type.
fn json_text_template(
    names: &ScenarioScope<'_>,
    template: &Template,
    out: &mut plan::Template,
) -> Result<(), LowerError> {
    let mut in_quotes = false;
    for part in &template.parts {
        if let Part::Text(text) = part {
            let mut letters = text.chars();
            while let Some(letter) = letters.next() {
                match letter {
                    '\\' => drop(letters.next()),
                    '"' => in_quotes = !in_quotes,
                    _ => {}
                }
            }
            out.push_fixed(text.as_bytes());
            continue;
        }
        let one = Template { parts: vec![part.clone()], place: template.place };
        if in_quotes {
            names.append(&one, Escape::JsonText, out)?;
        } else {
            json_template(names, &one, out)?;
        }
    }
    Ok(())
}

/// Lowers names and values of a form or a query. A list repeats its name for each item.
pub(super) fn form(
    names: &ScenarioScope<'_>,
    fields: &[(String, Value)],
    out: &mut plan::Template,
) -> Result<(), LowerError> {
    let mut first = true;
    for (name, value) in fields {
        let items = match value {
            Value::List(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        for item in items {
            if !std::mem::take(&mut first) {
                out.push_fixed(b"&");
            }
            push_text(name.as_bytes(), Escape::Form, out);
            out.push_fixed(b"=");
            if !matches!(item, Value::Null) {
                names.append_value(item, Escape::Form, out)?;
            }
        }
    }
    Ok(())
}

/// Lowers the parts with boundaries between them; returns the content type.
fn multipart(
    names: &ScenarioScope<'_>,
    parts: &[(String, PartContent)],
    number: usize,
    out: &mut plan::Template,
) -> Result<String, LowerError> {
    // The same file gives the same bytes. A part containing the boundary is as unlikely as with
    // random ones.
    let seed = names.shared.experiment.seed.unwrap_or(wavetank_plan::constants::SEED);
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ (number as u64 + 1);
    let writer = Multipart::new([
        mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9),
        mixed.wrapping_mul(0x94d0_49bb_1331_11eb),
    ]);
    let mut text = Vec::new();
    writer.content_type(&mut text);
    let content_type = String::from_utf8_lossy(&text).into_owned();
    for (name, part) in parts {
        text.clear();
        match part {
            PartContent::Text { text: template, name: sent, content_type } => {
                let (sent, kind) = (sent.as_deref(), content_type.as_deref());
                writer.part(&mut text, name.as_bytes(), sent.map(str::as_bytes), kind.map(str::as_bytes));
                out.push_fixed(&text);
                names.append(template, Escape::Plain, out)?;
            }
            PartContent::File { file, name: sent, content_type } => {
                let sent = sent.as_ref().map(|name| names.template(name, Escape::Plain)).transpose()?;
                let own = file.value.rsplit('/').next().unwrap_or(&file.value).as_bytes().to_vec();
                let sent = match &sent {
                    None => own,
                    Some(sent) => sent.as_fixed().map(<[u8]>::to_vec).ok_or_else(|| {
                        let message = "a part's file name must be the same for all sessions in this version";
                        Diagnostic::error(Code::NotFixed, file.place, message, "filename: photo.jpg")
                    })?,
                };
                let kind = content_type.as_deref().unwrap_or("application/octet-stream");
                writer.part(&mut text, name.as_bytes(), Some(&sent), Some(kind.as_bytes()));
                out.push_fixed(&text);
                out.push_fixed(&bytes(names, file)?);
            }
        }
        text.clear();
        writer.part_end(&mut text);
        out.push_fixed(&text);
    }
    text.clear();
    writer.end(&mut text);
    out.push_fixed(&text);
    Ok(content_type)
}
