//! What the host that sends the load, or an observed host, shows outside of a lab. All samples are
//! recorded values.

use crate::common::{Second, condition, plan};
use wavetank_diagnose::{Diagnosis, Finding, FindingCode, RunContext, RunEnd, diagnose};
use wavetank_measure::{DestinationSample, ErrorClass, HostCounters, HostSample, Ledger, ListenerSample};
use wavetank_plan::Plan;
use wavetank_units::Nanos;

/// Seconds of each run.
const SECONDS: i64 = 6;

/// A run outside of a lab.
#[derive(Clone, Copy)]
struct Run {
    /// Length of its load.
    seconds: i64,
    /// The plan's target is on this host.
    same_host: bool,
    threshold: &'static str,
    second: fn(Second) -> Second,
    /// This host at the end of second `n`.
    this: fn(u64) -> HostSample,
    /// An observed host in each second: counters that rose.
    web1: &'static [(&'static str, u64)],
    cores: fn(u64) -> Vec<(u64, u64)>,
}

/// A run without anything to report.
const QUIET: Run = Run {
    seconds: SECONDS,
    same_host: true,
    threshold: "p99 < 500ms",
    second: |second| second.done(100, 5),
    this: |second| busy(second, 50, 30),
    web1: &[],
    cores: |_| Vec::new(),
};

/// This host with two CPUs at the end of a second: hundredths of both that are used, and those of
/// one CPU that wavetank uses.
fn busy(second: u64, percent: u64, own_percent: u64) -> HostSample {
    HostSample {
        cores: vec![(second * percent, second * 100); 2],
        cpu_user_ns: second * own_percent * 10_000_000,
        ..HostSample::default()
    }
}

/// Adds what a whole sample has.
fn counted(sample: HostSample, rises: &[(&str, u64)], levels: &[(&str, u64)]) -> HostSample {
    let named = |all: &[(&str, u64)]| {
        let mut all: Vec<_> = all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        all.sort();
        all
    };
    let always = [("files.max", 20_000), ("files.used", 100)];
    let always = always.iter().filter(|(name, _)| !levels.iter().any(|(own, _)| own == name));
    let levels: Vec<_> = levels.iter().chain(always).copied().collect();
    let counters = HostCounters { rises: named(rises), levels: named(&levels), ..sample.counters };
    HostSample { counters, ..sample }
}

impl Run {
    fn diagnosis(&self) -> Diagnosis {
        let plan = Plan { thresholds: vec![condition(self.threshold)], ..plan(self.seconds) };
        let mut ledger = Ledger::new(&plan);
        for end in 0..=self.seconds {
            let second = end.unsigned_abs();
            let mut this = (self.this)(second);
            if this.counters.levels.is_empty() {
                this = counted(this, &[], &[]);
            }
            ledger.observe_host(&HostSample { at: Nanos::from_secs(end), ..this });
            let rises: &[_] = if end > 0 { self.web1 } else { &[] };
            let web = HostSample { cores: (self.cores)(second), ..HostSample::default() };
            ledger
                .observe_other("web1", &HostSample { at: Nanos::from_secs(end), ..counted(web, rises, &[]) });
        }
        for at in 0..self.seconds {
            let _ = ledger.add(&(self.second)(Second::at(at)).seal());
        }
        let context = RunContext { same_host: self.same_host, ..RunContext::default() };
        diagnose(&plan, &ledger, &RunEnd::Finished, &context)
    }

    /// The run must have a finding with this code and blame; its evidence must contain all of
    /// `evidence`.
    #[track_caller]
    fn check(&self, code: &str, blame: &str, evidence: &[&str]) -> Finding {
        let found = self.diagnosis().findings;
        let one = found.iter().find(|one| one.code.as_str() == code).unwrap_or_else(|| panic!("{found:#?}"));
        assert_eq!(one.blame.name(), blame, "{one:?}");
        assert!(evidence.iter().all(|part| one.evidence.contains(part)), "{one:?}");
        assert!(!one.hint.is_empty() && !one.code.confidence().is_empty(), "{one:?}");
        one.clone()
    }

