//! Writes the request of a [`RequestTemplate`].

use super::render_context::RenderContext;
use super::render_error::RenderError;
use super::rewrite::target_of;
use crate::compiled::{Fixed, GrpcCodec, RequestTemplate};
use crate::number::push_decimal;
use crate::state::Session;

/// Writes field lines. It gets the path and query of the request.
pub(crate) type ExtraFields<'a> = dyn FnMut(&mut Session, &str, &mut Vec<u8>) + 'a;

impl RequestTemplate {
    /// Writes the request into `out`, which is empty. `more` gets the path and query, and writes
    /// whole field lines (cookies, credentials) after the request's own fields. Raw bytes get no
    /// such fields.
    pub(crate) fn render(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        more: Option<&mut ExtraFields<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        let more = more.filter(|_| !self.raw);
        if let Some(Fixed { bytes, fields_end }) = &self.fixed {
            out.extend_from_slice(&bytes[..*fields_end]);
            if let Some(more) = more {
                more(session, self.target.as_deref().unwrap_or("/"), out);
            }
            out.extend_from_slice(&bytes[*fields_end..]);
            return Ok(());
        }
        scene.render(session, &self.head, out)?;
        if self.raw {
            return match &self.call {
                Some(call) => self.render_message(call, scene, session, out),
                None => Ok(()),
            };
        }
        if let Some(more) = more {
            let target = String::from_utf8_lossy(target_of(out)).into_owned();
            more(session, &target, out);
        }
        let Some(body) = &self.measured else {
            out.extend_from_slice(b"\r\n");
            let call = self.call.as_ref().filter(|_| !self.is_opening);
            let Some(call) = call else { return scene.render(session, &self.body, out) };
            return self.render_message(call, scene, session, out);
        };
        // The length precedes the body that it measures: the body is written first, then the field,
        // and then the two are swapped.
        let at = out.len();
        scene.render(session, body, out)?;
        let length = out.len() - at;
        out.extend_from_slice(b"Content-Length: ");
        push_decimal(out, length as u64);
        out.extend_from_slice(b"\r\n\r\n");
        out[at..].rotate_left(length);
        Ok(())
    }

    /// Appends the message of a gRPC call, of which the body is the JSON.
    fn render_message(
        &self,
        call: &GrpcCodec,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        let mut json = Vec::new();
        scene.render(session, &self.body, &mut json)?;
        call.encode(&json, out).map_err(|error| RenderError::Message(error.to_string()))
    }
}
