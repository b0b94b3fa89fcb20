//! `--curl`: commands as browsers copy them, and what cannot be done.

use wavetank_experiment::{UrlBody, UrlPart};
use wavetank_plan::{HttpVersion, RunOptions};

use super::{argv, run};
use crate::cli::{ExperimentSource, LoadSource, ParseExit, RunArgs, parse};

fn read(command: &str, more: &str) -> RunArgs {
    let place = tempfile::tempdir().expect("a folder for the test");
    let file = place.path().join("request.txt");
    std::fs::write(&file, command).expect("the folder is writable");
    run(&format!("run --curl {} {more}", file.display()))
}

fn headers(options: &RunOptions) -> Vec<(&str, &str)> {
    options.headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect()
}

/// Method, headers and body of a command that a plain run can send. Without an Accept header, that
/// of curl is expected.
#[track_caller]
fn check(command: &str, url: &str, method: Option<&str>, expected: &[(&str, &str)], body: Option<&str>) {
    let args = read(command, "");
    let LoadSource::Url(own) = &args.goal else { panic!("{command}: {:?}", args.goal) };
    assert_eq!(own.url(), url, "{command}");
    assert_eq!(args.options.method.as_deref(), method, "{command}");
    let has_accept = expected.iter().any(|(name, _)| *name == "Accept");
    let found: Vec<_> = headers(&args.options)
        .into_iter()
        .filter(|header| has_accept || *header != ("Accept", "*/*"))
        .collect();
    assert_eq!(found, expected, "{command}");
    assert_eq!(args.options.body.as_deref().map(String::from_utf8_lossy).as_deref(), body, "{command}");
}

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

#[test]
fn commands_of_browsers() {
    check(
        "curl 'http://localhost:8080/api?a=b' \\\n  -H 'Accept: */*' \\\n  -H 'Connection: keep-alive' \\\n  \
         -b 'sid=1; theme=dark' \\\n  -H 'Content-Type: application/json' \\\n  --data-raw '{\"a\":\"it'\\''s\"}' \\\n",
        "http://localhost:8080/api?a=b",
        Some("POST"),
        &[("Cookie", "sid=1; theme=dark"), ("Accept", "*/*"), ("Content-Type", "application/json")],
        Some("{\"a\":\"it's\"}"),
    );
    check(
        r"curl --compressed -X PUT -H 'Content-Type: text/plain' --data-binary $'caf\u00e9\n' http://localhost/",
        "http://localhost/",
        Some("PUT"),
        &[("Accept-Encoding", "deflate, gzip, br, zstd"), ("Content-Type", "text/plain")],
        Some("café\n"),
    );
}

