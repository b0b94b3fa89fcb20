//! [`OutputSpec`]: a value of `--metrics`.

use std::path::PathBuf;

use url::Url;
use wavetank_plan::Secret;
use wavetank_plan::redact::REDACTED;
use wavetank_units::{Code, UserError};

/// Where metrics go, as given: `KIND=WHERE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputSpec {
    /// A scrape endpoint for Prometheus on this host and port.
    Prometheus {
        /// Name or address to listen on.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// Remote write of Prometheus, version 1.0.
    PrometheusWrite(HttpReceiver),
    /// OTLP over HTTP, in JSON.
    Otlp(HttpReceiver),
    /// OTLP over HTTP, in protobuf.
    OtlpProto(HttpReceiver),
    /// Line protocol of InfluxDB over HTTP.
    Influx(HttpReceiver),
    /// Line protocol of InfluxDB in datagrams.
    InfluxUdp(UdpReceiver),
    /// StatsD.
    Statsd(UdpReceiver),
    /// JSON lines in a file.
    JsonFile(PathBuf),
    /// JSON lines on stdout.
    JsonStdout,
}

/// A receiver over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpReceiver {
    /// The full URL, without user and password.
    pub url: Url,
    /// User and password of the URL.
    pub credentials: Option<(Secret, Secret)>,
}

/// A receiver of datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdpReceiver {
    /// Name or address.
    pub host: String,
    /// UDP port.
    pub port: u16,
}

/// What every error about the value says how to do.
const FORMS: &str = "use prometheus=:9464, prometheus-write=URL, otlp=URL, otlp-proto=URL, influx=URL, influx=udp://HOST:PORT, statsd=HOST:PORT, json=FILE or json=-";

impl OutputSpec {
    /// Reads `KIND=WHERE`.
    ///
    /// # Errors
    /// `metrics_output` for an unknown kind, an address or a URL that cannot be used. No message
    /// has the password of a URL.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let Some((kind, place)) = text.split_once('=') else {
            let port = text.rsplit(':').next().filter(|port| port.parse::<u16>().is_ok());
            let hint =
                port.map(|port| format!("prometheus=:{port} is an endpoint to scrape; otherwise {FORMS}"));
            return Err(wrong(text, "has no KIND=", hint.as_deref().unwrap_or(FORMS)));
        };
        if place.is_empty() {
            return Err(wrong(text, "names no receiver", FORMS));
        }
        let http = |path| http(kind, place, path);
        match kind {
            "prometheus" => {
                let (host, port) = host_port(text, place)?;
                let host = if host.is_empty() { "127.0.0.1".to_owned() } else { host };
                Ok(Self::Prometheus { host, port })
            }
            "prometheus-write" => Ok(Self::PrometheusWrite(http("/api/v1/write")?)),
            "otlp" => Ok(Self::Otlp(http("/v1/metrics")?)),
            "otlp-proto" => Ok(Self::OtlpProto(http("/v1/metrics")?)),
            "influx" => match place.strip_prefix("udp://") {
                Some(place) => Ok(Self::InfluxUdp(udp(text, place.trim_end_matches('/'))?)),
                None => influx(&redact_output(text), http("")?),
            },
            "statsd" => Ok(Self::Statsd(udp(text, place.strip_prefix("udp://").unwrap_or(place))?)),
            "json" if place == "-" => Ok(Self::JsonStdout),
            "json" => Ok(Self::JsonFile(PathBuf::from(place))),
            _ => Err(wrong(text, "is an unknown kind of output", FORMS)),
        }
    }

    /// Its name in messages and in the label `output`, without secrets and query.
    pub fn label(&self) -> String {
        match self {
            Self::Prometheus { host, port } => format!("prometheus {}", joined(host, *port)),
            Self::PrometheusWrite(receiver) => format!("prometheus-write {}", receiver.place()),
            Self::Otlp(receiver) => format!("otlp {}", receiver.place()),
            Self::OtlpProto(receiver) => format!("otlp-proto {}", receiver.place()),
            Self::Influx(receiver) => format!("influx {}", receiver.place()),
            Self::InfluxUdp(UdpReceiver { host, port }) => format!("influx udp://{}", joined(host, *port)),
            Self::Statsd(UdpReceiver { host, port }) => format!("statsd {}", joined(host, *port)),
            Self::JsonFile(path) => format!("json {}", path.display()),
            Self::JsonStdout => "json -".to_owned(),
        }
    }

    /// Whether it writes to stdout.
    pub const fn uses_stdout(&self) -> bool {
        matches!(self, Self::JsonStdout)
    }
}

impl HttpReceiver {
    /// The URL without its query, which may hold a password.
    fn place(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.to_string()
    }
}

