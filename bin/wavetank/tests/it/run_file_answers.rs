//! Requests of several messages, run from files: redirects, challenges, embedded resources, content
//! codings.

use std::time::Duration;

use wavetank_testkit::{
    Nginx, ReceivedRequest, RunHarness, RunResult, Script, ScriptAction, Target, TestDir, answer,
    answer_with, retry_timing_of,
};

/// Runs the file with this text. TARGET in it is the target's URL. `wire.sent` must be the target's
/// count. Returns `None` if the test was recorded as skipped.
fn run(target: &Target, text: &str, exit: i32) -> Option<RunResult> {
    retry_timing_of(|| {
        target.reset();
        let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
        let text = text.replace("TARGET", target.url("").trim_end_matches('/'));
        let file = trial.place().write("x.yaml", text);
        let outcome = trial.load(&file, std::iter::empty::<&str>()).run();
        trial.try_check(&outcome, target, exit)
    })
}

/// Starts a target that sends the result of `answer` for each request.
fn target(answer: impl Fn(&ReceivedRequest) -> Vec<u8> + Send + Sync + 'static) -> Target {
    Target::start(Script::new(move |seen| vec![ScriptAction::Send(answer(seen))]))
}

fn field<'a>(seen: &'a ReceivedRequest, name: &str) -> &'a str {
    let found = seen.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
    found.map_or("", |(_, value)| value)
}

#[test]
fn a_login_is_redirected_and_its_cookie_kept() {
    let target = target(|seen| match seen.path.as_str() {
        "/login" => {
            assert_eq!((seen.method.as_str(), seen.body.as_slice()), ("POST", &b"user=a"[..]));
            answer_with(303, &[("Location", "/home"), ("Set-Cookie", "id=7; Path=/; HttpOnly")], b"")
        }
        _ if field(seen, "cookie") != "id=7" => answer(403, b""),
        _ => answer(200, b"{\"left\": 3}"),
    });
    let result = run(
        &target,
        "wavetank: 1\ntarget: TARGET\nsteps:\n  - post: /login\n    form: {user: a}\n    follow: 3\n    \
         check: [cookie id = 7]\n  - get: /stock\n    check: [json $.left >= 3]\n\
         phases: [{users: 5, sessions: 20 each, for: 5s}]\nthresholds: [failed = 0]\n",
        0,
    );
    let Some(result) = result else { return };
    assert_eq!((result.count("requests.done"), result.count("wire.redirected")), (200, 100), "{result}");
    assert_eq!(result.count("wire.sent"), 300, "{result}");
}

#[test]
fn soap_and_webdav_servers_get_xml() {
    let target = target(|seen| {
        let text = String::from_utf8_lossy(&seen.body).into_owned();
        match (seen.method.as_str(), field(seen, "soapaction")) {
            ("PROPFIND", "") => {
                assert_eq!((field(seen, "content-type"), field(seen, "depth")), ("application/xml", "1"));
                answer(207, b"<d:multistatus xmlns:d='DAV:'><d:getetag>5</d:getetag></d:multistatus>")
            }
            ("POST", "\"urn:Buy\"") => {
                assert_eq!(field(seen, "content-type"), "text/xml; charset=utf-8");
                assert_eq!(text, "<e:Envelope><name>Tom &amp; &lt;Ann&gt;</name></e:Envelope>");
                answer(200, b"<e:Envelope xmlns:e='urn:e'><price>7</price></e:Envelope>")
            }
            _ => answer(400, b""),
        }
    });
    let result = run(
        &target,
        "wavetank: 1\ntarget: TARGET\nvars: {who: \"Tom & <Ann>\"}\nsteps:\n  - request: PROPFIND /dav/\n    \
         headers: {depth: '1'}\n    xml: '<propfind xmlns=\"DAV:\"><prop><getetag/></prop></propfind>'\n    \
         check: [status = 207, \"xml //*[local-name()='getetag'] = 5\"]\n  - post: /quote\n    soap: urn:Buy\n    \
         xml: <e:Envelope><name>${who}</name></e:Envelope>\n    check: [xml //price = 7]\n\
         phases: [{users: 3, sessions: 10 each, for: 5s}]\nthresholds: [failed = 0]\n",
        0,
    );
    let Some(result) = result else { return };
    assert_eq!((result.count("requests.done"), result.count("requests.failed")), (60, 0), "{result}");
}

