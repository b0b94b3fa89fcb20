//! [`CurlRequest`]: what a command for curl sends, in the terms of this program.

use wavetank_plan::{HttpVersion, IpFamily, Secret, TargetUrl};
use wavetank_units::quantity::parse_duration_positive;
use wavetank_units::{Nanos, UserError};

use super::body::{Body, url_encoded};
use super::connect::Detours;
use super::cookies;
use super::error::bad;
use super::form::Form;
use super::options::Meaning;
use super::proxy::Proxy;
use super::url;
use crate::cli::errors::with_flag;
use crate::cli::files::{InputFiles, TextOrFile};
use crate::cli::override_args::OverrideArgs;
use crate::cli::request_args::{HeaderArg, credentials, header};

/// Redirects that `-L` follows (curl's default is 50).
const FOLLOW: u32 = 50;
/// What `--compressed` accepts.
const CODINGS: &str = "deflate, gzip, br, zstd";
/// Headers that are computed from the request, or that belong to one connection.
const COMPUTED: [&str; 6] =
    ["content-length", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "expect"];

/// The parts of the request.
#[expect(clippy::struct_excessive_bools, reason = "one for each option of curl without a value")]
#[derive(Debug, Default)]
pub(super) struct CurlRequest {
    urls: Vec<String>,
    method: Option<String>,
    /// `-H`, with their values.
    headers: Vec<(String, Secret)>,
    /// Headers of options such as `-A`; one of `-H` replaces them.
    implied: Vec<(&'static str, String)>,
    /// Names that `-H 'Name:'` takes away.
    removed: Vec<String>,
    cookies: Vec<String>,
    cookie_files: Vec<String>,
    body: Body,
    query: Vec<u8>,
    form: Form,
    user: Option<String>,
    head: bool,
    get: bool,
    literal_url: bool,
    insecure: bool,
    location: bool,
    max_redirects: Option<u32>,
    compressed: bool,
    close: bool,
    detours: Detours,
    proxy: Proxy,
    timeouts: [Option<Nanos>; 2],
    pem: [Option<String>; 3],
    ip: Option<IpFamily>,
    http: Option<(HttpVersion, bool)>,
}

impl CurlRequest {
    /// Collects the options. What is wrong with them goes into `errors`.
    pub(super) fn new(
        found: Vec<(Meaning, Vec<u8>)>,
        files: &mut InputFiles,
        errors: &mut Vec<UserError>,
    ) -> Self {
        let mut request = Self::default();
        for (meaning, value) in found {
            if let Err(error) = request.take(meaning, value, files) {
                errors.push(error);
            }
        }
        match request.urls.as_slice() {
            [] => {
                let hint = "the whole command: curl 'https://shop.example/'";
                errors.push(bad("the command has no URL", hint));
            }
            [one] => errors.extend(url::check(one, request.literal_url).err()),
            many => {
                let hint = "one request; several are steps of an experiment file";
                errors.push(bad(format!("the command has {} URLs, and a run loads one", many.len()), hint));
            }
        }
        let has_form = !request.form.0.parts.is_empty();
        let conflicts = [
            (
                has_form && request.body.bytes.is_some(),
                "-d and -F are both given",
                "one of the two is the body",
            ),
            (has_form && request.get, "-F and -G are both given", "-G is for -d"),
            (
                request.body.bytes.is_some() && request.head && !request.get,
                "-d and -I are both given",
                "-G puts the data into the query; leave one of the two out",
            ),
            (has_form && request.head, "-F and -I are both given", "leave -I out"),
        ];
        errors.extend(
            conflicts.iter().filter(|(given, ..)| *given).map(|(_, message, hint)| bad(message, hint)),
        );
        request
    }

