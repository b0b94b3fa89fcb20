//! The simulated run, its faults, and how a seed chooses them.

use wavetank_fleet::LossPolicy;
use wavetank_pace::Philox;
use wavetank_units::Nanos;

/// One world's fate; instants are those of its clock, which begins at 0.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    /// Length of the load.
    pub(crate) plan: Nanos,
    /// When the second phase begins, if there is one.
    pub(crate) second_phase: Option<Nanos>,
    pub(crate) lead_in: Nanos,
    pub(crate) margin: Nanos,
    /// How long a message takes at most.
    pub(crate) delay_max: Nanos,
    pub(crate) on_loss: LossPolicy,
    pub(crate) rebalance: bool,
    /// Most that clocks differ, and most that they drift in millionths.
    pub(crate) clock_offset_max: Nanos,
    pub(crate) drift_max_ppm: u64,
    /// Whether users of the agents wait for each other.
    pub(crate) meetings: Option<Meetings>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) acts: Vec<(Nanos, Act)>,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            plan: Nanos::from_secs(5),
            second_phase: None,
            lead_in: Nanos::ZERO,
            margin: Nanos::from_millis(500),
            delay_max: Nanos::from_micros(500),
            on_loss: LossPolicy::Incomplete,
            rebalance: false,
            clock_offset_max: Nanos::from_secs(1_000),
            drift_max_ppm: 500,
            meetings: None,
            faults: Vec::new(),
            acts: Vec::new(),
        }
    }
}

/// How users of the agents wait for each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meetings {
    /// How often each user comes.
    pub(crate) rounds: u32,
    /// Most that a user is away between two rounds, in milliseconds.
    pub(crate) think_max_ms: u64,
    /// Longest wait.
    pub(crate) wait: Nanos,
    /// The number of users that may continue together; `None`: all.
    pub(crate) of: Option<u64>,
}

/// An action of the user.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Order a change this long ahead.
    Change { ahead: Nanos },
    /// Drain, for five seconds at most.
    Drain,
    /// Stop.
    Stop,
}

/// A fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// From then on, messages take up to that long, each its own time: they overtake each other.
    Delay { from: Nanos, max: Nanos },
    /// Messages to agents take this much longer than messages from them.
    Asymmetric { extra: Nanos },
    /// This percentage of messages arrives twice.
    Duplicate { percent: u64 },
    /// This percentage of messages does not arrive.
    Lose { percent: u64 },
    /// Nothing passes between the controller and one agent (or all) for a while.
    Cut { agent: Option<usize>, from: Nanos, len: Nanos },
    /// An agent's process dies, and perhaps another one finds its disk.
    Crash { agent: usize, at: Nanos, back: Option<Nanos> },
    /// An agent's process dies before or after it stores this interval, and another one finds its
    /// disk.
    CrashAtInterval { agent: usize, seq: u64, stored: bool },
    /// An agent's process dies before or after it deletes its spool, and another one starts.
    CrashAtDelete { agent: usize, deleted: bool },
    /// An agent's process is suspended for a while.
    Suspend { agent: usize, at: Nanos, len: Nanos },
    /// The controller's process dies, and perhaps another one reads its journal.
    CrashController { at: Nanos, back: Option<Nanos> },
    /// The same before or after the journal's record of this number is durable.
    CrashAtRecord { number: usize, durable: bool, back: Nanos },
    /// The same before or after the archive is durable.
    CrashAtArchive { durable: bool },
    /// The archive cannot be completed.
    ArchiveFails,
    /// The controller's process is suspended and replaced, and later continues.
    ReplaceController { at: Nanos, len: Nanos },
    /// An agent's host cannot prepare.
    Unready { agent: usize },
    /// An agent's host does not end on a drain, only on a stop.
    Deaf { agent: usize },
    /// An agent's disk is full from this interval on.
    DiskFull { agent: usize, seq: u64 },
}

