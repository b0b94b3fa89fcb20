//! `wavetank serve`, seen by raw sockets and by foreign clients.

use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{
    Client, Outcome, Program, RunHarness, Serve, Signal, Stamp, expect_time, free_port, retry_timing, skip,
};

fn serve(words: &[&str]) -> Serve {
    Serve::start(&Program::new(env!("CARGO_BIN_EXE_wavetank")), words)
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Returns the target's own counts.
fn truth(serve: &Serve) -> Value {
    let answer = Client::connect(serve.address()).get("/truth");
    assert_eq!(answer.status, 200);
    serde_json::from_slice(&answer.body).expect("/truth is JSON")
}

/// Returns the time from sending a GET to its complete response.
fn time_of(client: &mut Client, path: &str) -> Duration {
    let sent = Stamp::now();
    assert_eq!(client.get(path).status, 200, "{path}");
    Stamp::now().since(sent)
}

#[test]
fn the_root_is_a_small_fixed_body_with_a_date() {
    let serve = serve(&[]);
    let mut client = Client::connect(serve.address());
    let (first, second) = (client.get("/"), client.get("/"));
    assert_eq!((first.status, first.version.as_str()), (200, "HTTP/1.1"));
    assert_eq!(first.body, second.body);
    assert!(!first.body.is_empty() && first.body.len() < 256, "{:?}", first.text());
    // RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
    let date = first.field("date").expect("a Date").to_owned();
    assert!(date.ends_with(" GMT") && date.len() == 29, "{date}");
    let changed = wavetank_testkit::clock::poll_until(Duration::from_mins(1), || {
        (client.get("/").field("date") != Some(date.as_str())).then_some(())
    });
    assert!(changed.is_some(), "the date changes");
}

#[test]
fn bytes_are_as_many_as_asked_for() {
    let serve = serve(&[]);
    let mut client = Client::connect(serve.address());
    for n in [0, 1, 1_000, 65_536, 1_000_000] {
        let answer = client.get(&format!("/bytes/{n}"));
        assert_eq!((answer.status, answer.body.len()), (200, n));
    }
    for path in ["/bytes/", "/bytes/x", "/bytes/-1", "/bytes/99999999999999999999"] {
        let answer = Client::connect(serve.address()).get(path);
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.status);
    }
}

#[test]
fn statuses_are_as_asked_for() {
    let serve = serve(&[]);
    let mut client = Client::connect(serve.address());
    for code in [200, 204, 304, 404, 418, 500, 503] {
        assert_eq!(client.get(&format!("/status/{code}")).status, code);
    }
    assert_eq!(client.get("/status/abc").status / 100, 4);
    assert_eq!(Client::connect(serve.address()).get("/nowhere").status, 404);
}

#[test]
fn delays_are_kept() {
    let serve = serve(&["--threads", "1"]);
    retry_timing(|| {
        let mut client = Client::connect(serve.address());
        for (path, delay) in [("/delay/20ms", ms(20)), ("/delay/0.1s", ms(100)), ("/sleep1", ms(1_000))] {
            let took = time_of(&mut client, path);
            assert!(took >= delay, "{path} took {took:?}, which is less");
            expect_time(took < delay + ms(2), || format!("{path} took {took:?}"))?;
        }
        Ok(())
    });
    assert_eq!(Client::connect(serve.address()).get("/delay/forever").status / 100, 4);
}

#[test]
fn a_delayed_request_costs_no_thread() {
    // Many requests sleep simultaneously on the only thread, and it still answers others.
    let serve = serve(&["--threads", "1"]);
    retry_timing(|| {
        let mut sleepers: Vec<Client> = (0..60).map(|_| Client::connect(serve.address())).collect();
        let mut client = Client::connect(serve.address());
        let began = Stamp::now();
        for sleeper in &mut sleepers {
            sleeper.send("GET /delay/400ms HTTP/1.1\r\nHost: test\r\n\r\n");
        }
        let alongside = time_of(&mut client, "/");
        for sleeper in &mut sleepers {
            assert_eq!(sleeper.receive().status, 200);
        }
        let all = Stamp::now().since(began);
        assert!(all >= ms(400), "60 sleepers took {all:?}");
        expect_time(alongside < ms(50) && all < ms(440), || {
            format!("{alongside:?} in parallel with 60 sleepers, they {all:?}")
        })
    });
}

