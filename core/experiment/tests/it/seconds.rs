//! Every shape of the grammar, from its text to every second of the load. The phases of a file are
//! compared with the schedule that 1, 2 and 7 load threads follow, as written and rehearsed.

use crate::support;

use support::plans::{factor, plan_of_changed};
use wavetank_pace::{Partition, PopulationSchedule, Schedule, ScheduleSpec, WeightedScenarios};
use wavetank_plan::{Phase, Plan};
use wavetank_units::Nanos;

/// The meaning of a phase: its start and length in seconds, and its load over time.
#[derive(Clone, Copy, Debug)]
struct Said {
    words: &'static str,
    begin: f64,
    length: f64,
    wanted: Wanted,
}

/// As a function of the seconds since the phase began.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// Sessions a second, evenly.
    Evenly(fn(f64) -> f64),
    /// Sessions a second, as chance has it.
    ByChance(fn(f64) -> f64),
    /// Users, or held connections.
    There(fn(f64) -> f64),
    /// No new sessions.
    NoClient,
}

use Wanted::{ByChance, Evenly, NoClient, There};

const fn said(words: &'static str, begin: f64, length: f64, wanted: Wanted) -> Said {
    Said { words, begin, length, wanted }
}

fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round() as i64)
}

/// Factors on load and speed.
#[derive(Clone, Copy, Debug)]
struct Rehearsal {
    scale: u32,
    speed: u32,
}

impl Said {
    fn rehearsed(self, rehearsal: Rehearsal) -> Self {
        let speed = f64::from(rehearsal.speed);
        Self { begin: self.begin / speed, length: self.length / speed, ..self }
    }
}

/// Returns the area under a line between two instants. The corners of all lines here are whole
/// milliseconds, and each is straight between them (or a cosine), so the middle of each quarter of
/// a millisecond represents all of it.
fn area(line: impl Fn(f64) -> f64, from: f64, until: f64) -> f64 {
    let cells = ((until - from) * 4e3).round();
    let width = (until - from) / cells;
    (0..cells as u32).map(|cell| line(from + (f64::from(cell) + 0.5) * width) * width).sum()
}

/// The seconds of a phase, the last of which may be a shorter one.
fn seconds(length: f64) -> impl Iterator<Item = (f64, f64)> {
    (0..length.ceil() as u32).map(move |second| (f64::from(second), f64::from(second + 1).min(length)))
}

fn shares(parts: u64) -> impl Iterator<Item = Partition> {
    (0..parts).map(move |part| Partition::WHOLE.split(parts, part))
}

/// Returns the sessions of one phase on `parts` threads, in order.
fn arrivals(plan: &Plan, index: usize, parts: u64) -> Vec<Nanos> {
    let of_share = |share| {
        let spec = ScheduleSpec::for_phase(plan.seed, index as u16, &plan.phases[index], share);
        let mut schedule = Schedule::new(spec.expect("sessions arrive"));
        std::iter::from_fn(move || schedule.pop())
    };
    let mut all: Vec<Nanos> = shares(parts).flat_map(of_share).map(|arrival| arrival.at).collect();
    all.sort();
    all
}

/// Returns how many users of a phase's track are present at these instants, on `parts` threads.
fn people(plan: &Plan, index: usize, parts: u64, instants: &[Nanos]) -> Vec<u64> {
    let tracks = plan.tracks();
    let track = tracks.iter().find(|track| track.phases.contains(&(index as u16))).expect("users carry over");
    let phases = || track.phases.iter().map(|&phase| &plan.phases[usize::from(phase)]);
    let mut there = vec![0; instants.len()];
    for share in shares(parts) {
        let mut starts = PopulationSchedule::new(phases(), share);
        let mut wanted = 0;
        for (there, &instant) in there.iter_mut().zip(instants) {
            while starts.peek().is_some_and(|at| at <= instant) {
                wanted = starts.pop().expect("it was seen").wanted;
            }
            *there += wanted;
        }
    }
    there
}

/// Returns how far a wave may deviate from a cosine: its straight pieces end at whole numbers.
fn of_wave(said: &Said) -> f64 {
    if said.words.contains("wave") { 0.6 } else { 0.0 }
}

