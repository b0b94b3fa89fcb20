//! [`RequestTemplate`]: a step's request with holes for values.

use std::sync::Arc;

use wavetank_grpc::MessageError;
use wavetank_plan::{
    AuthPlan, Escape, Hole, HttpVersion, MessageAction, MessagePlan, Plan, Step, Template, TemplatePart,
    UrlProtocol,
};
use wavetank_units::{Code, UserError};
use wavetank_wire::h1::{RequestParts, Version, render_request};
use wavetank_wire::messages::Operation;

use super::grpc_codec::GrpcCodec;
use super::message::operation;

/// A step's request. All parts that are the same for all sessions are already rendered.
#[derive(Clone, Debug, Default)]
pub struct RequestTemplate {
    /// The whole request, if it has no holes.
    pub(crate) fixed: Option<Fixed>,
    /// Request line and fields, without the empty line.
    pub(crate) head: Template,
    /// A body of unknown length. Its `Content-Length` is written for each request.
    pub(crate) measured: Option<Template>,
    /// A body of known length, with its `Content-Length` in `head`.
    pub(crate) body: Template,
    /// The request target, if it is always the same.
    pub(crate) target: Option<String>,
    /// Whether it has a `Cookie` field.
    pub(crate) sets_cookies: bool,
    /// Whether the bytes are sent unchanged, without added fields.
    pub(crate) raw: bool,
    /// Set for a gRPC call. The body is JSON, of which its messages are made.
    pub(crate) call: Option<Box<GrpcCodec>>,
    /// It opens a gRPC call, so it has a head alone.
    pub(crate) is_opening: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    pub(crate) bytes: Arc<[u8]>,
    /// Where more fields may be inserted.
    pub(crate) fields_end: usize,
}

impl RequestTemplate {
    /// Creates the request of `step`.
    ///
    /// # Errors
    /// If the step calls a method that the plan does not describe, or its message does not fit.
    pub fn new(step: &Step, plan: &Plan) -> Result<Self, UserError> {
        let request = &step.request;
        let protocol = plan.targets[step.target].protocol();
        let message = step.message.as_ref();
        if let Some(message) = message.filter(|_| step.grpc.is_some())
            && message.action != MessageAction::Open
        {
            return Self::call_message(message, step, plan);
        }
        if let Some(bytes) = message.and_then(|message| operation(message, &request.body, protocol)) {
            return Ok(Self::raw(&bytes));
        }
        if request.method.is_empty() {
            return Ok(Self::raw(&request.body));
        }
        let mut headers = with_one_cookie_field(&request.headers);
        match &step.auth {
            Some(AuthPlan::Basic(user, password)) => {
                headers.push(("Authorization".to_owned(), basic(user, password)));
            }
            Some(AuthPlan::Bearer(token)) => {
                let mut value = Template::from("Bearer ");
                append(&mut value, token);
                headers.push(("Authorization".to_owned(), value));
            }
            // Written once the server has sent its challenge.
            Some(AuthPlan::Digest(..)) | None => {}
        }
        let target = &plan.targets[step.target];
        let origin = plan.origin_at_proxy(target);
        if origin.is_some()
            && let Some(authorization) =
                plan.http.proxy.as_ref().and_then(|proxy| proxy.authorization.as_ref())
        {
            headers.push(("Proxy-Authorization".to_owned(), authorization.reveal().into()));
        }
        let (line, host) = (Line { origin: origin.as_deref().unwrap_or_default(), plan }, &target.host);
        let fixed = step.grpc.is_none().then(|| fixed_request(step, line, &headers, host)).flatten();
        let shape = fixed
            .map_or_else(|| Self::with_holes(step, line, &headers, host), |bytes| Self::of_fixed(&bytes));
        let shape = match GrpcCodec::new(step, plan)? {
            Some(call) if message.is_some() => shape.into_opening(call),
            Some(call) => shape.with_call(call)?,
            None => shape,
        };
        let target = request.path.as_fixed().map(|path| String::from_utf8_lossy(path).into_owned());
        let sets_cookies = headers.iter().any(|(name, _)| is_cookie(name));
        Ok(Self { target, sets_cookies, ..shape })
    }