    fn take(&mut self, meaning: Meaning, value: Vec<u8>, files: &mut InputFiles) -> Result<(), UserError> {
        match meaning {
            Meaning::Data
            | Meaning::DataRaw
            | Meaning::DataBinary
            | Meaning::DataUrlencode
            | Meaning::Json => return self.body.add(meaning, &value, files),
            Meaning::UrlQuery => return self.add_query(&value, files),
            _ => {}
        }
        let text = String::from_utf8(value)
            .map_err(|_| bad("an argument is not UTF-8", "only a body may have other bytes"))?;
        match meaning {
            Meaning::Url => self.urls.push(text),
            Meaning::Method => self.method = Some(text),
            Meaning::Header => self.headers_of(&text, files)?,
            Meaning::Cookie if text.contains('=') => self.cookies.push(text),
            Meaning::Cookie if text.is_empty() => {}
            Meaning::Cookie => self.cookie_files.push(text),
            Meaning::Form => self.form.add(&text, files)?,
            Meaning::FormString => self.form.add_string(&text)?,
            Meaning::User => self.user = Some(text),
            Meaning::Bearer => self.imply("Authorization", format!("Bearer {text}")),
            Meaning::UserAgent if text.is_empty() => self.removed.push("user-agent".to_owned()),
            Meaning::UserAgent => self.imply("User-Agent", text),
            Meaning::Referer => {
                let referer = text.strip_suffix(";auto").unwrap_or(&text).to_owned();
                self.imply("Referer", referer);
            }
            // curl completes a single number.
            Meaning::Range if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.imply("Range", format!("bytes={text}-"));
            }
            Meaning::Range => self.imply("Range", format!("bytes={text}")),
            _ => return self.connection_option(meaning, text),
        }
        Ok(())
    }

    /// Options without text, and those of connections.
    fn connection_option(&mut self, meaning: Meaning, text: String) -> Result<(), UserError> {
        match meaning {
            Meaning::Insecure => self.insecure = true,
            Meaning::Location => self.location = true,
            Meaning::MaxRedirs => self.max_redirects = Some(text.parse().unwrap_or(FOLLOW)),
            Meaning::Compressed => self.compressed = true,
            Meaning::Head => self.head = true,
            Meaning::Get => self.get = true,
            Meaning::LiteralUrl => self.literal_url = true,
            Meaning::Resolve => self.detours.add_resolve(&text)?,
            Meaning::ConnectTo => self.detours.add_connect_to(&text)?,
            Meaning::UnixSocket => self.detours.set_socket(text),
            Meaning::AbstractUnixSocket => self.detours.set_socket(format!("@{text}")),
            Meaning::Proxy => self.proxy.url = Some(text),
            Meaning::ProxyUser => self.proxy.user = Some(Secret::new(text)),
            Meaning::NoProxy => self.proxy.direct = text.split(',').map(str::to_owned).collect(),
            Meaning::MaxTime => self.timeouts[0] = seconds("-m", &text)?,
            Meaning::ConnectTimeout => self.timeouts[1] = seconds("--connect-timeout", &text)?,
            Meaning::CaCert => self.pem[0] = Some(text),
            Meaning::Cert if text.contains(':') => {
                let hint = "a key without a password: openssl pkey -in KEY -out PLAIN";
                return Err(bad("-E has a password, and keys with a password are not supported", hint));
            }
            Meaning::Cert => self.pem[1] = Some(text),
            Meaning::Key => self.pem[2] = Some(text),
            Meaning::Ipv4 => self.ip = Some(IpFamily::V4),
            Meaning::Ipv6 => self.ip = Some(IpFamily::V6),
            Meaning::Http10 => self.http = Some((HttpVersion::Http10, false)),
            Meaning::Http11 => self.http = Some((HttpVersion::Http11, false)),
            Meaning::Http2 => self.http = Some((HttpVersion::Http2, true)),
            Meaning::Http2Prior => self.http = Some((HttpVersion::Http2, false)),
            Meaning::Http3 => self.http = Some((HttpVersion::Http3, false)),
            _ => {}
        }
        Ok(())
    }

