//! [`PairedRounds`]: one number, measured in paired rounds. In each round every contestant has a
//! turn, ours and the peers.

use anyhow::Result;

use crate::goal::Goal;
use crate::session::Session;
use crate::stats::median;

/// One number that is a ratio of costs.
pub(crate) struct PairedRounds<'a> {
    /// Name of the number, as the summary shows it.
    pub(crate) number: String,
    /// Names of the contestants. The first is ours, and is compared with the best of the others.
    pub(crate) names: Vec<&'a str>,
    /// Goal for the median.
    pub(crate) goal: Goal,
    /// Unit of work: `request`, `session`.
    pub(crate) unit: &'static str,
}

/// One contestant's turn.
pub(crate) struct Turn {
    pub(crate) done: u64,
    /// User and system time of the judged process.
    pub(crate) cpu_us: f64,
    pub(crate) cycles: Option<f64>,
    pub(crate) peak_rss_bytes: u64,
    /// Why its round is void.
    pub(crate) void: Option<String>,
}

impl Turn {
    fn micros(&self) -> f64 {
        self.cpu_us / self.done as f64
    }

    fn cycles(&self) -> Option<f64> {
        Some(self.cycles? / self.done as f64)
    }
}

impl PairedRounds<'_> {
    /// Runs all rounds. Prints each round, and puts the median of the ratios on the score sheet.
    /// `turn` runs the turn of one contestant, given by its index in [`Self::names`]. Returns the
    /// turns by round and index.
    pub(crate) fn run(
        &self,
        session: &mut Session,
        mut turn: impl FnMut(&Session, usize) -> Result<Turn>,
    ) -> Result<Vec<Vec<Turn>>> {
        println!("{}", self.header());
        let mut rounds = Vec::new();
        for round in 0..session.size.rounds() {
            let count = self.names.len();
            let mut turns: Vec<Option<Turn>> = (0..count).map(|_| None).collect();
            for step in 0..count {
                // The machine's state changes from the first turn to the second, so the order
                // changes from round to round.
                let place = (round + step) % count;
                turns[place] = Some(turn(session, place)?);
            }
            let turns: Vec<Turn> = turns.into_iter().flatten().collect();
            println!("{}", self.line(round + 1, &turns));
            rounds.push(turns);
        }
        self.score(session, &rounds);
        Ok(rounds)
    }

    fn header(&self) -> String {
        let each = self
            .names
            .iter()
            .map(|name| format!("{:>12}  {:>7}  {:>8}", format!("{name} µs"), "kcycles", "done"));
        format!("round  {}   ratio  by cycles", each.collect::<Vec<_>>().join(" |"))
    }

    fn line(&self, round: usize, turns: &[Turn]) -> String {
        let each = turns.iter().map(|turn| {
            let cycles =
                turn.cycles().map_or_else(|| "-".to_owned(), |cycles| format!("{:.1}", cycles / 1e3));
            format!("{:>12.2}  {cycles:>7}  {:>8}", turn.micros(), turn.done)
        });
        let each: Vec<String> = each.collect();
        let ratio = self.ratio(turns, |turn| Some(turn.micros())).unwrap_or(f64::NAN);
        let by_cycles =
            self.ratio(turns, Turn::cycles).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
        let mut line = format!("{round:<5}  {}  {ratio:>6.3}  {by_cycles:>9}", each.join(" |"));
        for why in voids(turns, &self.names) {
            line.push_str("  VOID: ");
            line.push_str(&why);
        }
        line
    }

    /// Returns the ratio of ours and the best of the others.
    fn ratio(&self, turns: &[Turn], cost: impl Fn(&Turn) -> Option<f64>) -> Option<f64> {
        let costs: Option<Vec<f64>> = turns.iter().map(cost).collect();
        let costs = costs?;
        let (ours, peers) = costs.split_first()?;
        let best = peers.iter().copied().min_by(f64::total_cmp)?;
        Some(self.goal.ratio(*ours, best))
    }

    fn score(&self, session: &mut Session, rounds: &[Vec<Turn>]) {
        let valid: Vec<&Vec<Turn>> =
            rounds.iter().filter(|turns| voids(turns, &self.names).is_empty()).collect();
        let over = |cost: fn(&Turn) -> Option<f64>| {
            median(valid.iter().filter_map(|turns| self.ratio(turns, cost)).collect())
        };
        let number = format!("{}, {}", self.goal.what(self.unit), self.number);
        let Some(ratio) = over(|turn| Some(turn.micros())) else {
            let why = rounds.iter().flat_map(|turns| voids(turns, &self.names)).next().unwrap_or_default();
            session.broken(number, self.goal.to_string(), format!("every round is void: {why}"));
            return;
        };
        let by_cycles =
            over(Turn::cycles).map_or_else(String::new, |ratio| format!("{ratio:.3} by cycles, "));
        let peers = match &self.names[1..] {
            [one] => format!("{one}'s"),
            several => format!("the best of {}", several.join(", ")),
        };
        let measured =
            format!("{ratio:.3} × {peers} ({by_cycles}{} of {} rounds)", valid.len(), rounds.len());
        session.score(number, self.goal.to_string(), measured, self.goal.met(ratio));
    }
}

