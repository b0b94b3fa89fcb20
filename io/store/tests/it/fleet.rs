//! An archive of several agents reads as one of a single agent with the merged intervals.

use crate::support;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use support::{in_progress, interval, meta, plan, record};
use wavetank_measure::{FleetMerger, Interval, ThreadStats};
use wavetank_plan::{Condition, Plan};
use wavetank_record::{
    AgentDoc, AgentHealth, EventKind, EventLine, FleetDoc, IntervalExtras, IntervalLine, Number,
};
use wavetank_store::{
    AgentGap, ArchiveItem, ArchiveWriter, FLEET, OpenedRun, ReadReport, RunsDir, Spool, SpoolMeta, open,
};
use wavetank_units::Nanos;

const AGENTS: [&str; 3] = ["load-a", "load/b", "load/c"];

/// A plan that judges single seconds, windows and totals.
fn judged() -> Plan {
    let parsed = |text: &str| Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut plan = plan();
    plan.phases[0].length = Some(Nanos::from_secs(200));
    plan.thresholds =
        ["p99 < 1s", "p99 < 2ms for 10s", "failed < 1%", "late < 0.1% for 10s", "p50(lag) < 1us"]
            .map(parsed)
            .to_vec();
    plan.stop = vec![parsed("p50 > 1h")];
    plan
}

/// Numbers that a seed replays.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// One agent's part of second `second`.
fn part(random: &mut Random, second: u64) -> Interval {
    let mut part = interval(second);
    let step = &mut part.steps[0];
    step.counters.late = random.below(3);
    step.open = random.below(9);
    (0..random.below(40)).for_each(|_| step.response.record(random.below(1 << 32)));
    part.phases[0].lag.record(random.below(1 << 20));
    part.users = random.below(50);
    part.conns.open = random.below(90);
    part.threads[0].busy_ns = random.below(1_000_000_000);
    let mut other = part.threads[0];
    (other.thread, other.busy_ns) = (1, random.below(1_000_000_000));
    part.threads.push(other);
    part
}

/// The parts of all agents: an agent's last ones may be missing.
fn parts(seed: u64) -> Vec<Vec<Interval>> {
    let mut random = Random(seed);
    let seconds = 70;
    let lengths = [seconds, 1 + random.below(seconds), 1 + random.below(seconds)];
    lengths.map(|length| (0..length).map(|second| part(&mut random, second)).collect()).to_vec()
}

fn line(agent: &str, seq: u64, interval: &Interval) -> String {
    let health = Some(AgentHealth { cpu_user_s: Number(1.5), ..AgentHealth::default() });
    let extras = if seq.is_multiple_of(3) {
        IntervalExtras { health, ..IntervalExtras::default() }
    } else {
        IntervalExtras::default()
    };
    IntervalLine::encode_interval_with_extras(agent, 1, seq, interval, &extras)
}

/// The archive with a file for each agent. Second by second, agents come in a changing order.
fn apart(dir: &Path, parts: &[Vec<Interval>]) -> ArchiveWriter {
    let mut writer = ArchiveWriter::create(&RunsDir::new(dir), &meta()).expect("the folder is writable");
    for seq in 0..70 {
        for turn in 0..AGENTS.len() {
            let agent = (turn + seq) % AGENTS.len();
            if let Some(interval) = parts[agent].get(seq) {
                let line = line(AGENTS[agent], seq as u64, interval);
                let problem = writer.agent_interval(Nanos::from_secs(seq as i64), AGENTS[agent], &line);
                assert!(problem.is_none(), "{problem:?}");
            }
        }
    }
    writer
}

/// The merged intervals. `lost` is an agent and the second in which it is missed.
fn merged(parts: &[Vec<Interval>], lost: Option<(usize, u64)>) -> Vec<Interval> {
    let mut merger = FleetMerger::new(AGENTS.len() as u16);
    let mut all = Vec::new();
    for seq in 0..70 {
        for (agent, parts) in parts.iter().enumerate() {
            match (parts.get(seq as usize), lost) {
                (Some(part), _) => assert!(merger.deliver(agent as u16, seq, part.clone()).is_none()),
                (None, Some((lost, at))) if lost == agent => {
                    if seq >= at {
                        merger.agent_lost(agent as u16);
                    }
                }
                (None, _) => merger.agent_ended(agent as u16),
            }
        }
        merger.seal(seq);
        all.extend(std::iter::from_fn(|| merger.poll()));
    }
    all
}

