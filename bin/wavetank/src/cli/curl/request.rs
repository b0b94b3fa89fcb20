//! [`CurlRequest`]: what a command for curl sends, in the terms of this program.

use std::path::Path;

use wavetank_plan::{TargetUrl, UserError};

use super::options::Meaning;
use crate::cli::files::InputFiles;
use crate::cli::run_args::OverrideArgs;

/// Redirects that `-L` follows (curl's default is 50).
const FOLLOW: u32 = 50;
/// What `--compressed` accepts.
const CODINGS: &str = "deflate, gzip, br, zstd";

/// The parts of the request.
#[expect(clippy::struct_excessive_bools, reason = "one for each option of curl without a value")]
#[derive(Debug, Default)]
pub(super) struct CurlRequest {
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<String>,
    data: Option<Vec<u8>>,
    form: Vec<(String, String)>,
    is_json: bool,
    user: Option<String>,
    head: bool,
    get: bool,
    insecure: bool,
    follow: Option<u32>,
    compressed: bool,
    /// `HOST:PORT:ADDRESS:PORT`, the address in brackets if it is IPv6.
    connect_to: Vec<String>,
    proxy: Option<String>,
    timeouts: [Option<String>; 2],
    pem: [Option<String>; 3],
    ip: Option<&'static str>,
    http10: bool,
}