    #[track_caller]
    fn check_clean(&self) {
        let findings = self.diagnosis().findings;
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

#[test]
fn a_quiet_run_has_no_finding() {
    QUIET.check_clean();
    Run { same_host: false, ..QUIET }.check_clean();
    // Busy CPUs alone are no finding of a run that passes in time.
    Run { this: |second| busy(second, 99, 150), ..QUIET }.check_clean();
    // What other programs of this host do is none, either.
    Run { this: noisy, ..QUIET }.check_clean();
}

/// Counters and a full queue of another program on this host.
fn noisy(second: u64) -> HostSample {
    let rises = [
        ("Tcp.OutSegs", 100),
        ("Tcp.RetransSegs", 50),
        ("TcpExt.ListenOverflows", 50),
        ("TcpExt.TCPTimeouts", 50),
    ];
    let sample = HostSample { listen_overflows: second * 50, ..busy(second, 50, 30) };
    let mut sample = counted(sample, &rises, &[]);
    let address = "0.0.0.0:8081".parse().expect("an address");
    sample.counters.listeners = vec![ListenerSample { address, queue: 129, limit: 128, drops: second * 50 }];
    sample
}

#[test]
fn the_queue_of_a_local_target_is_named() {
    fn full(second: u64) -> HostSample {
        let address = "0.0.0.0:80".parse().expect("an address");
        let overflows = second.saturating_sub(1) * 20;
        let mut sample = counted(
            HostSample { listen_overflows: overflows, ..busy(second, 30, 10) },
            &[("TcpExt.ListenOverflows", 20)],
            &[],
        );
        sample.counters.listeners = vec![ListenerSample { address, queue: 9, limit: 8, drops: overflows }];
        sample
    }
    let slow = Run { second: |second| second.done(100, 2_000), this: full, ..QUIET };
    let found =
        slow.check("accept_queue_full", "target", &["9 of 8 waited at 0.0.0.0:80", "ListenOverflows"]);
    assert!(found.message.contains("this host"), "{found:?}");
    assert_eq!(slow.diagnosis().verdict.blame.name(), "target");
    // With the target elsewhere, the listener is another program's.
    let remote = Run { same_host: false, ..slow };
    assert!(remote.diagnosis().findings.iter().all(|one| one.code != FindingCode::AcceptQueueFull));
}

#[test]
fn a_lack_of_cpu_explains_lateness() {
    let late: fn(Second) -> Second = |second| second.done_lagging(100, 5, 3_000);
    let full: fn(u64) -> HostSample =
        |second| counted(busy(second, 99, 60), &[("load_threads.waited_us", 400_000)], &[]);
    let run = Run { second: late, this: full, ..QUIET };
    let evidence = ["99 % of 2 CPUs", "30 % by wavetank, 69 % by other processes", "waited 2.8 s for a CPU"];
    let found = run.check("generator_cpu", "generator", &evidence);
    assert!(found.hint.contains("without other work"), "{found:?}");
    let codes: Vec<_> = run.diagnosis().findings.iter().map(|one| one.code).collect();
    assert_eq!(codes[..2], [FindingCode::GeneratorCpu, FindingCode::Late], "{codes:?}");
    let own = Run { this: |second| busy(second, 99, 190), ..run };
    assert!(own.check("generator_cpu", "generator", &[]).hint.starts_with("more or faster CPUs"));
    // Late for another reason.
    let idle = Run { second: late, ..QUIET };
    assert!(idle.diagnosis().findings.iter().all(|one| one.code != FindingCode::GeneratorCpu));
}

#[test]
fn ports_and_files_of_the_generator_are_evidence() {
    fn ports(second: u64) -> HostSample {
        let mut sample = counted(busy(second, 20, 10), &[], &[("files.used", 19_999)]);
        let address = "10.0.0.5:80".parse().expect("an address");
        sample.counters.destinations =
            vec![DestinationSample { address, ports: 28_232, resting: 28_000, range: 28_232 }];
        sample
    }
    let no_ports = Run {
        same_host: false,
        second: |second| second.failed(100, ErrorClass::NoSourceAddress, 1),
        this: ports,
        ..QUIET
    };
    let evidence = ["28,232 of 28,232 ports to 10.0.0.5:80", "28,000 of them in TIME-WAIT"];
    no_ports.check("no_source_address", "generator", &evidence);
    let no_files = Run { second: |second| second.failed(100, ErrorClass::NoFiles, 1), ..no_ports };
    no_files.check(
        "no_files",
        "generator",
        &["19,999 of 20,000 open files of wavetank in use at 0 s on this host"],
    );
    // Ports of the load are no limit of a local target.
    Run { this: ports, ..QUIET }.check_clean();
}

#[test]
fn counters_of_an_observed_host_name_it() {
    let check = |rises: &'static [(&'static str, u64)], code: &str, blame: &str| {
        let run = Run { same_host: false, second: |second| second.done(100, 900), web1: rises, ..QUIET };
        let found = run.check(code, blame, &[]);
        assert!(found.message.contains("web1"), "{found:?}");
        Run { second: QUIET.second, ..run }.check_clean();
    };
    check(&[("vm.oom_kill", 1)], "out_of_memory", "target");
    check(&[("vm.pswpin", 500)], "swapping", "target");
    check(&[("softnet.dropped", 50)], "packets_dropped", "target");
    check(&[("softirq.cpu_full", 1)], "softirq_one_cpu", "target");
    check(&[("smt.siblings_full", 1)], "smt_siblings", "target");
    check(&[("neighbours.table_full", 3)], "neighbours_full", "target");
    check(&[("dev.eth0.rx_fifo", 30)], "interface_drops", "network");
    check(&[("dev.eth0.tx_drops", 30)], "interface_drops", "network");
    check(&[("cpu.idle", 100), ("cpu.iowait", 60), ("cpu.user", 40)], "disk_wait", "target");
    check(&[("conntrack.drop", 1)], "conntrack_full", "target");
    check(&[("cpu.idle", 100), ("cpu.steal", 6)], "cpu_steal", "target");
}

