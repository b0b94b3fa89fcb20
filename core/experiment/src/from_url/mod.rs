//! [`read_url`]: the request of a URL run as an [`Experiment`] in memory.
//!
//! Its templates have the grammar and the functions of a file, and it takes the path of a file:
//! overrides, validation, lowering.

mod messages;

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_plan::{SettingNames, TargetUrl, UrlProtocol};
use wavetank_units::{Code, UserError};

use crate::input::override_with;
use crate::model::{
    Body, DataContent, DataFile, DataSource, Experiment, Grpc, Http, Part, PartContent, Request, RequestHead,
    RowOrder, Step, Target, TargetAddress, Template, Value, Verb,
};
use crate::parse::{Variables, normal_path};
use crate::parse_input::ParseInput;
use crate::placeless::{PLACE, without_span};
use crate::request_rules::check_method;
use crate::validate::verify;
use crate::{Parsed, Scenario};

/// The name under which templates find the columns of `--rows`.
pub const ROWS: &str = "rows";

/// A request of the command line as typed. Every text may contain templates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlRequest {
    /// The URL, in any form that a run of one URL accepts.
    pub url: String,
    /// The method; `None`: GET, or POST with a body.
    pub method: Option<String>,
    /// The body.
    pub body: Option<UrlBody>,
    /// File of rows with the columns of `${rows.COLUMN}`.
    pub rows: Option<String>,
    /// Redirects to follow; `None`: none.
    pub follow: Option<u32>,
    /// The `.proto` files of a gRPC call, or one file with a set of descriptors.
    pub proto: Vec<String>,
    /// Folders that their imports start from.
    pub proto_paths: Vec<String>,
}

/// The body of a [`UrlRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlBody {
    /// Text.
    Text(String),
    /// JSON text, with the Content-Type of JSON.
    Json(String),
    /// The bytes of the file with this name, without templates.
    File(String),
    /// Fields of a form.
    Form(Vec<(String, String)>),
    /// Parts of `multipart/form-data`.
    Multipart(Vec<(String, UrlPart)>),
}

/// A part of a multipart body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlPart {
    /// A field.
    Text {
        /// Its content.
        text: String,
        /// The file name it is sent under; a plain field has none.
        name: Option<String>,
        /// Its content type; a plain field has none.
        content_type: Option<String>,
    },
    /// A file.
    File {
        /// Its name.
        file: String,
        /// The name it is sent under; `None`: its own.
        name: Option<String>,
        /// Its content type.
        content_type: Option<String>,
    },
}

impl UrlPart {
    /// A plain field.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), name: None, content_type: None }
    }
}

/// Whether `text` contains a template or an escaped `$${`.
pub fn has_template(text: &str) -> bool {
    text.contains("${")
}

/// Makes an experiment of one request, with the options of `input` applied. The bytes and
/// variables of `input` are not used: there is no file.
pub fn read_url(request: &UrlRequest, input: &ParseInput<'_>) -> Parsed {
    let mut out = Diagnostics::default();
    let mut experiment = UrlReader { input, vars: Variables::default(), out: &mut out }.experiment(request);
    // All errors are found, also after the first.
    let _ = override_with(&mut experiment, input, &Variables::default(), &mut out);
    // A request with different fields for each user cannot be probed, which is only the default.
    if experiment.http.headers.iter().any(|header| header.value.as_fixed().is_none()) {
        experiment.probe = input.options.probe;
    }
    verify(&experiment, &mut out);
    let diagnostics = unplaced(&out);
    let experiment = (!diagnostics.has_errors()).then_some(experiment);
    Parsed { experiment, diagnostics, text: String::new() }
}

/// Returns the diagnostics without positions in a file, and with hints that apply to a URL.
fn unplaced(diagnostics: &Diagnostics) -> Diagnostics {
    let mut out = Diagnostics::default();
    for diagnostic in diagnostics.sorted() {
        let mut diagnostic = Diagnostic { place: None, ..diagnostic.clone() };
        if matches!(diagnostic.code, Code::VariableUnknown | Code::DataUnknown) {
            diagnostic.hint = format!(
                "--rows FILE.csv makes its columns available as ${{{ROWS}.COLUMN}}; functions have \
                 parentheses: ${{uuid()}}; a dollar and a brace as they are: $${{"
            );
        }
        out.push(diagnostic);
    }
    out
}

/// Parses the texts of a request.
struct UrlReader<'a> {
    input: &'a ParseInput<'a>,
    vars: Variables,
    out: &'a mut Diagnostics,
}