fn bad(message: impl std::fmt::Display, hint: &str) -> UserError {
    UserError::usage("bad_curl", format!("--curl: {message}"), hint)
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
        if request.urls.len() != 1 {
            let many = request.urls.len();
            let hint = "one request; several are steps of an experiment file";
            errors.push(bad(format!("the command has {many} URLs, and a run loads one"), hint));
        }
        if request.data.is_some() && !request.form.is_empty() {
            errors.push(bad("-d and -F are both given".to_owned(), "one of the two is the body"));
        }
        request
    }

    fn take(&mut self, meaning: Meaning, value: Vec<u8>, files: &mut InputFiles) -> Result<(), UserError> {
        if matches!(meaning, Meaning::Data | Meaning::DataRaw | Meaning::DataBinary | Meaning::Json) {
            let bytes = data(meaning, value, files)?;
            self.is_json |= meaning == Meaning::Json;
            let joint: &[u8] = if meaning == Meaning::Json { b"" } else { b"&" };
            self.append(&bytes, joint);
            return Ok(());
        }
        let text = String::from_utf8(value)
            .map_err(|_| bad("an argument is not UTF-8".to_owned(), "only a body may have other bytes"))?;
        let seconds = |text: &str| format!("{text}s");
        match meaning {
            Meaning::Url => self.urls.push(text),
            Meaning::Method => self.method = Some(text),
            Meaning::Header => self.header(&text),
            Meaning::Cookie if text.contains('=') => self.headers.push(format!("Cookie: {text}")),
            Meaning::Cookie => {
                let hint = "-b 'name=value', or leave it out";
                return Err(bad(format!("-b `{text}` is a file of cookies"), hint));
            }
            Meaning::DataUrlencode => {
                let bytes = urlencoded(&text, files)?;
                self.append(&bytes, b"&");
            }
            Meaning::Form | Meaning::FormString => self.field(meaning, &text, files)?,
            Meaning::User => self.user = Some(text),
            Meaning::Bearer => self.headers.push(format!("Authorization: Bearer {text}")),
            Meaning::Insecure => self.insecure = true,
            Meaning::Location => self.follow = self.follow.or(Some(FOLLOW)),
            Meaning::MaxRedirs => self.follow = Some(text.parse().unwrap_or(FOLLOW)),
            Meaning::Compressed => self.compressed = true,
            Meaning::Resolve => self.resolve(&text)?,
            Meaning::ConnectTo => self.connect_to.push(text),
            Meaning::UnixSocket => self.connect_to.push(format!("unix:{text}")),
            Meaning::AbstractUnixSocket => self.connect_to.push(format!("unix:@{text}")),
            Meaning::Proxy => self.proxy = Some(text),
            Meaning::UserAgent => self.headers.push(format!("User-Agent: {text}")),
            Meaning::Referer => self.headers.push(format!("Referer: {text}")),
            Meaning::Head => self.head = true,
            Meaning::Get => self.get = true,
            Meaning::MaxTime => self.timeouts[0] = Some(seconds(&text)),
            Meaning::ConnectTimeout => self.timeouts[1] = Some(seconds(&text)),
            Meaning::CaCert => self.pem[0] = Some(text),
            Meaning::Cert => self.pem[1] = Some(text),
            Meaning::Key => self.pem[2] = Some(text),
            Meaning::Ipv4 => self.ip = Some("4"),
            Meaning::Ipv6 => self.ip = Some("6"),
            Meaning::Http10 => self.http10 = true,
            _ => {}
        }
        Ok(())
    }

    /// Adds a header. `X;` is an empty header, and `X:` removes one that curl would add. Headers
    /// that are computed here are left out.
    fn header(&mut self, text: &str) {
        let (name, value) = match (text.split_once(':'), text.strip_suffix(';')) {
            (Some((name, value)), _) => (name.trim(), Some(value.trim()).filter(|value| !value.is_empty())),
            (None, Some(name)) => (name.trim(), Some("")),
            (None, None) => return self.headers.push(text.to_owned()),
        };
        let computed =
            ["content-length", "connection", "keep-alive", "proxy-connection", "transfer-encoding"];
        let Some(value) = value.filter(|_| !computed.contains(&name.to_ascii_lowercase().as_str())) else {
            return;
        };
        self.headers.push(format!("{name}: {value}"));
    }

    fn append(&mut self, bytes: &[u8], joint: &[u8]) {
        match &mut self.data {
            Some(data) => {
                data.extend(joint);
                data.extend(bytes);
            }
            None => self.data = Some(bytes.to_vec()),
        }
    }

    /// `-F NAME=VALUE`, `NAME=@FILE`, `NAME=<FILE`.
    fn field(&mut self, meaning: Meaning, text: &str, files: &mut InputFiles) -> Result<(), UserError> {
        let Some((name, value)) = text.split_once('=') else {
            return Err(bad(format!("-F `{text}` has no name and value"), "-F name=value"));
        };
        let value = match value.strip_prefix('<') {
            Some(path) if meaning == Meaning::Form => files.text("--curl", path)?,
            _ => value.to_owned(),
        };
        self.form.push((name.to_owned(), value));
        Ok(())
    }

    /// `[+]HOST:PORT:ADDRESS[,ADDRESS]…`, of which the first address is used.
    fn resolve(&mut self, text: &str) -> Result<(), UserError> {
        let mut parts = text.trim_start_matches('+').splitn(3, ':');
        let (Some(host), Some(port), Some(addresses)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(bad(format!("--resolve `{text}` is incomplete"), "--resolve HOST:PORT:ADDRESS"));
        };
        let address = addresses.split(',').next().unwrap_or_default();
        let bare = address.trim_start_matches('[').trim_end_matches(']');
        let address = if bare.contains(':') { format!("[{bare}]") } else { bare.to_owned() };
        self.connect_to.push(format!("{host}:{port}:{address}:{port}"));
        Ok(())
    }

    /// Puts everything into `words`, unless they have it already. Returns the URL.
    pub(super) fn apply(mut self, words: &mut OverrideArgs) -> String {
        let mut url = self.urls.pop().unwrap_or_default();
        let request = &mut words.request;
        let typed = |headers: &[String], name: &str| {
            headers
                .iter()
                .any(|own| own.split(':').next().is_some_and(|own| own.trim().eq_ignore_ascii_case(name)))
        };
        let mut own = std::mem::take(&mut self.headers);
        if self.compressed && !typed(&own, "accept-encoding") {
            own.push(format!("Accept-Encoding: {CODINGS}"));
        }
        let mut method = None;
        if let Some(data) = self.data.take() {
            if self.get || self.head {
                let joint = if url.contains('?') { '&' } else { '?' };
                url = format!("{url}{joint}{}", String::from_utf8_lossy(&data));
            } else {
                if !typed(&own, "content-type") {
                    let kind = if self.is_json { "json" } else { "x-www-form-urlencoded" };
                    own.push(format!("Content-Type: application/{kind}"));
                }
                if self.is_json && !typed(&own, "accept") {
                    own.push("Accept: application/json".to_owned());
                }
                if !request.has_body() {
                    request.raw_body = Some(data);
                }
                method = Some("POST");
            }
        }
        if !self.form.is_empty() && !request.has_body() {
            request.form = self.form.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request.multipart = true;
            method = Some("POST");
        }
        method = if self.head { Some("HEAD") } else { method };
        let method = self.method.take().or(method.map(str::to_owned));
        request.method = request.method.take().or(method);
        own.retain(|header| {
            let name = header.split(':').next().unwrap_or_default().trim().to_owned();
            !typed(&request.header, &name)
        });
        request.header.splice(0..0, own);
        request.basic = request
            .basic
            .take()
            .or(self.user.take().map(|user| if user.contains(':') { user } else { format!("{user}:") }));
        request.follow = self.follow;
        self.connect(&url, words);
        url
    }

    /// The options of connections and TLS.
    fn connect(self, url: &str, words: &mut OverrideArgs) {
        let target = url.split("${").next().unwrap_or_default();
        let target = TargetUrl::parse(target).ok();
        let connection = &mut words.connection;
        let applies = |rule: &&String| target.as_ref().is_some_and(|url| is_about(rule, url));
        let rule = self.connect_to.iter().find(applies).map(|rule| completed(rule, target.as_ref()));
        connection.connect_to = connection.connect_to.take().or(rule);
        connection.proxy = connection.proxy.take().or(self.proxy);
        connection.ip = connection.ip.take().or(self.ip.map(str::to_owned));
        let version = self.http10.then(|| "1.0".to_owned());
        connection.http = connection.http.take().or(version);
        let [timeout, connect_timeout] = self.timeouts;
        words.load.timeout = words.load.timeout.take().or(timeout);
        words.load.connect_timeout = words.load.connect_timeout.take().or(connect_timeout);
        // curl ignores the options of TLS where there is none.
        if target.is_some_and(|url| url.tls) {
            words.tls.add(self.insecure, self.pem);
        }
    }
}

