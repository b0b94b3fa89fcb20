//! A run that ended early says so, and why, in every format.

use std::time::Duration;

use wavetank_testkit::{RunHarness, Script, Target};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Runs `words` against `url`, and returns the text, Markdown, `JUnit` and HTML of the run.
fn views(trial: &RunHarness, url: &str, words: &str, exit: i32) -> [String; 4] {
    let files = ["a.txt", "a.md", "a.xml", "a.html"].map(|name| trial.place().file(name));
    let out = files.iter().flat_map(|file| ["--out", file]);
    let outcome = trial.load(url, words.split_whitespace().chain(out)).run();
    outcome.expect_exit(exit);
    files.map(|file| std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}")))
}

fn case<'x>(xml: &'x str, name: &str) -> &'x str {
    let case = xml.split("<testcase ").find(|case| case.starts_with(&format!("name=\"{name}")));
    case.unwrap_or_else(|| panic!("{name} is no case of {xml}"))
}

#[test]
fn a_stop_condition_is_named_with_both_lengths() {
    let (trial, target) = (trial(), Target::start(Script::constant(Duration::ZERO)));
    let words = "-r 20/s -d 40s --no-probe --threshold p95<10s --stop done>=10";
    let [text, markdown, xml, html] = views(&trial, &target.url("/"), words, 1);
    let ended = |view: &str| view.contains("of 40 s: ") && view.contains("stopped after");
    assert!(ended(&text) && ended(&markdown) && ended(case(&xml, "run")), "{text}\n{markdown}\n{xml}");
    let why = "passed so far in a run that was cut short";
    assert!(case(&xml, "p95&lt;10s").contains("<skipped") && xml.contains(why), "{xml}");
    assert!(markdown.contains("| skipped |") && markdown.contains(why), "{markdown}");
    let [text, html] = [text, html].map(|view| view.split_whitespace().collect::<Vec<_>>().join(" "));
    assert!(text.contains("skipped p95<10s") && text.contains(why), "{text}");
    assert!(html.contains("skipped: passed so far") && html.contains("of 40 s"), "{html}");
}

#[test]
fn a_failed_probe_has_its_error_in_junit() {
    let address = Target::start(Script::constant(Duration::ZERO)).address();
    let trial = trial();
    let [_, _, xml, _] = views(&trial, &format!("http://{address}/"), "-r 20/s -d 2s", 1);
    let run = case(&xml, "run");
    assert!(run.contains("<failure message=\"no answer to the probe: Connection refused"), "{xml}");
    assert!(run.contains("; hint: nothing listens there"), "{xml}");
    assert!(case(&xml, "done &gt; 0").contains("<skipped message=\"nothing was sent\""), "{xml}");
}
