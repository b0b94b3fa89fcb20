//! The encoding of messages and journal records: goldens, limits, and bytes of any kind.

use std::fmt::Debug;
use std::path::Path;

use wavetank_fleet::wire::{
    AgentFrame, ControllerFrame, WireError, decode_agent, decode_controller, decode_record, encode_agent,
    encode_controller, encode_record, write_controller,
};
use wavetank_fleet::{
    Adjustments, Agent, AgentId, AgentMessage, AgentPayload, AgentSetup, AgentState, Capabilities, Change,
    Command, Controller, ControllerMessage, ControllerPayload, DenialReason, Done, EndCause, Hello,
    JournalAgent, JournalRecord, Loss, PhaseUsers, Quorum, RefusalReason, Release, RunId, RunSetup,
    WaitingUsers,
};
use wavetank_pace::{Partition, Philox};
use wavetank_units::{Nanos, Rate};

const ADJUSTMENTS: Adjustments = Adjustments { received: 2, refused: 1 };
const RUN: RunId = RunId(0x5eed_0001);
const SHARE: Partition = Partition { first: 4, width: 2, of: 7 };

fn orders() -> Vec<ControllerMessage> {
    let commands = [
        Command::Offer { plan_hash: "9f86d081".to_owned(), share: SHARE, orphan_grace: Nanos::from_secs(30) },
        Command::Release(Release {
            point: 2,
            round: Some(7),
            number: 6,
            at: Nanos::from_millis(1_500),
            of: 40,
            phase: 1,
            by_wait: false,
        }),
        Command::Resume,
        Command::Commit {
            start_at: Nanos::from_secs(12),
            load_from: Nanos::from_secs(10),
            end_by: Some(Nanos::from_secs(99)),
        },
        Command::Commit { start_at: Nanos(-7), load_from: Nanos(-9), end_by: None },
        Command::Change { at: Nanos::from_secs(5), phase: 0, change: Change::Rate(Rate::per_second(250)) },
        Command::Change { at: Nanos::from_secs(6), phase: 2, change: Change::Users(40) },
        Command::Rebalance { phase: 2, at: Nanos::from_secs(60), share: SHARE },
        Command::Drain,
        Command::Stop,
    ];
    let denials = [
        DenialReason::Version { expected: "0.2.0".to_owned() },
        DenialReason::DuplicateName,
        DenialReason::NotInFleet,
        DenialReason::TooLate,
    ];
    let commands = (1..).zip(commands).map(|(seq, command)| ControllerPayload::Command { seq, command });
    let denials = denials.into_iter().map(|reason| ControllerPayload::Denied { reason });
    let others = [
        ControllerPayload::Probe { id: 3 },
        ControllerPayload::Lease { seen: 17 },
        ControllerPayload::Settled { digest: "ab12".to_owned() },
    ];
    let all = commands.chain(denials).chain(others);
    all.map(|order| ControllerMessage { run: RUN, epoch: 4, order }).collect()
}

fn reports() -> Vec<AgentMessage> {
    let capabilities = Capabilities {
        cores: 8,
        files: 1_000_000,
        ports: 28_000,
        calibration: Some(120_000),
        rebalance: false,
    };
    let hello = Hello {
        version: "0.1.0".to_owned(),
        name: "load01".to_owned(),
        instance: 77,
        capabilities,
        state: AgentState::Idle,
    };
    let refusals = [
        RefusalReason::OlderEpoch { current: 5 },
        RefusalReason::Busy { run: RunId(3) },
        RefusalReason::PlanHash { found: "0bad".to_owned() },
        RefusalReason::WrongState(AgentState::Running),
        RefusalReason::TooLate,
        RefusalReason::Unsupported,
        RefusalReason::Host(vec!["too few files".to_owned(), "no memory".to_owned()]),
    ];
    let refusals = refusals.into_iter().map(|reason| AgentPayload::Refused { seq: 2, reason });
    let done = |cause, first_sent| {
        let (digest, adjustments) = ("ab12".to_owned(), ADJUSTMENTS);
        AgentPayload::Done(Done { intervals: 60, cause, first_sent, digest, adjustments })
    };
    let others = [
        AgentPayload::Hello(hello),
        AgentPayload::Clock { id: 3, at: Nanos(123_456_789) },
        AgentPayload::Accepted { seq: 9 },
        AgentPayload::Prepared { seq: 1 },
        AgentPayload::Resumed { seq: 1, state: AgentState::Draining, adjustments: ADJUSTMENTS },
        AgentPayload::State { state: AgentState::Committed },
        AgentPayload::Sealed { seq: 41 },
        AgentPayload::Unstored { seq: 42 },
        AgentPayload::Waiting { points: waiting() },
        done(EndCause::Plan, Some(Nanos::from_secs(10))),
        done(EndCause::Orphaned, None),
        AgentPayload::Cleared,
        AgentPayload::Kept { digest: "cd34".to_owned() },
    ];
    let all = others.into_iter().chain(refusals);
    all.map(|report| AgentMessage { run: RUN, epoch: 4, report }).collect()
}

