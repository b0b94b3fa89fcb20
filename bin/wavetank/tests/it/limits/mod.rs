//! Limits made on purpose in labs, each found with its host and cured by the fix that the program
//! prints, and runs without a limit, of which nothing is found.

mod case;
mod fix;

use serde_json::Value;
use wavetank_testkit::{CpuTimes, Program, is_long, skip};

use crate::lab::place::Place;
use case::Case;

/// The cases of the short form.
const SHORT: [&str; 2] = ["haproxy-timeout-server", "nginx-worker-connections"];
const SHORT_CLEAN: [&str; 1] = ["nginx-open"];
/// Findings that depend on how busy this machine is.
const OF_THE_MACHINE: [&str; 10] = [
    "late",
    "lag",
    "generator_lag",
    "stalled",
    "dropped",
    "starved",
    "steal",
    "generator_cpu",
    "throttled",
    "cpu_steal",
];
/// A run of which the hypervisor took more of the CPU time says nothing.
const STEAL_MAX: f64 = 0.05;
/// A run next to which other programs used more of the CPU time says nothing.
const FOREIGN_MAX: f64 = 0.25;

/// How a case ended.
enum Ended {
    /// As expected.
    Found,
    /// As expected, and without the finding after its fix.
    Cured,
    /// This machine was too busy for it.
    Discarded(String),
    Failed(String),
}

/// The result of a run, if the machine was quiet enough.
fn run(case: &Case) -> Result<Value, Ended> {
    let lab: String = case
        .lab()
        .lines()
        .filter(|line| !line.starts_with("wavetank_lab:"))
        .fold(String::new(), |text, line| text + line + "\n");
    let Some(place) = Place::new("limit", &lab) else {
        return Err(Ended::Discarded("this machine cannot have labs".to_owned()));
    };
    for (name, text) in case.files.iter().filter(|(name, _)| *name != "lab.yaml") {
        place.file(name, text);
    }
    let before = CpuTimes::now().expect("Linux has it");
    let arguments = ["run", "lab.yaml", "load.yaml", "--format", "json", "--runs-dir", "runs", "--quiet"];
    let outcome = place.lab(&arguments).run();
    let after = CpuTimes::now().expect("Linux has it");
    let record = serde_json::from_str::<Value>(&outcome.stdout).unwrap_or_default();
    if record["verdict"].is_null() {
        return Err(Ended::Failed(format!("no result: {outcome}")));
    }
    let share = after.stolen_share_since(before);
    if share > STEAL_MAX {
        return Err(Ended::Discarded(format!("the hypervisor took {:.0} % of the CPU time", 100.0 * share)));
    }
    let foreign = after.foreign_share_since(before);
    if foreign > FOREIGN_MAX {
        let percent = 100.0 * foreign;
        return Err(Ended::Discarded(format!("other programs used {percent:.0} % of the CPU time")));
    }
    let expects_generator = case.expected.as_ref().is_some_and(|[_, blame, _]| blame == "generator");
    let behind = record["dropped_by"]["behind"].as_u64().unwrap_or(0);
    let own = record["verdict"]["status"] == "invalid" && record["verdict"]["blame"] == "generator";
    if behind > 0 || own && !expects_generator {
        return Err(Ended::Discarded(format!("the generator was late: {}", record["verdict"]["reasons"])));
    }
    Ok(record)
}

/// The findings that are about more than this machine and about how single requests failed.
fn found<'r>(case: &Case, record: &'r Value) -> Vec<&'r Value> {
    let expected = case.expected.as_ref().map(|[code, ..]| code.as_str());
    let is_class = |code: &str| record["errors"].get(code).is_some() && expected != Some(code);
    let matters = |finding: &&Value| {
        let code = finding["code"].as_str().unwrap_or_default();
        !is_class(code) && code != "same_age" && !OF_THE_MACHINE.contains(&code)
    };
    record["findings"].as_array().into_iter().flatten().filter(matters).collect()
}

