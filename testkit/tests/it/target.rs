//! The scripted target against other clients: it must be correct before it is used to judge
//! anything.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use wavetank_testkit::clock::park_until;
use wavetank_testkit::{
    Accept, Client, Program, Script, ScriptAction, Stamp, Target, TimingMismatch, expect_time, retry_timing,
    skip,
};

const SECOND: Duration = Duration::from_secs(1);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Every delay at least as long as scripted, and the median not 0.3 ms longer.
fn check_delays(expected: Duration, mut measured: Vec<Duration>) -> Result<(), TimingMismatch> {
    measured.sort_unstable();
    let (least, median) = (measured[0], measured[measured.len() / 2]);
    assert!(least >= expected, "{least:?} is shorter than the scripted {expected:?}");
    let right = median <= expected + Duration::from_micros(300);
    expect_time(right, || format!("{median:?} instead of {expected:?}"))
}

#[test]
fn a_constant_delay_is_exact() {
    retry_timing(|| {
        let target = Target::start(Script::constant(ms(5)));
        let mut client = Client::connect(target.address());
        let measured = (0..40).map(|_| {
            let sent = Stamp::now();
            assert_eq!(client.get("/a").status, 200);
            Stamp::now().since(sent)
        });
        let measured = measured.collect();
        drop(client);
        let truth = target.settled();
        assert_eq!((truth.requests, truth.connections, truth.for_path("/a")), (40, 1, 40));
        assert_eq!((truth.ended_by_fin, truth.by_status[&200]), (1, 40));
        let schedule = truth.schedule();
        let stamped = schedule.windows(2).all(|pair| pair[1] >= pair[0] + ms(5));
        assert!(stamped, "arrivals are stamped: {schedule:?}");
        check_delays(ms(5), measured)
    });
}

#[test]
fn a_freeze_ends_for_all_simultaneously() {
    retry_timing(|| {
        let target = Target::start(Script::freeze(ms(1), ms(50), ms(200)));
        let mut clients: Vec<Client> = (0..8).map(|_| Client::connect(target.address())).collect();
        assert_eq!(clients[0].get("/").status, 200);
        let end = target.truth().arrivals[0].at.plus(ms(251));
        let begin = target.truth().arrivals[0].at.plus(ms(60));
        park_until(begin, &AtomicBool::new(false));
        for client in &mut clients {
            client.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
        }
        for client in &mut clients {
            client.receive();
        }
        let late = Stamp::now().since(end);
        assert!(Stamp::now() >= end, "answered in the freeze");
        let sent = Stamp::now();
        clients[0].get("/");
        let after = Stamp::now().since(sent);
        expect_time(late < ms(4) && after < ms(4), || format!("answered {late:?} late; then {after:?}"))
    });
}

#[test]
fn endings_are_what_they_are_called() {
    let get = "GET / HTTP/1.1\r\nHost: test\r\n\r\n";
    let target = Target::start(Script::close_announced(2));
    let mut client = Client::connect(target.address());
    assert_eq!(client.get("/").field("connection"), None);
    assert_eq!(client.get("/").field("connection"), Some("close"));
    assert!(client.ended());

    let target = Target::start(Script::close_before_request(1));
    let mut client = Client::connect(target.address());
    assert_eq!(client.get("/").status, 200);
    assert!(client.send(get).ended());
    assert_eq!(target.settled().requests, 2, "the unanswered one counts");

    let target = Target::start(Script::close_idle(ms(30)));
    let mut client = Client::connect(target.address());
    assert_eq!(client.get("/").status, 200);
    assert!(client.ended());

    let target = Target::start(Script::half_close(100));
    let mut client = Client::connect(target.address());
    client.send(get).send(get);
    target.wait_for("second request", 60 * SECOND, |truth| truth.requests == 2);
    drop(client);
    assert_eq!(target.settled().by_status[&200], 1);

    let target = Target::start(Script::silence());
    let mut client = Client::connect(target.address());
    client.send(get);
    target.wait_for("request", 60 * SECOND, |truth| truth.requests == 1);
    drop(client);
    assert_eq!(target.settled().ended_by_fin, 1);
}

#[test]
fn a_greeting_comes_before_any_request() {
    let target = Target::start(Script::constant(ms(0)).greeting(vec![ScriptAction::Close]));
    assert!(Client::connect(target.address()).ended());
    assert_eq!(target.settled().requests, 0);
}

#[test]
fn bodies_and_pipelines_are_read() {
    let target = Target::start(Script::new(|seen| {
        vec![ScriptAction::Send(wavetank_testkit::answer(
            200,
            format!("{} {}", seen.on_connection, seen.body.len()).as_bytes(),
        ))]
    }));
    let mut client = Client::connect(target.address());
    let post = "POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /";
    client.send([post, post, "GET /b HTTP/1.0\r\n\r\n"].concat());
    let bodies: Vec<String> = (0..3).map(|_| client.receive().text()).collect();
    assert_eq!(bodies, ["1 5", "2 5", "3 0"]);
    assert!(client.ended(), "HTTP/1.0 closes");
    let truth = target.settled();
    assert_eq!((truth.for_path("/a"), truth.for_path("/b"), truth.by_method["POST"]), (2, 1, 2));
    let mut client = Client::connect(target.address());
    assert!(client.send("what is this\r\n\r\n").ended());
    assert_eq!(target.settled().malformed, 1);
}