#[test]
fn a_redirect_to_an_unnamed_host_is_reported_with_a_hint() {
    let target = target(|_| answer_with(302, &[("Location", "http://127.0.0.1:9/x")], b""));
    let text = "wavetank: 1\ntarget: TARGET\nhttp: {follow: 2}\nsteps: [{get: /}]\n\
                phases: [{users: 1, sessions: 3 each, for: 5s}]\n";
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let file = trial.place().write("x.yaml", text.replace("TARGET", target.url("").trim_end_matches('/')));
    let outcome = trial.load(&file, std::iter::empty::<&str>()).run();
    outcome.expect_exit(1);
    assert_eq!(target.settled().requests, 3, "{outcome}");
    let run = trial.place().runs("runs").pop().expect("a run");
    let samples = std::fs::read_to_string(run.join("samples.jsonl")).expect("samples");
    assert!(
        samples.contains("http://127.0.0.1:9/x") && samples.contains("add it under targets"),
        "{samples}"
    );
}

#[test]
fn an_exceeded_time_is_reported_with_its_unit() {
    let target = Target::start(Script::constant(Duration::from_millis(30)));
    let text = format!(
        "wavetank: 1\ntarget: {}\nsteps: [{{get: /, check: [time < 1ms]}}]\n\
         phases: [{{users: 1, sessions: 1 each, for: 5s}}]\n",
        target.url("").trim_end_matches('/')
    );
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let file = trial.place().write("x.yaml", text);
    let outcome = trial.load(&file, std::iter::empty::<&str>()).run();
    outcome.expect_exit(1);
    let said = outcome.stdout.split_once("time < 1ms: found ").map_or("", |(_, found)| found);
    let ms = said.split_once(" ms").and_then(|(ms, _)| ms.parse::<f64>().ok());
    assert!(ms.is_some_and(|ms| (30.0..5_000.0).contains(&ms)), "{outcome}");
}

#[test]
fn digests_and_resources_count_on_the_wire() {
    let target = target(|seen| {
        if !field(seen, "authorization").starts_with("Digest username=\"anna\"") {
            let asks = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"";
            return answer_with(401, &[("WWW-Authenticate", asks)], b"");
        }
        match seen.path.as_str() {
            "/" => {
                answer_with(200, &[("Content-Type", "text/html")], b"<img src=a.png><link rel=icon href=/i>")
            }
            _ => answer(200, b"x"),
        }
    });
    let result = run(
        &target,
        "wavetank: 1\ntarget: TARGET\nhttp: {auth: digest anna:x}\nsteps: [{get: /, resources: true}]\n\
         phases: [{users: 4, sessions: 10 each, for: 5s}]\nthresholds: [failed = 0]\n",
        0,
    );
    let Some(result) = result else { return };
    let counts = ["requests.done", "wire.retried", "wire.resources", "wire.sent"];
    assert_eq!(counts.map(|name| result.count(name)), [40, 4, 80, 124], "{result}");
}

#[test]
fn nginx_redirects_compresses_and_asks_who() {
    let place = TestDir::new();
    place.write("users", "anna:{PLAIN}secret\n");
    place.write("shop.json", format!("{{\"shop\": \"open\", \"pad\": \"{}\"}}", "x".repeat(4_000)));
    let root = place.path().display();
    let server = format!(
        "listen LISTEN; root {root}; gzip on; gzip_types application/json; gzip_min_length 100;\n\
         types {{ application/json json; }}\n\
         location = /old {{ return 301 /shop.json; }}\n\
         location = /shop.json {{ auth_basic shop; auth_basic_user_file users; }}"
    );
    let log = "$request $status $sent_http_content_encoding";
    let Some(nginx) = Nginx::start("nginx_redirects_compresses_and_asks_who", place, log, &server) else {
        return;
    };
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let text = format!(
        "wavetank: 1\ntarget: http://{}\nhttp: {{follow: 1, auth: basic anna:secret, headers: {{accept-encoding: gzip}}}}\n\
         steps: [{{get: /old, check: [json $.shop = open, header content-encoding = gzip]}}]\n\
         phases: [{{users: 4, sessions: 10 each, for: 5s}}]\nthresholds: [failed = 0]\n",
        nginx.address()
    );
    let file = trial.place().write("x.yaml", text);
    let outcome = trial.load(&file, std::iter::empty::<&str>()).run();
    outcome.expect_exit(0);
    let result = outcome.result();
    let counts = ["requests.done", "wire.redirected", "wire.sent"];
    assert_eq!(counts.map(|name| result.count(name)), [40, 40, 80], "{result}");
    let lines = nginx.log(80);
    assert_eq!(lines.iter().filter(|line| line.ends_with("200 gzip")).count(), 40, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains(" 301 ")).count(), 40, "{lines:?}");
}