fn waiting() -> Vec<WaitingUsers> {
    let users = WaitingUsers {
        point: 2,
        round: 7,
        present: 12,
        phase: 1,
        quorum: Quorum::Users(40),
        is_over: true,
        releases: 6,
        members: Vec::new(),
    };
    let members = vec![PhaseUsers { phase: 0, users: 30 }];
    let others =
        WaitingUsers { point: 3, quorum: Quorum::Phase(0), is_over: false, members, ..users.clone() };
    vec![users.clone(), others, WaitingUsers { quorum: Quorum::Unknown, ..users }]
}

fn records() -> Vec<JournalRecord> {
    let agent = |name: &str| JournalAgent { name: name.to_owned(), instance: 77, share: SHARE, weight: 32 };
    let loss = Loss {
        name: "load02".to_owned(),
        share: SHARE,
        at: Nanos::from_secs(31),
        phase: Some(1),
        last_interval: Some(29),
    };
    let digest = "ab12".to_owned();
    let done =
        Done { intervals: 60, cause: EndCause::Plan, first_sent: None, digest, adjustments: ADJUSTMENTS };
    vec![
        JournalRecord::Owned { run: RUN, epoch: 4, plan_hash: "9f86d081".to_owned() },
        JournalRecord::Offered { agents: vec![agent("load01"), agent("load02")] },
        JournalRecord::Committed { start_at: Nanos::from_secs(12), load_from: Nanos::from_secs(10) },
        JournalRecord::Changed { at: Nanos::from_secs(5), phase: 2, change: Change::Users(40) },
        JournalRecord::Rebalanced {
            phase: 2,
            at: Nanos::from_secs(60),
            shares: vec![Some(Partition::WHOLE), None],
        },
        JournalRecord::Lost(loss),
        JournalRecord::Ended { name: "load01".to_owned(), done },
        JournalRecord::Ending { drain: true },
        JournalRecord::Archived,
        JournalRecord::Over,
    ]
}

fn encode_report(message: &AgentMessage) -> String {
    let interval = r#"{"v":2,"agent":"load01","seq":41,  "series":[]}"#;
    let is_sealed = matches!(message.report, AgentPayload::Sealed { .. });
    encode_agent(message, is_sealed.then_some(interval)).expect("the interval is JSON")
}

fn encode_order(message: &ControllerMessage) -> String {
    let offer = |order: &ControllerPayload| {
        matches!(order, ControllerPayload::Command { command: Command::Offer { .. }, .. })
    };
    encode_controller(message, offer(&message.order).then_some("wavetank_plan: 1\nseed: 7\n"))
}

fn decode_order(line: &[u8]) -> Result<ControllerMessage, WireError> {
    decode_controller(line).map(|ControllerFrame { message, .. }| message)
}

fn decode_report(line: &[u8]) -> Result<AgentMessage, WireError> {
    decode_agent(line).map(|AgentFrame { message, .. }| message)
}

/// The lines of these values are those of the golden file, and are read back as the same values.
fn check<T: PartialEq + Debug>(
    file: &str,
    values: &[T],
    encode: impl Fn(&T) -> String,
    decode: impl Fn(&[u8]) -> Result<T, WireError>,
) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    let lines: String = values.iter().map(|value| encode(value) + "\n").collect();
    if std::env::var("WAVETANK_GOLDEN").is_ok_and(|mode| mode == "update") {
        std::fs::write(&path, &lines).expect("the golden can be written");
    }
    let golden = std::fs::read_to_string(&path).expect("the golden is there");
    assert_eq!(lines, golden, "{file}: a changed format needs a new version");
    for (line, value) in golden.lines().zip(values) {
        assert_eq!(decode(line.as_bytes()).as_ref(), Ok(value), "{line}");
        let extended = line.replacen("{\"v\":1,", "{\"v\":1,\"later\":[1],", 1);
        assert_eq!(decode(extended.as_bytes()).as_ref(), Ok(value), "unknown keys are ignored");
        let newer = line.replacen("{\"v\":1,", "{\"v\":2,", 1);
        let crosses = line.contains("\"hello\"") || line.contains("\"denied\"");
        let expected = if crosses { Ok(value) } else { Err(&WireError::Version { found: 2 }) };
        assert_eq!(decode(newer.as_bytes()).as_ref(), expected, "{line}");
    }
}

#[test]
fn messages_and_records_have_the_form_of_their_goldens() {
    check("controller.jsonl", &orders(), encode_order, decode_order);
    check("agent.jsonl", &reports(), encode_report, decode_report);
    check("journal.jsonl", &records(), encode_record, decode_record);
}