/// Runs `curl` and gives its exit code and what it printed of `format`.
fn curl(words: &[&str], format: &str) -> Option<(i32, String)> {
    let curl = Program::foreign("curl")?;
    let outcome = curl.args(["-s", "-o", "/dev/null", "--max-time", "1", "-w", format]).args(words).run();
    Some((outcome.exit?, outcome.stdout))
}

/// Source of curl's exit codes: its manual, "EXIT CODES".
fn check_curl(script: Script, exit: i32, printed: &str) {
    let name = format!("check_curl for {script:?}");
    let target = Target::start(script);
    match curl(&[&target.url("/")], "%{http_code}") {
        Some(found) => assert_eq!(found, (exit, printed.to_owned())),
        None => skip(&name, "curl is not installed"),
    }
}

#[test]
fn curl_sees_every_misbehaviour() {
    check_curl(Script::constant(ms(1)), 0, "200");
    check_curl(Script::trickle(b"slow", Duration::from_micros(200)), 0, "200");
    check_curl(Script::interim(), 0, "200");
    check_curl(Script::statuses(&[404]), 0, "404");
    check_curl(Script::raw(b"HTTP/1.1 200 OK\r\n\r\nuntil close", true), 0, "200");
    check_curl(Script::reset(), 56, "000");
    check_curl(Script::reset_after_head(100), 56, "200");
    check_curl(Script::half_close(100), 18, "200");
    check_curl(Script::silence(), 28, "000");
    check_curl(Script::raw(b"", true), 52, "000");
    check_curl(Script::raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", true), 56, "200");
    check_curl(Script::constant(ms(0)).accepting(Accept::Refuse), 7, "000");
    check_curl(Script::constant(ms(0)).accepting(Accept::Never), 28, "000");
}

#[test]
fn a_slow_acceptor_answers_when_it_accepts() {
    let began = Stamp::now();
    let target =
        Target::start(Script::constant(ms(0)).accepting(Accept::After { delay: ms(150), backlog: 16 }));
    assert_eq!(Client::connect(target.address()).get("/").status, 200);
    assert!(Stamp::now().since(began) >= ms(150), "not before it accepts");
}

#[test]
fn counts_agree_with_ab_and_wrk() {
    let target = Target::start(Script::constant(ms(1)));
    match Program::foreign("ab") {
        Some(ab) => {
            let outcome = ab.args(["-q", "-k", "-n", "400", "-c", "8", &target.url("/ab")]).run();
            outcome.expect_exit(0);
            assert!(outcome.stdout.contains("Complete requests:      400"), "{outcome}");
            assert!(outcome.stdout.contains("Failed requests:        0"), "{outcome}");
            assert_eq!(target.settled().for_path("/ab"), 400);
        }
        None => skip("counts_agree_with_ab_and_wrk", "ab is not installed"),
    }
    match Program::foreign("wrk") {
        Some(wrk) => {
            let outcome = wrk.args(["-t", "1", "-c", "8", "-d", "1s", &target.url("/wrk")]).run();
            outcome.expect_exit(0);
            let done = outcome.stdout.lines().find_map(|line| line.trim().split_once(" requests in "));
            let done: u64 = done.expect("wrk prints its total").0.parse().expect("a number");
            let seen = target.settled().for_path("/wrk");
            // wrk stops with up to one open request on each connection.
            assert!((done..=done + 8).contains(&seen), "wrk {done}, target {seen}");
        }
        None => skip("counts_agree_with_ab_and_wrk", "wrk is not installed"),
    }
}

#[test]
fn two_hundred_connections_are_kept_on_schedule() {
    let target = Target::start(Script::constant(ms(100)));
    retry_timing(|| {
        target.reset();
        let mut clients: Vec<Client> = (0..200).map(|_| Client::connect(target.address())).collect();
        for client in &mut clients {
            client.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
        }
        for client in &mut clients {
            assert_eq!(client.receive().status, 200);
        }
        let received = Stamp::now();
        let truth = target.truth();
        assert_eq!((truth.requests, truth.open, truth.open_peak), (200, 200, 200));
        drop(clients);
        target.settled();
        let last = truth.arrivals.iter().map(|arrival| arrival.at).max().expect("all arrived");
        let after = received.since(last);
        assert!(after >= ms(100), "the last answer came {after:?} after the last request");
        // Reading 200 responses takes the client some milliseconds as well.
        expect_time(after < ms(108), || format!("the last answer came {after:?} after the last request"))
    });
}
