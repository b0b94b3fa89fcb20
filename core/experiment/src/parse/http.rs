//! `http`, `tls`, headers, auth.

use wavetank_grammar::{Node, Span, Spanned};
use wavetank_plan::{
    Close, ConnectTo, DnsPolicy, HttpVersion, IpFamily, ProxyProtocol, StatusSet, TlsResume, TlsVersions,
};
use wavetank_units::Code;

use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{Auth, Header, Http, Part, Template, TlsSettings};

impl Parser<'_> {
    /// `http:`.
    pub(super) fn http(&mut self, node: &Node) -> Option<Http> {
        let mut keys = Keys::open(self, node, MapName::Http)?;
        let versions = [
            ("1.1", HttpVersion::Http11),
            ("1.0", HttpVersion::Http10),
            ("2", HttpVersion::Http2),
            ("3", HttpVersion::Http3),
        ];
        let http = Http {
            version: keys
                .take("version")
                .and_then(|node| self.one_of(node, "version of HTTP here", &versions)),
            timeout: keys.take("timeout").and_then(|node| self.duration_positive(node)),
            connect_timeout: keys.take("connect_timeout").and_then(|node| self.duration_positive(node)),
            keepalive: keys.take("keepalive").and_then(|node| self.bool(node)),
            headers: keys.take("headers").map(|node| self.headers(node)).unwrap_or_default(),
            no_user_agent: false,
            auth: keys.take("auth").and_then(|node| self.auth(node)),
            cookies: keys.take("cookies").and_then(|node| self.bool(node)),
            follow: keys.take("follow").and_then(|node| self.redirects(node)),
            expect: keys
                .take("expect")
                .and_then(|node| self.quantity(node, "statuses", StatusSet::parse))
                .map(|set| set.value),
            proxy: keys.take("proxy").and_then(|node| self.proxy(node)),
            proxy_protocol: keys.take("proxy_protocol").and_then(|node| {
                self.one_of(node, "PROXY protocol", &[("v1", ProxyProtocol::V1), ("v2", ProxyProtocol::V2)])
            }),
            close: keys.take("close").and_then(|node| {
                self.one_of(node, "way to close", &[("fin", Close::Fin), ("rst", Close::Rst)])
            }),
            pipeline: keys
                .take("pipeline")
                .and_then(|node| self.count_positive(node).and_then(|_| self.small_count(node))),
            streams: keys
                .take("streams")
                .and_then(|node| self.count_positive(node).and_then(|_| self.small_count(node))),
            requests_per_connection: keys
                .take("requests_per_connection")
                .and_then(|node| self.count_positive(node))
                .map(|count| count.value),
            dns: keys.take("dns").and_then(|node| self.dns(node)),
            ip: keys.take("ip").and_then(|node| {
                self.one_of(node, "version of IP", &[("4", IpFamily::V4), ("6", IpFamily::V6)])
            }),
            connect_to: self.connect_to(keys.take("connect_to")),
            ping: keys.take("ping").and_then(|node| self.duration_positive(node)),
            body_max: keys.take("body_max").and_then(|node| self.size(node)).map(|size| size.value),
            tls: keys.take("tls").and_then(|node| self.tls(node)),
        };
        keys.finish();
        self.timeouts(&http);
        self.one_a_connection(&http, node.place);
        Some(http)
    }

    fn timeouts(&mut self, http: &Http) {
        if let (Some(whole), Some(connect)) = (&http.timeout, &http.connect_timeout)
            && connect.value > whole.value
        {
            let message = format!("connect_timeout {} is longer than timeout {}", connect.value, whole.value);
            self.fail::<()>(
                Code::TimeoutOrder,
                connect.place,
                message,
                "make it shorter: timeout includes it",
            );
        }
    }

    fn one_a_connection(&mut self, http: &Http, place: Span) {
        if http.keepalive == Some(false) && http.requests_per_connection.is_some_and(|count| count > 1) {
            let message = "keepalive: false excludes several requests per connection";
            self.fail::<()>(Code::OptionConflict, place, message, "keep one of the two");
        }
        let streams = http.streams.is_some_and(|streams| streams > 1);
        if http.keepalive == Some(false) && streams {
            let message = "keepalive: false excludes several streams";
            self.fail::<()>(Code::OptionConflict, place, message, "keep one of the two");
        }
        if http.keepalive == Some(false) && http.pipeline.is_some_and(|depth| depth > 1) {
            self.fail::<()>(
                Code::OptionConflict,
                place,
                "keepalive: false excludes a pipeline",
                "keep one of the two",
            );
        }
    }

    fn connect_to(&mut self, node: Option<&Node>) -> Vec<ConnectTo> {
        let Some(node) = node else { return Vec::new() };
        self.each(node, |reader, item| {
            reader.quantity(item, "where to connect to", ConnectTo::parse).map(|to| to.value)
        })
    }

    fn dns(&mut self, node: &Node) -> Option<DnsPolicy> {
        let word = self.text(node, "when names are resolved")?;
        match word.value.as_str() {
            "once" => Some(DnsPolicy::Once),
            "each_session" => Some(DnsPolicy::EachSession),
            text if text.starts_with(|c: char| c.is_ascii_digit()) => {
                self.quantity(node, "a duration", DnsPolicy::parse).map(|every| every.value)
            }
            other => {
                let message = format!("`{other}` is not a DNS policy");
                self.fail(Code::WordUnknown, word.place, message, "once, each_session, or a time: 30s")
            }
        }
    }

    /// `tls:`.
    pub(super) fn tls(&mut self, node: &Node) -> Option<TlsSettings> {
        let mut keys = Keys::open(self, node, MapName::Tls)?;
        let resumes = [("never", TlsResume::Never), ("user", TlsResume::User), ("shared", TlsResume::Shared)];
        let versions = [("1.3", TlsVersions::Tls13), ("1.2", TlsVersions::Tls12)];
        let list = |reader: &mut Self, keys: &mut Keys<'_>, key| {
            let texts = keys.take(key).map(|node| reader.texts(node, "a name of TLS"));
            texts.map(|texts| texts.into_iter().map(|text| text.value).collect::<Vec<_>>())
        };
        let tls = TlsSettings {
            groups: list(self, &mut keys, "groups").unwrap_or_default(),
            ciphers: list(self, &mut keys, "ciphers").unwrap_or_default(),
            alpn: list(self, &mut keys, "alpn"),
            verify: keys.take("verify").and_then(|node| self.bool(node)),
            ca: keys.take("ca").and_then(|node| self.file_name(node)),
            cert: keys.take("cert").and_then(|node| self.file_name(node)),
            key: keys.take("key").and_then(|node| self.file_name(node)),
            sni: keys.take("sni").and_then(|node| self.text(node, "a name")).map(|sni| sni.value),
            resume: keys.take("resume").and_then(|node| self.one_of(node, "way to resume", &resumes)),
            version: keys.take("version").and_then(|node| self.one_of(node, "version of TLS", &versions)),
        };
        keys.finish();
        if let (Some(key), None) = (&tls.key, &tls.cert) {
            return self.fail(
                Code::OptionConflict,
                key.place,
                "a key without its certificate",
                "add cert: FILE",
            );
        }
        Some(tls)
    }

    /// `headers:`.
    pub(super) fn headers(&mut self, node: &Node) -> Vec<Header> {
        let entries = self.entries(node, "headers");
        let mut all = Vec::new();
        for entry in entries {
            let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if entry.key.is_empty() || !entry.key.chars().all(token) {
                let message = format!("`{}` is not a header name", entry.key);
                self.fail::<()>(Code::BadHeader, entry.place, message, "letters, digits and -: x-request-id");
                continue;
            }
            let managed = ["content-length", "transfer-encoding", "connection"];
            if managed.iter().any(|name| entry.key.eq_ignore_ascii_case(name)) {
                let hint = "use raw: to send literal bytes, or http: {keepalive: false} to close connections";
                let message = format!("`{}` is written by Wavetank itself", entry.key);
                self.fail::<()>(Code::BadHeader, entry.place, message, hint);
                continue;
            }
            let Some(value) = self.template(&entry.value, "a header's value") else { continue };
            let broken = |part: &Part| matches!(part, Part::Text(text) if text.contains(['\r', '\n', '\0']));
            if value.parts.iter().any(broken) {
                let message = format!("the value of `{}` spans several lines", entry.key);
                self.fail::<()>(Code::BadHeader, entry.value.place, message, "a header is one line");
                continue;
            }
            all.push(Header { name: Spanned::new(entry.key.clone(), entry.place), value });
        }
        all
    }

    /// `auth:`.
    pub(super) fn auth(&mut self, node: &Node) -> Option<Auth> {
        const SHAPES: &str = "basic USER:PASSWORD, digest USER:PASSWORD, bearer TOKEN, none";
        let scalar = self.scalar(node, "auth")?;
        let (kind, rest) = scalar.text.split_once(' ').unwrap_or((scalar.text.as_str(), ""));
        let rest = rest.trim();
        if kind == "none" && rest.is_empty() {
            return Some(Auth::None);
        }
        if !["basic", "digest", "bearer"].contains(&kind) || rest.is_empty() {
            let message = format!("`{kind}` needs credentials");
            return self.fail(Code::BadAuth, node.place, message, SHAPES);
        }
        if kind == "bearer" {
            return self.template_text(rest, node.place).map(Auth::Bearer);
        }
        let Some((user, password)) = user_and_password(rest) else {
            let message = format!("{kind} needs a user and a password");
            return self.fail(
                Code::BadAuth,
                node.place,
                message,
                format!("auth: {kind} USER:${{secret:PASSWORD}}"),
            );
        };
        let user = self.template_text(user, node.place)?;
        let password = self.template_text(password, node.place)?;
        if password.as_fixed().is_some_and(|password| !password.is_empty()) {
            self.out.push(wavetank_grammar::Diagnostic::warning(
                Code::PasswordWritten,
                node.place,
                "the file contains a password",
                format!("auth: {kind} USER:${{secret:PASSWORD}}"),
            ));
        }
        Some(if kind == "basic" { Auth::Basic(user, password) } else { Auth::Digest(user, password) })
    }

    /// A file's name.
    pub(super) fn file_name(&mut self, node: &Node) -> Option<Spanned<String>> {
        let name = self.text(node, "a file's name")?;
        if let Some(bare) = name.value.strip_prefix('@') {
            let bare = bare.to_owned();
            return self.fail(
                Code::AtSign,
                name.place,
                format!("`{}` begins with @", name.value),
                format!("no @ needed: {bare}"),
            );
        }
        if name.value.is_empty() || name.value.contains('\0') {
            return self.fail(
                Code::BadFileName,
                name.place,
                "this is not a file name",
                "for example body.json",
            );
        }
        Some(name)
    }
}

/// Splits at the first colon outside `${…}`, which may contain colons.
pub(super) fn user_and_password(text: &str) -> Option<(&str, &str)> {
    let mut braces = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            ':' if braces == 0 => {
                return Some((&text[..at], &text[at + 1..])).filter(|(user, _)| !user.is_empty());
            }
            _ => {}
        }
    }
    None
}

/// Whether the template starts with one of the prefixes, or with a hole, which may contain one.
pub(super) fn starts_with(template: &Template, prefixes: &[&str]) -> bool {
    match template.parts.first() {
        Some(Part::Text(text)) => prefixes.iter().any(|prefix| text.starts_with(prefix)),
        Some(_) => true,
        None => false,
    }
}