#[test]
fn attached_data_keeps_its_bytes() {
    let sealed = AgentMessage { run: RUN, epoch: 4, report: AgentPayload::Sealed { seq: 0 } };
    let interval = r#"{"b":1.50,  "a":[ 1e3 ]}"#;
    let line = encode_agent(&sealed, Some(interval)).expect("JSON");
    let frame = decode_agent(line.as_bytes()).expect("it was just written");
    assert_eq!((frame.message, frame.interval.as_deref()), (sealed.clone(), Some(interval)));
    let plan = "steps:\n  - get: \"/\"\n";
    let line = encode_controller(&orders()[0], Some(plan));
    assert_eq!(decode_controller(line.as_bytes()).expect("it was just written").plan.as_deref(), Some(plan));
    assert!(matches!(encode_agent(&sealed, Some("{")), Err(WireError::Damaged(_))));
    for plan in [None, Some(plan), Some("aGVsbG8=")] {
        let mut written = Vec::new();
        write_controller(&orders()[0], plan, &mut written).expect("memory takes it");
        assert_eq!(String::from_utf8(written), Ok(encode_controller(&orders()[0], plan) + "\n"));
    }
}

#[test]
fn values_beyond_any_run_are_damaged() {
    for line in [
        r#"{"v":1,"run":1,"epoch":1,"order":{"lease":{"seen":72057594037927937}}}"#,
        r#"{"v":1,"run":1,"epoch":1,"order":{"command":{"seq":1,"command":{"rebalance":{"phase":1,"at_ns":5,"share":[0,1,0]}}}}}"#,
        r#"{"v":1,"run":1,"epoch":1,"order":{"command":{"seq":1,"command":{"rebalance":{"phase":1,"at_ns":5,"share":[2,2,3]}}}}}"#,
        r#"{"v":1,"run":1,"epoch":1,"order":{"command":{"seq":1,"command":{"change":{"at_ns":1,"change":{"rate":[5,0]}}}}}}"#,
        r#"{"v":1,"run":1,"epoch":1,"order":{"command":{"seq":1,"command":{"change":{"at_ns":9223372036854775807,"change":{"users":1}}}}}}"#,
    ] {
        let result = decode_controller(line.as_bytes());
        assert!(matches!(result, Err(WireError::Damaged(_))), "{line}: {result:?}");
    }
}

/// Bytes of any kind: golden lines with random damage, which machines in all states receive.
#[test]
fn damaged_lines_never_panic() {
    let orders: Vec<_> = orders().iter().map(encode_order).collect();
    let reports: Vec<_> = reports().iter().map(encode_report).collect();
    let records: Vec<_> = records().iter().map(encode_record).collect();
    for seed in 0..200 {
        let mut random = Philox::keyed(seed, 3, 0);
        let mut now = Nanos::ZERO;
        let mut agent = Agent::new(AgentSetup::local("0.1.0"), now);
        let setup = RunSetup { run: RUN, ..RunSetup::new(4, "0.1.0", "9f86d081") };
        let mut controller = Controller::new(setup, now);
        for _ in 0..200 {
            now = now.after(Nanos(random.below(2_000_000_000) as i64));
            if let Ok(message) = decode_order(&damage(&orders, &mut random)) {
                agent.handle_message(message, now);
            }
            agent.handle_timeout(now);
            while agent.poll().is_some() {}
            if let Ok(frame) = decode_agent(&damage(&reports, &mut random)) {
                controller.handle_message(AgentId(random.below(3) as u32), frame.message, now);
            }
            controller.handle_timeout(now);
            while controller.poll().is_some() {}
            drop(decode_record(&damage(&records, &mut random)));
        }
    }
}

/// One of the lines, perhaps with bytes that are changed, cut or repeated.
fn damage(lines: &[String], random: &mut Philox) -> Vec<u8> {
    let pick = |random: &mut Philox, count: usize| random.below(count as u64) as usize;
    let mut line = lines[pick(random, lines.len())].clone().into_bytes();
    for _ in 0..random.below(3) {
        let place = pick(random, line.len());
        match random.below(5) {
            0 => line[place] = random.below(256) as u8,
            1 => line.truncate(place.max(1)),
            // Numbers of another size.
            2 | 3 if line[place].is_ascii_digit() => {
                let digits = (0..random.below(20)).map(|_| b'0' + random.below(10) as u8);
                line.splice(place..=place, digits.collect::<Vec<_>>());
            }
            _ => {
                let end = place + pick(random, line.len() - place);
                let part = line[place..end].to_vec();
                line.splice(place..place, part);
            }
        }
        if line.is_empty() {
            break;
        }
    }
    line
}
