//! [`CurlRequest`]: what a command for curl sends, in the terms of this program.

use std::path::Path;

use wavetank_plan::{ConnectTo, HttpVersion, IpFamily, Secret, TargetUrl};
use wavetank_units::quantity::parse_duration_positive;
use wavetank_units::{Nanos, UserError};

use super::options::Meaning;
use crate::cli::connection_args::ProxyArg;
use crate::cli::errors::with_flag;
use crate::cli::files::{InputFiles, TextOrFile};
use crate::cli::override_args::OverrideArgs;
use crate::cli::request_args::{HeaderArg, credentials, header};

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
    headers: Vec<(String, Secret)>,
    data: Option<Vec<u8>>,
    form: Vec<(String, String)>,
    is_json: bool,
    user: Option<TextOrFile>,
    head: bool,
    get: bool,
    insecure: bool,
    follow: Option<u32>,
    compressed: bool,
    /// `HOST:PORT:ADDRESS:PORT`, the address in brackets if it is IPv6.
    connect_to: Vec<String>,
    proxy: Option<ProxyArg>,
    timeouts: [Option<Nanos>; 2],
    pem: [Option<String>; 3],
    ip: Option<IpFamily>,
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
        match request.urls.len() {
            0 => {
                let hint = "the whole command: curl 'https://shop.example/'";
                errors.push(bad("the command has no URL", hint));
            }
            1 => {}
            many => {
                let hint = "one request; several are steps of an experiment file";
                errors.push(bad(format!("the command has {many} URLs, and a run loads one"), hint));
            }
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
        let seconds =
            |option: &str| with_flag(option, parse_duration_positive(&format!("{text}s"))).map(Some);
        match meaning {
            Meaning::Url => self.urls.push(text),
            Meaning::Method => self.method = Some(text),
            Meaning::Header => self.header(&text)?,
            Meaning::Cookie if text.contains('=') => self.set("Cookie", &text),
            Meaning::Cookie => {
                let hint = "-b 'name=value', or leave it out";
                return Err(bad(format!("-b `{text}` is a file of cookies"), hint));
            }
            Meaning::DataUrlencode => {
                let bytes = urlencoded(&text, files)?;
                self.append(&bytes, b"&");
            }
            Meaning::Form | Meaning::FormString => self.field(meaning, &text, files)?,
            Meaning::User => {
                let user = if text.contains(':') { text } else { format!("{text}:") };
                self.user = Some(credentials(&user)?);
            }
            Meaning::Bearer => self.set("Authorization", &format!("Bearer {text}")),
            Meaning::Insecure => self.insecure = true,
            Meaning::Location => self.follow = self.follow.or(Some(FOLLOW)),
            Meaning::MaxRedirs => self.follow = Some(text.parse().unwrap_or(FOLLOW)),
            Meaning::Compressed => self.compressed = true,
            Meaning::Resolve => self.resolve(&text)?,
            Meaning::ConnectTo => self.connect_to.push(text),
            Meaning::UnixSocket => self.connect_to.push(format!("unix:{text}")),
            Meaning::AbstractUnixSocket => self.connect_to.push(format!("unix:@{text}")),
            Meaning::Proxy => self.proxy = Some(with_flag("--proxy", ProxyArg::parse(&text))?),
            Meaning::UserAgent => self.set("User-Agent", &text),
            Meaning::Referer => self.set("Referer", &text),
            Meaning::Head => self.head = true,
            Meaning::Get => self.get = true,
            Meaning::MaxTime => self.timeouts[0] = seconds("--timeout")?,
            Meaning::ConnectTimeout => self.timeouts[1] = seconds("--connect-timeout")?,
            Meaning::CaCert => self.pem[0] = Some(text),
            Meaning::Cert => self.pem[1] = Some(text),
            Meaning::Key => self.pem[2] = Some(text),
            Meaning::Ipv4 => self.ip = Some(IpFamily::V4),
            Meaning::Ipv6 => self.ip = Some(IpFamily::V6),
            Meaning::Http10 => self.http10 = true,
            _ => {}
        }
        Ok(())
    }

    /// Adds a header. `X;` is an empty header, and `X:` removes one that curl would add. Headers
    /// that are computed here are left out.
    fn header(&mut self, text: &str) -> Result<(), UserError> {
        let (name, value) = match (text.split_once(':'), text.strip_suffix(';')) {
            (Some((name, value)), _) => (name.trim(), Some(value.trim()).filter(|value| !value.is_empty())),
            (None, Some(name)) => (name.trim(), Some("")),
            (None, None) => return header(text, "-H").map(drop),
        };
        let computed =
            ["content-length", "connection", "keep-alive", "proxy-connection", "transfer-encoding"];
        if let Some(value) = value.filter(|_| !computed.contains(&name.to_ascii_lowercase().as_str())) {
            self.set(name, value);
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), Secret::new(value)));
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
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

    /// Puts everything into `flags`, unless they have it already. Returns the URL.
    pub(super) fn apply(mut self, flags: &mut OverrideArgs) -> Result<String, UserError> {
        let mut url = self.urls.pop().unwrap_or_default();
        let request = &mut flags.request;
        if self.compressed && !self.has("accept-encoding") {
            self.set("Accept-Encoding", CODINGS);
        }
        let mut method = None;
        if let Some(data) = self.data.take() {
            if self.get || self.head {
                let joint = if url.contains('?') { '&' } else { '?' };
                url = format!("{url}{joint}{}", String::from_utf8_lossy(&data));
            } else {
                if !self.has("content-type") {
                    let kind = if self.is_json { "json" } else { "x-www-form-urlencoded" };
                    self.set("Content-Type", &format!("application/{kind}"));
                }
                if self.is_json && !self.has("accept") {
                    self.set("Accept", "application/json");
                }
                if !request.has_body() {
                    request.raw_body = Some(data);
                }
                method = Some("POST");
            }
        }
        if !self.form.is_empty() && !request.has_body() {
            request.form = std::mem::take(&mut self.form);
            request.multipart = true;
            method = Some("POST");
        }
        method = if self.head { Some("HEAD") } else { method };
        let method = self.method.take().or(method.map(str::to_owned));
        let message = &mut request.message;
        message.method = message.method.take().or(method);
        let typed = &message.header;
        let own = std::mem::take(&mut self.headers).into_iter();
        let own = own.filter(|(name, _)| !typed.iter().any(|header| header.is(name)));
        let own: Vec<_> = own.map(|(name, value)| HeaderArg::Line(name, value)).collect();
        message.header.splice(0..0, own);
        request.basic = request.basic.take().or(self.user.take());
        request.follow = self.follow;
        self.connect(&url, flags)?;
        Ok(url)
    }

    /// The options of connections and TLS.
    fn connect(self, url: &str, flags: &mut OverrideArgs) -> Result<(), UserError> {
        let target = url.split("${").next().unwrap_or_default();
        let target = TargetUrl::parse(target).ok();
        let connection = &mut flags.connection;
        let applies = |rule: &&String| target.as_ref().is_some_and(|url| is_about(rule, url));
        let rule = self.connect_to.iter().find(applies).map(|rule| completed(rule, target.as_ref()));
        if connection.connect_to.is_none() {
            let rule = rule.map(|rule| ConnectTo::parse(&rule)).transpose();
            connection.connect_to = with_flag("--connect-to", rule)?;
        }
        connection.proxy = connection.proxy.take().or(self.proxy);
        connection.ip = connection.ip.or(self.ip);
        connection.http = connection.http.or(self.http10.then_some(HttpVersion::Http10));
        let [timeout, connect_timeout] = self.timeouts;
        flags.load.timeout = flags.load.timeout.or(timeout);
        flags.load.connect_timeout = flags.load.connect_timeout.or(connect_timeout);
        // curl ignores the options of TLS where there is none.
        if target.is_some_and(|url| url.tls) {
            flags.tls.add(self.insecure, self.pem);
        }
        Ok(())
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
    let mut bytes = files.part("--curl: -d", Path::new(String::from_utf8_lossy(path).as_ref()))?;
    if meaning == Meaning::Data {
        bytes.retain(|byte| !b"\r\n\0".contains(byte));
    }
    Ok(bytes)
}

/// `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE` or `NAME@FILE`; the content is encoded.
fn urlencoded(text: &str, files: &mut InputFiles) -> Result<Vec<u8>, UserError> {
    let (name, content) = match text.find(['=', '@']) {
        Some(at) if text[at..].starts_with('=') => (&text[..at], text.as_bytes()[at + 1..].to_vec()),
        Some(at) => (&text[..at], files.part("--curl: --data-urlencode", Path::new(&text[at + 1..]))?),
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
