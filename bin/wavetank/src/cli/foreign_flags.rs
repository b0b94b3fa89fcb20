//! Flags of curl, wrk, ab, hey, oha, k6, vegeta and others, with the flags that replace them here.

use super::foreign_flag_table::{MORE, UNSUPPORTED};

/// Options of other tools that `run` does not have, and their replacement.
const HABITS: &[(&[&str], &str)] = &[
    (
        &["-t"],
        "wrk's -t{n:4} is --threads {n:4} (rarely needed); ab's -t {n:30} is -d {t:30s}; hey's -t {n:20} is --timeout {t:20s}; fortio, bombardier and siege's -t {d:30s} is -d {d:30s}",
    ),
    (
        &["-k"],
        "--insecure accepts any certificate (curl's -k); connections are kept alive by default (ab's -k)",
    ),
    (&["--keepalive", "--keep-alive"], "connections are kept alive by default; --no-keepalive closes them"),
    (
        &["-s", "--script"],
        "wrk's -s: an experiment file replaces scripts, wavetank new FILE writes one; ab's -s {n:30} is --timeout {t:30s}; curl's -s is --quiet",
    ),
    (
        &["-L", "--location", "--latency", "--follow"],
        "percentiles are always shown (wrk's --latency); redirects are not followed, except in an experiment file: follow: 5",
    ),
    (&["-z", "--time", "--for"], "-d {t:10s} (hey and oha's -z)"),
    (
        &["-q", "--qps", "--rps"],
        "-r {r:500/s}, for the whole run (hey's -q is for each worker); --quiet has no short form",
    ),
    (&["-R"], "-r {r:5k/s} (wrk2's -R)"),
    (&["-m", "--request"], "-X {w:POST}; h2load's -m {n:10} is --streams {n:10} with --http 2"),
    (
        &["-u", "--user", "-a", "-A"],
        "--basic user:password; another user agent is -H 'User-Agent: …'; Locust's -u {n:10} is -c {n:10}",
    ),
    (&["-T", "--content-type"], "-H 'Content-Type: …' (ab and hey's -T); wrk's -T 2s is --timeout 2s"),
    (&["-D"], "--body-file FILE (hey's -D); h2load's -D {n:10} is -d {t:10s}"),
    (&["-p"], "--body-file FILE (ab's -p); oha's -p {n:8} is --streams {n:8} with --http 2"),
    (
        &["-b", "-C", "--cookie"],
        "-H 'Cookie: {v:name=value}'; bombardier's -b {w:TEXT} is --body TEXT; ab's -b {n:4096} has no replacement",
    ),
    (
        &["--data", "--data-raw", "--data-binary", "--data-ascii", "--post-data"],
        "--body TEXT or --body-file FILE; --json TEXT sends JSON",
    ),
    (&["-F", "--multipart"], "--form name=value, or --form name=@FILE (curl's -F)"),
    (&["-e"], "--out FILE.json; k6's -e {v:NAME=VALUE} is --set {v:NAME=VALUE}"),
    (&["-w"], "--out FILE.html (ab's -w); h2load's -w {n:30} has no replacement"),
    (&["-o", "--output", "-g"], "--out FILE.json, --out FILE.txt or --format json"),
    (&["-i"], "-X HEAD (curl and ab's -i); k6's -i {n:10} is -n {n:10}"),
    (&["-I", "--head"], "-X HEAD"),
    (&["-x", "--http-proxy", "--https-proxy"], "--proxy http://HOST:PORT (curl's -x, ab's -X, hey's -x)"),
    (
        &["--proxy-user", "--proxy-auth"],
        "--proxy http://USER:PASSWORD@HOST:PORT, or --proxy @FILE with that in it",
    ),
    (
        &["--socks4", "--socks5", "--socks5-hostname", "--preproxy", "--proxytunnel"],
        "--proxy http://HOST:PORT: only HTTP proxies are supported, with a tunnel for https URLs",
    ),
    (&["--noproxy"], "without --proxy no proxy is used; environment variables are ignored"),
    (&["--haproxy-protocol", "--send-proxy"], "--proxy-protocol v1 or --proxy-protocol v2"),
    (
        &["-U", "-B", "--u_latency", "--batch_latency"],
        "both are always recorded: response time from the intended start, service time from the send",
    ),
    (&["-l"], "responses may differ in length: only status and protocol decide (ab's -l is the default)"),
    (&["-v", "--verbose"], "--once prints one request and its response with all timings"),
    (&["-S", "--silent"], "--quiet"),
    (
        &["-f"],
        "--body-file FILE; ab's -f TLS1.2 is --tls 1.2; give an experiment file without an option: wavetank run FILE",
    ),
    (&["-E", "--client-cert"], "--cert FILE, and --key FILE unless the key is in the same file (curl's -E)"),
    (&["--client-key", "--key-file"], "--key FILE"),
    (&["--ca", "--ca-cert", "--ca-file", "--capath", "--root-certs"], "--cacert FILE, certificates in PEM"),
    (&["--no-check-certificate", "--skip-tls-verify", "--insecure-skip-tls-verify"], "--insecure"),
    (&["--tlsv1", "--tlsv1.2", "--tlsv1.3", "--tls-max", "-1"], "--tls 1.2 or --tls 1.3; both when left out"),
    (&["--ciphers", "--tls13-ciphers", "--cipher"], "--tls-ciphers NAME,…"),
    (&["--curves", "--groups"], "--tls-groups X25519,…"),
    (&["--no-alpn"], "--alpn none"),
    (&["--servername", "--server-name"], "--sni NAME"),
    (
        &["--sessionid", "--no-sessionid", "--session-resumption"],
        "--tls-resume user or shared; every handshake is a full one by default",
    ),
    (
        &["--unix-socket", "--abstract-unix-socket"],
        "--connect-to unix:/run/app.sock (unix:@name is abstract), or as the URL: unix:/run/app.sock:/path",
    ),
    (&["--max-time", "--request-timeout"], "--timeout {t:30s}"),
    (
        &["--concurrency", "--workers", "--vus", "--users", "--clients", "--num-conn", "--num-conns"],
        "-c {n:50}: each connection is one virtual user",
    ),
    (&["--iterations", "--num-calls", "--calls", "--number"], "-n {n:10k}"),
    (&["--max-workers", "--max-connections"], "-c {n:64} caps the pool with -r"),
    (&["--disable-keepalive", "--no-keep-alive"], "--no-keepalive"),
    (&["--http1.0", "-0"], "--http 1.0"),
    (&["--http1.1"], "--http 1.1, which is the default"),
    (&["-4", "--ipv4"], "--ip 4"),
    (&["-6", "--ipv6"], "--ip 6"),
    (&["--interface", "--local-ips", "--laddr", "--bind"], "--source 10.0.8.0/28"),
    (&["--resolve"], "--connect-to HOST:PORT"),
    (&["--host", "--server"], "the URL names the host; the Host header alone is -H 'Host: …'"),
    (
        &["--ramp-up", "--rampup", "--spawn-rate"],
        "--stage '{t:1m}:100 users' or --stage {t:1m}:100/s ramps; --warmup {t:10s} sends load that is not judged",
    ),
    (
        &["--stages"],
        "--stage '{s:1m:100} users' or --stage {s:1m:100}/s ramps, once for each stage (k6's --stage)",
    ),
    (&["-J"], "--set NAME=VALUE sets a variable of an experiment file (JMeter's -J)"),
    (&["-rate"], "-r {r:500/s} (vegeta's -rate)"),
    (&["-duration"], "-d {t:10s} (vegeta's -duration)"),
    (
        &["-workers", "-connections", "-max-workers", "-max-connections"],
        "-c {n:64} caps the pool with -r (vegeta's -max-workers)",
    ),
    (&["-timeout"], "--timeout {t:30s} (vegeta's -timeout)"),
    (&["-method"], "-X {w:POST}"),
    (&["-header"], "-H 'Name: value' (vegeta's -header)"),
    (&["-body"], "--body-file FILE (vegeta's -body)"),
    (
        &["-targets"],
        "an experiment file has several requests as steps: wavetank new FILE (vegeta's -targets)",
    ),
    (&["-insecure"], "--insecure (vegeta's -insecure)"),
    (&["-cpus"], "--threads {n:2} (vegeta's -cpus)"),
    (
        &["--web", "--web-port", "--dashboard", "--live"],
        "--ui serves a page of the run; wavetank ui shows all runs",
    ),
    (&["--fail", "--fail-with-body"], "statuses outside --expect-status fail by default"),
    (
        &["--agents", "--agent", "--workers-hosts", "--master", "--worker", "--remote-hosts"],
        "--fleet FILE sends the load from many hosts; docs/fleet.md has the file",
    ),
    (
        &["--prometheus", "--prometheus-port", "--metrics-port", "--metrics-addr", "--prometheus-metrics"],
        "--metrics prometheus=:{p:9464} is an endpoint to scrape; --metrics prometheus-write=URL sends",
    ),
    (&["--influxdb", "--influx", "--db-url"], "--metrics influx=http://HOST:8086/DB"),
    (&["--statsd", "--statsd-host", "--datadog"], "--metrics statsd=HOST:8125"),
    (&["--otlp", "--otel", "--opentelemetry", "--otlp-endpoint"], "--metrics otlp=http://HOST:4318"),
    (&["-2", "--http2", "--h2", "--http2-prior-knowledge"], "--http 2"),
    (&["-3", "--h3", "--http3", "--http3-only"], "--http 3"),
    (
        &["--grpc", "--call", "--insecure-grpc"],
        "the URL names the method: grpc://HOST:PORT/package.Service/Method",
    ),
    (
        &["--protoset", "--import-path", "--import-paths", "--proto-include"],
        "--proto FILE takes both kinds of files, --proto-path DIR is where imports start",
    ),
    (&["--ws", "--websocket", "--websockets"], "the URL says it: wavetank run ws://HOST/PATH"),
    (&["--config"], "give an experiment file without an option: wavetank run FILE"),
];