/// The archive of one agent that has `intervals`.
fn together(dir: &Path, intervals: &[Interval]) -> ArchiveWriter {
    let mut writer = in_progress(dir, 0);
    for interval in intervals {
        assert!(writer.interval(interval.end(), interval).is_none());
    }
    writer
}

/// Every view of both archives is the same.
fn check_same(several: &OpenedRun, one: &OpenedRun, seed: u64) -> ReadReport {
    let plan = judged();
    let (ledger, report) = several.ledger(&plan).expect("it can be read");
    let (expected, whole) = one.ledger(&plan).expect("it can be read");
    assert_eq!(report.intervals, whole.intervals, "seed {seed}");
    assert_eq!(ledger.totals(), expected.totals(), "seed {seed}");
    assert_eq!(ledger.results(), expected.results(), "seed {seed}");
    assert_eq!(ledger.validity(), expected.validity(), "seed {seed}");
    assert_eq!(ledger.standstills(), expected.standstills(), "seed {seed}");
    assert_eq!(ledger.violations(), expected.violations(), "seed {seed}");
    let series = |run: &OpenedRun| run.time_series(&plan, 50).expect("it can be read").0;
    assert_eq!(series(several), series(one), "seed {seed}");
    let windows = |run: &OpenedRun| {
        let mut all = Vec::new();
        let read = run.read_windows(|_, interval| {
            all.push(interval.clone());
            ControlFlow::Continue(())
        });
        read.expect("it can be read");
        all
    };
    assert_eq!(windows(several), windows(one), "seed {seed}");
    report
}

#[test]
fn agents_read_as_one_with_the_merged_intervals() {
    for seed in 1..12 {
        let parts = parts(seed);
        let temp = tempfile::tempdir().expect("a folder for the test");
        let several = apart(&temp.path().join("several"), &parts);
        let one = together(&temp.path().join("one"), &merged(&parts, None));
        let (several, one) = [several, one].map(|it| open(it.dir()).expect("it opens")).into();
        let report = check_same(&several, &one, seed);
        assert_eq!((report.missing, report.damaged, report.torn), (0, 0, 0));
        let mut numbers = Vec::new();
        let read = several.read_intervals(|sealed| match sealed {
            ArchiveItem::Next(line) => {
                assert_eq!((line.agent.as_str(), line.checkpoint), (FLEET, false));
                numbers.push(line.seq);
            }
            ArchiveItem::Instead(_) => panic!("there are no checkpoints"),
        });
        assert_eq!((read.expect("it can be read"), numbers), (report, (0..70).collect()));
    }
}

#[test]
fn what_a_lost_agent_held_is_lost_when_it_was_missed() {
    for seed in 20..24 {
        let mut parts = parts(seed);
        parts[1].truncate(30);
        let temp = tempfile::tempdir().expect("a folder for the test");
        let mut several = apart(&temp.path().join("several"), &parts);
        let at_ns = Nanos::from_secs(33).0;
        let (kind, agent) = (EventKind::AgentLost.name().to_owned(), AGENTS[1].to_owned());
        let event = EventLine { at_ns, kind, agent, ..EventLine::default() };
        assert!(several.event(&event).is_none());
        let one = together(&temp.path().join("one"), &merged(&parts, Some((1, 33))));
        let (several, one) = [several, one].map(|it| open(it.dir()).expect("it opens")).into();
        check_same(&several, &one, seed);
    }
}

