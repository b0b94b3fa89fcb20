use super::*;

fn check(path: &str, expected: Route) {
    for (target, any) in [
        (path.to_owned(), false),
        (format!("{path}?x=/bytes/9&y"), false),
        (format!("http://host:8080{path}?q"), false),
        (path.to_owned(), true),
    ] {
        let expected = if any && expected == Route::Unknown { Route::Home } else { expected };
        assert_eq!(Route::from_path(super::path(target.as_bytes()), any), expected, "{target}");
    }
}

#[test]
fn routes() {
    check("/", Route::Home);
    check("/echo", Route::Echo);
    check("/close", Route::Close);
    check("/truth", Route::Truth);
    check("/truth/connections?now", Route::TruthConnections);
    check("/truth/reset", Route::TruthReset);
    for unknown in ["/index.html", "/bytes", "/echo/", "/truth/", "/sleep", "/sleepy", "/delay", "//"] {
        check(unknown, Route::Unknown);
    }
    assert_eq!(Route::from_path(path(b"*"), false), Route::Home);
    assert_eq!(Route::from_path(path(b"http://host?x"), false), Route::Home);
    assert_eq!(Route::from_path(b"/\xff", false), Route::Unknown);
}

#[test]
fn quantities() {
    for (path, bytes) in [
        ("/bytes/0", 0),
        ("/bytes/1024", 1024),
        ("/bytes/64KiB", 65_536),
        ("/bytes/1.5kB", 1_500),
        ("/bytes/3GB", 3_000_000_000),
    ] {
        check(path, Route::Bytes(bytes));
    }
    for (path, delay) in [
        ("/delay/2ms", Nanos::from_millis(2)),
        ("/delay/250us", Nanos::from_micros(250)),
        ("/delay/1.5s", Nanos::from_millis(1_500)),
        ("/sleep0", Nanos::ZERO),
        ("/sleep3", Nanos::from_secs(3)),
        ("/sleep3600", Nanos::from_secs(3_600)),
    ] {
        check(path, Route::Delay(delay));
    }
    check("/status/200", Route::Status(200));
    check("/status/599", Route::Status(599));
}

#[test]
fn malformed_quantities() {
    for path in [
        "/bytes/",
        "/bytes/-1",
        "/bytes/x",
        "/bytes/1q",
        "/bytes/99999999999999999999",
        "/delay/",
        "/delay/5",
        "/delay/-1s",
        "/delay/2h",
        "/sleep3601",
        "/sleep99999999999999999999",
        "/status/",
        "/status/100",
        "/status/199",
        "/status/600",
        "/status/+200",
        "/status/2000",
        "/status/abc",
    ] {
        assert!(matches!(Route::from_path(path.as_bytes(), true), Route::Malformed(_)), "{path}");
    }
}
