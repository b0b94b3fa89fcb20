//! Tests which session gets which row.

use std::collections::BTreeSet;

use wavetank_journey::data::{Table, TableBuilder};
use wavetank_journey::value::JsonType;
use wavetank_plan::{
    Action, Arrivals, ConnectionOwner, DataPlan, Expr, Load, Plan, RateCurve, RowChoice, Scenario,
};
use wavetank_units::Rate;

use super::support::run_early;
use super::{get, ms, ok, paths, plan, scenario, server, sessions, users};

/// Rows of one column, which contains the row numbers.
fn table(rows: u32) -> Table {
    let mut builder = TableBuilder::new("accounts", &["user"]).expect("a column");
    (0..rows).for_each(|row| builder.push(JsonType::Text, &row.to_string()).expect("is short"));
    builder.finish().expect("rows")
}

fn with_rows(mut plan: Plan, row: RowChoice, rows: u64) -> Plan {
    plan.shared.data = vec![DataPlan {
        name: "accounts".to_owned(),
        file: None,
        row,
        columns: vec!["user".to_owned()],
        rows,
        sha256: String::new(),
    }];
    plan
}

/// `/login` with the row's value once, `/work` with it in each session.
fn taking() -> Scenario {
    let row = Expr::Column { data: 0, column: 0 };
    let steps = vec![get("/login", std::slice::from_ref(&row)), get("/work", &[Expr::User, row.clone()])];
    let mut taking = scenario(steps, vec![Action::Request(1)]);
    (taking.before, taking.connection) = (vec![Action::Request(0)], ConnectionOwner::User);
    taking
}

fn arrivals() -> Load {
    let rate = RateCurve::constant(Rate::per_second(200), Some(ms(200)));
    Load::Open { rate, arrivals: Arrivals::Even, requests_each: None }
}

/// Returns the rows that sessions used, in order of their numbers, and how many sessions had none.
fn used(loads: Vec<Load>, row: RowChoice, rows: u32, threads: u32) -> (Vec<u32>, u64) {
    let (address, seen) = server(ok);
    let mut taking = taking();
    if loads.iter().any(Load::is_open) {
        taking.connection = ConnectionOwner::Shared;
    }
    let plan = with_rows(plan(address, taking, loads, threads), row, u64::from(rows));
    let (intervals, _) = run_early(plan, vec![table(rows)], None);
    let row = |path: String| path.rsplit('-').next().expect("a row").parse().expect("a number");
    let mut all: Vec<u32> = paths(&seen, "/work").into_iter().map(row).collect();
    all.sort_unstable();
    (all, sessions(&intervals).failed)
}

/// The same rows are used on 1, 2 and 7 threads.
fn check(loads: impl Fn() -> Vec<Load>, row: RowChoice, rows: u32) -> Vec<u32> {
    let (one, failed) = used(loads(), row, rows, 1);
    for threads in [2, 7] {
        assert_eq!(used(loads(), row, rows, threads), (one.clone(), failed), "{row:?}, {threads} threads");
    }
    one
}

#[test]
fn unique_rows_are_used_once_by_the_user_that_starts() {
    // Two phases of arrivals, then users with three sessions each.
    let loads = || vec![arrivals(), arrivals(), users(5, 1_500, Some(3))];
    let all = check(loads, RowChoice::Unique, 1_000);
    assert_eq!(all, (0..95).collect::<Vec<_>>(), "none twice, and none left out");
}

#[test]
fn where_rows_are_too_few_all_of_them_are_used() {
    for threads in [1, 2, 7] {
        let (all, failed) = used(vec![users(9, 1_500, Some(4))], RowChoice::Unique, 20, threads);
        assert_eq!((all, failed), ((0..20).collect(), 16), "{threads} threads");
    }
}

#[test]
fn rows_in_order_at_random_and_by_user_are_the_same_on_any_number_of_threads() {
    let both = || vec![arrivals(), users(5, 1_500, Some(3))];
    let in_order = check(both, RowChoice::InOrder, 10);
    assert_eq!(in_order.len(), 55);
    let times = |row: u32| in_order.iter().filter(|&&used| used == row).count();
    assert!((0..10).all(|row| (4..=7).contains(&times(row))), "{in_order:?}");
    let random = check(both, RowChoice::Random, 1_000);
    assert!(random.iter().collect::<BTreeSet<_>>().len() > 45, "{random:?}");
    let per_user = check(|| vec![users(5, 1_500, Some(3))], RowChoice::PerUser, 1_000);
    assert_eq!(per_user, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
}
