//! The page of a real run: identical from the run itself and from its archive, in both languages,
//! without an archive, and for a killed run.

use std::time::Duration;

use wavetank_testkit::{RunHarness, Script, Target};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_run_and_its_archive_make_one_page() {
    let (trial, target) = (trial(), Target::start(Script::constant(Duration::from_millis(2))));
    let page = trial.place().file("page.html");
    let load = ["-r", "200/s", "-d", "2s", "--warmup", "500ms", "--threshold", "p50 < 10s", "--out", &page];
    let outcome = trial.load(&target.url("/"), load).run();
    assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
    let page = read(&page);
    for id in
        ["summary", "requests", "conditions", "course", "times", "connections", "generator", "environment"]
    {
        assert!(page.contains(&format!("<section id=\"{id}\"")), "no section {id}");
    }
    for chart in ["summary-rate", "rate", "heat", "statuses", "spectrum", "busy", "lag"] {
        assert!(page.contains(&format!("id=\"{chart}\"")), "no chart {chart}");
    }
    let again = trial.program().args(["report", "latest", "--format", "html"]).run();
    assert_eq!(again.expect_exit(0).stdout, page, "the archive gives the same");
    let chinese = trial.program().args(["report", "latest", "--format", "html", "--lang", "zh"]).run();
    assert!(chinese.expect_exit(0).stdout.contains("<html lang=\"zh-CN\">"), "{chinese}");
    let at_once = trial.place().file("zh.html");
    let words = ["-r", "50/s", "-d", "200ms", "--no-archive", "--out", &at_once, "--lang", "zh"];
    let outcome = trial.load(&target.url("/"), words).run();
    assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
    assert!(read(&at_once).contains("<html lang=\"zh-CN\">"), "the run's own page");
    let misplaced = trial.program().args(["report", "latest", "--lang", "zh"]).run();
    assert!(misplaced.expect_exit(2).stderr.contains("--lang applies only to html"), "{misplaced}");
    // The counts over time have no meaning without the plan.
    let folder = trial.place().runs("runs").remove(0);
    let (plan, aside) = (folder.join("plan.yaml"), folder.join("aside"));
    std::fs::rename(&plan, &aside).expect("it was there");
    let bare = trial.program().args(["report", "latest", "--format", "html"]).run();
    let warnings: Vec<_> = bare.expect_exit(0).stderr.lines().collect();
    assert!(bare.stdout.contains("<section id=\"times\"") && !bare.stdout.contains("id=\"heat\""), "{bare}");
    assert!(
        warnings.len() == 1
            && warnings[0].starts_with("warning: cannot read `plan.yaml` of ")
            && warnings[0].ends_with("the page has no charts over time"),
        "{bare}"
    );
    std::fs::rename(&aside, &plan).expect("it was there");
    // A killed run leaves no run.json.
    std::fs::remove_file(folder.join("run.json")).expect("it was there");
    let killed = trial.program().args(["report", "latest", "--format", "html"]).run();
    let killed = &killed.expect_exit(0).stdout;
    assert!(killed.contains("INCOMPLETE</h2>") && killed.contains("id=\"heat\""), "{killed}");
}

#[test]
fn a_run_without_an_archive_has_a_page() {
    let (trial, target) = (trial(), Target::start(Script::constant(Duration::from_millis(2))));
    let page = trial.place().file("page.html");
    trial
        .load(&target.url("/"), ["-c", "2", "-n", "50", "--no-archive", "--out", &page])
        .run()
        .expect_exit(0);
    let page = read(&page);
    assert!(page.contains("<section id=\"times\"") && !page.contains("<section id=\"course\""), "{page}");
}