/// In a short load, what one other program writes is a large share of the time.
#[test]
fn disks_are_not_judged_by_two_samples() {
    let waits: &[_] = &[("cpu.idle", 100), ("cpu.iowait", 60), ("cpu.user", 40)];
    let slow = Run { same_host: false, second: |second| second.done(100, 900), web1: waits, ..QUIET };
    let is_found = |seconds: i64| {
        let found = Run { seconds, ..slow }.diagnosis().findings;
        found.iter().any(|one| one.code == FindingCode::DiskWait)
    };
    assert_eq!([2, 3].map(is_found), [false, true]);
}

#[test]
fn cpus_of_an_observed_host_are_a_limit() {
    let slow = Run { same_host: false, second: |second| second.done(100, 900), ..QUIET };
    let all = Run { cores: |second| vec![(second * 97, second * 100); 2], ..slow };
    assert!(all.check("cpu_full", "target", &["90 % or more in"]).message.contains("web1"));
    let one = Run { cores: |second| vec![(second * 100, second * 100), (second * 5, second * 100)], ..slow };
    one.check("one_cpu_full", "target", &["its busiest CPU at 100 %"]);
    let idle = Run { cores: |second| vec![(second * 50, second * 100); 2], ..slow };
    let codes: Vec<_> = idle.diagnosis().findings.iter().map(|one| one.code).collect();
    assert!(!codes.contains(&FindingCode::CpuFull) && !codes.contains(&FindingCode::OneCpuFull), "{codes:?}");
}

#[test]
fn a_stuck_worker_is_the_cause_of_what_follows() {
    fn full(second: u64) -> HostSample {
        let address = "0.0.0.0:80".parse().expect("an address");
        let rises = [("TcpExt.ListenOverflows", 20), ("uneven_queue.0.0.0.0:80", 1)];
        let overflows = second.saturating_sub(1) * 20;
        let sample = HostSample { listen_overflows: overflows, ..busy(second, 30, 10) };
        let mut sample = counted(sample, if second > 0 { &rises } else { &[] }, &[]);
        sample.counters.listeners = vec![ListenerSample { address, queue: 52, limit: 51, drops: overflows }];
        sample
    }
    // Queues that differ now and then are those of many new connections.
    fn at_times(second: u64) -> HostSample {
        let mut sample = full(second);
        if !second.is_multiple_of(5) {
            sample.counters.rises.retain(|(name, _)| !name.starts_with("uneven_queue."));
        }
        sample
    }
    let slow = Run { second: |second| second.done(100, 2_000), this: full, ..QUIET };
    let evidence = ["uneven queues at 0.0.0.0:80 in 6 samples, from 0 s to 6 s", "52 of 51 waited"];
    slow.check("stuck_worker", "target", &evidence);
    let found = slow.diagnosis().findings;
    assert!(found.iter().all(|one| one.code != FindingCode::AcceptQueueFull), "{found:#?}");
    let brief = Run { this: at_times, seconds: 30, ..slow };
    let found = brief.diagnosis().findings;
    assert!(found.iter().all(|one| one.code != FindingCode::StuckWorker), "{found:#?}");
    // With the target elsewhere, these are another program's.
    let remote = Run { same_host: false, ..slow };
    assert!(remote.diagnosis().findings.iter().all(|one| one.code != FindingCode::StuckWorker));
}