fn check_sessions(plan: &Plan, index: usize, said: &Said, line: impl Fn(f64) -> f64, chance: bool) {
    let start = plan.phases[index].start;
    for parts in [1, 2, 7] {
        let all = arrivals(plan, index, parts);
        let within = |from: f64, until: f64| {
            let before = |at: f64| all.partition_point(|&arrival| arrival < start.after(nanos(at)));
            (before(until) - before(from)) as f64
        };
        assert_eq!(
            within(0.0, said.length) as usize,
            all.len(),
            "{parts} threads: beyond the end of {said:?}"
        );
        for (from, until) in seconds(said.length) {
            let (found, expected) = (within(from, until), area(&line, from, until));
            let slack = if chance { 6.0 * expected.sqrt() + 6.0 } else { 1.0 + 1e-6 + of_wave(said) };
            assert!(
                (found - expected).abs() <= slack,
                "{parts} threads: {found} from {from} s on, not {expected}: {said:?}"
            );
        }
        let (found, expected) = (all.len() as f64, area(&line, 0.0, said.length));
        let slack = if chance { 6.0 * expected.sqrt() } else { 1.0 + 1e-6 + of_wave(said) };
        assert!((found - expected).abs() <= slack, "{parts} threads: {found}, not {expected}: {said:?}");
    }
}

fn check_people(plan: &Plan, index: usize, said: &Said, line: impl Fn(f64) -> f64) {
    // No line has a corner at any of these times.
    let parts_of_second = [0.000_1, 0.26, 0.51, 0.76, 0.999_9];
    let at: Vec<f64> = seconds(said.length)
        .flat_map(|(from, until)| parts_of_second.map(|part| from + part * (until - from)))
        .collect();
    let instants: Vec<Nanos> = at.iter().map(|&at| plan.phases[index].start.after(nanos(at))).collect();
    let slack = 1.0 + 1e-6 + of_wave(said);
    for parts in [1, 2, 7] {
        for (found, &at) in people(plan, index, parts, &instants).into_iter().zip(&at) {
            let expected = line(at);
            assert!(
                (found as f64 - expected).abs() <= slack,
                "{parts} threads: {found} at {at} s, not {expected}: {said:?}"
            );
        }
    }
}

fn check_phase(plan: &Plan, index: usize, said: &Said, rehearsal: Rehearsal) {
    let phase: &Phase = &plan.phases[index];
    let (scale, speed) = (f64::from(rehearsal.scale), f64::from(rehearsal.speed));
    assert_eq!(phase.start, nanos(said.begin), "{said:?}, {rehearsal:?}");
    let close = |length: Nanos| (length - nanos(said.length)).0.abs() <= 1;
    assert!(phase.length.is_none_or(close), "{:?} of {said:?}, {rehearsal:?}", phase.length);
    match said.wanted {
        Evenly(line) => check_sessions(plan, index, said, |at| line(at * speed) * scale, false),
        ByChance(line) => check_sessions(plan, index, said, |at| line(at * speed) * scale, true),
        There(line) => check_people(plan, index, said, |at| line(at * speed) * scale),
        NoClient => {
            assert!(ScheduleSpec::for_phase(1, 0, phase, Partition::WHOLE).is_none(), "{said:?}");
            assert_eq!(phase.users_at(phase.start), None, "{said:?}");
        }
    }
}

/// The phases of a file, in order of their begin, are what is said of them.
#[track_caller]
fn check_file(text: &str, all: &[Said], rehearsal: Rehearsal) {
    let text = format!("wavetank: 1\ntarget: http://127.0.0.1:8080\nseed: 11\n{text}");
    let plan = plan_of_changed("seconds.yaml", &text, |experiment| {
        experiment.scale(factor(&rehearsal.scale.to_string()));
        experiment.speed(factor(&rehearsal.speed.to_string()));
    });
    assert_eq!(plan.phases.len(), all.len(), "{text}");
    for (index, said) in all.iter().enumerate() {
        check_phase(&plan, index, &said.rehearsed(rehearsal), rehearsal);
    }
}

/// These phases one after the other; `requests/s` counts two for each session.
#[track_caller]
fn check(all: &[Said]) {
    let phases: Vec<String> = all.iter().map(|said| format!("{{{}}}", said.words)).collect();
    let text = format!("steps: [{{get: /a}}, {{get: /b}}]\nphases: [{}]\n", phases.join(", "));
    // A number of sessions takes as long however fast the rest is, and a trace is what it is.
    let fixed = all.iter().any(|said| said.words.contains("sessions") || said.words.contains("trace"));
    let speeds: &[u32] = if fixed { &[1] } else { &[1, 2] };
    let scales: &[u32] = if all.iter().any(|said| said.words.contains("trace")) { &[1] } else { &[1, 3] };
    for &speed in speeds {
        for &scale in scales {
            check_file(&text, all, Rehearsal { scale, speed });
        }
    }
}