#[test]
fn options_of_curl() {
    check("\u{feff}curl localhost/a", "http://localhost/a", None, &[], None);
    check("curl localhost/a", "http://localhost/a", None, &[], None);
    check("curl -sSXDELETE localhost/a", "http://localhost/a", Some("DELETE"), &[], None);
    check("curl -d a=b -d c=d localhost", "http://localhost/", Some("POST"), &[FORM], Some("a=b&c=d"));
    check("curl -G -d a=b localhost/x?y", "http://localhost/x?y&a=b", None, &[], None);
    check("curl -I --url localhost", "http://localhost/", Some("HEAD"), &[], None);
    check(
        "curl --data-urlencode 'q=a b&c' localhost",
        "http://localhost/",
        Some("POST"),
        &[FORM],
        Some("q=a+b%26c"),
    );
    check(
        "curl -A me -e http://x/ localhost -H 'X-Empty;' -H 'Accept:'",
        "http://localhost/",
        None,
        &[("User-Agent", "me"), ("Referer", "http://x/"), ("X-Empty", "")],
        None,
    );
    check("curl localhost/a", "http://localhost/a", None, &[("Accept", "*/*")], None);
    let json = [("Accept", "application/json"), ("Content-Type", "application/json")];
    check("curl --json '{}' localhost", "http://localhost/", Some("POST"), &json, Some("{}"));
    let args = read(
        "curl -k -u me:secret -m 5 -x localhost:3128 https://shop.example/ --connect-timeout 2",
        "-r 5/s",
    );
    let options = &args.options;
    assert!(options.tls.insecure && options.rate.is_some());
    assert_eq!(options.basic.as_ref().map(wavetank_plan::Secret::reveal), Some("me:secret"));
    assert!(options.proxy.is_some() && options.timeout.is_some() && options.connect_timeout.is_some());
    let args = read("curl --resolve shop.example:80:127.0.0.1 http://shop.example/", "");
    let super::TargetUrl { host, .. } = super::url(&args).clone();
    assert_eq!(host, "shop.example");
    assert_eq!(args.options.connect_point(super::url(&args)), Ok(("127.0.0.1".to_owned(), 80)));
    let args = read("curl -H 'X-A: 1' localhost -X PUT", "-H 'x-a: 2' -X POST");
    assert_eq!(
        (headers(&args.options), args.options.method.as_deref()),
        (vec![("Accept", "*/*"), ("x-a", "2")], Some("POST"))
    );
    assert!(!read("curl -k http://localhost/", "").options.tls.insecure, "curl ignores it without TLS");
}

#[test]
fn options_of_connections() {
    let goes_to = |command: &str| {
        let args = read(command, "");
        args.options.connect_point(super::url(&args)).unwrap_or_else(|error| panic!("{command}: {error}"))
    };
    let at = |host: &str, port| (host.to_owned(), port);
    assert_eq!(goes_to("curl --resolve 'a.test:81:[::1],127.0.0.1' http://a.test:81/"), at("::1", 81));
    assert_eq!(goes_to("curl --resolve a.test:81:127.0.0.1 http://a.test/"), at("a.test", 80));
    assert_eq!(
        goes_to("curl --resolve '*:80:10.0.0.1' --resolve +a.test:80:10.0.0.2 http://a.test/"),
        at("10.0.0.2", 80)
    );
    assert_eq!(goes_to("curl --connect-to '[::1]:80:[::2]:81' 'http://[::1]/'"), at("::2", 81));
    assert_eq!(goes_to("curl --connect-to ::b.test: http://a.test:81/"), at("b.test", 81));
    assert_eq!(goes_to("curl --connect-to c.test:80:b.test:82 http://a.test/"), at("a.test", 80));
    assert_eq!(goes_to("curl --unix-socket /run/a.sock http://a.test/").0, "unix:/run/a.sock");
    let version = |option: &str| read(&format!("curl {option} https://a.test/"), "").options.http;
    assert_eq!(version("--http1.1"), Some(HttpVersion::Http11));
    assert_eq!(version("--http2"), Some(HttpVersion::Http2));
    assert_eq!(version("--http3"), Some(HttpVersion::Http3));
    assert_eq!(version("--http2-prior-knowledge"), Some(HttpVersion::Http2));
    let options = read("curl -m 0 -H 'Connection: close' --no-compressed http://a/", "").options;
    assert!(options.timeout.is_none() && options.no_keepalive);
    let options = read("curl -m 1.5 -x proxy.test -U me: http://a/", "").options;
    assert_eq!(options.timeout.map(|timeout| timeout.0), Some(1_500_000_000));
    let proxy = options.proxy.expect("a proxy").url.plan(Vec::new()).expect("a user with a colon");
    assert_eq!(proxy.url, "http://proxy.test:1080");
    assert!(read("curl -x proxy.test --noproxy a.test http://b.a.test/", "").options.proxy.is_none());
}

