//! The hosts of a lab: from samples to the record, to text and to a page.

use crate::common;
use crate::support;

use common::{Second, plan};
use support::golden;
use support::measured::{bare, record_of};
use wavetank_measure::{HostSample, Ledger};
use wavetank_record::{EnvironmentDoc, LabDoc, LabHostDoc, Number, RunRecord, ServerCountDoc};
use wavetank_report::{HostRows, HtmlSource, Language, html, markdown, text};
use wavetank_units::Nanos;

/// A host with two CPUs after `second` seconds, of which it used `cpu_ms` in each second.
fn host(second: i64, cpu_ms: u64) -> HostSample {
    let seconds = second.unsigned_abs();
    HostSample {
        at: Nanos::from_secs(second),
        cpu_user_ns: cpu_ms * seconds * 1_000_000,
        cpus_milli: 2_000,
        cores: vec![(cpu_ms * seconds * 1_000_000, seconds * 1_000_000_000), (0, seconds * 1_000_000_000)],
        mem_used_bytes: 50_000_000 + seconds,
        mem_all_bytes: 1 << 30,
        tcp_established: 100 * seconds.min(9),
        accept_queue: seconds % 4,
        listen_overflows: if cpu_ms > 500 { 3 * seconds } else { 0 },
        net_in_bytes: seconds * 12_500_000,
        net_out_bytes: seconds * 250_000_000,
        ..HostSample::default()
    }
}

/// Ten seconds of a thousand requests each, in a lab.
fn in_a_lab() -> RunRecord {
    let plan = plan(10);
    let mut book = Ledger::new(&plan);
    for second in 0..10 {
        let _ = book.add(&Second::at(second).done(1_000, 1).seal());
    }
    for second in 0..=10 {
        book.observe_other("app1", &host(second, 200));
        book.observe_other("lb1", &host(second, 800));
        let load = HostSample { cpu_load_ns: second.unsigned_abs() * 290_000_000, ..host(second, 300) };
        book.observe_other("load1", &load);
    }
    book.observe_other("seen-once", &host(3, 100));
    let known = |name: &str, role: &str| LabHostDoc {
        name: name.to_owned(),
        role: role.to_owned(),
        ..LabHostDoc::default()
    };
    let hosts = vec![known("load1", "load"), known("lb1", "balancer"), known("app1", "server")];
    let lab = Some(LabDoc { name: "shop".to_owned(), hosts });
    let environment = EnvironmentDoc { lab, ..EnvironmentDoc::default() };
    record_of(&plan, &book, &environment, &[])
}

#[test]
fn what_hosts_used_is_in_the_record() {
    let record = in_a_lab();
    let names: Vec<_> = record.hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["load1", "lb1", "app1"], "as in the topology; a host sampled once is left out");
    let lb1 = &record.hosts[1];
    assert_eq!((lb1.role.as_str(), lb1.seconds, lb1.cpus), ("balancer", Number(10.0), Number(2.0)));
    assert_eq!((lb1.cpu, lb1.cpu_max), (Some(Number(0.4)), Some(Number(0.4))));
    assert_eq!(lb1.hottest_core_max, Some(Number(0.8)));
    assert_eq!((lb1.cpu_s, lb1.cpu_us_per_request), (Number(8.0), Some(Number(800.0))));
    assert_eq!((lb1.memory_max_bytes, lb1.established_max), (50_000_010, 900));
    assert_eq!((lb1.accept_queue_max, lb1.listen_overflows), (3, 30));
    assert_eq!((lb1.in_bytes, lb1.out_bytes), (125_000_000, 2_500_000_000));
    assert_eq!((lb1.in_bits_per_s_max, lb1.out_bits_per_s_max), (Number(1e8), Number(2e9)));
    let load1 = &record.hosts[0];
    assert_eq!((load1.cpu_s, load1.cpu_load_s), (Number(3.0), Some(Number(2.9))));
    assert_eq!(lb1.cpu_load_s, None, "it sends nothing");
    let read = RunRecord::from_json(&record.to_json()).expect("it was written by us");
    assert_eq!(read.hosts, record.hosts);
}

fn counted() -> RunRecord {
    let servers = vec![
        ServerCountDoc {
            server: "lb1/haproxy".to_owned(),
            connections: 50,
            requests: Some(9_999),
            run_connections: Some(50),
            run_requests: Some(10_000),
        },
        ServerCountDoc { server: "app1/nginx".to_owned(), connections: 4, ..ServerCountDoc::default() },
    ];
    RunRecord { servers, ..in_a_lab() }
}

