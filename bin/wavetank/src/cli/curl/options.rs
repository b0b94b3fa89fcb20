//! The options of curl, and how its command line is taken apart.

use std::iter::Peekable;

use wavetank_units::{Code, UserError};

/// What an option of curl means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Url,
    UrlQuery,
    LiteralUrl,
    Method,
    Header,
    Cookie,
    Data,
    DataRaw,
    DataBinary,
    DataUrlencode,
    Json,
    Form,
    FormString,
    User,
    Bearer,
    Insecure,
    Location,
    MaxRedirs,
    Compressed,
    Resolve,
    ConnectTo,
    UnixSocket,
    AbstractUnixSocket,
    Proxy,
    ProxyUser,
    NoProxy,
    UserAgent,
    Referer,
    Range,
    Head,
    Get,
    MaxTime,
    ConnectTimeout,
    CaCert,
    Cert,
    Key,
    Ipv4,
    Ipv6,
    Http10,
    Http11,
    Http2,
    Http2Prior,
    Http3,
    /// Changes only what curl prints, or is the default here.
    Ignored,
    /// The same, with a value.
    IgnoredValue,
}

use Meaning::{
    AbstractUnixSocket, Bearer, CaCert, Cert, Compressed, ConnectTimeout, ConnectTo, Cookie, Data,
    DataBinary, DataRaw, DataUrlencode, Form, FormString, Get, Head, Header, Http2, Http2Prior, Http3,
    Http10, Http11, Ignored, IgnoredValue, Insecure, Ipv4, Ipv6, Json, Key, LiteralUrl, Location, MaxRedirs,
    MaxTime, Method, NoProxy, Proxy, ProxyUser, Range, Referer, Resolve, UnixSocket, Url, UrlQuery, User,
    UserAgent,
};

/// Long name, short name (or a blank), meaning.
const OPTIONS: &[(&str, char, Meaning)] = &[
    ("url", ' ', Url),
    ("url-query", ' ', UrlQuery),
    ("request", 'X', Method),
    ("header", 'H', Header),
    ("cookie", 'b', Cookie),
    ("data", 'd', Data),
    ("data-ascii", ' ', Data),
    ("data-raw", ' ', DataRaw),
    ("data-binary", ' ', DataBinary),
    ("data-urlencode", ' ', DataUrlencode),
    ("json", ' ', Json),
    ("form", 'F', Form),
    ("form-string", ' ', FormString),
    ("user", 'u', User),
    ("oauth2-bearer", ' ', Bearer),
    ("insecure", 'k', Insecure),
    ("location", 'L', Location),
    ("location-trusted", ' ', Location),
    ("max-redirs", ' ', MaxRedirs),
    ("compressed", ' ', Compressed),
    ("resolve", ' ', Resolve),
    ("connect-to", ' ', ConnectTo),
    ("unix-socket", ' ', UnixSocket),
    ("abstract-unix-socket", ' ', AbstractUnixSocket),
    ("proxy", 'x', Proxy),
    ("proxy-user", 'U', ProxyUser),
    ("proxy-basic", ' ', Ignored),
    ("noproxy", ' ', NoProxy),
    ("user-agent", 'A', UserAgent),
    ("referer", 'e', Referer),
    ("range", 'r', Range),
    ("head", 'I', Head),
    ("get", 'G', Get),
    ("max-time", 'm', MaxTime),
    ("connect-timeout", ' ', ConnectTimeout),
    ("cacert", ' ', CaCert),
    ("cert", 'E', Cert),
    ("key", ' ', Key),
    ("ipv4", '4', Ipv4),
    ("ipv6", '6', Ipv6),
    ("http1.0", '0', Http10),
    ("http1.1", ' ', Http11),
    ("http2", ' ', Http2),
    ("http2-prior-knowledge", ' ', Http2Prior),
    ("http3", ' ', Http3),
    ("http3-only", ' ', Http3),
    ("basic", ' ', Ignored),
    ("silent", 's', Ignored),
    ("show-error", 'S', Ignored),
    ("verbose", 'v', Ignored),
    ("include", 'i', Ignored),
    ("show-headers", ' ', Ignored),
    ("fail", 'f', Ignored),
    ("fail-with-body", ' ', Ignored),
    ("no-buffer", 'N', Ignored),
    ("no-progress-meter", ' ', Ignored),
    ("progress-bar", '#', Ignored),
    ("globoff", 'g', LiteralUrl),
    ("fail-early", ' ', Ignored),
    ("tcp-nodelay", ' ', Ignored),
    ("keepalive", ' ', Ignored),
    ("buffer", ' ', Ignored),
    ("progress-meter", ' ', Ignored),
    ("remote-name", 'O', Ignored),
    ("remote-header-name", 'J', Ignored),
    ("create-dirs", ' ', Ignored),
    ("styled-output", ' ', Ignored),
    ("tlsv1.2", ' ', Ignored),
    ("disable", 'q', Ignored),
    ("output", 'o', IgnoredValue),
    ("write-out", 'w', IgnoredValue),
    ("dump-header", 'D', IgnoredValue),
    ("stderr", ' ', IgnoredValue),
    ("trace", ' ', IgnoredValue),
    ("trace-ascii", ' ', IgnoredValue),
    ("keepalive-time", ' ', IgnoredValue),
];