/// `KIND=WHERE` as it may be shown and stored: without a password, and without the values of a
/// query that may be one.
pub fn redact_output(text: &str) -> String {
    let Some((kind, place)) = text.split_once('=') else { return text.to_owned() };
    let Some((scheme, rest)) = place.split_once("://") else { return text.to_owned() };
    // A password with an unescaped delimiter in it is hidden as well.
    let rest = rest.rfind('@').map_or_else(|| rest.to_owned(), |at| format!("{REDACTED}{}", &rest[at..]));
    let (rest, query) = rest.split_once('?').map_or((&*rest, None), |(rest, query)| (rest, Some(query)));
    let shown = |pair: &str| match pair.split_once('=') {
        Some((name @ ("db" | "bucket" | "org" | "orgID" | "rp" | "precision"), value)) => {
            format!("{name}={value}")
        }
        Some((name, _)) => format!("{name}={REDACTED}"),
        None => REDACTED.to_owned(),
    };
    let query = query.map(|query| query.split('&').map(shown).collect::<Vec<_>>().join("&"));
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    format!("{kind}={scheme}://{rest}{query}")
}

fn wrong(text: &str, what: &str, hint: &str) -> UserError {
    UserError::usage(Code::MetricsOutput, format!("`{}` {what}", redact_output(text)), hint)
}

/// Reads `HOST:PORT`, `[ADDRESS]:PORT`, `:PORT` or `PORT`.
fn host_port(text: &str, place: &str) -> Result<(String, u16), UserError> {
    let (host, port) = place.rsplit_once(':').unwrap_or(("", place));
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_ambiguous = bare.is_none() && host.contains(':');
    let is_host = !host.contains(['/', '@', '?', ' ']) && !is_ambiguous;
    match port.parse() {
        Ok(port) if is_host && port > 0 => Ok((bare.unwrap_or(host).to_owned(), port)),
        _ => Err(wrong(
            text,
            "has no HOST:PORT",
            "for example prometheus=127.0.0.1:9464, or statsd=[::1]:8125",
        )),
    }
}

fn udp(text: &str, place: &str) -> Result<UdpReceiver, UserError> {
    match host_port(text, place)? {
        (host, _) if host.is_empty() => {
            Err(wrong(text, "names no host", "for example statsd=127.0.0.1:8125"))
        }
        (host, port) => Ok(UdpReceiver { host, port }),
    }
}

/// Reads a URL. `path` replaces an empty one.
fn http(kind: &str, place: &str, path: &str) -> Result<HttpReceiver, UserError> {
    let text = format!("{kind}={place}");
    let hint = format!("for example {kind}=http://127.0.0.1:9090{path}");
    let mut url = Url::parse(place).map_err(|error| wrong(&text, &format!("is no URL: {error}"), &hint))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong(&text, "is no http or https URL", &hint));
    }
    if url.fragment().is_some() {
        return Err(wrong(&text, "has a fragment (#), which is not sent", &hint));
    }
    let plain = |part: &str| {
        let parts = url::form_urlencoded::parse(format!("x={}", part.replace('+', "%2B")).as_bytes())
            .map(|(_, value)| value.into_owned())
            .collect::<Vec<_>>();
        Secret::new(parts.concat())
    };
    let has_user = !url.username().is_empty() || url.password().is_some();
    let credentials = has_user.then(|| (plain(url.username()), plain(url.password().unwrap_or_default())));
    // These fail only for URLs that have no host.
    let _ = (url.set_username(""), url.set_password(None));
    if url.path() == "/" && !path.is_empty() {
        url.set_path(path);
    }
    Ok(HttpReceiver { url, credentials })
}

/// The write endpoint of InfluxDB: `…/DB` and `?db=` are version 1, `?bucket=` is version 2, and a
/// path that ends in `/write` is used as it is.
fn influx(shown: &str, receiver: HttpReceiver) -> Result<OutputSpec, UserError> {
    let mut url = receiver.url;
    let has = |name: &str| url.query_pairs().any(|(key, value)| key == name && !value.is_empty());
    let (db, bucket) = (has("db"), has("bucket"));
    let path = url.path().trim_matches('/').to_owned();
    if path.ends_with("write") {
        return Ok(OutputSpec::Influx(HttpReceiver { url, credentials: receiver.credentials }));
    }
    if path.is_empty() && bucket {
        url.set_path("/api/v2/write");
    } else if path.is_empty() && db {
        url.set_path("/write");
    } else if !path.is_empty() && !path.contains('/') && !db && !bucket {
        url.set_path("/write");
        // The path is percent-encoded, and so is the value of a query.
        let query = url.query().map_or_else(String::new, |query| format!("&{query}"));
        url.set_query(Some(&format!("db={path}{query}")));
    } else {
        return Err(UserError::usage(
            Code::MetricsOutput,
            format!("`{shown}` names no database"),
            "influx=http://HOST:8086/DB, or influx='http://HOST:8086?org=ORG&bucket=BUCKET' for version 2",
        ));
    }
    Ok(OutputSpec::Influx(HttpReceiver { url, credentials: receiver.credentials }))
}

fn joined(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
