//! What answers come to, with a resolver that reads from a script.

use std::sync::mpsc::sync_channel;
use std::time::Duration;

use wavetank_experiment::plan_url;
use wavetank_plan::{DnsPolicy, HostFacts, LoadOrigin, RunOptions, SocketSupport, TargetUrl};
use wavetank_record::EventKind;
use wavetank_units::{Code, Nanos, Ports};

use super::*;

/// An answer: addresses apart by spaces, or nothing, which is a failure.
fn answer(text: &str) -> Result<Vec<SocketAddr>, UserError> {
    let found: Vec<_> =
        text.split_whitespace().map(|ip| SocketAddr::new(ip.parse().expect("an IP"), 80)).collect();
    if found.is_empty() {
        Err(UserError::usage(Code::UnknownHost, "`web` does not resolve", ""))
    } else {
        Ok(found)
    }
}

/// A plan of one target `web`, with its name resolved to `before` ahead of the load.
fn plan(before: &str) -> Plan {
    let host = HostFacts {
        cpus: vec![0],
        memory_available_bytes: 1 << 30,
        files_max: 10_000,
        sockets: SocketSupport::plain(),
        limits: wavetank_plan::HostLimits::default(),
        port_range: (40_000, 50_000),
        ports: Ports::range(40_000, 50_000),
        addresses: Vec::new(),
        local_networks: Vec::new(),
        kernel: String::new(),
        hostname: String::new(),
        cpu_model: String::new(),
        origin: LoadOrigin::ThisHost,
        observed_hosts: Vec::new(),
        agent_hosts: Vec::new(),
    };
    let options = RunOptions { dns: Some(DnsPolicy::EachSession), ..RunOptions::default() };
    let url = TargetUrl::parse("http://web/").expect("a URL");
    plan_url(&options, &url, &answer(before).expect("addresses"), &host).expect("a plan").plan
}

fn names(before: &str, first_only: bool) -> RunNames {
    let mut plan = plan(before);
    plan.http.dns.as_mut().expect("a name to look up").ways[0].first_only = first_only;
    RunNames::new(&plan, &Guard::default(), "wavetank run web").expect("a name to look up")
}

/// Checks one response after the other: the addresses of connections after each (empty for
/// unchanged ones), and the reports.
#[track_caller]
fn check(mut names: RunNames, answers: &[(&str, &str, &str)]) -> RunNames {
    for (number, (found, to, report)) in answers.iter().enumerate() {
        let (ways, news) = names.take(vec![answer(found)]);
        let expected = (!to.is_empty()).then(|| answer(to).expect("addresses"));
        assert_eq!(ways.map(|ways| ways[0].clone()), expected, "answer {number}: {found}");
        let texts: Vec<_> = news.iter().map(DnsUpdate::text).collect();
        assert_eq!(texts.is_empty(), report.is_empty(), "answer {number}: {texts:?}");
        assert!(
            texts.is_empty() || texts.iter().any(|text| text.contains(report)),
            "answer {number}: {report}: {texts:?}"
        );
    }
    names
}

#[test]
fn another_answer_moves_and_the_same_one_does_not() {
    let answers = [
        ("127.0.0.2", "", ""),
        ("127.0.0.3", "127.0.0.3", "web:80 moved from 127.0.0.2:80 to 127.0.0.3:80"),
        ("127.0.0.3", "", ""),
        ("127.0.0.4 127.0.0.3", "127.0.0.4 127.0.0.3", "from 127.0.0.3:80 to 127.0.0.4:80, 127.0.0.3:80"),
        ("127.0.0.3 127.0.0.4", "", ""),
        ("127.0.0.2", "127.0.0.2", "moved"),
    ];
    let names = check(names("127.0.0.2", false), &answers);
    assert_eq!(names.end(), []);
}

#[test]
fn where_the_answer_chooses_its_first_address_alone_counts() {
    let answers = [
        ("127.0.0.2 127.0.0.3", "", ""),
        ("127.0.0.3 127.0.0.2", "127.0.0.3", "from 127.0.0.2:80 to 127.0.0.3:80"),
        ("127.0.0.3 127.0.0.9", "", ""),
    ];
    check(names("127.0.0.2", true), &answers);
}

#[test]
fn a_failing_look_up_changes_nothing_and_is_reported_once_and_counted() {
    let answers = [
        ("", "", "connections continue to the previous addresses of `web`"),
        ("", "", ""),
        ("127.0.0.3", "127.0.0.3", "moved"),
        ("", "", ""),
    ];
    let reported = check(names("127.0.0.2", false), &answers).end();
    assert_eq!(reported.len(), 1);
    assert_eq!(reported[0].text(), "3 of 4 look-ups of `web` failed while the load ran");
}

#[test]
fn what_the_guard_rejects_is_unused_and_reported_once() {
    let answers = [
        ("192.0.2.1 127.0.0.3", "127.0.0.3", "not used: web (192.0.2.1)"),
        ("192.0.2.1 127.0.0.3", "", ""),
        ("192.0.2.1", "", "connections continue"),
    ];
    check(names("127.0.0.2", false), &answers);
    let mut both = names("127.0.0.2", false);
    let (ways, news) = both.take(vec![answer("192.0.2.1 127.0.0.3")]);
    assert!(ways.is_some());
    let kinds: Vec<_> = news.iter().map(DnsUpdate::kind).collect();
    assert_eq!(kinds, [EventKind::NamesRefused, EventKind::NamesMoved]);
}

#[test]
fn a_run_uses_a_limited_number_of_new_addresses() {
    let mut names = names("127.0.0.2", false);
    let mut moves = 0;
    for number in 0..KNOWN_MAX + 10 {
        let found = format!("127.1.{}.{}", number / 250, number % 250 + 1);
        moves += usize::from(names.take(vec![answer(&found)]).0.is_some());
    }
    assert_eq!(moves, KNOWN_MAX);
    assert!(names.end().iter().any(|one| one.kind() == EventKind::NamesRefused));
}

#[test]
fn the_thread_asks_after_each_pause_and_ends_with_its_owner() {
    let mut names = names("127.0.0.2", false);
    // Below the shortest interval a user may choose, so that the test does not wait.
    names.renewal.when = DnsPolicy::Every(Nanos::from_millis(1));
    let (asked, was_asked) = sync_channel(100);
    let mut count = 0;
    let look = move |(host, port): (&str, u16)| {
        assert_eq!((host, port), ("web", 80));
        count += 1;
        let _ = asked.try_send(count);
        answer(if count < 3 { "127.0.0.2" } else { "127.0.0.3" })
    };
    let mut dns_refresher = DnsRefresher::start_with(names, look);
    let mut moved = None;
    while moved.is_none() {
        was_asked.recv_timeout(Duration::from_secs(20)).expect("it is polled repeatedly");
        while let Some((ways, _)) = dns_refresher.poll() {
            moved = moved.or(ways);
        }
    }
    assert_eq!(moved.expect("a move")[0], answer("127.0.0.3").expect("an address"));
    drop(dns_refresher);
    // It goes with what it owns, the sender.
    while was_asked.recv_timeout(Duration::from_secs(20)).is_ok() {}
    assert_eq!(was_asked.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Disconnected));
}