#[test]
fn forms_redirects_and_templates_need_an_experiment() {
    let args = read("curl -L -F 'a=b' -F 'c=\"d;e\"' 'localhost/${uuid()}'", "");
    let LoadSource::File(file) = &args.goal else { panic!("{:?}", args.goal) };
    let ExperimentSource::Url { request, .. } = &file.source else { panic!("{:?}", file.source) };
    assert_eq!((request.url.as_str(), request.follow), ("localhost/${uuid()}", Some(50)));
    let text = |name: &str, text: &str| (name.to_owned(), UrlPart::text(text));
    assert_eq!(request.body, Some(UrlBody::Multipart(vec![text("a", "b"), text("c", "d;e")])));
}

#[test]
fn everything_wrong_is_reported_together() {
    let place = tempfile::tempdir().expect("a folder for the test");
    let file = place.path().join("request.txt");
    let text = "curl --digest -u a:b --ciphers X --frobnicate x -d @none.txt http://a/ http://b/";
    std::fs::write(&file, text).expect("the folder is writable");
    let Err(ParseExit::Error { error, .. }) = parse(argv(&format!("run --curl {}", file.display()))) else {
        panic!("{text} is accepted");
    };
    let all: Vec<&str> =
        std::iter::once(&error).chain(&error.others).map(|error| error.message.as_str()).collect();
    assert_eq!(all.len(), 5, "{all:#?}");
    for says in ["--digest", "--ciphers", "--frobnicate", "none.txt", "2 URLs"] {
        assert!(all.iter().any(|message| message.contains(says)), "{says}: {all:#?}");
    }
    assert!(all.iter().all(|message| message.starts_with("--curl: ")), "{all:#?}");
}

#[test]
fn each_mistake_is_reported_once() {
    let check = |text: &str, expected: &[&str]| {
        let place = tempfile::tempdir().expect("a folder for the test");
        let file = place.path().join("request.txt");
        std::fs::write(&file, text).expect("the folder is writable");
        let Err(ParseExit::Error { error, .. }) = parse(argv(&format!("run --curl {}", file.display())))
        else {
            panic!("{text} is accepted");
        };
        let all: Vec<&str> =
            std::iter::once(&error).chain(&error.others).map(|error| error.message.as_str()).collect();
        assert_eq!(all.len(), expected.len(), "{text}: {all:#?}");
        assert!(all.iter().zip(expected).all(|(message, says)| message.contains(says)), "{text}: {all:#?}");
    };
    check("curl http://a/ -T upload.bin", &["-T is not supported"]);
    check("curl http://a/ -d @none.txt", &["--curl: -d none.txt: there is no such file"]);
    check("curl http://a/ --data-urlencode a@none.txt", &["--data-urlencode none.txt"]);
    check("", &["the command has no URL"]);
    check("curl -s", &["the command has no URL"]);
    check("wget http://a/", &["the command is `wget`, not curl"]);
    check("fetch('http://a/', {})", &["the command is `fetch(http://a/,`, not curl"]);
    check("curl http://a/ --next http://b/", &["--next is not supported", "2 URLs"]);
    check("curl 'http://a/[1-3]'", &["several URLs"]);
    check("curl 'http://a/{b,c}'", &["several URLs"]);
    check("curl ftp://a/", &["does not use HTTP for `ftp://`"]);
    check("curl -H 'Host:' http://a/", &["HTTP/1.1 requires"]);
    check("curl --http2 http://a/", &["upgrade"]);
    check("curl -x socks5://a:1 http://b/", &["SOCKS"]);
    check("curl -U a:b http://b/", &["-x is not given"]);
    check("curl -F a=@one,two http://b/", &["several files"]);
    check("curl -F 'a=b;headers=X' http://b/", &["headers= is not supported"]);
    check("curl -F a=b -G http://b/", &["-F and -G"]);
    check("curl -I -d a http://b/", &["-d and -I"]);
    check("curl --resolve a:80 http://a/", &["no host, port and address"]);
    check("curl --connect-to a:80:b http://a/", &["four parts"]);
    check("curl -b none.txt http://a/", &["-b none.txt: there is no such file"]);
}