fn listed(record: &Value) -> String {
    let one = |finding: &Value| {
        format!(
            "\n    {} ({}): {} · {}",
            finding["code"], finding["blame"], finding["message"], finding["evidence"]
        )
    };
    let all: String = record["findings"].as_array().into_iter().flatten().map(one).collect();
    format!(
        "{} {} {} {}{all}",
        record["verdict"]["status"], record["verdict"]["reasons"], record["errors"], record["status"]
    )
}

fn check(case: &Case) -> Result<Ended, Ended> {
    let record = run(case)?;
    let fail = |what: &str, record: &Value| Err(Ended::Failed(format!("{what}: {}", listed(record))));
    let all = found(case, &record);
    if record["verdict"]["exit"] != case.exit {
        return fail(&format!("the exit code is not {}", case.exit), &record);
    }
    let Some([code, blame, text]) = &case.expected else {
        return if all.is_empty() { Ok(Ended::Found) } else { fail("findings of a clean run", &record) };
    };
    let Some(first) = all.first() else { return fail("nothing found", &record) };
    let has_text = first["message"].as_str().is_some_and(|message| message.contains(text.as_str()));
    if first["code"] != **code || first["blame"] != **blame || !has_text {
        return fail(&format!("the first finding is not {code} ({blame}) of {text}"), &record);
    }
    if case.exit != 0 && record["verdict"]["blame"] != **blame {
        return fail(&format!("the verdict's blame is {}", record["verdict"]["blame"]), &record);
    }
    let is_right = |one: &&&Value| case.also.iter().any(|code| one["code"] == **code);
    if let Some(wrong) = all.iter().skip(1).find(|one| !is_right(one)) {
        return fail(&format!("{} is wrong", wrong["code"]), &record);
    }
    let fixes = first["fix"].as_array().cloned().unwrap_or_default();
    if !case.cured {
        return Ok(Ended::Found);
    }
    if fixes.is_empty() {
        return fail("no fix is printed", &record);
    }
    let mut cured = case.clone();
    for fix in &fixes {
        fix::apply(&mut cured, fix);
    }
    cured.expected = None;
    let record = run(&cured)?;
    let is_left =
        found(&cured, &record).iter().any(|one| !case.also.iter().any(|code| one["code"] == **code));
    if record["verdict"]["status"] != "pass" || is_left {
        let texts: Vec<_> = fixes.iter().filter_map(|fix| fix["text"].as_str()).collect();
        return fail(&format!("not cured by {texts:?}"), &record);
    }
    Ok(Ended::Cured)
}

/// Runs all cases of a folder, one after the other, and fails with all that went wrong.
#[expect(clippy::print_stderr, reason = "how many cases ran and were cured is a result")]
fn check_all(folder: &str, short: &[&str]) {
    let (mut found, mut cured, mut discarded, mut failed) = (0, 0, 0, Vec::new());
    for case in Case::all(folder, (!is_long()).then_some(short)) {
        let name = format!("{folder}/{}", case.name);
        let missing = case.programs().into_iter().find(|program| Program::foreign(program).is_none());
        if let Some(missing) = missing {
            skip(&name, &format!("{missing} is not installed"));
            continue;
        }
        match check(&case).unwrap_or_else(|ended| ended) {
            Ended::Found => found += 1,
            Ended::Cured => cured += 1,
            Ended::Discarded(reason) => {
                discarded += 1;
                skip(&name, &reason);
            }
            Ended::Failed(what) => {
                eprintln!("{name}: {what}");
                failed.push(name.clone());
            }
        }
        eprintln!(
            "{name}: {found} as expected, {cured} cured, {discarded} discarded, {} failed",
            failed.len()
        );
    }
    assert!(failed.is_empty(), "{}", failed.join(", "));
}

#[test]
fn limits_are_found_and_cured_by_the_printed_fix() {
    check_all("limits", &SHORT);
}

#[test]
fn runs_without_a_limit_have_no_finding() {
    check_all("clean", &SHORT_CLEAN);
}