#[test]
fn a_queue_that_is_nearly_full_is_a_hint() {
    let with_queue = |queue: u64, drops: u64| {
        let plan = Plan { thresholds: vec![condition("p99 < 500ms")], ..plan(SECONDS) };
        let mut ledger = Ledger::new(&plan);
        for end in 0..=SECONDS {
            let address = "10.0.0.5:80".parse().expect("an address");
            let drops = if end > 0 { drops } else { 0 };
            let listeners = vec![ListenerSample { address, queue, limit: 64, drops }];
            let counters = HostCounters { listeners, ..HostCounters::default() };
            ledger.observe_other(
                "web1",
                &HostSample { at: Nanos::from_secs(end), counters, ..HostSample::default() },
            );
        }
        for at in 0..SECONDS {
            let _ = ledger.add(&Second::at(at).done(100, 5).seal());
        }
        let found = diagnose(&plan, &ledger, &RunEnd::Finished, &RunContext::default()).findings;
        found.into_iter().find(|one| one.code == FindingCode::AcceptQueueNear)
    };
    let near = with_queue(48, 0).expect("48 of 64 is near");
    assert_eq!((near.blame.name(), near.code.confidence()), ("target", "low"), "{near:?}");
    assert!(near.evidence.contains("48 of 64 waited at 10.0.0.5:80"), "{near:?}");
    assert_eq!((with_queue(47, 0), with_queue(64, 3)), (None, None));
}

#[test]
fn many_orphans_are_named() {
    fn orphans(second: u64) -> HostSample {
        counted(busy(second, 20, 10), &[], &[("orphans.used", second * 50), ("orphans.max", 1_000)])
    }
    let slow = Run { second: |second| second.done(100, 2_000), this: orphans, ..QUIET };
    slow.check("many_orphans", "target", &["300 of 1,000 orphans at 6 s"]);
    Run { second: QUIET.second, ..slow }.check_clean();
    let few = Run {
        this: |second| counted(busy(second, 20, 10), &[], &[("orphans.used", 240), ("orphans.max", 1_000)]),
        ..slow
    };
    assert!(few.diagnosis().findings.iter().all(|one| one.code != FindingCode::ManyOrphans));
}

/// Diagnoses a run of two agents that was late. `full`: the CPUs of the second were used up.
fn of_fleet(full: bool, web1: &[(&str, u64)]) -> Diagnosis {
    let plan = Plan { thresholds: vec![condition("p99 < 500ms")], ..plan(SECONDS) };
    let mut ledger = Ledger::new(&plan);
    for end in 0..=SECONDS {
        let second = end.unsigned_abs();
        let mut observe = |name: &str, sample: HostSample| {
            ledger.observe_other(name, &HostSample { at: Nanos::from_secs(end), ..sample });
        };
        let sends = |sample| HostSample { cpu_load_ns: 1 + second, ..counted(sample, &[], &[]) };
        observe("load1", sends(busy(second, 30, 20)));
        observe("load2", sends(busy(second, if full { 99 } else { 30 }, 20)));
        observe("web1", counted(busy(second, 40, 0), if end > 0 { web1 } else { &[] }, &[]));
    }
    for at in 0..SECONDS {
        let second = Second::at(at);
        let second = if full { second.done_lagging(100, 5, 3_000) } else { second.done(100, 900) };
        let _ = ledger.add(&second.seal());
    }
    diagnose(&plan, &ledger, &RunEnd::Finished, &RunContext::default())
}

#[test]
fn hosts_of_a_fleet_are_generators_and_named() {
    let found = of_fleet(true, &[]).findings;
    let cpu = found
        .iter()
        .find(|one| one.code == FindingCode::GeneratorCpu)
        .unwrap_or_else(|| panic!("{found:#?}"));
    assert!(cpu.message.contains("load2") && cpu.blame.name() == "generator", "{cpu:?}");
    assert!(found.iter().all(|one| one.code != FindingCode::CpuFull), "{found:#?}");
    // Hosts under test are named in a fleet's run, too.
    let slow = of_fleet(false, &[("conntrack.drop", 3)]);
    let first = &slow.findings[0];
    assert_eq!((first.code, first.blame.name()), (FindingCode::ConntrackFull, "target"), "{slow:#?}");
    assert!(first.message.contains("web1"), "{first:?}");
}