/// Commands that people look for and this version lacks, with the nearest thing there is.
const UNSUPPORTED_COMMANDS: &[(&[&str], &str)] = &[
    (&["watch", "live", "dashboard"], "wavetank attach shows a running run, and wavetank ui a page of it"),
    (&["pause", "resume"], "wavetank set changes the load of a running run, and wavetank stop ends it"),
    (&["worker", "controller", "master"], "wavetank fleet up starts agents on load hosts"),
    (&["lint", "tune"], "wavetank doctor judges files and hosts, and changes them with --fix"),
    (&["observe"], "wavetank fleet top shows what hosts do"),
    (&["iperf", "netperf"], "wavetank net measures the network between hosts"),
    (&["import", "convert", "record"], "docs/experiments.md has the loads of other tools as experiments"),
];

/// Commands of other tools for what a command here does.
const FOREIGN_COMMANDS: &[(&[&str], &str)] = &[
    (
        &["attack", "bench", "benchmark", "exec", "fire", "go", "hit", "load", "shoot", "start", "test"],
        "wavetank run localhost:8080/ -r 500/s -d 10s; wavetank run --help",
    ),
    (&["version"], "wavetank --version"),
    (&["validate", "inspect"], "wavetank check FILE"),
    (&["history", "ls", "list"], "wavetank runs"),
    (&["diff"], "wavetank compare"),
];

