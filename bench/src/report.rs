//! `bench report`: the size of archives of long runs, and the time of reports of them.
//!
//! The archives come from the regular archive writer with synthetic data
//! (`io/store/examples/long_archive.rs`), since an hour of load would take an hour.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::first_chart::painted;
use crate::session::Session;
use crate::stats::median;
use crate::stopwatch::Stopwatch;

/// Most bytes of an archive of an hour.
const HOUR_BYTES_MAX: f64 = 100e6;
/// Most seconds to write the HTML report of the hour.
const HTML_SECONDS_MAX: f64 = 1.0;
/// Most bytes of that HTML report.
const HTML_BYTES_MAX: f64 = 3e6;
/// Most seconds until a browser has painted its first chart.
const FIRST_CHART_SECONDS_MAX: f64 = 1.5;
/// Most seconds to print the summary of a day.
const DAY_SECONDS_MAX: f64 = 2.0;

/// `cargo xtask bench report`.
#[derive(Args)]
pub(crate) struct ReportArguments {
    /// Steps in each second.
    #[arg(long, default_value_t = 20)]
    steps: u32,
    /// Requests per second of each step.
    #[arg(long, default_value_t = 1_000)]
    rate: u32,
}

impl ReportArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) const fn for_target() -> Self {
        Self { steps: 20, rate: 1_000 }
    }
}

/// Measures an hour as HTML, then a killed and a finished day as text.
pub(crate) fn run(session: &mut Session, arguments: &ReportArguments) -> Result<()> {
    let Some(writer) = writer(session) else { return Ok(()) };
    let of = format!("{} steps × {}/s", arguments.steps, arguments.rate);
    let hour = archive(session, &writer, arguments, session.size.choose(3_600, 60))?;
    let bytes = fs::metadata(hour.join("intervals/local.jsonl"))?.len() as f64;
    session.score(
        format!("archive of an hour, {of}"),
        format!("≤ {:.0} MB", HOUR_BYTES_MAX / 1e6),
        format!("{:.1} MB", bytes / 1e6),
        Some(bytes <= HOUR_BYTES_MAX),
    );
    finish(session, &hour)?;
    let page = session.folder.path().join("report.html");
    let seconds = report(session, &hour, &["--out", &page.to_string_lossy()])?;
    session.score(
        format!("HTML of an hour, {of}"),
        format!("written in ≤ {HTML_SECONDS_MAX:.0} s"),
        format!("{seconds:.2} s"),
        Some(seconds <= HTML_SECONDS_MAX),
    );
    let bytes = fs::metadata(&page)?.len() as f64;
    session.score(
        format!("HTML of an hour, {of}"),
        format!("≤ {:.0} MB", HTML_BYTES_MAX / 1e6),
        format!("{:.2} MB", bytes / 1e6),
        Some(bytes <= HTML_BYTES_MAX),
    );
    first_chart(session, &page, &of)?;
    fs::remove_dir_all(&hour)?;
    day(session, &writer, arguments, &of)
}

/// Measures the first chart, each time in a freshly started browser.
fn first_chart(session: &mut Session, page: &Path, of: &str) -> Result<()> {
    let (mut text, mut chart) = (Vec::new(), Vec::new());
    for _ in 0..session.size.rounds() {
        let Some(painted) = painted(session, page)? else { return Ok(()) };
        text.push(painted.text);
        chart.push(painted.chart);
    }
    let (text, chart) = (median(text).context("no round")?, median(chart).context("no round")?);
    session.score(
        format!("HTML of an hour in Chromium, {of}"),
        format!("first chart in ≤ {FIRST_CHART_SECONDS_MAX:.1} s"),
        format!("{chart:.2} s (first text {text:.2} s)"),
        Some(chart <= FIRST_CHART_SECONDS_MAX),
    );
    Ok(())
}

fn day(session: &mut Session, writer: &Path, arguments: &ReportArguments, of: &str) -> Result<()> {
    let day = archive(session, writer, arguments, session.size.choose(86_400, 120))?;
    let killed = report(session, &day, &[])?;
    session.score(
        format!("summary of a killed day, {of}"),
        "none: all of its intervals are judged again".to_owned(),
        format!("{killed:.2} s"),
        None,
    );
    finish(session, &day)?;
    let finished = report(session, &day, &[])?;
    session.score(
        format!("summary of a day, {of}"),
        format!("≤ {DAY_SECONDS_MAX:.0} s"),
        format!("{finished:.2} s"),
        Some(finished <= DAY_SECONDS_MAX),
    );
    fs::remove_dir_all(&day).context("the day's archive")
}

/// Returns the program that writes archives, if it is built.
fn writer(session: &mut Session) -> Option<PathBuf> {
    let writer = session.wavetank.with_file_name("examples").join("long_archive");
    if writer.is_file() {
        return Some(writer);
    }
    let build = "cargo build --release --package wavetank-store --example long_archive";
    session.skip(format!("bench report: long_archive is not built: {build}"));
    None
}

/// Writes the archive of a run that was killed after `seconds`.
fn archive(session: &Session, writer: &Path, arguments: &ReportArguments, seconds: u32) -> Result<PathBuf> {
    let numbers = [seconds, arguments.steps, arguments.rate].map(|number| number.to_string());
    let written = Command::new(writer).arg(session.folder.path()).args(numbers).output()?;
    ensure!(written.status.success(), "long_archive: {}", String::from_utf8_lossy(&written.stderr));
    Ok(PathBuf::from(String::from_utf8(written.stdout)?.trim()))
}

/// Adds `run.json`, as the end of the run would have done.
fn finish(session: &Session, archive: &Path) -> Result<()> {
    let reported =
        Command::new(&session.wavetank).arg("report").arg(archive).args(["--format", "json"]).output()?;
    ensure!(reported.status.success(), "report: {}", String::from_utf8_lossy(&reported.stderr));
    fs::write(archive.join("run.json"), reported.stdout).context("run.json")
}

/// Returns the median seconds of a report, from the start of the process to its end.
fn report(session: &Session, archive: &Path, words: &[&str]) -> Result<f64> {
    let mut seconds = Vec::new();
    for _ in 0..session.size.rounds() {
        let clock = Stopwatch::start();
        let reported = Command::new(&session.wavetank).arg("report").arg(archive).args(words).output()?;
        seconds.push(clock.elapsed().as_secs_f64());
        ensure!(reported.status.success(), "report: {}", String::from_utf8_lossy(&reported.stderr));
    }
    median(seconds).context("no round")
}