    /// Whether the request itself has a `Cookie` field.
    pub(crate) const fn sets_cookies(&self) -> bool {
        self.sets_cookies
    }

    /// The request target, if it is always the same.
    pub(crate) fn fixed_target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Returns the fixed bytes, if the request has no holes.
    pub fn as_fixed(&self) -> Option<&Arc<[u8]>> {
        self.fixed.as_ref().map(|fixed| &fixed.bytes)
    }

    fn of_fixed(bytes: &[u8]) -> Self {
        let head = memchr::memmem::find(bytes, b"\r\n\r\n");
        let fields_end = head.expect("a request has a head that ends") + 2;
        let fixed = Some(Fixed { bytes: bytes.into(), fields_end });
        Self { fixed, ..Self::default() }
    }

    /// Makes it a gRPC call. Its message is encoded now if it is always the same.
    fn with_call(self, call: GrpcCodec) -> Result<Self, UserError> {
        let mut shape = self;
        if let (Some(head), Some(json)) = (shape.head.as_fixed(), shape.body.as_fixed()) {
            let mut bytes = [head, b"\r\n"].concat();
            call.encode(json, &mut bytes).map_err(|error| message_error(&error))?;
            shape = Self::of_fixed(&bytes);
        }
        Ok(Self { call: Some(Box::new(call)), ..shape })
    }

    /// Creates what a step does in a gRPC call that stays open.
    fn call_message(message: &MessagePlan, step: &Step, plan: &Plan) -> Result<Self, UserError> {
        let Some(call) = GrpcCodec::new(step, plan)? else { return Ok(Self::default()) };
        let prefix = operation(message, &Template::default(), UrlProtocol::Grpc).unwrap_or_default();
        if message.action != MessageAction::Send {
            return Ok(Self { call: Some(Box::new(call)), ..Self::raw(&prefix) });
        }
        let json = &step.request.body;
        let Some(fixed) = json.as_fixed() else {
            let call = Some(Box::new(call));
            return Ok(Self { head: prefix, body: json.clone(), raw: true, call, ..Self::default() });
        };
        let mut bytes = prefix.as_fixed().map(<[u8]>::to_vec).unwrap_or_default();
        call.encode(fixed, &mut bytes).map_err(|error| message_error(&error))?;
        Ok(Self { call: Some(Box::new(call)), ..Self::raw(&Template::fixed(bytes)) })
    }

    /// Makes it the opening of a gRPC call, which has no message.
    fn into_opening(mut self, call: GrpcCodec) -> Self {
        let mut head = Template::fixed(Operation::Open(b"").prefix());
        append(&mut head, &self.head);
        self.call = Some(Box::new(call));
        if let Some(fixed) = head.as_fixed() {
            let bytes = [fixed, b"\r\n"].concat();
            let fields_end = fixed.len();
            self.fixed = Some(Fixed { bytes: bytes.into(), fields_end });
        }
        Self { head, is_opening: true, ..self }
    }

    /// Creates a request of raw bytes.
    fn raw(bytes: &Template) -> Self {
        let fixed = bytes.as_fixed().map(|bytes| Fixed { bytes: bytes.into(), fields_end: bytes.len() });
        Self { fixed, head: bytes.clone(), raw: true, ..Self::default() }
    }

    fn with_holes(
        step: &Step,
        Line { origin, plan }: Line<'_>,
        headers: &[(String, Template)],
        host: &str,
    ) -> Self {
        let request = &step.request;
        let given = |wanted: &str| {
            headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
        };
        let version = version(plan);
        let mut head = Template::default();
        head.push_fixed(request.method.as_bytes());
        head.push_fixed(b" ");
        head.push_fixed(origin.as_bytes());
        append(&mut head, &request.path);
        head.push_fixed(match version {
            Version::Http10 => b" HTTP/1.0\r\n",
            Version::Http11 => b" HTTP/1.1\r\n",
            Version::Http2 => b" HTTP/2\r\n",
            Version::Http3 => b" HTTP/3\r\n",
        });
        push_field(&mut head, "Host", given("Host").unwrap_or(&host.into()));
        let mut host_written = false;
        for (name, value) in headers {
            if name.eq_ignore_ascii_case("Host") && !std::mem::replace(&mut host_written, true) {
                continue;
            }
            push_field(&mut head, name, value);
        }
        match (version, plan.http.keepalive) {
            (Version::Http11, false) => push_field(&mut head, "Connection", &"close".into()),
            (Version::Http10, true) => push_field(&mut head, "Connection", &"keep-alive".into()),
            _ => {}
        }
        let body = request.body.clone();
        let has_length = !body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
        let is_given = given("Content-Length").is_some() || given("Transfer-Encoding").is_some();
        let empty = Self { head, body, ..Self::default() };
        if is_given || !has_length || step.grpc.is_some() {
            return empty;
        }
        let Some(length) = empty.body.as_fixed().map(|bytes| bytes.len().to_string()) else {
            return Self { measured: Some(empty.body), body: Template::default(), ..empty };
        };
        let mut known = empty;
        push_field(&mut known.head, "Content-Length", &length.as_str().into());
        known
    }
}