impl Meaning {
    const fn has_value(self) -> bool {
        !matches!(
            self,
            Insecure
                | Location
                | Compressed
                | Head
                | Get
                | LiteralUrl
                | Ipv4
                | Ipv6
                | Http10
                | Http11
                | Http2
                | Http2Prior
                | Http3
                | Ignored
        )
    }
}

/// Takes a command apart: each option with its value, URLs without an option as [`Meaning::Url`].
/// Returns an error for each option that is unknown or has no value.
pub(super) fn parse(words: &[Vec<u8>]) -> (Vec<(Meaning, Vec<u8>)>, Vec<UserError>) {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    let mut words = words.iter().peekable();
    // A copied prompt, and the name of the program.
    words.next_if(|word| word.as_slice() == b"$");
    words.next_if(|word| is_curl(word));
    while let Some(word) = words.next() {
        let text = String::from_utf8_lossy(word);
        if let Some(name) = text.strip_prefix("--").filter(|name| !name.is_empty()) {
            match OPTIONS.iter().find(|(long, ..)| *long == name) {
                Some((.., meaning)) if meaning.has_value() => match words.next() {
                    Some(value) => found.push((*meaning, value.clone())),
                    None => errors.push(no_value(&text)),
                },
                Some((.., meaning)) => found.push((*meaning, Vec::new())),
                None if turned_off(name).is_some() => {
                    found.retain(|(other, _)| Some(*other) != turned_off(name));
                }
                None => {
                    // The value of an option that is not known, too.
                    words.next_if(|next| !next.starts_with(b"-") && !is_url(next));
                    errors.push(unknown(&text));
                }
            }
        } else if text.starts_with('-') && text.len() > 1 {
            shorts(&word[1..], &mut words, &mut found, &mut errors);
        } else if text != "--" {
            found.push((Url, word.clone()));
        }
    }
    (found, errors)
}

/// `--no-NAME` turns an option without a value off.
fn turned_off(name: &str) -> Option<Meaning> {
    let name = name.strip_prefix("no-")?;
    let (.., meaning) = OPTIONS.iter().find(|(long, ..)| *long == name)?;
    (!meaning.has_value()).then_some(*meaning)
}

fn is_curl(word: &[u8]) -> bool {
    let name = word.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or_default();
    name.eq_ignore_ascii_case(b"curl") || name.eq_ignore_ascii_case(b"curl.exe")
}

/// Refuses the command of another program. A command may begin with its first option or its URL.
pub(super) fn check_program(words: &[Vec<u8>]) -> Result<(), UserError> {
    let first = words.iter().find(|word| word.as_slice() != b"$");
    let first = first.filter(|word| !is_curl(word)).map(|word| String::from_utf8_lossy(word));
    let is_url = |word: &str| word.contains([':', '/', '.']) && !word.contains('(');
    match first {
        Some(other) if !other.starts_with('-') && !is_url(&other) => {
            let message = format!("--curl: the command is `{other}`, not curl");
            let hint = "in the developer tools: Copy as cURL; a saved command begins with curl";
            Err(UserError::usage(Code::BadCurl, message, hint))
        }
        _ => Ok(()),
    }
}