/// Whether a rule `HOST:PORT:TO:PORT` of curl is about `url`; an empty part or `*` is about all.
fn is_about(rule: &str, url: &TargetUrl) -> bool {
    let mut parts = rule.split(':');
    let (host, port) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    (matches!(host, "" | "*") || host.eq_ignore_ascii_case(&url.host))
        && (port.is_empty() || port == url.port.to_string())
}

/// Fills in the empty parts of a rule.
fn completed(rule: &str, url: Option<&TargetUrl>) -> String {
    let Some(url) = url else { return rule.to_owned() };
    let (host, port) = (url.authority(), url.port.to_string());
    let host = host.trim_end_matches(&format!(":{port}"));
    let to = rule.splitn(3, ':').nth(2).unwrap_or_default();
    let (to_host, to_port) = to.rsplit_once(':').unwrap_or((to, ""));
    let or = |part: &str, other: &str| if part.is_empty() { other.to_owned() } else { part.to_owned() };
    format!("{host}:{port}:{}:{}", or(to_host, host), or(to_port, &port))
}

/// The bytes of `-d` and its like.
fn data(meaning: Meaning, value: Vec<u8>, files: &mut InputFiles) -> Result<Vec<u8>, UserError> {
    let path = value.strip_prefix(b"@").filter(|_| meaning != Meaning::DataRaw);
    let Some(path) = path else { return Ok(value) };
    let mut bytes = files.form_file(Path::new(String::from_utf8_lossy(path).as_ref()))?;
    if meaning == Meaning::Data {
        bytes.retain(|byte| !b"\r\n\0".contains(byte));
    }
    Ok(bytes)
}

/// `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE` or `NAME@FILE`; the content is encoded.
fn urlencoded(text: &str, files: &mut InputFiles) -> Result<Vec<u8>, UserError> {
    let (name, content) = match text.find(['=', '@']) {
        Some(at) if text[at..].starts_with('=') => (&text[..at], text.as_bytes()[at + 1..].to_vec()),
        Some(at) => (&text[..at], files.form_file(Path::new(&text[at + 1..]))?),
        None => ("", text.as_bytes().to_vec()),
    };
    let mut out = name.as_bytes().to_vec();
    if !name.is_empty() {
        out.push(b'=');
    }
    for byte in content {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte),
            _ => out.extend(format!("%{byte:02X}").as_bytes()),
        }
    }
    Ok(out)
}