#[test]
fn gaps_and_damage_are_those_of_single_agents() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let parts = vec![parts(1)[0].clone(); 3];
    let writer = apart(temp.path(), &parts);
    let dir = writer.dir().to_owned();
    drop(writer);
    let change = |name: &str, change: &dyn Fn(&mut Vec<String>)| {
        let path = dir.join("intervals").join(name);
        let text = fs::read_to_string(&path).expect("it is there");
        let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
        change(&mut lines);
        fs::write(&path, lines.concat()).expect("it can be written");
    };
    change("load-b.jsonl", &|lines| {
        lines.drain(10..13);
    });
    change("load-c.jsonl", &|lines| {
        lines[5] = lines[5].replacen("\"v\":2", "\"v\":9", 1);
        // An interval that starts before its predecessor.
        lines[20] = lines[20].replacen("\"from_ns\":20000000000", "\"from_ns\":3000000000", 1);
        let last = lines.last_mut().expect("lines");
        last.truncate(last.len() / 2);
    });
    let opened = open(&dir).expect("it opens");
    let (ledger, report) = opened.ledger(&judged()).expect("it can be read");
    let gap = |agent: &str, missing| AgentGap { agent: agent.to_owned(), missing };
    let gaps = vec![gap("load-a", 0), gap("load/b", 3), gap("load/c", 1)];
    assert_eq!(report, ReadReport { intervals: 70, missing: 4, damaged: 2, newer: 1, torn: 1, gaps });
    assert!(ledger.violations().is_empty(), "a loss is no wrong count");
    let reported = wavetank_store::ArchiveGaps { dir: "x".to_owned(), read: report, in_intervals: 0 };
    let sentences = reported.sentences(None).join("\n");
    assert!(
        sentences.ends_with("intervals missing of single agents: 3 of `load/b`, 1 of `load/c`"),
        "{sentences}"
    );
}

#[test]
fn digests_of_archive_and_spool_are_equal() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let parts = parts(3);
    let mut writer = apart(&temp.path().join("runs"), &parts);
    writer.sync_now().expect("the disk has room");
    let none = writer.agent_digest("unknown");
    for (agent, parts) in AGENTS.iter().zip(&parts) {
        let meta = SpoolMeta {
            run: wavetank_fleet::RunId(7),
            epoch: 1,
            plan_hash: String::new(),
            share: wavetank_pace::Partition::WHOLE,
            agent: (*agent).to_owned(),
        };
        let mut spool = Spool::create(temp.path(), &meta).expect("the folder is writable");
        assert_eq!(spool.digest(), none);
        for (seq, part) in (0..).zip(parts) {
            spool.append(Nanos::ZERO, &line(agent, seq, part)).expect("the disk has room");
        }
        assert_eq!(spool.digest(), writer.agent_digest(agent));
        spool.delete().expect("it can be removed");
    }
    let folder = writer.finish(&record()).expect("the folder is writable");
    let mut names: Vec<_> = fs::read_dir(folder.join("intervals"))
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(names, ["load-a.jsonl", "load-b.jsonl", "load-c.jsonl"]);
}

#[test]
fn intervals_that_only_the_record_knows_are_missing() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let mut parts = parts(5);
    parts[1].clear();
    let writer = apart(temp.path(), &parts);
    let agent = |name: &str, intervals| AgentDoc { name: name.to_owned(), intervals, ..AgentDoc::default() };
    let agents = vec![agent("load/c", 70), agent("load/b", 4), agent("load-a", 70)];
    let mut record = record();
    record.fleet = Some(FleetDoc { agents, ..FleetDoc::default() });
    let opened = open(&writer.finish(&record).expect("the folder is writable")).expect("it opens");
    let (ledger, report) = opened.ledger(&judged()).expect("it can be read");
    let missing: Vec<_> = report.gaps.iter().map(|gap| (gap.agent.as_str(), gap.missing)).collect();
    let of_c = 70 - parts[2].len() as u64;
    assert_eq!(missing, [("load-a", 0), ("load/b", 4), ("load/c", of_c)]);
    assert_eq!(report.missing, 4 + of_c);
    let threads: Vec<_> = ledger.totals().threads.iter().map(ThreadStats::name).collect();
    assert_eq!(threads, [(0, 0), (0, 1), (2, 0), (2, 1)], "agents keep their numbers");
}