/// Between `a` and `b`, as `a to b, wave: period` swings.
fn swing(a: f64, b: f64, period: f64, at: f64) -> f64 {
    a + (b - a) * (1.0 - (at / period * std::f64::consts::TAU).cos()) / 2.0
}

/// `a to b, step, every, ramp`: each stair is a step from the level before it. The first stair
/// starts immediately.
fn stair(a: f64, b: f64, step: f64, every: f64, ramp: f64, at: f64) -> f64 {
    let (before, into) = ((at / every).floor(), at % every);
    let level = |stairs: f64| if a < b { (a + stairs * step).min(b) } else { (a - stairs * step).max(b) };
    let climbed = if into < ramp { into / ramp } else { 1.0 };
    level(before) + (level(before + 1.0) - level(before)) * climbed
}

#[test]
fn sessions_arrive_as_the_words_say() {
    check(&[
        said("rate: 20/s, for: 3s", 0.0, 3.0, Evenly(|_| 20.0)),
        said("rate: 90/min, for: 10s", 3.0, 10.0, Evenly(|_| 1.5)),
        said("rate: 40 requests/s, for: 2500ms", 13.0, 2.5, Evenly(|_| 20.0)),
        said("pause: 4s", 15.5, 4.0, NoClient),
        said("rate: 0/s to 100/s, for: 5s", 19.5, 5.0, Evenly(|at| 20.0 * at)),
        said("rate: 100/s to 30/s, at: 10/s", 24.5, 7.0, Evenly(|at| 100.0 - 10.0 * at)),
        said(
            "rate: 0/s to 100/s, step: 40/s, every: 2s",
            31.5,
            6.0,
            Evenly(|at| stair(0.0, 100.0, 40.0, 2.0, 0.0, at)),
        ),
        said(
            "rate: 90/s to 10/s, step: 40/s, every: 3s, ramp: 500ms",
            37.5,
            6.0,
            Evenly(|at| stair(90.0, 10.0, 40.0, 3.0, 0.5, at)),
        ),
        said("rate: 10/s to 400/s, wave: 8s, for: 20s", 43.5, 20.0, Evenly(|at| swing(10.0, 400.0, 8.0, at))),
        said(
            "rate: 20/s, for: 10s, spike: 300/s for 1s every 4s",
            63.5,
            10.0,
            Evenly(|at| if at % 4.0 < 3.0 { 20.0 } else { 300.0 }),
        ),
        said(
            "rate: 0/s to 60/s, for: 6s, spike: 6/s for 500ms every 2s",
            73.5,
            6.0,
            Evenly(|at| if at % 2.0 < 1.5 { 10.0 * at } else { 6.0 }),
        ),
    ]);
}

#[test]
fn sessions_arrive_by_chance_about_the_same_line() {
    check(&[
        said("rate: 200/s, for: 10s, arrivals: poisson", 0.0, 10.0, ByChance(|_| 200.0)),
        said("rate: 0/s to 300/s, for: 6s, arrivals: poisson", 10.0, 6.0, ByChance(|at| 50.0 * at)),
        said(
            "rate: 0/s to 500/s, step: 250/s, every: 2s, arrivals: poisson",
            16.0,
            4.0,
            ByChance(|at| stair(0.0, 500.0, 250.0, 2.0, 0.0, at)),
        ),
        said(
            "rate: 300/s to 0/s, wave: 5s, for: 10s, arrivals: poisson",
            20.0,
            10.0,
            ByChance(|at| swing(300.0, 0.0, 5.0, at)),
        ),
        said(
            "rate: 50/s, for: 9s, spike: 900/s for 1s every 3s, arrivals: poisson",
            30.0,
            9.0,
            ByChance(|at| if at % 3.0 < 2.0 { 50.0 } else { 900.0 }),
        ),
    ]);
}

#[test]
fn a_number_of_sessions_ends_a_phase_or_caps_it() {
    check(&[
        said("rate: 10/s, sessions: 25", 0.0, 2.5, Evenly(|_| 10.0)),
        said("rate: 10/s, for: 4s, sessions: 25", 2.5, 4.0, Evenly(|at| if at < 2.5 { 10.0 } else { 0.0 })),
        said("rate: 10/s, for: 4s, sessions: 50k", 6.5, 4.0, Evenly(|_| 10.0)),
        said(
            "rate: 0/s to 100/s, for: 4s, sessions: 50",
            10.5,
            4.0,
            // After t seconds 12.5 t² have come.
            Evenly(|at| if at < 2.0 { 25.0 * at } else { 0.0 }),
        ),
    ]);
}

