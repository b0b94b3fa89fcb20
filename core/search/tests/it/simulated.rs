//! Searches against targets with a known knee.

use wavetank_search::{
    Granularity, RunOutcome, RunRequest, Search, SearchEnd, SearchResult, Setup, Stage, StopReason,
};

/// A target by how it takes a level, given three numbers from 0 to 1 that chance drew.
type Target<'a> = &'a dyn Fn(f64, [f64; 3]) -> RunOutcome;

/// Numbers from 0 to 1 (splitmix64).
struct Chance(u64);

impl Chance {
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// About normal, by two of the numbers (Box and Muller).
fn normal(chance: [f64; 3]) -> f64 {
    (-2.0 * (1.0 - chance[0]).ln()).sqrt() * (std::f64::consts::TAU * chance[1]).cos()
}

fn search(setup: Setup, seed: u64, target: Target<'_>) -> (SearchResult, Vec<RunRequest>) {
    let mut search = Search::new(Setup { seed, ..setup });
    let mut chance = Chance(seed);
    let mut asked = Vec::new();
    while let Some(wanted) = search.next() {
        assert!(wanted.level >= setup.from && wanted.level <= setup.to, "{wanted:?} is beyond the limits");
        asked.push(wanted);
        search.result(target(wanted.level, [chance.draw(), chance.draw(), chance.draw()]), 1.0);
    }
    (search.answer(), asked)
}

/// Returns, over many seeds, how often the interval contains the knee, its mean width, and the
/// number of runs.
fn coverage(setup: Setup, seeds: u64, knee_of: &dyn Fn(f64) -> f64, noise: f64) -> (f64, f64, f64) {
    let (mut held, mut width, mut runs) = (0_u32, 0.0, 0);
    for seed in 0..seeds {
        let knee = knee_of(Chance(!seed).draw());
        let (answer, asked) = search(setup, seed, &|level, chance| {
            if level * (noise * normal(chance)).exp() <= knee { RunOutcome::Pass } else { RunOutcome::Fail }
        });
        assert_eq!(answer.end, SearchEnd::Found, "seed {seed}: {answer:?}");
        let (low, high) = (answer.low.expect("it was found"), answer.high.expect("it was found"));
        held += u32::from(low <= knee && knee <= high);
        width += (high / low).ln();
        runs += asked.len();
        let guess = answer.knee.expect("it was found");
        assert!(low <= guess && guess <= high, "seed {seed}: {answer:?}");
    }
    let seeds = seeds as f64;
    (f64::from(held) / seeds, width / seeds, runs as f64 / seeds)
}

#[track_caller]
fn check(setup: Setup, knees: (f64, f64), noise: f64, width_max: f64) {
    let knee = |share: f64| knees.0 * (knees.1 / knees.0).powf(share);
    let (held, width, runs) = coverage(setup, 1_000, &knee, noise);
    assert!(held >= 0.95, "noise {noise}: {held} of the intervals hold the knee, {runs} runs each");
    assert!(width <= width_max, "noise {noise}: {width} wide on the average, {runs} runs each");
}

#[test]
fn the_interval_holds_a_knee_without_noise() {
    check(Setup::new(Granularity::Rate, 100.0, 1e6), (120.0, 500_000.0), 0.0, 0.04);
}

#[test]
fn the_interval_holds_a_noisy_knee() {
    check(Setup::new(Granularity::Rate, 100.0, 1e6), (150.0, 300_000.0), 0.005, 0.06);
    check(Setup::new(Granularity::Rate, 100.0, 1e6), (150.0, 300_000.0), 0.03, 0.20);
    check(Setup::new(Granularity::Rate, 100.0, 1e6), (300.0, 200_000.0), 0.2, 1.2);
}

#[test]
fn the_interval_holds_a_number_of_users() {
    // The knee is between two whole numbers; the search starts with one user.
    check(Setup::new(Granularity::Whole, 1.0, 10_000.0), (4.0, 3_000.0), 0.0, 0.5);
    check(Setup::new(Granularity::Whole, 1.0, 10_000.0), (8.0, 3_000.0), 0.02, 0.5);
}

#[test]
fn more_repeats_are_narrower_where_it_is_noisy() {
    let knee = |share: f64| 1_000.0 + 1_000.0 * share;
    let few = Setup::new(Granularity::Rate, 100.0, 1e6);
    let many = Setup { repeats: 9, ..few };
    let (few, many) = (coverage(few, 300, &knee, 0.05), coverage(many, 300, &knee, 0.05));
    assert!(many.1 < few.1, "{many:?} against {few:?}");
    assert!(many.0 >= 0.95 && few.0 >= 0.95, "{many:?} {few:?}");
}

#[test]
fn a_target_that_fails_now_and_then_below_its_knee_keeps_its_knee() {
    // Between half of the knee and three quarters of it every fourth run fails; above the knee one
    // in five passes.
    let (mut held, seeds) = (0, 1_000);
    for seed in 0..seeds {
        let knee = 1_000.0 + 3_000.0 * Chance(!seed).draw();
        let (answer, _) = search(Setup::new(Granularity::Rate, 100.0, 1e6), seed, &|level, chance| {
            let holds = match level / knee {
                share if share < 0.5 => true,
                share if share < 0.75 => chance[2] > 0.25,
                share if share <= 1.0 => true,
                _ => chance[2] > 0.8,
            };
            if holds { RunOutcome::Pass } else { RunOutcome::Fail }
        });
        // It may also climb past the knee by luck; it never ends elsewhere.
        let (low, high) = (answer.low.unwrap_or(0.0), answer.high.unwrap_or(f64::MAX));
        held += u32::from(low <= knee && knee <= high);
    }
    assert!(f64::from(held) >= 0.95 * seeds as f64, "{held} of {seeds}");
}

fn plain(knee: f64) -> impl Fn(f64, [f64; 3]) -> RunOutcome {
    move |level, _| if level <= knee { RunOutcome::Pass } else { RunOutcome::Fail }
}

#[test]
fn the_plan_of_the_search_is_kept() {
    let setup = Setup::new(Granularity::Rate, 100.0, 1e6);
    let (answer, asked) = search(setup, 3, &plain(2_500.0));
    let stage = |stage| asked.iter().filter(move |one| one.stage == stage).map(|one| one.level);
    let climb: Vec<_> = stage(Stage::Climb).collect();
    assert_eq!(climb, [100.0, 200.0, 400.0, 800.0, 1_600.0, 3_200.0, 3_200.0]);
    let mut measured: Vec<_> = stage(Stage::Measure).collect();
    let order = measured.clone();
    measured.sort_by(f64::total_cmp);
    assert_ne!(order, measured, "in random order");
    assert!(answer.points.len() >= 5 && answer.points.iter().all(|point| point.runs == 3), "{answer:?}");
    assert!(answer.low_proven && answer.high_proven);
    assert!(asked.len() <= 40, "{} runs", asked.len());
    let (fewest, most) = setup.runs_expected();
    assert!((fewest..=most + 6).contains(&(asked.len() as u32)), "{} of {fewest} to {most}", asked.len());
    assert_eq!(search(setup, 3, &plain(2_500.0)).1, asked, "one seed, one order");
    assert_ne!(search(setup, 4, &plain(2_500.0)).1, asked);
}

#[test]
fn the_time_that_it_takes_is_reported_before() {
    let setup = Setup::new(Granularity::Rate, 100.0, 1e6);
    let (fewest, most) = setup.runs_expected();
    let (soonest, longest) = setup.seconds_expected(&|_| 2.0);
    let near = |seconds: f64, runs: u32| (seconds - 2.0 * f64::from(runs)).abs() < 1e-9;
    assert!(near(soonest, fewest) && near(longest, most), "{soonest} to {longest}, {fewest} to {most} runs");
    // Low rates need longer runs: 1,100 samples each. The duration stays within the estimate.
    let each = |level: f64| (1_100.0 / level).max(1.0);
    let setup = Setup::new(Granularity::Rate, 20.0, 20_000.0);
    let (soonest, longest) = setup.seconds_expected(&each);
    assert!(longest > 20.0 * each(20.0), "{longest} s, and a run at the lowest level takes {} s", each(20.0));
    for knee in [25.0, 90.0, 1_000.0, 15_000.0] {
        let (_, asked) = search(setup, 3, &plain(knee));
        let took: f64 = asked.iter().map(|wanted| each(wanted.level)).sum();
        assert!(
            (0.6 * soonest..=1.3 * longest).contains(&took),
            "{knee}: {took} s of {soonest} to {longest}"
        );
    }
}

#[test]
fn no_knee_within_the_limits_is_a_lower_bound() {
    let (answer, asked) = search(Setup::new(Granularity::Rate, 100.0, 5_000.0), 1, &plain(1e9));
    assert_eq!(
        (answer.end, answer.knee, answer.low, answer.high),
        (SearchEnd::Above, Some(5_000.0), Some(5_000.0), None)
    );
    assert_eq!(asked.last().map(|one| (one.level, one.stage)), Some((5_000.0, Stage::Confirm)));
    // Right at the limit it is found from below only.
    let (answer, _) = search(Setup::new(Granularity::Rate, 100.0, 5_000.0), 1, &plain(4_990.0));
    assert_eq!(answer.end, SearchEnd::Found, "{answer:?}");
    assert!(answer.low.unwrap() <= 4_990.0 && answer.high.unwrap() >= 4_990.0, "{answer:?}");
}

#[test]
fn levels_between_which_there_is_none_are_distinguished() {
    // Four digits know no level between 2,000 and 2,001.
    let (answer, asked) = search(Setup::new(Granularity::Rate, 1_000.0, 2_001.0), 1, &plain(2_000.5));
    assert_eq!((answer.end, answer.high), (SearchEnd::Found, Some(2_001.0)), "{answer:?}");
    assert!(answer.low.is_some_and(|low| (1_900.0..=2_000.0).contains(&low)), "{answer:?}");
    assert!(asked.iter().any(|one| one.stage == Stage::Measure), "{asked:?}");
}

#[test]
fn the_only_level_that_the_generator_leaves_is_measured() {
    for (grain, from) in [(Granularity::Rate, 100.0), (Granularity::Whole, 1.0)] {
        let mut search = Search::new(Setup::new(grain, from, 1e4));
        let mut asked = Vec::new();
        while let Some(wanted) = search.next() {
            asked.push(wanted);
            let seen = match wanted.level {
                level if level >= 2.0 * from => RunOutcome::Generator,
                // It holds once, and never again.
                _ if asked.len() == 1 => RunOutcome::Pass,
                _ => RunOutcome::Fail,
            };
            search.result(seen, 1.0);
        }
        let answer = search.answer();
        assert_eq!((answer.end, answer.knee, answer.low), (SearchEnd::Below, None, None), "{answer:?}");
        let at_first = |one: &&RunRequest| one.stage == Stage::Measure && one.level <= from;
        assert_eq!(asked.iter().filter(at_first).count(), 3, "{asked:?}");
    }
}

#[test]
fn the_lowest_level_fails() {
    let (answer, asked) = search(Setup::new(Granularity::Rate, 100.0, 5_000.0), 1, &plain(50.0));
    assert_eq!(
        (answer.end, answer.knee, answer.low, answer.high),
        (SearchEnd::Below, None, None, Some(100.0))
    );
    assert_eq!(asked.len(), 3, "it is tried three times");
    // Just above the lowest, only one end can be proven.
    let (answer, _) = search(Setup::new(Granularity::Rate, 100.0, 5_000.0), 1, &plain(100.5));
    assert_eq!(
        (answer.end, answer.low, answer.low_proven),
        (SearchEnd::Found, Some(100.0), false),
        "{answer:?}"
    );
}

#[test]
fn the_generator_is_the_limit() {
    let limited = |most: f64| {
        move |level: f64, _: [f64; 3]| if level > most { RunOutcome::Generator } else { RunOutcome::Pass }
    };
    let (answer, _) = search(Setup::new(Granularity::Rate, 100.0, 1e6), 1, &limited(3_000.0));
    assert_eq!(
        (answer.end, answer.low, answer.high),
        (SearchEnd::Generator, Some(1_600.0), None),
        "{answer:?}"
    );
    assert_eq!(answer.generator_at, Some(3_200.0));
    // At the first run, when nothing is known.
    let (answer, _) = search(Setup::new(Granularity::Rate, 100.0, 1e6), 1, &limited(10.0));
    assert_eq!((answer.end, answer.knee), (SearchEnd::Generator, None));
    // Between the knee's bracket and the climb's: the knee at 2,900 is found although 3,000 cannot
    // be offered.
    let both = |level: f64, _: [f64; 3]| match level {
        level if level > 3_000.0 => RunOutcome::Generator,
        level if level > 1_500.0 => RunOutcome::Fail,
        _ => RunOutcome::Pass,
    };
    let (answer, _) = search(Setup::new(Granularity::Rate, 100.0, 1e6), 1, &both);
    assert_eq!(answer.end, SearchEnd::Found);
    assert!(answer.low.unwrap() <= 1_500.0 && answer.high.unwrap() >= 1_500.0, "{answer:?}");
}

#[test]
fn a_generator_that_is_disturbed_now_and_then_is_no_limit() {
    for seed in 0..200 {
        let (answer, _) =
            search(Setup::new(Granularity::Rate, 100.0, 1e6), seed, &|level, chance| match level {
                _ if chance[2] < 0.05 => RunOutcome::Generator,
                level if level <= 2_000.0 => RunOutcome::Pass,
                _ => RunOutcome::Fail,
            });
        let holds =
            |at: f64| answer.low.is_none_or(|low| low <= at) && answer.high.is_none_or(|high| at <= high);
        assert!(holds(2_000.0), "seed {seed}: {answer:?}");
    }
}

#[test]
fn levels_that_are_too_short_get_longer() {
    let mut search = Search::new(Setup::new(Granularity::Whole, 1.0, 100.0));
    search.result(RunOutcome::Undecided, 1.0);
    assert_eq!(search.next().map(|one| (one.level, one.stretch)), Some((1.0, 2)));
    search.result(RunOutcome::Pass, 1.0);
    assert_eq!(search.next().map(|one| (one.level, one.stretch)), Some((2.0, 2)));
    for _ in 0..3 {
        search.result(RunOutcome::Undecided, 1.0);
    }
    assert_eq!(search.answer().end, SearchEnd::Stopped(StopReason::Undecided));
    assert_eq!(search.next(), None);
}

#[test]
fn a_stopped_search_reports_its_bracket() {
    let mut search = Search::new(Setup::new(Granularity::Rate, 100.0, 1e6));
    let target = plain(1_000.0);
    for _ in 0..7 {
        let level = search.next().unwrap().level;
        search.result(target(level, [0.0; 3]), 1.0);
    }
    search.stop(StopReason::Signal);
    let answer = search.answer();
    assert_eq!(answer.end, SearchEnd::Stopped(StopReason::Signal));
    assert_eq!((answer.low_proven, answer.high_proven), (false, false));
    assert!(answer.low.unwrap() <= 1_000.0 && answer.high.unwrap() >= 1_000.0, "{answer:?}");
}

#[test]
fn a_search_of_a_random_target_ends() {
    for seed in 0..100 {
        let (answer, asked) = search(Setup::new(Granularity::Rate, 100.0, 1e6), seed, &|_, chance| {
            [RunOutcome::Pass, RunOutcome::Fail, RunOutcome::Generator][(chance[2] * 3.0) as usize]
        });
        assert!(asked.len() <= 400, "seed {seed}: {} runs for {:?}", asked.len(), answer.end);
    }
}

/// A quick estimate takes some twenty runs, and is a tenth off at most.
#[test]
fn a_quick_search_is_near_after_few_runs() {
    let setup = Setup::new(Granularity::Rate, 100.0, 1e6).quickly();
    assert!(setup.check().is_ok());
    for target in [130.0, 1_000.0, 2_500.0, 17_000.0, 78_000.0] {
        let (answer, asked) = search(setup, 3, &plain(target));
        assert_eq!(answer.end, SearchEnd::Found, "{target}: {answer:?}");
        let knee = answer.knee.unwrap();
        assert!((knee / target - 1.0).abs() <= 0.1, "{knee} for {target}");
        assert!(asked.len() <= 20, "{} runs for {target}", asked.len());
    }
}

/// A few contradicting runs between the ends of the bracket prove nothing.
#[test]
fn a_search_without_time_reports_only_what_all_runs_agree_on() {
    let mut search = Search::new(Setup::new(Granularity::Rate, 100.0, 1e6));
    let mut number = 0_u32;
    while let Some(wanted) = search.next().filter(|_| number < 25) {
        let plain = plain(1_000.0)(wanted.level, [0.0; 3]);
        let is_contested = wanted.stage == Stage::Measure && (980.0..1_030.0).contains(&wanted.level);
        number += 1;
        let chance = if number.is_multiple_of(2) { RunOutcome::Pass } else { RunOutcome::Fail };
        search.result(if is_contested { chance } else { plain }, 1.0);
    }
    search.stop(StopReason::Time);
    let answer = search.answer();
    let contested = |point: &&wavetank_search::Point| point.passed > 0 && point.passed < point.runs;
    for point in answer.points.iter().filter(contested) {
        assert!(answer.low < Some(point.level) && answer.high > Some(point.level), "{answer:?}");
    }
    assert!(answer.low_proven && answer.high_proven || answer.knee.is_none(), "{answer:?}");
}