    /// `-H 'Name: value'`, or `-H @FILE` with one on each line.
    fn headers_of(&mut self, text: &str, files: &mut InputFiles) -> Result<(), UserError> {
        let Some(path) = text.strip_prefix('@') else { return self.header(text) };
        let text = files.text("--curl: -H", path)?;
        // curl leaves out lines that are no header.
        let lines = text.lines().filter(|line| line.contains(':') || line.trim_end().ends_with(';'));
        lines.filter(|line| !line.trim_start().starts_with('#')).try_for_each(|line| self.header(line))
    }

    /// Adds a header. `X;` is an empty header, and `X:` removes one that curl would add. Headers
    /// that are computed here are left out.
    fn header(&mut self, text: &str) -> Result<(), UserError> {
        let (name, value) = match (text.split_once(':'), text.trim_end().strip_suffix(';')) {
            (Some((name, value)), _) => (name.trim(), Some(value.trim()).filter(|value| !value.is_empty())),
            (None, Some(name)) => (name.trim(), Some("")),
            (None, None) => return header(text, "-H").map(drop),
        };
        let lower = name.to_ascii_lowercase();
        let Some(value) = value else {
            if lower == "host" {
                return Err(bad("-H `Host:` removes Host, which HTTP/1.1 requires", "leave it out"));
            }
            self.removed.push(lower);
            return Ok(());
        };
        self.close |= lower == "connection" && value.eq_ignore_ascii_case("close");
        if !COMPUTED.contains(&lower.as_str()) {
            self.headers.push((name.to_owned(), Secret::new(value)));
        }
        Ok(())
    }

    /// Sets the header of an option; a later option of the same kind replaces it. An empty one is
    /// none.
    fn imply(&mut self, name: &'static str, value: String) {
        self.implied.retain(|(own, _)| *own != name);
        if !value.is_empty() {
            self.implied.push((name, value));
        }
    }

    /// `--url-query`: as `--data-urlencode`, or after a `+` as it is.
    fn add_query(&mut self, value: &[u8], files: &mut InputFiles) -> Result<(), UserError> {
        let query = match value.strip_prefix(b"+") {
            Some(plain) => plain.to_vec(),
            None => url_encoded("--curl: --url-query", value, files)?,
        };
        if !self.query.is_empty() {
            self.query.push(b'&');
        }
        self.query.extend(query);
        Ok(())
    }