#[test]
fn users_and_held_connections_are_there_as_the_words_say() {
    for (verb, session) in [("users", ", sessions: 5 each"), ("hold", "")] {
        let words = |words: &str| -> &'static str { format!("{verb}: {words}").leak() };
        check(&[
            said(words("7, for: 3s"), 0.0, 3.0, There(|_| 7.0)),
            said(words("7 to 47, at: 10/s"), 3.0, 4.0, There(|at| 7.0 + 10.0 * at)),
            said(words("47 to 0, for: 8s"), 7.0, 8.0, There(|at| 47.0 - 47.0 / 8.0 * at)),
            said(
                words("0 to 300, step: 50, every: 3s, ramp: 2s"),
                15.0,
                18.0,
                There(|at| stair(0.0, 300.0, 50.0, 3.0, 2.0, at)),
            ),
            said(words("300, for: 2s"), 33.0, 2.0, There(|_| 300.0)),
            said(
                words("300 to 0, step: 80, every: 2s"),
                35.0,
                8.0,
                There(|at| stair(300.0, 0.0, 80.0, 2.0, 0.0, at)),
            ),
            said(words("5 to 85, wave: 4s, for: 10s"), 43.0, 10.0, There(|at| swing(5.0, 85.0, 4.0, at))),
        ]);
        // Users that leave after a number of sessions are expected until then.
        check(&[said(words(&format!("9, for: 4s{session}")), 0.0, 4.0, There(|_| 9.0))]);
    }
}

#[test]
fn a_trace_is_followed_to_the_instant() {
    check(&[
        said("trace: times.csv, for: 3s", 0.0, 3.0, Evenly(|at| if at < 2.0 { 0.0 } else { 4.0 })),
        said(
            "trace: rates.csv, for: 6s",
            3.0,
            6.0,
            Evenly(|at| {
                if at < 1.0 {
                    0.0
                } else if at < 3.0 {
                    20.0
                } else {
                    5.0
                }
            }),
        ),
    ]);
}

#[test]
fn warm_up_precedes_the_start_and_own_phases_run_in_parallel() {
    let once = Rehearsal { scale: 1, speed: 1 };
    for rehearsal in [once, Rehearsal { scale: 3, speed: 2 }] {
        check_file(
            "steps: [{get: /}]\nphases:\n  - {users: 0 to 30, for: 3s, warmup: true}\n  - {users: 30, for: 4s}\n",
            &[
                said("users, warmup", -3.0, 3.0, There(|at| 10.0 * at)),
                said("users", 0.0, 4.0, There(|_| 30.0)),
            ],
            rehearsal,
        );
        check_file(
            "scenarios:\n  own:\n    steps: [{get: /o}]\n    phases: [{rate: 30/s, for: 3s, from: 2s}, {pause: \
             1s}]\n  a: {weight: 3, steps: [{get: /a}]}\n  b: {weight: 1, steps: [{get: /b}]}\nphases: [{rate: 800/s, for: \
             5s}]\n",
            &[
                said("the mix", 0.0, 5.0, Evenly(|_| 800.0)),
                said("own", 2.0, 3.0, Evenly(|_| 30.0)),
                said("own pause", 5.0, 1.0, NoClient),
            ],
            rehearsal,
        );
    }
}

/// Of those that come in each second three in four run what has three times the weight.
#[test]
fn weights_hold_in_every_second() {
    let plan = plan_of_changed(
        "weights.yaml",
        "wavetank: 1\ntarget: http://127.0.0.1:8080\nseed: 5\nscenarios:\n  a: {weight: 3, steps: [{get: /a}]}\n  b: \
         {weight: 1, steps: [{get: /b}]}\nphases: [{rate: 800/s, for: 20s}]\n",
        |_| (),
    );
    let choice = WeightedScenarios::for_sessions(&plan.phases[0].mix, plan.seed, 0);
    for second in 0..20 {
        let of_a = (second * 800..(second + 1) * 800).filter(|&index| choice.pick(|| index) == 0).count();
        // 600 of 800, give or take six times the deviation of 12.2.
        assert!((527..=673).contains(&of_a), "{of_a} of 800 in second {second}, seed 5");
    }
}