fn message_error(error: &MessageError) -> UserError {
    UserError::usage(Code::GrpcMessage, error.to_string(), "compare it with the message in the .proto file")
}

fn is_cookie(name: &str) -> bool {
    name.eq_ignore_ascii_case("cookie")
}

/// Returns the headers with all `Cookie` fields joined into the first one, since a request has at
/// most one (RFC 6265 §5.4).
fn with_one_cookie_field(headers: &[(String, Template)]) -> Vec<(String, Template)> {
    let mut joined: Vec<(String, Template)> = Vec::with_capacity(headers.len());
    for (name, value) in headers {
        match joined.iter_mut().find(|(earlier, _)| is_cookie(name) && is_cookie(earlier)) {
            Some((_, cookies)) => {
                cookies.push_fixed(b"; ");
                append(cookies, value);
            }
            None => joined.push((name.clone(), value.clone())),
        }
    }
    joined
}

/// The parts that a request line needs.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// The text before the path: empty, or scheme and host for a proxy (RFC 9112 §3.2.2).
    origin: &'a str,
    plan: &'a Plan,
}

/// Returns the whole request, if it has no holes.
fn fixed_request(
    step: &Step,
    Line { origin, plan }: Line<'_>,
    headers: &[(String, Template)],
    host: &str,
) -> Option<Vec<u8>> {
    let text =
        |template: &Template| template.as_fixed().map(|text| String::from_utf8_lossy(text).into_owned());
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| text(value).map(|value| (name.clone(), value)))
        .collect::<Option<_>>()?;
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Some(render_request(&RequestParts {
        method: &step.request.method,
        target: &format!("{origin}{}", text(&step.request.path)?),
        version: version(plan),
        host,
        keep_alive: plan.http.keepalive,
        headers: &headers,
        body: step.request.body.as_fixed()?,
    }))
}

const fn version(plan: &Plan) -> Version {
    match plan.http.version {
        HttpVersion::Http10 => Version::Http10,
        HttpVersion::Http11 => Version::Http11,
        HttpVersion::Http2 => Version::Http2,
        HttpVersion::Http3 => Version::Http3,
    }
}

fn append(template: &mut Template, more: &Template) {
    for piece in &more.pieces {
        match piece {
            TemplatePart::Fixed(text) => template.push_fixed(text),
            TemplatePart::Hole(_) => template.pieces.push(piece.clone()),
        }
    }
}

fn push_field(head: &mut Template, name: &str, value: &Template) {
    head.push_fixed(name.as_bytes());
    head.push_fixed(b": ");
    append(head, value);
    head.push_fixed(b"\r\n");
}

/// `Basic BASE64(user:password)` (RFC 7617).
fn basic(user: &Template, password: &Template) -> Template {
    if let (Some(user), Some(password)) = (user.as_fixed(), password.as_fixed()) {
        let mut value = Vec::new();
        crate::auth::basic(&mut value, user, password);
        return Template::fixed(value);
    }
    let mut words = user.clone();
    words.push_fixed(b":");
    append(&mut words, password);
    let value = wavetank_plan::Expr::Base64(Box::new(wavetank_plan::Expr::Joined(Box::new(words))));
    let mut header = Template::from("Basic ");
    header.pieces.push(TemplatePart::Hole(Hole { value, escape: Escape::Plain }));
    header
}
