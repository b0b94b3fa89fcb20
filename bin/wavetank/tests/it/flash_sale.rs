//! `examples/flash-sale.yaml` against the shop of `wavetank serve`, and against faulty shops.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use wavetank_testkit::{
    Client, Outcome, Program, RunHarness, RunResult, Script, ScriptAction, Serve, Target, answer,
    answer_with, expect_time, retry_timing,
};

/// Rows of the data file, which is the number of buyers of the largest rehearsal.
const ACCOUNTS: u64 = 1_000;

/// The example with its data file in one folder, and a program that runs there.
struct Sale {
    trial: RunHarness,
    file: String,
}

impl Sale {
    fn new() -> Self {
        let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
        let example = format!("{}/../../examples/flash-sale.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(example).expect("the example is there");
        let rows: Vec<_> = (1..=ACCOUNTS).map(|at| format!("buyer{at},secret-buyer{at}")).collect();
        trial.place().write("accounts.csv", format!("user,password\n{}\n", rows.join("\n")));
        let file = trial.place().write("flash-sale.yaml", text);
        Self { trial, file }
    }

    /// Runs it with these arguments against this target.
    fn run(&self, words: &str, target: &str) -> Outcome {
        let run = self.trial.program().args(["run", &self.file, "--format", "json", "--target", target]);
        run.args(words.split_whitespace()).run()
    }

    /// Returns the arguments in the example's own first line, without its file and target.
    fn own_words(&self) -> String {
        let text = std::fs::read_to_string(&self.file).expect("it was written");
        let first = text.lines().next().unwrap_or_default();
        let words = first.split_once("flash-sale.yaml ").and_then(|(_, words)| words.split_once(" --target"));
        words.unwrap_or_else(|| panic!("how is it rehearsed? {first}")).0.to_owned()
    }
}

fn serve(words: &[&str]) -> Serve {
    Serve::start(&Program::new(env!("CARGO_BIN_EXE_wavetank")), words)
}

fn asked(serve: &Serve, path: &str) -> Value {
    let reported = Client::connect(serve.address()).get(path);
    serde_json::from_slice(&reported.body).expect("JSON")
}

/// Returns the checks of the run's `after` in the file's order, and whether each passed.
fn after(result: &RunResult) -> Vec<(&str, bool)> {
    let all = result.at("after.checks").as_array();
    let all = all.unwrap_or_else(|| panic!("no checks of `after`: {result}"));
    all.iter().filter_map(|check| Some((check["name"].as_str()?, check["ok"].as_bool()?))).collect()
}

/// Runs it against a fresh server. The articles sold are as many as the articles in stock or the
/// buyers, by the count of both sides.
#[track_caller]
fn sold(server: &[&str], words: &str, buyers: u64, stock: u64) {
    retry_timing(|| {
        let (serve, sale) = (serve(server), Sale::new());
        let outcome = sale.run(words, &serve.url(""));
        let result = outcome.result();
        // If the machine pauses for a second, orders take a second, which the file does not allow.
        let slow =
            result.at("thresholds").as_array().is_some_and(|all| all.iter().any(|one| one["ok"] != true));
        let doubted = slow || result.text("verdict.status") == "invalid";
        expect_time(!doubted, || format!("a time was not kept\n{outcome}"))?;
        outcome.expect_exit(0);
        result.conserved();
        let wanted = stock.min(buyers);
        assert_eq!(result.count("counts.sold"), wanted, "{result}");
        let (shown, truth) = (asked(&serve, "/api/seckill"), asked(&serve, "/truth"));
        assert_eq!((&shown["sold"], &shown["left"]), (&wanted.into(), &(stock - wanted).into()), "{result}");
        assert_eq!(truth["paths"]["/api/order"], buyers, "{result}");
        let statuses = ["200", "409"].map(|status| truth["statuses"][status].as_u64().unwrap_or_default());
        assert_eq!(statuses[1], buyers - wanted, "{truth}");
        assert_eq!(truth["answers"], statuses[0] + statuses[1], "nothing else was answered: {truth}");
        Ok(())
    });
}

#[test]
fn the_example_is_rehearsed_whole_by_its_own_words() {
    let words = Sale::new().own_words();
    assert!(words.contains("--scale 1/1000"), "{words}");
    sold(&[], &words, 100, 1_000);
}

/// Both ends on each engine. Without `io_uring`, `auto` is epoll as well.
#[test]
fn simultaneous_buyers_buy_the_stock_and_no_more() {
    if wavetank_testkit::is_left_to_long_form("simultaneous_buyers_buy_the_stock_and_no_more") {
        return;
    }
    let words = "--scale 1/100 --speed 30x --set opens_in=100ms --set stock=150 --threads 2";
    for engine in ["auto", "epoll"] {
        let server = ["--threads", "4", "--engine", engine];
        sold(&server, &format!("{words} --engine {engine}"), 1_000, 150);
    }
}

/// A shop that sells to all buyers, and reports `reported(sold)` as the number sold.
fn careless(reported: fn(u64) -> u64) -> Target {
    let sold = Arc::new(AtomicU64::new(0));
    Target::start(Script::new(move |seen| {
        vec![ScriptAction::Send(match seen.path.as_str() {
            "/api/order" => {
                sold.fetch_add(1, Ordering::Relaxed);
                answer(200, b"{}")
            }
            "/api/seckill" => {
                let count = reported(sold.load(Ordering::Relaxed));
                let body = format!("{{\"event1\": {{\"sku\": \"P1\"}}, \"sold\": {count}}}");
                answer_with(200, &[("Cache-Control", "no-store")], body.as_bytes())
            }
            _ => answer(200, b"{}"),
        })]
    }))
}

/// Checks which of the example's two checks detects a shop that sells 100 of 30 articles.
#[track_caller]
fn found_out(reported: fn(u64) -> u64, held: [bool; 2]) {
    retry_timing(|| {
        let (target, sale) = (careless(reported), Sale::new());
        let words = "--scale 1/1000 --speed 60x --set opens_in=100ms --set stock=30";
        let outcome = sale.run(words, &target.url(""));
        let result = outcome.result();
        result.conserved();
        let late = result.count_or_zero("dropped_by.behind") > 0 || result.status() == "invalid";
        expect_time(!late, || format!("the run was late\n{outcome}"))?;
        outcome.expect_exit(1);
        assert_eq!(result.count("counts.sold"), 100, "{result}");
        let checks = [("json $.sold <= ${stock}", held[0]), ("json $.sold = ${count.sold}", held[1])];
        assert_eq!(after(&result), checks, "{result}");
        assert!(result.at("verdict.reasons").to_string().contains("after"), "{result}");
        Ok(())
    });
}

#[test]
fn a_shop_that_oversells_fails() {
    // The shop reports the true number, or the number in stock, or one less than it sold.
    found_out(|sold| sold, [false, true]);
    found_out(|sold| sold.min(30), [true, false]);
    found_out(|sold| sold.saturating_sub(1), [false, false]);
}