    /// Whether `-H` sets or removes this header.
    fn decides(&self, name: &str) -> bool {
        self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
            || self.removed.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Returns the URL with the queries of options, and the user that was in it.
    fn url(&mut self) -> Result<String, UserError> {
        let (mut url, user) = url::without_user(&self.urls.pop().unwrap_or_default());
        self.user = self.user.take().or(user);
        let mut add = |query: &[u8]| {
            let query = std::str::from_utf8(query);
            let query = query.map_err(|_| bad("the query is not UTF-8", "encode its bytes: %FF"))?;
            url = url::with_query(&url, query);
            Ok::<(), UserError>(())
        };
        if self.get
            && let Some(data) = self.body.bytes.take()
        {
            add(&data)?;
        }
        if !self.query.is_empty() {
            add(&self.query)?;
        }
        Ok(url)
    }

    /// Puts everything into `flags`, unless they have it already. Returns the URL.
    pub(super) fn apply(
        mut self,
        flags: &mut OverrideArgs,
        files: &mut InputFiles,
    ) -> Result<String, UserError> {
        let url = self.url()?;
        let fixed = url.split("${").next().unwrap_or_default();
        let target = TargetUrl::parse(fixed).ok();
        self.imply_cookies(target.as_ref(), files)?;
        if self.compressed {
            self.imply("Accept-Encoding", CODINGS.to_owned());
        }
        let is_json = self.body.is_json;
        self.imply("Accept", if is_json { "application/json" } else { "*/*" }.to_owned());
        let request = &mut flags.request;
        let mut method = if self.head { Some("HEAD") } else { None };
        if let Some(data) = self.body.bytes.take() {
            let kind = if is_json { "json" } else { "x-www-form-urlencoded" };
            self.imply("Content-Type", format!("application/{kind}"));
            if !request.has_body() {
                request.raw_body = Some(data);
            }
            method = Some("POST");
        }
        if !self.form.0.parts.is_empty() && !request.has_body() {
            request.parts = Some(std::mem::take(&mut self.form.0));
            method = Some("POST");
        }
        if let Some(user) = self.user.take().filter(|_| !self.decides("authorization")) {
            let user = if user.contains(':') { user } else { format!("{user}:") };
            let user = if user.starts_with('@') { TextOrFile::Text(user) } else { credentials(&user)? };
            request.basic = request.basic.take().or(Some(user));
        }
        let method = self.method.take().or(method.map(str::to_owned));
        let message = &mut request.message;
        message.method = message.method.take().or(method);
        let implied = std::mem::take(&mut self.implied).into_iter();
        let implied = implied.filter(|(name, _)| !self.decides(name));
        let implied: Vec<_> = implied.map(|(name, value)| (name.to_owned(), Secret::new(value))).collect();
        let typed = &message.header;
        let own = implied.into_iter().chain(std::mem::take(&mut self.headers));
        let own = own.filter(|(name, _)| !typed.iter().any(|header| header.is(name)));
        let own: Vec<_> = own.map(|(name, value)| HeaderArg::Line(name, value)).collect();
        message.header.splice(0..0, own);
        request.no_user_agent = self.removed.iter().any(|name| name == "user-agent");
        request.follow = self.location.then(|| self.max_redirects.unwrap_or(FOLLOW));
        self.connect(target.as_ref(), flags)?;
        Ok(url)
    }

    /// Joins the cookies of `-b`, from files first.
    fn imply_cookies(&mut self, target: Option<&TargetUrl>, files: &mut InputFiles) -> Result<(), UserError> {
        let mut all = Vec::new();
        for path in &self.cookie_files {
            let text = files.text("--curl: -b", path)?;
            all.extend(target.map(|url| cookies::for_url(&text, url)).unwrap_or_default());
        }
        all.append(&mut self.cookies);
        self.imply("Cookie", all.join("; "));
        Ok(())
    }

    /// The options of connections and TLS.
    fn connect(self, target: Option<&TargetUrl>, flags: &mut OverrideArgs) -> Result<(), UserError> {
        let connection = &mut flags.connection;
        connection.closing.no_keepalive |= self.close;
        connection.ip = connection.ip.or(self.ip);
        let [timeout, connect_timeout] = self.timeouts;
        flags.load.timeout = flags.load.timeout.or(timeout);
        flags.load.connect_timeout = flags.load.connect_timeout.or(connect_timeout);
        let Some(target) = target else { return Ok(()) };
        if connection.connect_to.is_none() {
            connection.connect_to = self.detours.for_url(target)?;
        }
        if connection.proxy.is_none() {
            connection.proxy = self.proxy.for_url(target)?;
        }
        if let Some((version, upgrades)) = self.http.filter(|_| connection.http.is_none()) {
            if upgrades && !target.tls {
                let hint = "--http2-prior-knowledge in the command, or --http1.1";
                return Err(bad("--http2 asks for an upgrade of http://, which is not supported", hint));
            }
            connection.http = Some(version);
        }
        // curl ignores the options of TLS where there is none.
        if target.tls {
            flags.tls.add(self.insecure, self.pem);
        }
        Ok(())
    }
}

/// Parses seconds with decimals; 0 is no limit.
fn seconds(option: &str, text: &str) -> Result<Option<Nanos>, UserError> {
    if text.parse::<f64>() == Ok(0.0) {
        return Ok(None);
    }
    with_flag(option, parse_duration_positive(&format!("{text}s"))).map(Some)
}