impl UrlReader<'_> {
    /// Returns the experiment. A part with an error is left out or replaced, so that the others are
    /// checked, too.
    fn experiment(&mut self, request: &UrlRequest) -> Experiment {
        let (target, url) = self.url(&request.url).unwrap_or_else(placeholder);
        let method = request
            .method
            .clone()
            .unwrap_or_else(|| if request.body.is_some() { "POST".to_owned() } else { "GET".to_owned() });
        let checked = check_method(&method);
        self.report(checked);
        let grpc = self.descriptions(request).unwrap_or_default();
        self.check_scheme(&target, &grpc);
        let body = request.body.as_ref().and_then(|body| self.body(body));
        if target.protocol.has_messages() {
            return self.messages(request, target, &url, body);
        }
        // A request that changes nothing and is the same for all users is probed, as by a plain
        // run.
        let is_grpc = target.protocol == UrlProtocol::Grpc;
        let safe = matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS");
        let probed = safe && !is_grpc && url.as_fixed().is_some() && request.body.is_none();
        let call = if is_grpc { self.call(request, &url) } else { None };
        let head = call.unwrap_or(RequestHead::Http { method: without_span(method), url });
        let step = Request { body, ..Request::plain(head) };
        Experiment {
            http: Http { follow: request.follow, ..Http::default() },
            grpc,
            data: request.rows.iter().map(|file| rows(file)).collect(),
            probe: probed.then_some(true),
            ..one_request(target, step)
        }
    }

    /// Returns the files that describe a gRPC call.
    fn descriptions(&mut self, request: &UrlRequest) -> Option<Grpc> {
        let (proto, sets): (Vec<_>, Vec<_>) = request
            .proto
            .iter()
            .map(|file| without_span(file.clone()))
            .partition(|file| file.value.to_ascii_lowercase().split('.').next_back() == Some("proto"));
        if sets.len() > 1 || !(sets.is_empty() || proto.is_empty()) {
            let message = "--proto takes .proto files, or one set of descriptors";
            let hint = "leave the other files out; .proto files end in .proto";
            self.out.push(Diagnostic::error(Code::OptionConflict, PLACE, message, hint));
            return None;
        }
        if proto.is_empty() && !request.proto_paths.is_empty() {
            let message = "--proto-path is where imports of --proto start, which is not given";
            let hint = "--proto FILE.proto, or leave --proto-path out";
            self.out.push(Diagnostic::error(Code::OptionConflict, PLACE, message, hint));
            return None;
        }
        let descriptors = sets.into_iter().next();
        // Nothing describes the call, so the server is asked.
        let is_grpc = request.url.trim_start().to_ascii_lowercase().starts_with("grpc");
        let reflection = is_grpc && proto.is_empty() && descriptors.is_none();
        let paths = request.proto_paths.clone();
        Some(Grpc { proto, paths, descriptors, reflection, ..Grpc::default() })
    }

    /// Checks that the files of a call belong to a URL of gRPC.
    fn check_scheme(&mut self, target: &TargetUrl, grpc: &Grpc) {
        let is_described = !grpc.proto.is_empty() || grpc.descriptors.is_some();
        if is_described && target.protocol != UrlProtocol::Grpc {
            let url = TargetUrl { protocol: UrlProtocol::Grpc, ..target.clone() }.url();
            let message = "--proto describes a gRPC service, and the URL is one of HTTP";
            let hint = format!("{url}package.Service/Method");
            self.out.push(Diagnostic::error(Code::OptionConflict, PLACE, message, hint));
        }
    }

    /// Returns the call that the path of a gRPC URL names.
    fn call(&mut self, request: &UrlRequest, path: &Template) -> Option<RequestHead> {
        let method = path.as_fixed().map(|path| path.trim_matches('/').to_owned());
        let mut fail = |message: &str, hint: &str| {
            self.out.push(Diagnostic::error(Code::GrpcMethod, PLACE, message, hint));
            None
        };
        if request.method.is_some() {
            return fail("a gRPC call is always a POST, so -X has no effect", "leave -X out");
        }
        match method {
            Some(method) if !method.is_empty() => Some(RequestHead::Grpc(without_span(method))),
            Some(_) => fail("the URL names no method", "grpc://localhost:50051/package.Service/Method"),
            None => {
                fail("the method of a gRPC call is the same for all users", "templates belong into --json")
            }
        }
    }

    fn report(&mut self, checked: Result<(), UserError>) {
        if let Err(error) = checked {
            self.out.push(Diagnostic::from_error(error, PLACE));
        }
    }

    /// Parses `text`; errors name `option`.
    fn template(&mut self, option: &str, text: &str) -> Option<Template> {
        let mut parser = self.vars.reader(self.input);
        let template = parser.template_text(text, PLACE);
        for diagnostic in parser.out.sorted() {
            let message = format!("{option}: {}", diagnostic.message);
            self.out.push(Diagnostic { message, ..diagnostic.clone() });
        }
        template
    }

    /// Splits the URL into the target, which is the same for all users, and the path.
    fn url(&mut self, text: &str) -> Option<(TargetUrl, Template)> {
        let whole = self.template("the URL", text)?;
        let first = match whole.parts.first() {
            Some(Part::Text(first)) => first.as_str(),
            _ => "",
        };
        let host_end = TargetUrl::path_start(first);
        if host_end.is_none() && whole.as_fixed().is_none() {
            let message = "the host and port of the URL must be the same for all users";
            let hint = "templates belong in the path and the query: localhost:8080/item/${random(1,100)}";
            self.out.push(Diagnostic::error(Code::NotFixed, PLACE, message, hint));
            return None;
        }
        let (authority, rest) = first.split_at(host_end.unwrap_or(first.len()));
        let target = match TargetUrl::parse(authority) {
            Ok(target) => target,
            Err(error) => {
                self.out.push(Diagnostic::from_error(error, PLACE));
                return None;
            }
        };
        let slash = if rest.starts_with('/') { "" } else { "/" };
        let start = std::iter::once(Part::Text(format!("{slash}{rest}")));
        let parts = start.chain(whole.parts.iter().skip(1).cloned()).collect();
        let path = without_fragment(Template { parts, place: PLACE });
        let text = |part: &Part| matches!(part, Part::Text(text) if text.contains(|c: char| c.is_whitespace() || c.is_control()));
        if path.parts.iter().any(text) {
            let message = format!("the URL `{}` has white space in it", whole.display_text());
            let hint = "write a space as %20, and quote the URL for the shell";
            self.out.push(Diagnostic::error(Code::BadUrl, PLACE, message, hint));
            return None;
        }
        Some((target, normal_path(path)))
    }

    fn body(&mut self, body: &UrlBody) -> Option<Body> {
        Some(match body {
            UrlBody::Text(text) => Body::Text(self.template("--body", text)?),
            UrlBody::Json(text) => Body::JsonText(self.template("--json", text)?),
            UrlBody::File(name) => Body::File(without_span(name.clone())),
            UrlBody::Form(fields) => {
                let field = |(name, value): &(String, String)| {
                    Some((name.clone(), Value::Text(self.template("--form", value)?)))
                };
                Body::Form(fields.iter().map(field).collect::<Option<_>>()?)
            }
            UrlBody::Multipart(parts) => {
                let part = |(name, part): &(String, UrlPart)| Some((name.clone(), self.part(part)?));
                Body::Multipart(parts.iter().map(part).collect::<Option<_>>()?)
            }
        })
    }

    fn part(&mut self, part: &UrlPart) -> Option<PartContent> {
        Some(match part {
            UrlPart::Text { text, name, content_type } => PartContent::Text {
                text: self.template("--form", text)?,
                name: name.clone(),
                content_type: content_type.clone(),
            },
            UrlPart::File { file, name, content_type } => PartContent::File {
                file: without_span(file.clone()),
                name: match name {
                    Some(name) => Some(self.template("--form", name)?),
                    None => None,
                },
                content_type: content_type.clone(),
            },
        })
    }
}

