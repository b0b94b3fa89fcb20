//! The files and commands in README and the guide: the program accepts all of them.

use wavetank_testkit::{Outcome, Program, Serve, TestDir};

/// Pages with files and command lines for users, below the repository's root.
const PAGES: [&str; 4] = ["README.md", "docs/experiments.md", "docs/million.md", "docs/experiment.md"];
/// Pages with command lines.
const TYPED: [&str; 10] = [
    "README.md",
    "docs/experiments.md",
    "docs/million.md",
    "docs/size.md",
    "docs/serve.md",
    "docs/calibrate.md",
    "docs/report.md",
    "docs/metrics.md",
    "docs/lab.md",
    "docs/codes.md",
];
/// The start of a file, prepended to fragments that leave out target and steps.
const HEAD: &str = "wavetank: 1\ntarget: http://127.0.0.1:8080\nsteps: [{get: /}]\n";

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn page(name: &str) -> String {
    let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the page is in the repository")
}

/// Returns the complete fenced blocks of this kind.
fn blocks(page: &str, kind: &str) -> Vec<String> {
    let open = format!("```{kind}\n");
    let after = page.split(&open).skip(1);
    after.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// Returns the arguments of each console line that calls wavetank, after the program's name, split
/// as a shell does.
fn calls(page: &str) -> Vec<Vec<String>> {
    let lines = blocks(page, "console").join("");
    let called = lines.lines().filter_map(|line| line.strip_prefix("wavetank "));
    called.map(|line| words(line.split(" #").next().unwrap_or_default())).collect()
}

/// Splits at spaces. Text in single quotes is one argument.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().filter(|word| *word != "&").map(str::to_owned));
        }
    }
    words
}

#[test]
fn every_file_on_a_page_passes_check() {
    for name in PAGES {
        let found = blocks(&page(name), "yaml");
        assert!(!found.is_empty(), "{name} shows no file");
        for block in found {
            let place = TestDir::new();
            let text = if block.starts_with("wavetank:") { block } else { format!("{HEAD}{block}") };
            let file = place.write("x.yaml", &text);
            let reported = program().args(["check", &file]).run();
            assert!(reported.exit == Some(0), "{name}:\n{text}\n{reported}");
        }
    }
}

#[test]
fn every_command_line_on_a_page_is_one() {
    for name in TYPED {
        let calls = calls(&page(name));
        assert!(calls.len() > 1, "{name}: {calls:?}");
        for words in calls {
            // Options and their values are parsed before the help is printed. Another program's
            // command follows `--`.
            let own = words.split(|word| word == "--").next().unwrap_or_default();
            let reported = program().args(own).args(["--help"]).run();
            assert!(reported.exit == Some(0), "{name}: {words:?}: {reported}");
        }
    }
    let wrong = program().args(["run", "localhost:8080/", "--bogus", "--help"]).run();
    assert_eq!(wrong.exit, Some(2), "help does not hide an error: {wrong}");
}

#[test]
fn readme_describes_each_command_as_help_does() {
    let (readme, help) = (page("README.md"), program().args(["--help"]).run());
    let commands =
        help.stdout.lines().skip_while(|line| *line != "Load").take_while(|line| *line != "Options");
    let commands: Vec<_> = commands.filter_map(|line| line.strip_prefix("  ")?.split_once("  ")).collect();
    assert!(commands.len() > 8, "{help}");
    for (name, about) in commands {
        let row = format!("| `wavetank {name}` | {} |", about.trim().replace('|', "\\|"));
        assert!(readme.lines().any(|line| line == row), "README lacks: {row}");
    }
}

/// The three-minute tour of README, line by line, with another port of the target.
#[test]
fn three_minutes_go_as_readme_says() {
    let readme = page("README.md");
    let section = readme.split("\n## ").find(|section| section.starts_with("Three minutes"));
    let calls = calls(section.expect("README has its three minutes"));
    let verbs: Vec<&str> = calls.iter().map(|words| words[0].as_str()).collect();
    assert_eq!(verbs, ["new", "check", "plan", "try", "run", "report"]);
    let (place, serve) = (TestDir::new(), Serve::start(&program(), &["--any"]));
    let call = |words: &[String]| -> Outcome {
        let target = ["--target".to_owned(), serve.url("")];
        let sends = ["try", "run"].contains(&words[0].as_str());
        let target = if sends { &target[..] } else { &[] };
        let reported = program().args(words).args(target).in_folder(place.path()).run();
        // On a busy machine the generator may rightly call its run invalid.
        let doubted = words[0] == "run" && reported.exit == Some(3);
        assert!(reported.exit == Some(0) || doubted, "{reported}");
        assert!(!reported.stdout.is_empty(), "{reported}");
        reported
    };
    let reported: Vec<Outcome> = calls.iter().map(|words| call(words)).collect();
    let result = reported[5].result();
    result.conserved();
    assert!(result.count("requests.done") >= 50, "each of 50 users has come: {result}");
    // The target of the README's file responds as that file expects.
    let shown = place.write("shown.yaml", &blocks(&readme, "yaml")[0]);
    call(&["try".to_owned(), shown]);
}
