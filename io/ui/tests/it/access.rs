//! Who may use the page: tokens, sessions, host names, and requests of other sites.

use std::net::SocketAddr;

use wavetank_control::RunFolder;
use wavetank_ui::{UiConfig, UiServer};

use crate::client::Site;

#[test]
fn a_token_opens_one_session_and_says_so_afterwards() {
    let site = Site::start();
    let path = site.token_path();
    let opened = site.send("GET", &path, &[], "");
    opened.expect(200, "url=/");
    assert!(opened.head.contains("httponly; samesite=strict"), "{opened:?}");
    let again = site.send("GET", &path, &[], "");
    again.expect(403, "was used already").expect(403, "press Enter in the terminal");
    assert!(!again.head.contains("set-cookie"), "{again:?}");
    site.send("GET", "/?token=0123", &[], "").expect(403, "has no valid token");
    site.send("GET", "/", &[], "").expect(401, "no session");
    site.send("GET", "/api/runs", &[], "").expect(401, r#""error":"this browser has no session"#);
    site.send("GET", "/api/runs", &[("Cookie", "wavetank_1=x; a=b")], "").expect(401, "no session");
    site.get("/").expect(200, "/assets/app.js");
}

#[test]
fn every_reply_forbids_what_the_page_does_not_need() {
    let site = Site::start();
    for path in ["/", "/app.css", "/assets/app.js", "/api/runs", "/nothing", "/runs/x/report"] {
        let reply = site.get(path);
        for header in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(reply.head.contains(header), "{path}: {header}: {reply:?}");
        }
        assert!(!reply.head.contains("access-control-"), "no CORS: {reply:?}");
        assert!(!reply.head.contains("script-src 'unsafe"), "{reply:?}");
    }
}

#[test]
fn host_names_of_the_internet_are_refused() {
    let site = Site::start();
    for host in ["evil.example", "127.0.0.1.evil.example:80", "10.1.2.3", ""] {
        let headers = [("Cookie", site.cookie.as_str()), ("Host", host)];
        site.send("GET", "/api/runs", &headers, "").expect(421, "no such host name");
    }
    // Through `ssh -L` the port differs.
    let headers = [("Cookie", site.cookie.as_str()), ("Host", "localhost:1")];
    site.send("GET", "/api/runs", &headers, "").expect(200, "runs_dir");
}

#[test]
fn no_other_site_can_start_or_stop_anything() {
    let site = Site::start();
    let origin = format!("http://{}", site.server.address());
    let own = [
        ("Cookie", site.cookie.as_str()),
        ("Origin", origin.as_str()),
        ("X-Wavetank", "1"),
        ("Content-Type", "application/json"),
    ];
    let body = r#"{"file":"x.yaml"}"#;
    for path in ["/api/start", "/api/check", "/api/runs/x/stop", "/api/runs/x/set", "/api/runs/x/event"] {
        for missing in 0..own.len() {
            let mut some = own.to_vec();
            some.remove(missing);
            let expected = if missing == 0 { 401 } else { 403 };
            site.send("POST", path, &some, body).expect(expected, "error");
        }
        for other in [("Origin", "http://evil.example"), ("Origin", "null"), ("Content-Type", "text/plain")] {
            let mut some = own.to_vec();
            some.retain(|(name, _)| *name != other.0);
            some.push(other);
            site.send("POST", path, &some, body).expect(403, "does not come from the page itself");
        }
        let mut cross = own.to_vec();
        cross.push(("Sec-Fetch-Site", "cross-site"));
        site.send("POST", path, &cross, body).expect(403, "does not come from the page itself");
        let reply = site.send("OPTIONS", path, &[("Origin", "http://evil.example")], "");
        assert!(reply.status >= 400 && !reply.head.contains("access-control"), "{reply:?}");
    }
    // A GET changes nothing, whatever its path.
    for path in ["/api/start", "/api/runs/x/stop"] {
        site.get(path).expect(405, "");
    }
}

#[test]
fn only_loopback_is_listened_on() {
    let config = |listen: SocketAddr| UiConfig {
        listen,
        runs_dir: "runs".into(),
        run_folder: RunFolder::of_user(None),
        experiments: ".".into(),
        program: "/bin/false".into(),
        process: None,
    };
    let error = UiServer::start(config(SocketAddr::from(([0, 0, 0, 0], 0)))).expect_err("it is refused");
    assert!(error.code == "ui_not_loopback" && error.hint.contains("ssh -L"), "{error}");
    let site = Site::start();
    let taken = UiServer::start(config(site.server.address())).expect_err("it is taken");
    assert!(taken.code == "cannot_start_page" && taken.hint.contains("--listen"), "{taken}");
    let lost =
        UiConfig { experiments: "/no/such/folder".into(), ..config(SocketAddr::from(([127, 0, 0, 1], 0))) };
    assert_eq!(UiServer::start(lost).expect_err("it is refused").code, "ui_folder");
}