/// Returns the reasons why a round is void.
fn voids(turns: &[Turn], names: &[&str]) -> Vec<String> {
    let each = turns.iter().zip(names);
    each.filter_map(|(turn, name)| Some(format!("{name} {}", turn.void.as_ref()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(cpu_us: f64, void: Option<&str>) -> Turn {
        Turn { done: 1_000, cpu_us, cycles: None, peak_rss_bytes: 0, void: void.map(str::to_owned) }
    }

    fn contest(goal: Goal) -> PairedRounds<'static> {
        PairedRounds {
            number: "of a test".to_owned(),
            names: vec!["ours", "one", "two"],
            goal,
            unit: "request",
        }
    }

    #[test]
    fn ours_is_held_against_the_best_of_the_peers() {
        let turns = [turn(6_000.0, None), turn(10_000.0, None), turn(9_000.0, None)];
        let ratio = |goal| contest(goal).ratio(&turns, |turn| Some(turn.micros())).expect("has costs");
        assert!((ratio(Goal::Cost(1.0)) - 6.0 / 9.0).abs() < 1e-9);
        assert!((ratio(Goal::Work(1.0)) - 1.5).abs() < 1e-9);
        assert_eq!(contest(Goal::Cost(1.0)).ratio(&turns, Turn::cycles), None);
    }

    #[test]
    fn a_void_round_says_why() {
        let turns = [turn(1.0, None), turn(1.0, Some("claims 9, the target counted 5")), turn(1.0, None)];
        assert_eq!(voids(&turns, &["ours", "one", "two"]), ["one claims 9, the target counted 5"]);
        assert!(contest(Goal::None).line(1, &turns).ends_with("VOID: one claims 9, the target counted 5"));
        assert!(!contest(Goal::None).line(1, &[turn(1.0, None), turn(1.0, None)]).contains("VOID"));
    }

    #[test]
    fn the_score_is_the_median_of_valid_rounds() {
        let mut session = Session::for_tests();
        let round = |ours, void| vec![turn(ours, void), turn(10_000.0, None), turn(20_000.0, None)];
        let rounds =
            [round(9_000.0, None), round(1.0, Some("claims 9")), round(7_000.0, None), round(8_000.0, None)];
        contest(Goal::Cost(0.85)).score(&mut session, &rounds);
        contest(Goal::Cost(0.75)).score(&mut session, &rounds);
        contest(Goal::Cost(0.75)).score(&mut session, &[round(1.0, Some("claims 9"))]);
        let words: Vec<&str> = session.scores.iter().map(|score| score.standing.word()).collect();
        assert_eq!(words, ["met", "MISSED", "BROKEN"]);
        assert_eq!(session.scores[0].measured, "0.800 × the best of one, two (3 of 4 rounds)");
    }
}