/// Returns the hint for a command of another tool.
pub(super) fn hint_for_foreign_command(word: &str) -> Option<&'static str> {
    FOREIGN_COMMANDS.iter().find(|(names, _)| names.contains(&word)).map(|(_, hint)| *hint)
}

/// Whether `word` is an option of another tool with one dash and several letters, which would be
/// taken for an option of one letter with a value.
pub(super) fn is_long_with_one_dash(word: &str) -> bool {
    let bare = word.split('=').next().unwrap_or(word);
    bare.len() > 2
        && !bare.starts_with("--")
        && known().chain(UNSUPPORTED).any(|(names, _)| names.contains(&bare))
}

/// Whether the value of an option of another tool may be any text.
pub(super) fn takes_text(word: &str) -> bool {
    let of = known().find(|(names, _)| names.contains(&word));
    of.is_some_and(|(_, hint)| placeholders(hint).any(|kind| matches!(kind, "x" | "v")))
}

/// All options with a replacement.
fn known() -> impl Iterator<Item = &'static (&'static [&'static str], &'static str)> {
    HABITS.iter().chain(MORE)
}

/// Returns the hint for a command that this version lacks.
pub(super) fn hint_for_unsupported_command(word: &str) -> Option<&'static str> {
    UNSUPPORTED_COMMANDS.iter().find(|(names, _)| names.contains(&word)).map(|(_, hint)| *hint)
}