#[test]
fn echo_gives_back_the_body() {
    let serve = serve(&[]);
    let mut client = Client::connect(serve.address());
    let long = "abc".repeat(50_000);
    for body in ["", "hello", &long] {
        client.send(format!(
            "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        let answer = client.receive();
        assert_eq!((answer.status, answer.text().as_str()), (200, body));
    }
    client.send("POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\n me\r\n0\r\n\r\n");
    assert_eq!(client.receive().text(), "hello me");
}

#[test]
fn close_and_versions_of_http() {
    let serve = serve(&[]);
    let mut client = Client::connect(serve.address());
    let answer = client.get("/close");
    assert_eq!((answer.status, answer.field("connection")), (200, Some("close")));
    assert!(client.ended());

    let mut client = Client::connect(serve.address());
    assert_eq!(client.send("GET / HTTP/1.0\r\n\r\n").receive().status, 200);
    assert!(client.ended(), "HTTP/1.0 closes");

    let mut client = Client::connect(serve.address());
    for _ in 0..3 {
        let answer = client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").receive();
        let kept = answer.field("connection").map(str::to_ascii_lowercase);
        assert_eq!((answer.status, kept.as_deref()), (200, Some("keep-alive")));
    }

    let mut client = Client::connect(serve.address());
    let answer = client.send("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").receive();
    assert_eq!(answer.field("connection").map(str::to_ascii_lowercase).as_deref(), Some("close"));
    assert!(client.ended());
}

#[test]
fn head_is_get_without_the_body() {
    let serve = serve(&[]);
    let mut client = Client::connect(serve.address());
    let got = client.get("/bytes/123");
    let head = client.send("HEAD /bytes/123 HTTP/1.1\r\nHost: test\r\n\r\n").receive_response("HEAD");
    assert_eq!((head.status, head.field("content-length")), (got.status, Some("123")));
    assert_eq!(client.get("/").status, 200, "the connection is in step");
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let serve = serve(&[]);
    let mut client = Client::connect(serve.address());
    let paths = ["/bytes/10", "/delay/30ms", "/bytes/20", "/status/404", "/bytes/30"];
    let requests: Vec<String> =
        paths.iter().map(|path| format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n")).collect();
    client.send(requests.concat());
    let answers: Vec<_> = paths.iter().map(|_| client.receive()).collect();
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 200, 200, 404, 200]);
    assert_eq!([answers[0].body.len(), answers[2].body.len(), answers[4].body.len()], [10, 20, 30]);
}

#[test]
fn a_request_in_pieces_is_one_request() {
    let serve = serve(&[]);
    let mut client = Client::connect(serve.address());
    for byte in "GET /bytes/7 HTTP/1.1\r\nHost: test\r\n\r\n".bytes() {
        client.send([byte]);
    }
    assert_eq!(client.receive().body.len(), 7);
}

#[test]
fn nonsense_is_answered_and_disturbs_no_client() {
    let serve = serve(&[]);
    let nonsense = [
        "what is this\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nBad Field : x\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
    ];
    for bytes in nonsense {
        let mut client = Client::connect(serve.address());
        let status = client.send(bytes).receive().status;
        assert!(matches!(status, 400..=505), "{bytes:?}: {status}");
        assert!(client.ended(), "{bytes:?}");
    }
    let mut client = Client::connect(serve.address());
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!");
    assert_eq!(client.receive().status, 400);
    assert_eq!(Client::connect(serve.address()).get("/").status, 200, "others are served");
}

#[test]
fn any_answers_every_path() {
    let serve = serve(&["--any"]);
    let mut client = Client::connect(serve.address());
    let root = client.get("/").body;
    assert_eq!(client.get("/what/ever?x=y").body, root);
    assert_eq!(client.get("/status/404").status, 404, "known paths stay what they are");
}

#[test]
fn a_planted_freeze_begins_with_the_first_request() {
    retry_timing(|| {
        let serve = serve(&["--freeze", "500ms", "--freeze-at", "200ms"]);
        let mut client = Client::connect(serve.address());
        let began = Stamp::now();
        let mut longest = Duration::ZERO;
        while Stamp::now().since(began) < ms(1_200) {
            longest = longest.max(time_of(&mut client, "/"));
        }
        // It starts between two requests, which are fractions of a millisecond apart.
        let over = time_of(&mut client, "/");
        let right = longest > ms(490) && longest < ms(505) && over < ms(20);
        expect_time(right, || format!("the freeze lasted {longest:?}, then {over:?}"))
    });
}

#[test]
fn a_run_reports_when_a_frozen_target_gave_no_answer() {
    retry_timing(|| {
        // From 1.7 s to 3.2 s, which includes one whole second of the run.
        let serve = serve(&["--freeze", "1500ms", "--freeze-at", "1700ms"]);
        let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
        let words = ["-r", "200/s", "-d", "4s", "--arrivals", "even", "--no-probe"];
        let outcome = trial.load(&serve.url("/"), words).run();
        let reported = |outcome: &Outcome| {
            let findings = outcome.result().at("findings").as_array().cloned().unwrap_or_default();
            findings.into_iter().find(|finding| finding["code"] == "standstill")
        };
        let found = reported(&outcome);
        expect_time(outcome.exit == Some(0) && found.is_some(), || format!("{outcome}"))?;
        // The sealed intervals give the same finding without the run's own conclusions.
        let runs = trial.place().runs("runs");
        std::fs::remove_file(runs[0].join("run.json")).expect("it is there");
        let again = trial.program().args(["report", "latest", "--format", "json"]).run();
        assert_eq!(reported(&again), found);
        let found = found.unwrap_or_default();
        assert_eq!((&found["blame"], &found["decisive"]), (&Value::from("target"), &Value::from(false)));
        let message = found["message"].as_str().unwrap_or_default();
        let right = message.starts_with("no request ended for at least 1 s, from 2 s on, though 2")
            && message.ends_with(" were open at 3 s: the target sent no response");
        expect_time(right, || message.to_owned())
    });
}

#[test]
fn the_truth_is_what_was_asked() {
    let serve = serve(&["--threads", "2"]);
    let reset = |serve: &Serve| {
        let request = "POST /truth/reset HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(Client::connect(serve.address()).send(request).receive().status, 204);
    };
    for _ in 0..3 {
        let mut client = Client::connect(serve.address());
        for path in ["/", "/", "/status/404", "/bytes/5"] {
            client.get(path);
        }
    }
    let reported = truth(&serve);
    assert_eq!(reported["schema"], "wavetank.truth/1", "{reported:#}");
    assert_eq!(
        (reported["requests"].clone(), reported["answers"].clone()),
        (12.into(), 12.into()),
        "{reported:#}"
    );
    assert_eq!(reported["connections"]["accepted"], 3, "those for /truth are counted apart: {reported:#}");
    assert_eq!(reported["paths"]["/"], 6, "{reported:#}");
    assert_eq!(reported["paths"]["/status/404"], 3, "{reported:#}");
    assert_eq!(
        (reported["statuses"]["200"].clone(), reported["statuses"]["404"].clone()),
        (9.into(), 3.into()),
        "{reported:#}"
    );
    assert_eq!(reported["arrivals"]["gaps_us"]["count"], 11, "{reported:#}");
    reset(&serve);
    let reported = truth(&serve);
    assert!(reported["paths"]["/"].is_null(), "{reported:#}");
    assert_eq!(reported["requests"], 0, "{reported:#}");
}

#[test]
fn several_addresses_are_served() {
    let addresses = [([127, 0, 0, 1], free_port()).into(), ([127, 0, 0, 2], free_port()).into()];
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank"));
    let _serve = Serve::start_at(&program, &addresses, &[]);
    for address in addresses {
        assert_eq!(Client::connect(address).get("/").status, 200, "{address}");
    }
}

#[test]
fn more_connections_than_memory_holds_are_refused() {
    // On io_uring the reason is memory, on epoll files as well.
    let listen = format!("127.0.0.1:{}", free_port());
    let outcome = Program::new(env!("CARGO_BIN_EXE_wavetank"))
        .args(["serve", "--listen", &listen, "--connections", "300000000"])
        .run();
    outcome.expect_exit(5);
    assert!(outcome.stderr.contains("connections need") && outcome.stdout.is_empty(), "{outcome}");
}

#[test]
fn a_limit_on_files_that_is_reached_is_reported_once() {
    const TEST: &str = "a_limit_on_files_that_is_reached_is_reported_once";
    if Program::foreign("prlimit").is_none() {
        return skip(TEST, "`prlimit` is not installed");
    }
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).under(["prlimit", "--nofile=64:64"]);
    let serve = Serve::start(&program, &["--threads", "1", "--engine", "epoll"]);
    let clients: Vec<_> = (0..100).map(|_| Client::connect(serve.address())).collect();
    let reported = || serve.running().stderr().matches("warning: cannot accept a client").count();
    let waited =
        wavetank_testkit::clock::poll_until(Duration::from_mins(1), || (reported() > 0).then_some(()));
    assert!(waited.is_some(), "nothing is reported: {}", serve.running().stderr());
    drop(clients);
    assert_eq!(
        Client::connect(serve.address()).get("/").status,
        200,
        "it continues when files are free again"
    );
    assert_eq!(reported(), 1, "{}", serve.running().stderr());
    serve.running().signal(Signal::INT);
    let outcome = serve.into_running().wait(Duration::from_mins(1));
    outcome.expect_exit(0);
    for said in [
        "Too many open files (EMFILE)",
        "\nhint: raise ulimit -n to 128, now 64;",
        "attempts to accept failed\n",
    ] {
        assert!(outcome.stderr.contains(said), "`{said}` is missing: {outcome}");
    }
}

