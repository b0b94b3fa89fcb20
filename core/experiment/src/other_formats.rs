//! Recognises files of other tools by their content. The error names the tool and the equivalent
//! here.

use wavetank_grammar::{Diagnostic, FormatSignature, Grammar as _, Node, detect_format, foreign};
use wavetank_units::{Code, did_you_mean};

use crate::grammar::MapName;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// Number of bytes that suffice to recognise a tool.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// Typical text of a file, the tool it belongs to, and the equivalent here.
const TEXTS: [(&str, &str, &str); 12] = [
    (
        "<tsung",
        "a configuration of Tsung",
        "arrivalphase is a phase (rate: N/s, for: …), session a scenario, request a step; examples/tsung-static.yaml",
    ),
    (
        "<jmeterTestPlan",
        "a test plan of JMeter",
        "a ThreadGroup is users: N in a phase, a sampler a step; examples/shapes.yaml has its stairs",
    ),
    (
        "from locust",
        "a locustfile",
        "a User class is a scenario, wait_time is think, @task(3) is weight: 3 under choose; -u 1000 -r 50 is users: 0 to 1k, at: 50/s",
    ),
    (
        "import locust",
        "a locustfile",
        "a User class is a scenario, wait_time is think, @task(3) is weight: 3 under choose; -u 1000 -r 50 is users: 0 to 1k, at: 50/s",
    ),
    (
        "wrk.method",
        "a script of wrk",
        "method, headers and body are keys of a step: - post: /path, headers: {…}, body: …",
    ),
    (
        "wrk.format",
        "a script of wrk",
        "a request function is a step with templates: - get: /item/${random(1,100)}",
    ),
    (
        "k6/http",
        "a script of k6",
        "stages are phases (users: 0 to 100, for: 1m), check() is check:, sleep(1) is think: 1s, thresholds are thresholds",
    ),
    (
        "from 'k6'",
        "a script of k6",
        "stages are phases (users: 0 to 100, for: 1m), check() is check:, sleep(1) is think: 1s, thresholds are thresholds",
    ),
    (
        "from \"k6\"",
        "a script of k6",
        "stages are phases (users: 0 to 100, for: 1m), check() is check:, sleep(1) is think: 1s, thresholds are thresholds",
    ),
    (
        "io.gatling",
        "a simulation of Gatling",
        "a ScenarioBuilder is a scenario, rampUsers(300).during(60) is users: 0 to 300, for: 60s in a phase",
    ),
    ("_postman_id", "a collection of Postman", "an item is a step: - get: /path"),
    (
        "#!/bin/",
        "a script for the shell",
        "its ab, wrk or hey lines are options of `wavetank run URL`, or one step and one phase here",
    ),
];

/// Endings of file names, the tool, and the equivalent here.
const ENDINGS: [(&str, &str, &str); 6] = [
    (".py", "a program in Python", "an experiment is YAML: `wavetank new FILE` writes one to start from"),
    (".lua", "a script of wrk", "a request function is a step with templates: - get: /item/${random(1,100)}"),
    (".js", "a program in JavaScript", "an experiment is YAML: `wavetank new FILE` writes one to start from"),
    (".jmx", "a test plan of JMeter", "a ThreadGroup is users: N in a phase, a sampler a step"),
    (
        ".scala",
        "a simulation of Gatling",
        "a ScenarioBuilder is a scenario, its injection profile are phases",
    ),
    (".csv", "rows of data", "an experiment names them: data: {accounts: {file: accounts.csv}}"),
];

