//! A finished run in every format, read by the tools of those formats, and the errors of archives
//! and files.

use std::path::Path;
use std::time::Duration;

use wavetank_testkit::{Outcome, Program, RunHarness, Script, Target, skip};

/// Path of Debian's libhdrhistogram-java.
const JAVA_LIBRARY: &str = "/usr/share/java/hdrhistogram.jar";

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Makes a run of two seconds at 200/s with some warm-up, and an archive in `runs`.
fn ran(words: &[&str]) -> (RunHarness, Outcome) {
    let (trial, target) = (trial(), Target::start(Script::constant(Duration::from_millis(3))));
    let load = ["-r", "200/s", "-d", "2s", "--warmup", "500ms"];
    let outcome = trial.load(&target.url("/"), load.iter().chain(words)).run();
    // On a busy machine the run may be invalid. The exports do not differ.
    assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
    (trial, outcome)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the sum of the cells in column `name` of the rows with part `measured`.
fn sum(csv: &str, name: &str) -> u64 {
    let mut lines = csv.lines().map(|line| line.trim_end().split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a header");
    let column = |name: &str| head.iter().position(|one| *one == name).expect("the column is there");
    let (part, at) = (column("part"), column(name));
    let measured = lines.filter(|row| row[part] == "measured");
    measured.map(|row| row[at].parse::<u64>().expect("a count")).sum()
}

#[test]
fn every_format_shows_the_same_run() {
    let place = trial();
    let file = |suffix: &str| place.place().file(&format!("out.{suffix}"));
    let suffixes = ["csv", "md", "hgrm", "hlog", "json", "xml", "txt"];
    let files: Vec<_> = suffixes.iter().map(|suffix| file(suffix)).collect();
    let words: Vec<_> = files.iter().flat_map(|file| ["--out", file.as_str()]).collect();
    let (trial, outcome) = ran(&words);
    let (result, csv) = (outcome.json(), read(&files[0]));
    for name in ["offered", "sent", "done", "failed", "late", "dropped"] {
        assert_eq!(Some(sum(&csv, name)), result["requests"][name].as_u64(), "{name}");
    }
    assert_eq!(Some(sum(&csv, "response_count")), result["response_us"]["count"].as_u64());
    assert_eq!(sum(&csv, "planned_sessions"), 400);
    assert!(read(&files[1]).starts_with("## "), "{}", read(&files[1]));
    let count = result["response_us"]["count"].as_u64().expect("a count");
    assert!(read(&files[2]).contains(&format!("Total count    = {count:12}]")), "{}", read(&files[2]));
    // Reports from the archive are identical.
    for (file, format) in files.iter().zip(["csv", "markdown", "hgrm", "hlog", "json", "junit", "text"]) {
        let report = trial.program().args(["report", "latest", "--format", format]).run();
        assert_eq!(report.expect_exit(0).stdout, read(file), "{format}");
    }
    let by_step = trial.program().args(["report", "latest", "--format", "csv", "--by-step"]).run();
    assert_eq!(sum(&by_step.expect_exit(0).stdout, "done"), sum(&csv, "done"));
}

/// `HdrHistogram`'s own processor reads the log and prints the same distribution as ours.
#[test]
fn the_log_and_the_distribution_are_javas() {
    let name = "the_log_and_the_distribution_are_javas";
    let Some(java) = Program::foreign("java") else { return skip(name, "no java") };
    if !Path::new(JAVA_LIBRARY).exists() {
        return skip(name, "no libhdrhistogram-java");
    }
    let (trial, _) = ran(&[]);
    for of in ["response", "lag"] {
        let (log, distribution) = (trial.place().file("a.hlog"), trial.place().file("a.hgrm"));
        let words = ["report", "latest", "--of", of, "--out", &log, "--out", &distribution];
        trial.program().args(words).run().expect_exit(0);
        let java = java.clone().args(["-cp", JAVA_LIBRARY, "org.HdrHistogram.HistogramLogProcessor"]);
        let theirs = trial.place().file("theirs");
        java.args(["-i", &log, "-o", &theirs]).run().expect_exit(0);
        let ours = points(&read(&distribution));
        assert!(ours.len() > 10, "{}", read(&distribution));
        let theirs = points(&read(&format!("{theirs}.hgrm")));
        assert_eq!(theirs.len(), ours.len(), "line by line");
        for (theirs, ours) in theirs.iter().zip(&ours) {
            assert_eq!(theirs[1..], ours[1..], "percentile, count, and 1/(1-p) to the letter");
            // With two significant digits Java prints two decimal places of a millisecond. Wavetank
            // prints three.
            let value = |text: &str| text.parse::<f64>().expect("a number");
            assert!((value(&theirs[0]) - value(&ours[0])).abs() < 0.005_01, "{theirs:?} {ours:?}");
        }
    }
}

/// Returns the lines of numbers, as plotters read them.
fn points(distribution: &str) -> Vec<Vec<String>> {
    let rows =
        distribution.lines().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    rows.filter(|row| row.len() >= 3 && row.iter().all(|word| word.parse::<f64>().is_ok())).collect()
}

#[test]
fn the_log_is_read_in_python() {
    let name = "the_log_is_read_in_python";
    let Some(python) = Program::foreign("python3") else { return skip(name, "no python3") };
    if python.clone().args(["-c", "import hdrh.log"]).run().exit != Some(0) {
        return skip(name, "python3 has no hdrhistogram");
    }
    let folder = trial();
    let log = folder.place().file("a.hlog");
    let (_trial, outcome) = ran(&["--out", &log]);
    let script = "import sys\n\
        from hdrh.log import HistogramLogReader\n\
        from hdrh.histogram import HdrHistogram\n\
        total = HdrHistogram(1, (1 << 42) - 1, 2)\n\
        reader = HistogramLogReader(sys.argv[1], HdrHistogram(1, (1 << 42) - 1, 2))\n\
        while True:\n    one = reader.get_next_interval_histogram()\n    if not one: break\n    total.add(one)\n\
        print(total.total_count, total.get_value_at_percentile(99))";
    let read = python.args(["-c", script, &log]).run();
    let words: Vec<f64> =
        read.expect_exit(0).stdout.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    let response = outcome.json()["response_us"].clone();
    assert_eq!(Some(words[0]), response["count"].as_f64());
    let p99_us = response["p99"].as_f64().expect("a number");
    assert!((words[1] / 1e3 - p99_us).abs() <= p99_us * 0.008 + 0.001, "{words:?} {p99_us}");
}

/// Checks for one `error:` line, a hint, this exit code, and nothing on stdout.
#[track_caller]
fn check_refused(outcome: &Outcome, mentions: &str) {
    outcome.expect_exit(2);
    let lines = |prefix: &str| outcome.stderr.lines().filter(|line| line.starts_with(prefix)).count();
    assert_eq!([lines("error:"), lines("hint:")], [1, 1], "{outcome}");
    assert!(outcome.stderr.contains(mentions), "`{mentions}`: {outcome}");
    assert!(outcome.stdout.is_empty() && !outcome.stderr.contains("panicked"), "{outcome}");
}

#[test]
fn what_is_asked_for_wrongly() {
    let trial = trial();
    for (words, mentions) in [
        ("report latest --format cvs", "csv"),
        ("report latest --out a.pdf", "suffix"),
        ("report latest --of p99 --format hgrm", "--of"),
        ("report latest --of lag", "--of"),
        ("report latest --step a --format csv", "--step"),
        ("report latest --by-step --format hgrm", "--by-step"),
        ("report latest --by-host --format hlog", "--by-host"),
        ("report latest --by-host --by-step --format csv", "--by-host"),
        ("report latest --of lag --step a --format hgrm", "lag"),
        ("run 127.0.0.1:1 --no-archive --out a.csv", "--no-archive"),
        ("run 127.0.0.1:1 --no-archive --format hlog", "--no-archive"),
    ] {
        check_refused(&trial.program().args(words.split(' ')).run(), mentions);
    }
    assert!(trial.place().all_files().is_empty(), "nothing is made");
}

#[test]
fn an_archive_without_samples_has_no_rows_of_hosts() {
    let (trial, _) = ran(&[]);
    let run =
        trial.place().all_files().into_iter().find(|file| file.ends_with("run.json")).expect("it is stored");
    let hosts = run.with_file_name("hosts");
    std::fs::remove_dir_all(&hosts).expect("this host was sampled");
    let outcome = trial.program().args(["report", "latest", "--format", "csv", "--by-host"]).run();
    check_refused(&outcome, "no host was sampled");
    std::fs::create_dir(&hosts).expect("it was removed");
    std::fs::write(hosts.join("local.jsonl"), "{}\n{\n").expect("can be written");
    let outcome = trial.program().args(["report", "latest", "--format", "csv", "--by-host"]).run();
    check_refused(&outcome, "none of the 2 lines");
}

#[test]
fn what_was_there_stays_until_there_is_a_result() {
    let (trial, _) = ran(&[]);
    let kept = trial.place().write("kept.csv", "mine");
    let report = |words: &[&str]| trial.program().args(["report"]).args(words).run();
    check_refused(&report(&["no-such", "--out", &kept]), "no-such");
    check_refused(&report(&["latest", "--format", "hgrm", "--step", "no-such", "--out", &kept]), "no-such");
    check_refused(&report(&["latest", "--out", &kept, "--out", "no/such/folder.csv"]), "folder.csv");
    assert_eq!(read(&kept), "mine");
    let new = trial.place().file("new.csv");
    check_refused(&report(&["latest", "--out", &new, "--out", "no/such/folder.csv"]), "folder.csv");
    assert!(!Path::new(&new).exists(), "a file made for a result is removed without one");
    report(&["latest", "--out", &kept]).expect_exit(0);
    assert!(read(&kept).starts_with("agent,"), "{}", read(&kept));
    let alongside =
        trial.place().all_files().into_iter().filter(|file| file.to_string_lossy().contains(".part"));
    assert_eq!(alongside.count(), 0, "no temporary file is left");
}

/// An output file must not keep the result of an earlier run, whichever argument was wrong.
#[test]
fn files_of_an_older_result_contain_the_error() {
    let trial = trial();
    for (line, code) in [
        ("run 127.0.0.1:1 --baseline nope", "run_unknown"),
        ("run 127.0.0.1:1 -d 30", "unit_missing"),
        ("run 127.0.0.1:1 --once -d 1s", "conflict"),
        ("run 127.0.0.1:1 --out a.nope", "out_suffix"),
        ("lab run no.yaml 127.0.0.1:1 -r 9", "unit_missing"),
        ("search 127.0.0.1:1 --threshold p99<9ms -r 9/s", "conflict"),
        ("compare a b --max-regression 0%", "out_of_range"),
        ("compare a b --metric nope", "metric_unknown"),
        ("compare name:old", "one_side"),
        ("compare a b", "run_unknown"),
        ("report latest --by-host", "conflict"),
        ("report nope", "run_unknown"),
        ("report latest --bogus", "option_unknown"),
    ] {
        let files = ["st.json", "st.txt", "st.xml", "st.md"].map(|name| trial.place().write(name, "old"));
        let outs = files.iter().flat_map(|file| ["--out", file]);
        let reported = trial.program().args(line.split(' ')).args(outs).run();
        reported.expect_exit(2);
        let [json, text, xml, markdown] = files.map(|file| read(&file));
        assert!(json.contains(code) && xml.contains(code), "{line}: {json}{xml}");
        assert!(text.contains("hint: "), "{line}: {text}");
        assert_eq!(markdown, "old", "a sentence in it would be read as data");
    }
}

#[test]
fn archives_that_are_damaged() {
    let damage = |file: &str, how: &dyn Fn(String) -> String, words: &[&str], mentions: &str| {
        let (trial, _) = ran(&[]);
        let path = trial.place().runs("runs")[0].join(file);
        let text = std::fs::read_to_string(&path).expect("it is there");
        std::fs::write(&path, how(text)).expect("it can be written");
        let kept = trial.place().write("kept.hlog", "mine");
        let outcome = trial.program().args(["report", "latest", "--out", &kept]).args(words).run();
        check_refused(&outcome, mentions);
        assert_eq!(read(&kept), "mine");
    };
    let half = |text: String| text[..text.len() / 2].to_owned();
    damage("run.json", &half, &[], "run.json");
    damage("run.json", &|text| text.replace("wavetank.run/1", "wavetank.run/9"), &[], "wavetank.run/9");
    damage("plan.yaml", &half, &[], "plan.yaml");
    damage("plan.yaml", &|_| String::new(), &[], "plan.yaml");
    let trial = trial();
    trial.place().write("no-run.txt", "");
    let folder = trial.place().path().to_string_lossy().into_owned();
    check_refused(&trial.program().args(["report", &folder, "--format", "csv"]).run(), "not an archive");
}

#[test]
fn intervals_that_cannot_be_read() {
    let (trial, original) = ran(&[]);
    let path = trial.place().runs("runs")[0].join("intervals/local.jsonl");
    let text = std::fs::read_to_string(&path).expect("it is there");
    // One line is damaged. The report contains the others and mentions the damaged one.
    let damaged: Vec<_> =
        text.lines().map(|line| if line.contains("\"seq\":3,") { "{" } else { line }).collect();
    std::fs::write(&path, damaged.join("\n") + "\n").expect("it can be written");
    let report = trial.program().args(["report", "latest", "--format", "csv"]).run();
    assert!(report.expect_exit(0).stderr.contains("1 line in"), "{report}");
    assert!(sum(&report.stdout, "done") < original.json()["requests"]["done"].as_u64().expect("a count"));
    // All lines are damaged. An empty report is not a result.
    std::fs::write(&path, "no\nline\n").expect("it can be written");
    let kept = trial.place().write("kept.csv", "mine");
    let report = trial.program().args(["report", "latest", "--out", &kept]).run();
    report.expect_exit(2);
    assert!(report.stderr.contains("no interval"), "{report}");
    assert_eq!(read(&kept), "mine");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let name = "a_reader_that_goes_away_is_no_failure";
    let Some(shell) = Program::foreign("bash") else { return skip(name, "no bash") };
    let (trial, _) = ran(&[]);
    let program = trial.program().arguments()[0].clone();
    for format in ["csv", "hlog", "markdown"] {
        let line = format!("\"$0\" report latest --format {format} | true; exit ${{PIPESTATUS[0]}}");
        let place = trial.place().path().to_owned();
        let outcome = shell.clone().args(["-c", &line, &program]).in_folder(place).run();
        assert_eq!(outcome.expect_exit(0).stderr, "", "{format}: {outcome}");
    }
}
