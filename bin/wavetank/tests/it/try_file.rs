//! `wavetank try`: one user, once, against targets that count requests, with all output.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{
    Accept, Nginx, Outcome, Program, Script, ScriptAction, Serve, Signal, Target, TestDir, answer,
    answer_with,
};

/// `printf '{"sku": 17}' | gzip -n`
const SKU_GZIP: [u8; 31] = [
    31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 171, 86, 42, 206, 46, 85, 178, 82, 48, 52, 175, 5, 0, 241, 130, 14, 157,
    11, 0, 0, 0,
];

fn wavetank() -> Program {
    Program::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Runs `try` on a file with this text and these additional arguments.
fn tried(text: &str, words: &[&str]) -> Outcome {
    let place = TestDir::new();
    let file = place.write("x.yaml", text);
    wavetank().args(["try", &file]).args(words).in_folder(place.path()).run()
}

/// Returns a file with one unnamed scenario.
fn file(target: &str, steps: &str) -> String {
    format!("wavetank: 1\nname: x\ntarget: {target}\nsteps:\n{steps}phases:\n  - {{users: 1, for: 10s}}\n")
}

#[track_caller]
fn mentions(out: &Outcome, words: &[&str]) {
    for word in words {
        assert!(out.stdout.contains(word), "`{word}` is not printed: {out}");
    }
}

/// A sale: `/admin/sale` opens it, `/api/login` checks a password, `/api/order` sells.
fn sale() -> Target {
    let sold = Arc::new(AtomicU64::new(0));
    Target::start(Script::new(move |seen| {
        let body = String::from_utf8_lossy(&seen.body).into_owned();
        vec![ScriptAction::Send(match (seen.method.as_str(), seen.path.as_str()) {
            ("POST", "/api/login") if body == "user=ann&password=pw+1" => {
                answer_with(200, &[("Set-Cookie", "session=s3ssion; Path=/")], b"in\n")
            }
            ("POST", "/api/order") if seen.field("cookie") == Some("session=s3ssion") => {
                sold.fetch_add(1, Ordering::Relaxed);
                answer(200, b"{}")
            }
            ("GET", "/api/seckill") => {
                let count = sold.load(Ordering::Relaxed);
                let body = format!("{{\"event1\": {{\"sku\": 17}}, \"sold\": {count}}}");
                answer_with(200, &[("Cache-Control", "no-store")], body.as_bytes())
            }
            ("POST", "/admin/sale") => answer(200, b"ok\n"),
            _ => answer(403, b"no\n"),
        })]
    }))
}

#[test]
fn the_flash_sale_is_tried_from_end_to_end() {
    let target = sale();
    let place = TestDir::new();
    let example = format!("{}/../../examples/flash-sale.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(example).expect("the example is there");
    let file = place.write("sale.yaml", text.replace("{timeout: 5s}", "{timeout: 5s, cookies: true}"));
    place.write("accounts.csv", "user,password\nann,pw 1\nbob,pw 2\n");
    let words = ["try", &file, "--target", &target.url("")];
    let out = wavetank().args(words).run();
    out.expect_exit(0);
    mentions(
        &out,
        &[
            "== before, once per run",
            "> POST /admin/sale HTTP/1.1",
            "> {\"stock\":1000,\"opens_in\":\"15s\"}",
            "== scenario browser",
            "== scenario buyer",
            "> user=ann&password=pw+1",
            "< Set-Cookie: session=***; Path=/",
            "cookie     session kept",
            "extract    sku = \"17\"   (json $.event1.sku)",
            "check      passed  header cache-control contains no-store",
            "rendezvous doors: no users to wait for",
            "> Cookie: ***",
            "> {\"sku\":17,\"user\":\"ann\"}",
            "count      sold + 1",
            "== after, once per run",
            "check      passed  json $.sold = ${count.sold}",
            "result     as expected · requests sent 6 · steps done 6, failed 0",
        ],
    );
    assert!(!out.stdout.contains("s3ssion"), "{out}");
    assert_eq!(target.truth().requests, 6, "{out}");
    // The first pass has sold an article already, so the file's own check of that count fails.
    let out = wavetank().args(words).args(["--scenario", "buyer", "--format", "json"]).run();
    out.expect_exit(1);
    let json = out.json();
    assert_eq!(
        (&json["schema"], &json["ok"], &json["exit"]),
        (&"wavetank.try/1".into(), &false.into(), &1.into())
    );
    let parts: Vec<_> = json["walks"].as_array().expect("walks").iter().map(|walk| &walk["part"]).collect();
    assert_eq!(parts, ["before", "scenario", "after"]);
    let broken: Vec<&Value> = json["walks"][2]["events"]
        .as_array()
        .expect("events")
        .iter()
        .filter(|event| event["held"] == false)
        .collect();
    assert_eq!(broken.len(), 1, "{out}");
    assert_eq!(
        (&broken[0]["check"], &broken[0]["found"]),
        (&"json $.sold = ${count.sold}".into(), &"2".into())
    );
}

#[test]
fn redirects_are_followed_and_codings_taken_off() {
    let target = Target::start(Script::new(|seen| {
        vec![ScriptAction::Send(match seen.path.as_str() {
            "/old" => answer_with(302, &[("Location", "/new?a=1")], b""),
            "/new?a=1" => answer_with(200, &[("Content-Encoding", "gzip")], &SKU_GZIP),
            "/away" => answer_with(302, &[("Location", "http://127.0.0.2:9/x")], b""),
            "/picture" => {
                answer_with(200, &[("Content-Type", "image/png")], &[137, b'P', b'N', b'G', 0, 255])
            }
            _ => answer(404, b"no\n"),
        })]
    }));
    let steps = "  - get: /old\n    follow: 3\n    extract: {sku: json $.sku}\n  - get: /picture\n";
    let out = tried(&file(&target.url(""), steps), &[]);
    out.expect_exit(0);
    mentions(
        &out,
        &[
            "< HTTP/1.1 302 Scripted",
            "then       a redirect is followed",
            "> GET /new?a=1 HTTP/1.1",
            "< {\"sku\": 17}",
            "< (decoded from 31 B, gzip)",
            "sku = \"17\"",
            "< (body of 6 B, no text)",
            "requests sent 3 · steps done 2, failed 0",
        ],
    );
    assert_eq!(target.truth().requests, 3);
    let out = tried(&file(&target.url(""), "  - get: /away\n    follow: 3\n"), &[]);
    out.expect_exit(1);
    mentions(&out, &["http://127.0.0.2:9/x does not lead to a target of the plan"]);
    assert_eq!(target.truth().requests, 4, "no request goes elsewhere");
}

#[test]
fn failures_have_their_own_class() {
    let check = |script: Script, steps: &str, requests: u64, words: &[&str]| {
        let target = Target::start(script);
        let out = tried(&file(&target.url(""), steps), &["--timeout", "2s"]);
        out.expect_exit(1);
        mentions(&out, words);
        mentions(&out, &["FAILED", "hint:", "result     FAILED"]);
        assert_eq!(target.settled().requests, requests, "{out}");
    };
    let get = "  - get: /\n";
    let hello = || Script::constant(Duration::ZERO);
    check(hello().accepting(Accept::Refuse), get, 0, &["no answer  Connection refused", "connect_refused"]);
    check(Script::statuses(&[500]), get, 1, &["< HTTP/1.1 500 Scripted", "status: status 500"]);
    let extract = "  - get: /\n    extract: {sku: json $.sku}\n  - get: /${sku}\n";
    check(hello(), extract, 1, &["sku = the body is not JSON", "data: ${sku} was not extracted"]);
    check(Script::silence(), get, 1, &["request_timeout"]);
    check(Script::raw(b"220 mail\r\n", true), get, 1, &["protocol", "< 220 mail"]);
    check(
        hello(),
        "  - get: /\n    check: [body contains bye]\n",
        1,
        &["FAILED  body contains bye: found hello"],
    );
}

#[test]
fn what_cannot_be_tried_is_said_before_anything_is_sent() {
    let target = Target::start(Script::constant(Duration::ZERO));
    let text = file(&target.url(""), "  - get: /\n");
    let check = |text: &str, words: &[&str], exit: i32, mention: &str| {
        let out = tried(text, words);
        out.expect_exit(exit);
        assert!(out.stderr.contains(mention) && out.stderr.contains("hint: "), "{mention}: {out}");
        let out = tried(text, &[words, &["--format", "json"]].concat());
        out.expect_exit(exit);
        let json = out.json();
        assert_eq!((&json["schema"], &json["exit"]), (&"wavetank.error/1".into(), &exit.into()), "{out}");
    };
    check(&text, &["--scenario", "buyer"], 2, "no scenario `buyer`");
    check(&text, &["--requests", "0"], 2, "zero");
    check(&text, &["--set", "absent=1"], 2, "absent");
    check(&text.replace("get: /", "gte: /"), &[], 2, "gte");
    let data =
        text.replace("steps:", "data: {rows: {file: rows.csv}}\nsteps:").replace("/\n", "/${rows.a}\n");
    check(&data, &[], 2, "rows.csv does not exist");
    check(&text, &["--target", "http://192.0.2.1"], 5, "--allow-target 192.0.2.1");
    let second = text.replace("  - get: /\n", "  - get: /\n  - get: http://192.0.2.1/\n");
    check(&second, &[], 5, "192.0.2.1");
    assert_eq!(target.truth().connections, 0);
}

#[test]
fn certificates_are_looked_at() {
    let serve = Serve::start(&wavetank(), &["--tls"]);
    let text = file(&format!("https://{}", serve.address()), "  - get: /\n");
    let out = tried(&text, &[]);
    out.expect_exit(1);
    mentions(&out, &["FAILED     tls: ", "hint:"]);
    let out = tried(&text, &["--insecure"]);
    out.expect_exit(0);
    mentions(&out, &["tls        TLS", "< HTTP/1.1 200 OK"]);
    drop(serve);
    let plain = Serve::start(&wavetank(), &[]);
    let out = tried(&file(&format!("https://{}", plain.address()), "  - get: /\n"), &[]);
    out.expect_exit(1);
    mentions(&out, &["does not speak TLS"]);
}

#[test]
fn secrets_are_shown_nowhere() {
    let target = Target::start(Script::new(|seen| {
        let body = format!("{{\"token\": \"t0ken+x\", \"path\": \"{}\"}}", seen.path);
        vec![ScriptAction::Send(answer(200, body.as_bytes()))]
    }));
    let steps = "  - post: /a?key=${secret:KEY}\n    auth: \"basic me:${secret:KEY}\"\n    \
                 headers: {X-Own: \"${pin}\"}\n    json: {key: \"${secret:KEY}\", pin: \"${pin}\"}\n    \
                 extract: {token: json $.token}\n  - get: /b/${token}\n";
    let text = file(&target.url(""), steps)
        .replace("name: x", "name: x\nvars: {pin: 47114711}\nredact: [pin, token]");
    let place = TestDir::new();
    let key = format!("KEY=@{}", place.write("key", "k3y /\"é"));
    for words in [&["--secret", key.as_str()][..], &["--secret", &key, "--format", "json"]] {
        let out = tried(&text, words);
        out.expect_exit(0);
        for secret in ["k3y", "t0ken", "47114711", "bWU6azN5"] {
            assert!(!out.stdout.contains(secret) && !out.stderr.contains(secret), "{secret}: {out}");
        }
        mentions(&out, &["***"]);
    }
    let truth = target.truth();
    assert_eq!(truth.requests, 4);
    assert_eq!(truth.for_path("/b/t0ken+x") + truth.for_path("/b/t0ken%2Bx"), 2, "{:?}", truth.by_path);
}

#[test]
fn a_journey_of_millions_is_cut_and_pauses_are_left_out() {
    let target = Target::start(Script::constant(Duration::ZERO));
    let example = format!("{}/../../examples/tsung-static.yaml", env!("CARGO_MANIFEST_DIR"));
    let out = wavetank().args(["try", &example, "--target", &target.url(""), "--requests", "3"]).run();
    out.expect_exit(0);
    mentions(&out, &["enough     3 requests", "requests sent 3"]);
    assert_eq!(target.truth().requests, 3);
    let long = file(&target.url(""), "  - get: /\n  - think: 1h\n  - get: /\n");
    mentions(tried(&long, &[]).expect_exit(0), &["think      60 m", "left out; --think waits"]);
    let short = long.replace("1h", "300ms");
    let out = tried(&short, &["--think"]);
    mentions(out.expect_exit(0), &["think      300 ms\n"]);
    assert!(out.took >= Duration::from_millis(300), "{out}");
}

#[test]
fn a_signal_ends_it() {
    let target = Target::start(Script::silence());
    let place = TestDir::new();
    let file = place.write("x.yaml", file(&target.url(""), "  - get: /\n  - get: /\n"));
    let running = wavetank().args(["try", &file]).start();
    target.wait_for("the first request", Duration::from_mins(1), |truth| truth.requests > 0);
    running.signal(Signal::INT);
    let out = running.wait(Duration::from_mins(1));
    out.expect_exit(130);
    mentions(&out, &["interrupted"]);
    assert_eq!(target.truth().requests, 1);
}

#[test]
fn nginx_is_walked_through() {
    let place = TestDir::new();
    place.write(
        "page.html",
        "<p>a page of <b>some</b> words, long enough to be worth its gzip</p>\n".repeat(40),
    );
    let server = "listen LISTEN; root .; gzip on; gzip_min_length 100; gzip_types text/html;\n\
                  location /old { return 302 /page.html; }";
    let Some(nginx) = Nginx::start("nginx_is_walked_through", place, "$request $status", server) else {
        return;
    };
    let steps = "  - get: /old\n    follow: 1\n    headers: {Accept-Encoding: gzip}\n    \
                 extract: {word: css b}\n    check: [status = 200]\n  - get: /missing\n    check: [status = 404]\n";
    let out = tried(&file(&format!("http://{}", nginx.address()), steps), &[]);
    out.expect_exit(0);
    mentions(&out, &["word = \"some\"", ", gzip)", "passed  status = 404"]);
    let seen = ["GET /old HTTP/1.1 302", "GET /page.html HTTP/1.1 200", "GET /missing HTTP/1.1 404"];
    assert_eq!(nginx.log(3), seen);
}

#[test]
fn challenges_are_answered_and_what_pages_embed_is_fetched() {
    let target = Target::start(Script::new(|seen| {
        let known =
            seen.field("authorization").is_some_and(|value| value.starts_with("Digest username=\"ann\""));
        vec![ScriptAction::Send(match seen.path.as_str() {
            "/in" if known => answer(200, b"in\n"),
            "/in" => answer_with(
                401,
                &[("WWW-Authenticate", "Digest realm=\"r\", qop=\"auth\", nonce=\"n1\", algorithm=SHA-256")],
                b"who?\n",
            ),
            "/page" => answer_with(
                200,
                &[("Content-Type", "text/html")],
                b"<img src=/a.png><script src=b.js></script>",
            ),
            "/a.png" | "/b.js" => answer(200, b"x"),
            _ => answer(404, b"no\n"),
        })]
    }));
    let steps = "  - get: /in\n    auth: digest ann:pw7\n  - get: /page\n    resources: true\n";
    let out = tried(&file(&target.url(""), steps), &[]);
    out.expect_exit(0);
    mentions(
        &out,
        &[
            "< HTTP/1.1 401 Scripted",
            "then       the server requires authentication: sent again",
            "> Authorization: ***",
            "then       the page embeds this",
            "> GET /a.png HTTP/1.1",
            "> GET /b.js HTTP/1.1",
            "requests sent 5 · steps done 2, failed 0",
        ],
    );
    assert_eq!(target.truth().requests, 5);
    let missing = "  - get: /in\n    auth: digest bob:pw7\n    check: [status = 200]\n";
    let out = tried(&file(&target.url(""), missing), &[]);
    out.expect_exit(1);
    mentions(&out, &["FAILED  status = 200: found 401"]);
    assert_eq!(target.truth().requests, 7, "asked twice, and no more");
}

#[test]
fn connections_are_kept_as_the_file_says() {
    let (one, two) =
        (Target::start(Script::constant(Duration::ZERO)), Target::start(Script::constant(Duration::ZERO)));
    let steps = "[{get: /1, to: one}, {get: /2, to: two}, {get: /3, to: one}, {get: /4, to: two}]";
    let check = |connection: &str, each: u64| {
        let before = [one.truth(), two.truth()];
        let out = tried(
            &format!(
                "wavetank: 1\ntargets: {{one: {}, two: {}}}\nscenarios:\n  a: {{weight: 1, connection: {connection}, steps: \
                 {steps}}}\nphases: [{{users: 1, for: 10s}}]\n",
                one.url(""),
                two.url("")
            ),
            &[],
        );
        out.expect_exit(0);
        for (target, before) in [&one, &two].into_iter().zip(before) {
            let after = target.truth();
            let came = (after.requests - before.requests, after.connections - before.connections);
            assert_eq!(came, (2, each), "{connection}: {out}");
        }
    };
    check("user", 1);
    check("session", 1);
    check("request", 2);
    check("shared", 1);
}

#[test]
fn a_failure_ends_what_the_file_says() {
    let target = Target::start(Script::new(|seen| {
        vec![ScriptAction::Send(answer(if seen.path == "/broken" { 500 } else { 200 }, b"x"))]
    }));
    let text = |ends: &str| {
        format!(
            "wavetank: 1\ntarget: {}\nscenarios:\n  a:\n    weight: 1\n    on_failure: {ends}\n    steps: [{{get: \
             /broken}}, {{get: /a}}]\n    after: [{{get: /last}}]\n  b:\n    weight: 1\n    steps: [{{get: /b}}]\n\
             phases: [{{users: 1, for: 10s}}]\nafter: [{{get: /end}}]\n",
            target.url("")
        )
    };
    let check = |ends: &str, line: &str, mention: &str| {
        let out = tried(&text(ends), &[]);
        out.expect_exit(1);
        mentions(&out, &[line, mention]);
    };
    check("continue", "requests sent 5 · steps done 4, failed 1", "GET /b");
    check("end_session", "requests sent 4 · steps done 3, failed 1", "ends       a failure ends it");
    check("end_run", "requests sent 2 · steps done 1, failed 1", "the other scenarios are not tried");
}