/// Returns what is not supported if an unknown option asks for it: the subject of a sentence.
pub(super) fn unsupported(option: &str) -> Option<&'static str> {
    let bare = option.split('=').next().unwrap_or(option);
    UNSUPPORTED.iter().find(|(names, _)| names.contains(&bare)).map(|(_, what)| *what)
}

/// Returns the hint for an unknown option that another tool has, with `value` in it where it fits.
pub(super) fn hint_for_foreign_flag(option: &str, value: Option<&str>) -> Option<String> {
    let bare = option.split('=').next().unwrap_or(option);
    let hint = known().find(|(names, _)| names.contains(&bare)).map(|(_, hint)| *hint)?;
    let value = value.unwrap_or_default();
    // The meanings in other tools that the value cannot have are left out.
    let fits = |meaning: &&str| placeholders(meaning).all(|kind| own_value(kind, value).is_some());
    let fitting: Vec<&str> = hint.split("; ").filter(fits).collect();
    let has_value = !value.is_empty() && !value.starts_with('-') && !fitting.is_empty();
    let hint = if has_value { fitting.join("; ") } else { hint.to_owned() };
    Some(with_value(&hint, value))
}

/// The kinds of the examples in a hint.
fn placeholders(hint: &str) -> impl Iterator<Item = &str> {
    let inside = hint.split('{').skip(1).filter_map(|part| part.split_once('}'));
    inside.filter_map(|(inside, _)| inside.split_once(':')).map(|(kind, _)| kind)
}

/// Replaces the examples of a hint, such as `{n:50}`, by the user's value. The letter says what the
/// example is.
fn with_value(hint: &str, value: &str) -> String {
    let mut text = String::new();
    let mut rest = hint;
    while let Some((before, behind)) = rest.split_once('{') {
        let (example, after) = behind.split_once('}').unwrap_or((behind, ""));
        let (kind, example) = example.split_once(':').unwrap_or(("", example));
        text += before;
        text += &own_value(kind, value).unwrap_or_else(|| example.to_owned());
        rest = after;
    }
    text + rest
}

/// Returns `value` as a hint shows it; `None` if it is of another kind. Units are not changed.
fn own_value(kind: &str, value: &str) -> Option<String> {
    let is_word = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_number = value.starts_with(|first: char| first.is_ascii_digit())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/'));
    let bare = value.split('/').next().unwrap_or(value);
    match kind {
        // A word, such as a method.
        "w" => is_word.then(|| value.to_owned()),
        // Any value that needs no quotes.
        "x" => {
            let is_plain =
                |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b',' | b':' | b'/' | b'_');
            (!value.is_empty() && value.bytes().all(is_plain)).then(|| value.to_owned())
        }
        // A name and a value.
        "v" => value.contains('=').then(|| value.to_owned()),
        // A duration with its unit; siege has them in upper case.
        "d" => {
            let digits = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            (is_number && digits.len() < value.len()).then(|| value.to_ascii_lowercase())
        }
        // A duration and a number, as k6 has them.
        "s" => {
            let (length, load) = value.split_once(':')?;
            let is_digits = !load.is_empty() && load.bytes().all(|byte| byte.is_ascii_digit());
            own_value("t", length).filter(|_| is_digits).map(|length| format!("{length}:{load}"))
        }
        // A port, alone or after an address.
        "p" => {
            let port = value.rsplit(':').next()?;
            port.parse::<u16>().is_ok().then(|| port.to_owned())
        }
        _ if !is_number => None,
        "t" if value.bytes().all(|byte| byte.is_ascii_digit()) => Some(format!("{value}s")),
        // A count such as 10k; a duration is none.
        "n" => {
            let digits = value.trim_end_matches(['k', 'M']);
            let is_count =
                digits.len() + 1 >= value.len() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_count.then(|| value.to_owned())
        }
        "t" => Some(value.to_owned()),
        _ => Some(match value.split_once('/') {
            // vegeta's `50/1m`, and ours.
            Some((_, per)) => match per.trim_start_matches('1') {
                "m" => format!("{bare}/min"),
                "" => format!("{bare}/s"),
                per => format!("{bare}/{per}"),
            },
            None => format!("{bare}/s"),
        }),
    }
}

/// Every name in the table. A test checks that none of them is an option of this program.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    known().chain(UNSUPPORTED).flat_map(|(names, _)| names.iter().copied())
}