pub(crate) fn up_to(random: &mut Philox, max_ms: u64) -> Nanos {
    Nanos::from_millis(random.below(max_ms + 1) as i64)
}

/// A plan of up to ten seconds, with changes now and then.
pub(crate) fn calm(random: &mut Philox, _agents: usize) -> Scenario {
    let plan = Nanos::from_millis(1 + random.below(10_000) as i64);
    let mut acts = Vec::new();
    for _ in 0..random.below(4) {
        // From half a second to 2.5 s ahead: some must be refused.
        let ahead = Nanos::from_millis(500) + up_to(random, 2_000);
        acts.push((up_to(random, 12_000), Act::Change { ahead }));
    }
    let lead_in = if random.below(2) == 0 { Nanos::ZERO } else { up_to(random, 3_000) };
    let delay_max = Nanos(random.below(2_000_000) as i64);
    Scenario { plan, lead_in, delay_max, acts, ..Scenario::default() }
}

/// Whatever can go wrong between controller, agents and disks, in random measure.
pub(crate) fn stormy(random: &mut Philox, agents: usize) -> Scenario {
    let mut scenario = calm(random, agents);
    if random.below(3) == 0 {
        let act = if random.below(2) == 0 { Act::Drain } else { Act::Stop };
        scenario.acts.push((up_to(random, 9_000), act));
    }
    scenario.on_loss = match random.below(4) {
        0 => LossPolicy::Tolerate { percent: 40 },
        1 => LossPolicy::Abort,
        _ => LossPolicy::Incomplete,
    };
    if random.below(3) == 0 {
        (scenario.second_phase, scenario.rebalance) = (Some(up_to(random, 60_000)), true);
        scenario.plan = scenario.plan.after(up_to(random, 80_000));
    }
    for _ in 0..=random.below(3) {
        let fault = fault(random, agents);
        scenario.faults.push(fault);
    }
    if random.below(3) == 0 {
        let of = (random.below(2) == 0).then(|| 1 + random.below(4));
        let wait = Nanos::from_secs(1).after(up_to(random, 9_000));
        scenario.meetings = Some(Meetings { rounds: 5, think_max_ms: random.below(3_000), wait, of });
    }
    scenario
}

fn fault(random: &mut Philox, agents: usize) -> Fault {
    let agent = random.below(agents as u64) as usize;
    let from = up_to(random, 9_000);
    match random.below(17) {
        0 => Fault::Delay { from: Nanos::ZERO, max: up_to(random, 1_500) },
        1 => Fault::Duplicate { percent: random.below(80) },
        2 => Fault::Lose { percent: random.below(70) },
        3 => {
            let agent = (random.below(3) > 0).then_some(agent);
            Fault::Cut { agent, from, len: up_to(random, 60_000) }
        }
        4 => Fault::Crash {
            agent,
            at: from,
            back: (random.below(2) == 0).then(|| from + up_to(random, 40_000)),
        },
        5 => Fault::CrashController {
            at: from,
            back: (random.below(3) > 0).then(|| from + up_to(random, 20_000)),
        },
        6 => Fault::Suspend { agent, at: from, len: up_to(random, 50_000) },
        7 => Fault::Unready { agent },
        8 => Fault::Deaf { agent },
        9 => Fault::DiskFull { agent, seq: random.below(6) },
        10 => Fault::CrashAtInterval { agent, seq: random.below(6), stored: random.below(2) == 0 },
        11 => Fault::CrashAtDelete { agent, deleted: random.below(2) == 0 },
        12 => Fault::CrashAtArchive { durable: random.below(2) == 0 },
        13 => Fault::ReplaceController { at: from, len: up_to(random, 60_000) },
        15 => Fault::ArchiveFails,
        14 => Fault::Asymmetric { extra: up_to(random, 20) },
        _ => Fault::CrashAtRecord {
            number: random.below(10) as usize,
            durable: random.below(2) == 0,
            back: up_to(random, 8_000),
        },
    }
}