/// Returns the experiment of one request to `target`.
pub(crate) fn one_request(target: TargetUrl, request: Request) -> Experiment {
    Experiment {
        targets: vec![Target {
            name: None,
            urls: vec![TargetAddress { url: without_span(target), weight: None }],
            pick: None,
            tls: None,
        }],
        scenarios: vec![Scenario {
            steps: vec![Step { place: PLACE, verb: Verb::Request(Box::new(request)) }],
            ..Scenario::empty(None, PLACE)
        }],
        setting_names: SettingNames::Options,
        ..Experiment::default()
    }
}

/// Replaces a URL with an error, which is reported.
fn placeholder() -> (TargetUrl, Template) {
    let target = TargetUrl::parse("localhost").expect("a URL");
    (target, Template { parts: vec![Part::Text("/".to_owned())], place: PLACE })
}

/// A fragment is never sent.
fn without_fragment(mut path: Template) -> Template {
    let at = path.parts.iter().position(|part| matches!(part, Part::Text(text) if text.contains('#')));
    if let Some(at) = at {
        path.parts.truncate(at + 1);
        if let Part::Text(text) = &mut path.parts[at] {
            text.truncate(text.find('#').unwrap_or(text.len()));
        }
    }
    path
}

fn rows(file: &str) -> DataSource {
    DataSource {
        name: ROWS.to_owned(),
        place: PLACE,
        row: RowOrder::InOrder,
        content: DataContent::File(DataFile {
            file: without_span(file.to_owned()),
            columns: Vec::new(),
            separator: None,
            encoding: None,
        }),
    }
}
