//! Files that are long, deep or repetitive. Each is handled with little work.

use crate::support;

use std::fmt::Write as _;

use support::reading;
use wavetank_grammar::render;

const HEAD: &str = "wavetank: 1\ntarget: http://127.0.0.1:8080\n";
const TAIL: &str = "steps: [{get: /}]\nphases: [{rate: 1/s, for: 1s}]\n";

/// The file is refused with `code` among the first remarks.
fn check(what: &str, bytes: &[u8], code: &str) {
    let reading = reading("hostile.yaml", bytes, &[]);
    assert!(reading.experiment.is_none(), "{what}");
    let codes: Vec<&str> =
        reading.diagnostics.sorted().iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert!(codes.contains(&code), "{what}: {codes:?}");
    let shown = render(&reading.diagnostics, "hostile.yaml", &reading.text);
    assert!(shown.len() < 200_000, "{what}: {} bytes of advice", shown.len());
}

/// `count` lines made by `line`.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn long_ones() {
    check("100 MB", &vec![b'#'; 100_000_000], "file_too_long");
    check("many values", format!("{HEAD}about: [{}]\n", "a,".repeat(600_000)).as_bytes(), "file_too_large");
    check(
        "one long line",
        format!("{HEAD}abuot: {}\n{TAIL}", "a".repeat(4_000_000)).as_bytes(),
        "key_unknown",
    );
    check(
        "unknown keys",
        format!("{HEAD}{}", lines(100_000, |at| format!("k{at}: 1\n"))).as_bytes(),
        "key_unknown",
    );
    let steps = lines(50_000, |at| format!("  - gett: /{at}\n"));
    check("wrong steps", format!("{HEAD}steps:\n{steps}").as_bytes(), "verb_missing");
    let uses = lines(100_000, |at| format!("  - get: \"/${{v{at}}}\"\n"));
    check(
        "unknown variables",
        format!("{HEAD}steps:\n{uses}phases: [{{rate: 1/s, for: 1s}}]\n").as_bytes(),
        "variable_unknown",
    );
}

#[test]
fn many_of_a_kind() {
    let scenarios = lines(2_000, |at| format!("  s{at}: {{weight: 1, steps: [{{get: /}}]}}\n"));
    check(
        "scenarios",
        format!("{HEAD}scenarios:\n{scenarios}phases: [{{rate: 1/s, for: 1s}}]\n").as_bytes(),
        "too_many",
    );
    let phases = lines(20_000, |at| format!("  - {{name: p{at}, rate: 1/s, for: 1s}}\n"));
    check("phases", format!("{HEAD}steps: [{{get: /}}]\nphases:\n{phases}").as_bytes(), "too_many");
    let vars = lines(20_000, |at| format!("  v{at}: 1\n"));
    check("variables", format!("{HEAD}vars:\n{vars}{TAIL}").as_bytes(), "too_many");
    let conditions = lines(20_000, |_| "  - failed < 1%\n".to_owned());
    check("conditions", format!("{HEAD}{TAIL}thresholds:\n{conditions}").as_bytes(), "too_many");
    let columns = lines(20_000, |at| format!("c{at}, "));
    let data = format!("{HEAD}data: {{a: {{columns: [{columns}], rows: [[1]]}}}}\n{TAIL}");
    check("columns", data.as_bytes(), "too_many");
}

#[test]
fn deep_ones() {
    for open in ["[", "{a: ", "- ", "? "] {
        check(open, format!("{HEAD}about:\n  {}", open.repeat(100_000)).as_bytes(), "too_deep");
    }
    let nested = lines(60, |at| {
        format!("{}- group: g{at}\n{}steps:\n", "  ".repeat(2 * at + 1), "  ".repeat(2 * at + 2))
    });
    check("groups", format!("{HEAD}steps:\n{nested}").as_bytes(), "too_deep");
}

/// Ten of ten of ten: small files that expand to more than any memory holds.
#[test]
fn bombs() {
    let mut aliases = "wavetank: 1\na0: &a0 [x]\n".to_owned();
    let mut texts = format!("{HEAD}vars:\n  v0: {}\n", "x".repeat(64));
    let mut lists = format!("{HEAD}vars:\n  v0: [x]\n");
    for at in 1..40 {
        let before = at - 1;
        writeln!(aliases, "a{at}: &a{at} [{}*a{before}]", format!("*a{before}, ").repeat(9)).unwrap();
        writeln!(texts, "  v{at}: \"{}\"", format!("${{v{before}}}").repeat(10)).unwrap();
        writeln!(lists, "  v{at}: [{}]", format!("\"${{v{before}}}\", ").repeat(10)).unwrap();
    }
    check("aliases", aliases.as_bytes(), "file_too_large");
    check("texts in texts", format!("{texts}{TAIL}").as_bytes(), "file_too_large");
    check("lists in lists", format!("{lists}{TAIL}").as_bytes(), "file_too_large");
    let long = format!(
        "{HEAD}about: &a {}\ntags: {{{}}}\n{TAIL}",
        "x".repeat(1_000_000),
        lines(50_000, |at| format!("t{at}: *a, "))
    );
    check("one long text again and again", long.as_bytes(), "file_too_large");
    let uses = lines(50_000, |at| format!("  t{at}: \"${{v}}\"\n"));
    let long = format!("{HEAD}vars: {{v: {}}}\ntags:\n{uses}{TAIL}", "x".repeat(100_000));
    check("one long variable again and again", long.as_bytes(), "file_too_large");
}

/// Blocks that use blocks ten times are counted, not written out.
#[test]
fn blocks_of_blocks() {
    let mut file = format!("{HEAD}blocks:\n  b0: [{{get: /}}]\n");
    for at in 1..100 {
        writeln!(file, "  b{at}: [{}]", format!("{{use: b{}}}, ", at - 1).repeat(10)).unwrap();
    }
    file.push_str("steps: [{use: b99}]\nphases: [{rate: 1/s, for: 10s}]\nthresholds: [p99 < 1s]\n");
    let read = reading("blocks.yaml", file.as_bytes(), &[]);
    assert!(read.experiment.is_some(), "{}", render(&read.diagnostics, "blocks.yaml", &read.text));
    let circle = file.replace("b0: [{get: /}]", "b0: [{use: b99}]");
    check("a circle of blocks", circle.as_bytes(), "block_loop");
}