#[test]
fn a_person_reads_them_in_a_table() {
    let printed = text(&counted());
    let from = printed.find("hosts").expect("they are shown");
    let rest = &printed[from..];
    let until = rest.find("\ngenerator").or_else(|| rest.find("\nnote")).map_or(rest.len(), |at| at + 1);
    golden("hosts.txt", &rest[..until]);
    assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
    let none = RunRecord { hosts: Vec::new(), nearest_limit: None, servers: Vec::new(), ..counted() };
    let outside = text(&none);
    assert!(!outside.contains("lb1"), "{outside}");
}

#[test]
fn markdown_has_them_in_tables() {
    let listed = markdown(&counted());
    let from = listed.find("### Hosts\n").expect("they are shown");
    let rest = &listed[from..];
    let until = rest.find("\n### Errors").or_else(|| rest.find("\n### How")).map_or(rest.len(), |at| at + 1);
    golden("hosts.md", &rest[..until]);
    // The cost of a request on the hosts that send it is shown with the generator, whether or not
    // its threads were sampled.
    let mut unwatched = counted();
    unwatched.hosts[0].cpu_load_s = None;
    let listed = markdown(&unwatched);
    let cost = |name: &str| {
        let row = listed.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).expect("a row");
        row.split(" | ").nth(5).expect("a cell").to_owned()
    };
    assert!(listed.contains("| CPU per request |") && !cost("lb1").is_empty(), "{listed}");
    assert_eq!(cost("load1"), "", "{listed}");
    let outside =
        markdown(&RunRecord { hosts: Vec::new(), nearest_limit: None, servers: Vec::new(), ..counted() });
    assert!(!outside.contains("lb1") && !outside.contains("Server counts"), "{outside}");
}

#[test]
fn rows_of_hosts_add_up() {
    let mut bytes = Vec::new();
    let mut rows = HostRows::new(&mut bytes).expect("memory takes all");
    for second in 0..=10 {
        rows.add("=lb1", &host(second, 800)).expect("memory takes all");
    }
    rows.add("app1", &host(0, 200)).expect("memory takes all");
    rows.finish().expect("memory takes all");
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let head = reader.headers().expect("a header").clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("as many cells")).collect();
    let cell = |row: usize, name: &str| {
        let at = head.iter().position(|one| one == name).unwrap_or_else(|| panic!("no {name} in {head:?}"));
        rows[row][at].to_owned()
    };
    let all = |name: &str| (1..=10).map(|row| cell(row, name).parse::<f64>().expect("a number")).sum::<f64>();
    assert_eq!(rows.len(), 12);
    assert_eq!([cell(0, "host"), cell(0, "at_s"), cell(0, "cpu")], ["'=lb1", "0", ""], "nothing was before");
    assert_eq!([cell(3, "at_s"), cell(3, "cpu"), cell(3, "busiest_core")], ["3", "0.4000", "0.8000"]);
    assert_eq!([cell(3, "established"), cell(3, "accept_queue")], ["300", "3"]);
    assert!((all("cpu_user_s") - 8.0).abs() < 1e-9);
    assert_eq!((all("turned_away"), all("sent_bytes")), (30.0, 2.5e9));
    assert_eq!([cell(11, "host"), cell(11, "sent_bytes")], ["app1", ""], "another host starts from zero");
}

#[test]
fn a_page_shows_and_draws_them() {
    let record = counted();
    let samples = |cpu_ms| (0..=10).map(|second| host(second, cpu_ms)).collect::<Vec<_>>();
    let others = [
        ("app1".to_owned(), samples(200)),
        ("lb1".to_owned(), samples(800)),
        ("x<b>".to_owned(), samples(1)),
    ];
    for (language, open, words) in [
        (Language::English, " (", ["Hosts", "balancer", "Server counts"]),
        (Language::Chinese, "（", ["主机", "均衡器", "服务器自身计数"]),
    ] {
        let page = html(HtmlSource { others: &others, ..bare(&record) }, language);
        let first = page.split("<section id=\"lab\"").next().expect("the first page");
        let listed = ["load1", "lb1", "app1"].map(|name| first.contains(&format!("<bdi>{name}</bdi>{open}")));
        assert_eq!(listed, [true; 3], "hosts are what was tested, {language:?}: {first}");
        for word in words.into_iter().chain([
            "id=\"lab-cpu\"",
            "id=\"lab-established\"",
            "id=\"lab-net\"",
            "2.00 Gbit/s",
            "2.90 s",
        ]) {
            assert!(page.contains(word), "{word} is missing, {language:?}");
        }
        assert!(
            first.contains("80\u{a0}%") && first.contains("lb1 "),
            "the busiest of them is not shown either: {first}"
        );
        assert!(!page.contains("x<b>"), "a name got out");
    }
}