#[test]
fn connections_for_which_there_are_no_files_are_refused_with_a_number_that_is_not() {
    const TEST: &str = "connections_for_which_there_are_no_files_are_refused_with_a_number_that_is_not";
    if Program::foreign("prlimit").is_none() {
        return skip(TEST, "`prlimit` is not installed");
    }
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank"))
        .environment("WAVETANK_MASK", "uring,unshare,own_process")
        .under(["prlimit", "--nofile=150:150"]);
    let serve = |connections: &str| {
        let listen = format!("127.0.0.1:{}", free_port());
        program.clone().args(["serve", "--listen", &listen, "--threads", "1", "--connections", connections])
    };
    let refused = serve("1500").run();
    refused.expect_exit(5);
    assert!(refused.stderr.contains("error: 1,500 connections need "), "{refused}");
    let most = refused.stderr.split("or fewer: --connections ").nth(1).and_then(|rest| rest.lines().next());
    let most: u64 = most.and_then(|most| most.parse().ok()).unwrap_or_else(|| panic!("{refused}"));
    serve(&(most + 3).to_string()).run().expect_exit(5);
    let served = serve(&most.to_string()).start();
    let serving = wavetank_testkit::clock::poll_until(Duration::from_mins(1), || {
        (served.ends_within(Duration::ZERO) || served.stderr().contains("engine ")).then_some(())
    });
    assert!(serving.is_some() && !served.ends_within(Duration::ZERO), "{most}: {}", served.stderr());
}