/// Returns an error if text and name show that the file belongs to another tool.
pub(crate) fn detect_in_text(name: &str, text: &str) -> Option<Diagnostic> {
    let end = (0..=text.len().min(HEAD_BYTES_MAX)).rev().find(|at| text.is_char_boundary(*at))?;
    let head = &text[..end];
    if head.lines().any(|line| line.starts_with("wavetank:")) {
        return None;
    }
    let found = TEXTS.iter().find(|(word, ..)| head.contains(word)).map(|(_, what, hint)| (*what, *hint));
    let lower = name.to_ascii_lowercase();
    let by_name =
        || ENDINGS.iter().find(|(end, ..)| lower.ends_with(end)).map(|(_, what, hint)| (*what, *hint));
    let (what, hint) =
        found.or_else(|| curl(head)).or_else(|| archive(head)).or_else(|| targets(head)).or_else(by_name)?;
    Some(foreign(what, hint, &MapName::ADVICE))
}

/// Recognises a saved command of curl, such as "Copy as cURL" of a browser gives.
fn curl(head: &str) -> Option<(&'static str, &'static str)> {
    let first = head.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let command = first.strip_prefix("$ ").unwrap_or(first);
    let shaped = command.split_whitespace().next().is_some_and(|word| word == "curl" || word == "curl.exe");
    shaped.then_some((
        "a command of curl",
        "wavetank run --curl FILE sends what it sends; in an experiment file it is one step: - post: /path, \
         headers: {…}, body: …",
    ))
}

/// Recognises an HTTP archive. It is JSON, so it would be parsed as YAML.
fn archive(head: &str) -> Option<(&'static str, &'static str)> {
    let shaped = head.trim_start().starts_with('{') && head.contains("\"log\"");
    let inside = head.contains("\"entries\"") || head.contains("\"creator\"");
    (shaped && inside)
        .then_some(("an HTTP archive (HAR)", "each entry is a step: - get: /path; think: between them"))
}

/// Recognises lines `GET http://…` for vegeta.
fn targets(head: &str) -> Option<(&'static str, &'static str)> {
    let first = head.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
    let (method, url) = first.split_once(' ')?;
    let shaped = METHODS.contains(&method) && (url.starts_with("http://") || url.starts_with("https://"));
    shaped.then_some((
        "a list of targets for vegeta",
        "each line is a step: - get: http://…; -rate=500 is rate: 500/s in a phase",
    ))
}

/// Top-level keys of other tools' YAML files.
const KEYS: [FormatSignature; 9] = [
    (
        &["wavetank_lab"],
        "a lab",
        "check it with wavetank lab check FILE; run an experiment in it with wavetank lab run LAB.yaml EXPERIMENT.yaml",
    ),
    (&["wavetank_fleet"], "a fleet file", "pass it with an experiment: wavetank run FILE --fleet FLEET.yaml"),
    (&["apiVersion", "kind"], "a manifest of Kubernetes", "an experiment begins with wavetank: 1"),
    (
        &["services"],
        "a file of Docker Compose",
        "an experiment begins with wavetank: 1; the services' address is its target",
    ),
    (
        &["config", "scenarios"],
        "a script of Artillery",
        "config.phases are phases (arrivalRate: 5 is rate: 5/s), flow is steps",
    ),
    (
        &["execution"],
        "a configuration of Taurus",
        "concurrency is users, hold-for is for, scenarios' requests are steps",
    ),
    (&["openapi"], "a description of an API (OpenAPI)", "its paths are steps: - get: /path"),
    (&["plan", "base"], "a plan of drill", "base is target, its requests are steps"),
    (&["jobs", "on"], "a workflow of a build server", "an experiment begins with wavetank: 1"),
];

/// Returns an error if the top-level keys show that the file belongs to another tool.
pub(crate) fn detect_in_tree(root: &Node) -> Option<Diagnostic> {
    if root.get("wavetank").is_some() {
        return None;
    }
    if let Some(reported) = detect_format(root, &KEYS, &MapName::ADVICE) {
        return Some(reported);
    }
    let entries = root.entries()?;
    let near = entries.iter().find(|entry| did_you_mean(&entry.key, ["wavetank"]).is_some());
    near.map(|entry| {
        let message = format!("an experiment begins with `wavetank: 1`, not `{}`", entry.key);
        Diagnostic::error(Code::VersionUnknown, entry.place, message, "wavetank: 1")
    })
}
