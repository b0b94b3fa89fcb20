//! `--curl`: commands as browsers copy them, and what cannot be done.

use wavetank_experiment::{UrlBody, UrlPart};
use wavetank_plan::RunOptions;

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

/// Method, headers and body of a command that a plain run can send.
#[track_caller]
fn check(command: &str, url: &str, method: Option<&str>, expected: &[(&str, &str)], body: Option<&str>) {
    let args = read(command, "");
    let LoadSource::Url(own) = &args.goal else { panic!("{command}: {:?}", args.goal) };
    assert_eq!(own.url(), url, "{command}");
    assert_eq!(args.options.method.as_deref(), method, "{command}");
    assert_eq!(headers(&args.options), expected, "{command}");
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
        &[("Accept", "*/*"), ("Cookie", "sid=1; theme=dark"), ("Content-Type", "application/json")],
        Some("{\"a\":\"it's\"}"),
    );
    check(
        r"curl --compressed -X PUT -H 'Content-Type: text/plain' --data-binary $'caf\u00e9\n' http://localhost/",
        "http://localhost/",
        Some("PUT"),
        &[("Content-Type", "text/plain"), ("Accept-Encoding", "deflate, gzip, br, zstd")],
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
        Some("q=a%20b%26c"),
    );
    check(
        "curl -A me -e http://x/ localhost -H 'X-Empty;' -H 'Accept:'",
        "http://localhost/",
        None,
        &[("User-Agent", "me"), ("Referer", "http://x/"), ("X-Empty", "")],
        None,
    );
    let json = [("Content-Type", "application/json"), ("Accept", "application/json")];
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
    assert_eq!((headers(&args.options), args.options.method.as_deref()), (vec![("x-a", "2")], Some("POST")));
    assert!(!read("curl -k http://localhost/", "").options.tls.insecure, "curl ignores it without TLS");
}

#[test]
fn forms_redirects_and_templates_need_an_experiment() {
    let args = read("curl -L -F 'a=b' -F 'c=d;e' 'localhost/${uuid()}'", "");
    let LoadSource::File(file) = &args.goal else { panic!("{:?}", args.goal) };
    let ExperimentSource::Url { request, .. } = &file.source else { panic!("{:?}", file.source) };
    assert_eq!((request.url.as_str(), request.follow), ("localhost/${uuid()}", Some(50)));
    let text = |name: &str, text: &str| (name.to_owned(), UrlPart::Text(text.to_owned()));
    assert_eq!(request.body, Some(UrlBody::Multipart(vec![text("a", "b"), text("c", "d;e")])));
}

#[test]
fn everything_wrong_is_reported_together() {
    let place = tempfile::tempdir().expect("a folder for the test");
    let file = place.path().join("request.txt");
    let text = "curl --digest -u a:b --http2 --frobnicate x -b jar.txt http://a/ http://b/";
    std::fs::write(&file, text).expect("the folder is writable");
    let Err(ParseExit::Error { error, .. }) = parse(argv(&format!("run --curl {}", file.display()))) else {
        panic!("{text} is accepted");
    };
    let all: Vec<&str> =
        std::iter::once(&error).chain(&error.others).map(|error| error.message.as_str()).collect();
    assert_eq!(all.len(), 5, "{all:#?}");
    for says in ["--digest", "--http2", "--frobnicate", "jar.txt", "2 URLs"] {
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
}
