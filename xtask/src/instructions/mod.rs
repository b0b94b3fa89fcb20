//! `cargo xtask instructions`: the cost of one request on the load path, counted and not timed, so
//! that a busy machine changes nothing. `xtask/instructions.txt` keeps the counts. A count that
//! rises by more than 3 % fails until it is accepted with a reason, which is stored next to it.
//!
//! callgrind counts the instructions of the program itself: engine, protocol, recording, driver and
//! C library, with real system calls on real sockets. The kernel's own work is not included. epoll
//! is counted on `epoll_wait`, because valgrind does not know `epoll_pwait2`. Sealing of intervals
//! is left out, because its number depends on time.

use std::path::Path;

use anyhow::{Context, Result, bail};

use baseline::{Baseline, Row};
use count::Counter;

mod baseline;
mod count;

/// The kept counts.
const FILE: &str = "xtask/instructions.txt";
/// What is counted: drivers, and cases of `io/engine/benches/instructions`.
const DRIVERS: [&str; 2] = ["epoll", "uring"];
const CASES: [&str; 3] = ["keep-alive", "alone", "new-connection"];
/// Above this a rise needs a reason.
const RISE_MAX: f64 = 0.03;
/// Below this a count is the same.
const SAME_MAX: f64 = 0.01;

/// What `cargo xtask instructions` takes.
#[derive(clap::Args)]
pub(crate) struct InstructionsArguments {
    /// Record the new counts, with this reason for those that changed
    #[arg(long, value_name = "REASON")]
    accept: Option<String>,
}

/// Counts, compares and, where asked to, keeps.
pub(crate) fn run(root: &Path, arguments: &InstructionsArguments) -> Result<()> {
    let (rows, skipped) = count(root)?;
    for line in &skipped {
        println!("SKIPPED {line}");
    }
    let path = root.join(FILE);
    let mut kept = Baseline::read(&path)?;
    let Some(reason) = &arguments.accept else { return judge(&kept, &rows) };
    if skipped.is_empty() {
        kept.retain(&rows);
    }
    for row in &rows {
        if kept.accept(row, reason.trim(), SAME_MAX)? {
            println!("kept: {} {} {:.0}", row.driver, row.case, row.count);
        }
    }
    kept.write(&path)
}

/// What `cargo ci` does of it; returns what was left out.
pub(crate) fn in_ci(root: &Path) -> Result<Vec<String>> {
    let (rows, skipped) = count(root)?;
    judge(&Baseline::read(&root.join(FILE))?, &rows)?;
    Ok(skipped)
}

/// Counts everything that can be counted here, and says what cannot.
fn count(root: &Path) -> Result<(Vec<Row>, Vec<String>)> {
    let mut rows = Vec::new();
    let mut skipped = Vec::new();
    let skip = |why: &str| format!("instructions: {why}");
    if std::env::consts::ARCH != "x86_64" {
        return Ok((rows, vec![skip("counts are kept for x86_64 only")]));
    }
    let Some(counter) = Counter::build(root)? else {
        return Ok((rows, vec![skip("valgrind is not installed")]));
    };
    for driver in DRIVERS {
        if let Err(reason) = counter.try_out(driver) {
            skipped.push(skip(&format!("{driver} does not run here: {reason}")));
            continue;
        }
        for case in CASES {
            match counter.per_request(driver, case).with_context(|| format!("{driver} {case}"))? {
                Some(count) => rows.push(Row { driver: driver.to_owned(), case: case.to_owned(), count }),
                None => skipped.push(skip(&format!("{driver} {case}: this machine is too slow or too busy"))),
            }
        }
    }
    Ok((rows, skipped))
}

/// Prints the comparison; an error names every count that rose too far.
fn judge(kept: &Baseline, rows: &[Row]) -> Result<()> {
    let mut risen = Vec::new();
    for row in rows {
        let Row { driver, case, count } = row;
        let Some(before) = kept.count(driver, case) else {
            risen.push(format!("{driver} {case}: {count:.0}, and none is kept"));
            continue;
        };
        let change = count / before - 1.0;
        let advice = if change < -RISE_MAX { "  (fewer: keep the gain with --accept)" } else { "" };
        println!(
            "{driver:<6} {case:<15} {count:>7.0} instructions, kept {before:>7.0}, {:+.1} %{advice}",
            change * 100.0
        );
        if change > RISE_MAX {
            risen.push(format!("{driver} {case}: {before:.0} → {count:.0}, {:+.1} %", change * 100.0));
        }
    }
    if risen.is_empty() {
        return Ok(());
    }
    bail!(
        "a request costs more instructions than before:\n  {}\nIf that is the price of something, say of what: \
         cargo xtask instructions --accept 'REASON' writes it into {FILE}",
        risen.join("\n  ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: f64, passes: bool) {
        let kept = Baseline::parse("epoll alone 1000 first count\n").expect("is well formed");
        let row = Row { driver: "epoll".to_owned(), case: "alone".to_owned(), count };
        assert_eq!(judge(&kept, &[row]).is_ok(), passes, "{count}");
    }

    #[test]
    fn only_a_rise_over_three_percent_fails() {
        check(1_000.0, true);
        check(1_029.0, true);
        check(1_031.0, false);
        check(500.0, true);
    }

    #[test]
    fn a_count_without_a_kept_one_fails() {
        let row = Row { driver: "epoll".to_owned(), case: "new".to_owned(), count: 1.0 };
        assert!(judge(&Baseline::parse("").expect("is well formed"), &[row]).is_err());
    }

    #[test]
    fn the_kept_counts_are_those_that_are_counted() {
        let kept = Baseline::read(&crate::root().join(FILE)).expect("is well formed");
        for driver in DRIVERS {
            for case in CASES {
                assert!(kept.count(driver, case).is_some(), "{driver} {case}");
            }
        }
        assert_eq!(kept.len(), DRIVERS.len() * CASES.len());
    }
}