/// Several options of one letter in one word; the last may have its value there, or in the next.
fn shorts<'w>(
    letters: &[u8],
    words: &mut Peekable<impl Iterator<Item = &'w Vec<u8>>>,
    found: &mut Vec<(Meaning, Vec<u8>)>,
    errors: &mut Vec<UserError>,
) {
    for (at, letter) in letters.iter().enumerate() {
        let known = OPTIONS.iter().find(|(_, short, _)| *short != ' ' && *short == char::from(*letter));
        let name = format!("-{}", char::from(*letter));
        let Some((.., meaning)) = known else {
            // The value of an option that is not known, too.
            let is_alone = at + 1 == letters.len();
            words.next_if(|next| is_alone && !next.starts_with(b"-") && !is_url(next));
            errors.push(unknown(&name));
            return;
        };
        if !meaning.has_value() {
            found.push((*meaning, Vec::new()));
            continue;
        }
        let rest = &letters[at + 1..];
        let value = if rest.is_empty() { words.next().cloned() } else { Some(rest.to_vec()) };
        match value {
            Some(value) => found.push((*meaning, value)),
            None => errors.push(no_value(&name)),
        }
        return;
    }
}

fn is_url(word: &[u8]) -> bool {
    word.starts_with(b"http://") || word.starts_with(b"https://")
}

fn no_value(name: &str) -> UserError {
    UserError::usage(Code::BadCurl, format!("--curl: {name} has no value"), "give the whole command")
}

fn unknown(name: &str) -> UserError {
    let hint = match name {
        "--digest" | "--ntlm" | "--negotiate" | "--anyauth" => {
            "an experiment file has auth: digest USER:PASSWORD; leave it out for none"
        }
        "--cookie-jar" | "-c" => "leave it out: only a Cookie header is sent; a file has cookies: true",
        "--upload-file" | "-T" => "--body-file FILE -X PUT of wavetank, in addition to --curl",
        "--socks4" | "--socks4a" | "--socks5" | "--socks5-hostname" | "--preproxy" => {
            "only HTTP proxies are supported: -x http://HOST:PORT"
        }
        "--proxytunnel" | "-p" => "leave it out: https:// URLs are tunnelled, http:// ones are not",
        "--proxy-header" => "-U USER:PASSWORD is the only header for a proxy",
        "--next" | "-:" => "give one request; several are steps of an experiment file",
        "--config" | "-K" => "write the options of that file into the command",
        "--netrc" | "-n" | "--netrc-file" => "-u USER:PASSWORD in the command",
        "--retry" | "--retry-delay" | "--retry-max-time" | "--retry-all-errors" | "--retry-connrefused" => {
            "leave it out: a failed request is counted, and not sent again"
        }
        "--tlsv1.3" | "--tls-max" | "-1" | "--tlsv1" => {
            "--tls 1.2 or --tls 1.3 of wavetank, in addition to --curl"
        }
        "--ciphers" | "--tls13-ciphers" => "--tls-ciphers NAME,… of wavetank, in addition to --curl",
        "--curves" => "--tls-groups NAME,… of wavetank, in addition to --curl",
        "--no-alpn" => "--alpn none of wavetank, in addition to --curl",
        "--interface" | "--local-port" => "--source ADDRESS of wavetank, in addition to --curl",
        "--haproxy-protocol" => "--proxy-protocol v1 of wavetank, in addition to --curl",
        "--limit-rate" | "--rate" => "leave it out: -r sets the rate of requests",
        "--parallel" | "-Z" | "--parallel-max" => "leave it out: -c sets the number of connections",
        _ => "leave it out of the command",
    };
    UserError::usage(Code::BadCurl, format!("--curl: curl's option {name} is not supported"), hint)
}
