//! Flags of curl, wrk, ab, hey, oha, k6 and vegeta, with the flags that replace them here.

/// Options of other tools that `run` does not have, and their replacement.
const HABITS: &[(&[&str], &str)] = &[
    (&["-t"], "wrk's -t4 is --threads 4 (rarely needed); ab's -t 30 is -d 30s; hey's -t 20 is --timeout 20s"),
    (
        &["-k"],
        "--insecure accepts any certificate (curl's -k); connections are kept alive by default (ab's -k)",
    ),
    (&["--keepalive", "--keep-alive"], "connections are kept alive by default; --no-keepalive closes them"),
    (
        &["-s", "--script"],
        "wrk's -s: an experiment file replaces scripts, wavetank new FILE writes one; ab's -s 30 is --timeout 30s; curl's -s is --quiet",
    ),
    (
        &["-L", "--location", "--latency", "--follow"],
        "percentiles are always shown (wrk's --latency); redirects are not followed, except in an experiment file: follow: 5",
    ),
    (&["-z", "--time", "--for"], "-d 10s (hey and oha's -z)"),
    (
        &["-q", "--qps", "--rps"],
        "-r 500/s, for the whole run (hey's -q is for each worker); --quiet has no short form",
    ),
    (&["-R"], "-r 5k/s (wrk2's -R)"),
    (&["-m", "--request"], "-X POST"),
    (&["-u", "--user", "-a", "-A"], "--basic user:password; another user agent is -H 'User-Agent: …'"),
    (&["-T", "--content-type"], "-H 'Content-Type: …' (ab and hey's -T); wrk's -T 2s is --timeout 2s"),
    (&["-D", "-p"], "--body-file FILE (ab's -p, hey's -D)"),
    (&["-b", "-C", "--cookie"], "-H 'Cookie: name=value'"),
    (
        &["--data", "--data-raw", "--data-binary", "--data-ascii", "--post-data"],
        "--body TEXT or --body-file FILE; --json TEXT sends JSON",
    ),
    (&["-F", "--multipart"], "--form name=value, or --form name=@FILE (curl's -F)"),
    (&["-o", "--output", "-e", "-g", "-w"], "--out FILE.json, --out FILE.txt or --format json"),
    (&["-i", "-I", "--head"], "-X HEAD"),
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
    (&["--max-time", "--request-timeout"], "--timeout 30s"),
    (
        &["--concurrency", "--workers", "--vus", "--users", "--clients", "--num-conn", "--num-conns"],
        "-c 50: each connection is one virtual user",
    ),
    (&["--iterations", "--num-calls", "--number"], "-n 10k"),
    (&["--max-workers", "--max-connections"], "-c N caps the pool with -r"),
    (&["--disable-keepalive", "--no-keep-alive"], "--no-keepalive"),
    (&["--http1.0", "-0"], "--http 1.0"),
    (&["--http1.1"], "--http 1.1, which is the default"),
    (&["-4", "--ipv4"], "--ip 4"),
    (&["-6", "--ipv6"], "--ip 6"),
    (&["--interface", "--local-ips", "--laddr", "--bind"], "--source 10.0.8.0/28"),
    (&["--resolve"], "--connect-to HOST:PORT"),
    (&["--host", "--server"], "the URL names the host; the Host header alone is -H 'Host: …'"),
    (
        &["--ramp-up", "--rampup", "--stages", "--spawn-rate"],
        "--stage '1m:100 users' or --stage 1m:100/s ramps; --warmup 10s sends load that is not judged",
    ),
    (&["--fail", "--fail-with-body"], "statuses outside --expect-status fail by default"),
    (
        &["--agents", "--agent", "--workers-hosts", "--master", "--worker", "--remote-hosts"],
        "--fleet FILE sends the load from many hosts; docs/fleet.md has the file",
    ),
    (
        &["--prometheus", "--prometheus-port", "--metrics-port", "--metrics-addr", "--prometheus-metrics"],
        "--metrics prometheus=:9464 is an endpoint to scrape; --metrics prometheus-write=URL sends",
    ),
    (&["--influxdb", "--influx", "--db-url"], "--metrics influx=http://HOST:8086/DB"),
    (&["--statsd", "--statsd-host", "--datadog"], "--metrics statsd=HOST:8125"),
    (&["--otlp", "--otel", "--opentelemetry", "--otlp-endpoint"], "--metrics otlp=http://HOST:4318"),
    (&["-2", "--http2", "--h2", "--http2-prior-knowledge"], "--http 2"),
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

/// What is not supported, by the options that other tools have for it. No other option helps.
const UNSUPPORTED: &[(&[&str], &str)] = &[
    (&["--sse", "--eventsource"], "server-sent events are"),
    (&["-3", "--http3", "--h3"], "HTTP/3 is"),
    (&["--web", "--web-port", "--dashboard", "--live"], "a live web page is"),
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

/// Returns the hint for a command that this version lacks.
pub(super) fn hint_for_unsupported_command(word: &str) -> Option<&'static str> {
    UNSUPPORTED_COMMANDS.iter().find(|(names, _)| names.contains(&word)).map(|(_, hint)| *hint)
}

/// Returns what is not supported if an unknown option asks for it: the subject of a sentence.
pub(super) fn unsupported(option: &str) -> Option<&'static str> {
    let bare = option.split('=').next().unwrap_or(option);
    UNSUPPORTED.iter().find(|(names, _)| names.contains(&bare)).map(|(_, what)| *what)
}

/// Returns the hint for an unknown option that another tool has. Numbers in it are those of
/// `value`, if that is one.
pub(super) fn hint_for_foreign_flag(option: &str, value: Option<&str>) -> Option<String> {
    let bare = option.split('=').next().unwrap_or(option);
    let hint = HABITS.iter().find(|(names, _)| names.contains(&bare)).map(|(_, hint)| *hint)?;
    let number = value.filter(|value| value.starts_with(|first: char| first.is_ascii_digit()));
    Some(match number {
        Some(number) => with_number(hint, number),
        None => hint.to_owned(),
    })
}

/// Puts the user's number in place of the first one of these, without changing its unit.
fn with_number(hint: &str, number: &str) -> String {
    let bare = number.split('/').next().unwrap_or(number);
    let is_bare = number.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = if is_bare { format!("{number}s") } else { number.to_owned() };
    for (example, own) in [
        ("-c 50", format!("-c {number}")),
        ("-n 10k", format!("-n {number}")),
        ("-r 500/s", format!("-r {bare}/s")),
        ("-r 5k/s", format!("-r {bare}/s")),
        ("-d 10s", format!("-d {seconds}")),
        ("--timeout 30s", format!("--timeout {seconds}")),
    ] {
        if hint.starts_with(example) {
            return hint.replacen(example, &own, 1);
        }
    }
    hint.to_owned()
}

/// Every name in the table. A test checks that none of them is an option of this program.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    HABITS.iter().chain(UNSUPPORTED).flat_map(|(names, _)| names.iter().copied())
}
