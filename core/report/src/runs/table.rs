//! [`runs_text`]: what `wavetank runs` prints.

use wavetank_record::{ForeignEntryKind, RunLine, RunsDoc};
use wavetank_units::quantity::{format_grouped, show_rate, show_size};
use wavetank_units::{sanitize, shell_quoted};

use super::{outcome, started_text};
use crate::format::time;
use crate::text_layout::{TextLayout, cut, pad, pad_left, width};

/// Columns of a name at most.
const NAME_COLUMNS_MAX: usize = 28;
/// Columns of an id at most.
const ID_COLUMNS_MAX: usize = 12;
/// Columns that the last column has at least.
const LAST_COLUMNS_MIN: usize = 20;
/// Most names shown of entries that are not runs.
const FOREIGN_SHOWN_MAX: usize = 4;

/// Default directory of runs.
const RUNS_DIR: &str = "runs";

/// Lists the runs of `doc`, one a line of at most `columns`, and the entries that are not runs.
pub fn runs_text(doc: &RunsDoc, columns: usize) -> String {
    let mut page = TextLayout::with_width(columns);
    let place = sanitize(&doc.runs_dir);
    if doc.total == 0 {
        page.line(&format!("no runs in `{place}`"));
    } else if doc.runs.is_empty() {
        page.line(&format!("no matching run among the {} in `{place}`", counted(doc.total, "run")));
    } else {
        for line in run_lines(&doc.runs, columns) {
            page.line(&line);
        }
        let bytes: u64 = doc.runs.iter().map(|run| run.bytes).sum();
        let (shown, total) = (doc.runs.len() as u64, doc.total);
        let of = if shown == total { String::new() } else { format!(" of {}", format_grouped(total)) };
        page.line("");
        let runs = if total == 1 { "run" } else { "runs" };
        page.line(&format!("{}{of} {runs} in `{place}` · {}", format_grouped(shown), show_size(bytes)));
    }
    for (kind, one, several) in [
        (ForeignEntryKind::Search, "search", "searches"),
        (ForeignEntryKind::Net, "network measurement", "network measurements"),
        (ForeignEntryKind::Pack, "packed run", "packed runs"),
        (ForeignEntryKind::Removed, "partly removed run", "partly removed runs"),
        (ForeignEntryKind::Other, "other entry", "other entries"),
    ] {
        let names: Vec<_> = doc.foreign.iter().filter(|one| one.kind == kind).map(|one| &one.name).collect();
        if !names.is_empty() {
            let word = if names.len() == 1 { one } else { several };
            let reported: Vec<_> = names
                .iter()
                .take(FOREIGN_SHOWN_MAX)
                .map(|name| cut(&sanitize(name), NAME_COLUMNS_MAX))
                .collect();
            let more = if names.len() > reported.len() { ", …" } else { "" };
            page.line(&format!(
                "also in this folder: {} {word} ({}{more})",
                names.len(),
                reported.join(", ")
            ));
        }
    }
    if let Some(last) = doc.runs.last() {
        // Copies of a run have the same id.
        let alone = doc.runs.iter().filter(|run| run.id == last.id).count() == 1;
        let word = if alone && !last.id.is_empty() { &last.id } else { &last.folder };
        let place = if doc.runs_dir == RUNS_DIR {
            String::new()
        } else {
            format!(" --runs-dir {}", shell_quoted(&sanitize(&doc.runs_dir)))
        };
        let word = shell_quoted(&sanitize(word));
        page.line(&format!("next: wavetank report {word}{place} · wavetank runs show {word}{place}"));
    } else if doc.total == 0 {
        page.line("next: wavetank run URL, or name the directory of the runs: --runs-dir DIR");
    }
    page.into_text()
}

/// A table of `runs` in lines of at most `columns`, its head first.
pub fn run_lines(runs: &[RunLine], columns: usize) -> Vec<String> {
    let head = ["id", "started (UTC)", "name", "outcome", "done", "p99", "size", "load"].map(str::to_owned);
    let rows: Vec<[String; 8]> = std::iter::once(head).chain(runs.iter().map(cells)).collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or_default();
    let widths: [usize; 8] = std::array::from_fn(widest);
    let taken: usize = widths[..7].iter().map(|columns| columns + 2).sum();
    let room = columns.saturating_sub(taken).max(LAST_COLUMNS_MIN);
    rows.iter()
        .map(|row| {
            let cell = |column: usize| match column {
                4..=6 => pad_left(&row[column], widths[column]),
                _ => pad(&row[column], widths[column]),
            };
            let cells: Vec<_> = (0..7).map(cell).collect();
            format!("{}  {}", cells.join("  "), cut(&row[7], room)).trim_end().to_owned()
        })
        .collect()
}

fn cells(run: &RunLine) -> [String; 8] {
    let reported = run.problem.as_ref().unwrap_or(&run.load);
    [
        cut(&or_dash(&run.id), ID_COLUMNS_MAX),
        or_dash(&started_text(&run.started_at)),
        cut(&or_dash(&run.name), NAME_COLUMNS_MAX),
        outcome(run).to_owned(),
        run.done_per_s.map_or_else(dash, |rate| show_rate(rate.0)),
        run.p99_us.map_or_else(dash, time),
        show_size(run.bytes),
        sanitize(reported).into_owned(),
    ]
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { dash() } else { sanitize(text).into_owned() }
}

fn dash() -> String {
    "–".to_owned()
}

fn counted(count: u64, word: &str) -> String {
    format!("{} {word}{}", format_grouped(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_next(runs_dir: &str, runs: &[(&str, &str)], next: &str) {
        let run = |(id, folder): &(&str, &str)| RunLine {
            id: (*id).to_owned(),
            folder: (*folder).to_owned(),
            ..RunLine::default()
        };
        let doc = RunsDoc {
            runs_dir: runs_dir.to_owned(),
            total: runs.len() as u64,
            runs: runs.iter().map(run).collect(),
            ..RunsDoc::default()
        };
        assert_eq!(runs_text(&doc, 100).lines().last(), Some(next));
    }

    #[test]
    fn what_is_next_is_a_command_that_finds_the_run() {
        check_next("runs", &[("aa11", "x-aa11")], "next: wavetank report aa11 · wavetank runs show aa11");
        let there = "next: wavetank report aa11 --runs-dir '/my runs' · wavetank runs show aa11 --runs-dir '/my runs'";
        check_next("/my runs", &[("aa11", "x-aa11")], there);
        let copy = "next: wavetank report x-aa11.bak · wavetank runs show x-aa11.bak";
        check_next("runs", &[("aa11", "x-aa11"), ("aa11", "x-aa11.bak")], copy);
        check_next(
            "runs",
            &[("", "the good")],
            "next: wavetank report 'the good' · wavetank runs show 'the good'",
        );
    }

    #[test]
    fn columns_stand_below_each_other_whatever_the_letters() {
        let names = ["shop", "网上商店的结算页面压力测试第一轮", "cafe\u{301} de\u{301}ja\u{300} vu"];
        let run =
            |name: &&str| RunLine { name: (*name).to_owned(), load: "load".to_owned(), ..RunLine::default() };
        let lines = run_lines(&names.iter().map(run).collect::<Vec<_>>(), 120);
        let at = |line: &String| width(line.split_once("load").expect("the last column").0);
        let places: Vec<_> = lines.iter().map(at).collect();
        assert!(places.iter().all(|place| *place == places[0]), "{places:?}\n{}", lines.join("\n"));
        assert!(lines[2].contains("网上商店的结算页面压力测试…"), "{}", lines[2]);
    }
}
