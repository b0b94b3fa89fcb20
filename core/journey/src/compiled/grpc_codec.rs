//! [`GrpcCodec`]: makes the messages of a gRPC call from JSON, and JSON from its response.

use wavetank_grpc::{Descriptors, MessageError, Method, RequestEncoding};
use wavetank_plan::{MessageAction, Plan, Step};
use wavetank_units::{Code, UserError};

/// The method that a step calls, ready to be used.
#[derive(Clone, Debug)]
pub struct GrpcCodec {
    method: Method,
    encoding: RequestEncoding,
    /// A response is one message, even of a method that answers with a stream.
    is_single: bool,
    /// The step makes the whole call.
    is_whole: bool,
}

impl GrpcCodec {
    /// Returns the codec of `step`; `None` if it is no call.
    ///
    /// # Errors
    /// If the plan does not describe the method.
    pub fn new(step: &Step, plan: &Plan) -> Result<Option<Self>, UserError> {
        let Some(call) = &step.grpc else { return Ok(None) };
        let set = plan.shared.descriptors.get(usize::from(call.descriptors)).ok_or_else(|| {
            let message = format!("the plan has no description of {}", call.method);
            UserError::usage(Code::GrpcMethod, message, "make the plan again")
        })?;
        let method = Descriptors::decode(&set.0)?.method(&call.method)?;
        let encoding = if call.gzip { RequestEncoding::Gzip } else { RequestEncoding::Identity };
        let is_single = step
            .message
            .as_ref()
            .is_some_and(|message| matches!(message.action, MessageAction::Send | MessageAction::Wait));
        Ok(Some(Self { method, encoding, is_single, is_whole: step.message.is_none() }))
    }

    /// Appends the body of a request, from JSON.
    ///
    /// # Errors
    /// If the JSON does not fit the type of the message.
    pub(crate) fn encode(&self, json: &[u8], out: &mut Vec<u8>) -> Result<(), MessageError> {
        self.method.encode(json, self.encoding, out)
    }

    /// Appends the JSON of a response's body.
    ///
    /// # Errors
    /// If the body has no whole messages of the method's type.
    pub fn decode(&self, body: &[u8], out: &mut Vec<u8>) -> Result<usize, MessageError> {
        if self.is_single { self.method.decode_message(body, out) } else { self.method.decode(body, out) }
    }

    /// Appends the JSON of the answer with this status.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and if the status is OK but the one message is missing.
    pub(crate) fn decode_answer(
        &self,
        status: u16,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<usize, MessageError> {
        let count = self.decode(body, out)?;
        let has_one = self.is_whole && !self.method.is_server_streaming();
        if has_one && (status, count) == (0, 0) { Err(MessageError::Count(0)) } else { Ok(count) }
    }

    /// Appends the JSON of a request's body, to be shown.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_request(&self, body: &[u8], out: &mut Vec<u8>) -> Result<usize, MessageError> {
        self.method.decode_request(body, out)
    }
}
