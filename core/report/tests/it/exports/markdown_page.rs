//! The Markdown export, read by a parser of GitHub's flavour.

use markdown::mdast::Node;
use markdown::{ParseOptions, to_mdast};
use wavetank_record::{
    Blame, CheckDoc, Finding, GroupDoc, HoldDoc, HookCheckDoc, HookDoc, HostUseDoc, PhaseDoc, RUN_SCHEMA,
    RendezvousDoc, RunRecord, ServerCountDoc, StepDoc, TargetDoc, Threshold,
};
use wavetank_report::markdown;
use wavetank_units::Sentence;

use crate::support::{closed, failed, golden, hopeless, interrupted, invalid, open, times};

/// Parses the text as GitHub's flavour.
fn parsed(text: &str) -> Node {
    to_mdast(text, &ParseOptions::gfm()).expect("all text is Markdown")
}

fn walk<'n>(node: &'n Node, visit: &mut dyn FnMut(&'n Node)) {
    visit(node);
    node.children().into_iter().flatten().for_each(|child| walk(child, visit));
}

/// There is no markup but ours: headings, tables, lists, bold, code, text.
#[track_caller]
fn check_harmless(text: &str) {
    walk(&parsed(text), &mut |node| {
        let foreign = matches!(
            node,
            Node::Link(_)
                | Node::Image(_)
                | Node::Html(_)
                | Node::LinkReference(_)
                | Node::ImageReference(_)
                | Node::Definition(_)
                | Node::FootnoteDefinition(_)
                | Node::FootnoteReference(_)
                | Node::Emphasis(_)
                | Node::Delete(_)
                | Node::Blockquote(_)
                | Node::ThematicBreak(_)
        );
        assert!(!foreign, "{node:?}\nin\n{text}");
        if let Node::Text(plain) = node {
            assert!(
                !plain.value.contains(['@', '#', '$']),
                "mentions and formulas are made of {:?}",
                plain.value
            );
        }
        if let Node::Table(table) = node {
            for row in &table.children {
                let cells = row.children().map_or(0, Vec::len);
                assert_eq!(cells, table.align.len(), "a row is broken:\n{text}");
            }
        }
    });
}

fn check(name: &str, record: &RunRecord) {
    let text = markdown(record);
    golden(&format!("{name}.md"), &text);
    check_harmless(&text);
    let stored = RunRecord::from_json(&record.to_json()).expect("it was written by us");
    assert_eq!(markdown(&stored), text, "the archive says something else");
}

#[test]
fn each_outcome_has_its_page() {
    check("closed", &closed());
    check("open", &open());
    check("failed", &failed());
    check("invalid", &invalid());
    check("interrupted", &interrupted());
    check("hopeless", &hopeless());
    check("empty", &RunRecord { schema: RUN_SCHEMA.to_owned(), ..RunRecord::default() });
}

/// Text that people and servers may put into names and messages.
const HOSTILE: [&str; 18] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](http://evil.example/x.png)",
    "[click](javascript:alert(1)) [a]: http://evil.example",
    "a | b || c \\| d",
    "`code` ``more`` ``` fence",
    "```\n\n# heading\n\n- [ ] list\n\n> quote",
    "**bold** _under_ ~~gone~~ ***",
    "https://evil.example www.evil.example someone@evil.example",
    "@everyone #1 GH-1 $x$ $$y$$ &lt;b&gt; &#124;",
    "1. one\n2) two\n+ three\n===\n---\n***",
    "line one\r\nline two\u{2028}three\u{0}\u{1b}[31m",
    "\u{202e}txet desrever\u{202c}",
    "[^1]: foot [^1] <!-- gone --> <?php ?> \\",
    "`a``b`[c](http://evil.example)`d`",
    "`|`@x`` `<b>`\\`",
    "\\`<img src=x>\\`",
    "www`.`evil.example `",
];

#[test]
fn nothing_from_outside_becomes_markup() {
    for hostile in HOSTILE {
        let (word, said) = (|| hostile.to_owned(), || Sentence::quoted(hostile));
        let mut record = open();
        record.rehearsal = Some(said());
        (record.name, record.target, record.command) = (word(), word(), word());
        (record.verdict.headline, record.verdict.reasons) = (said(), vec![word(), word()]);
        (record.load.text, record.id, record.version, record.plan_hash) = (said(), word(), word(), word());
        record.notes = vec![said(), said()];
        record.findings = vec![Finding {
            code: word(),
            blame: Blame::Target,
            message: said(),
            evidence: said(),
            hint: said(),
            ..Finding::default()
        }];
        record.thresholds = vec![Threshold { expr: word(), why: said(), ..Threshold::default() }];
        record.checks = vec![CheckDoc { name: word(), step: word(), failed: 1, ..CheckDoc::default() }];
        let check = HookCheckDoc { step: word(), name: word(), found: said(), ok: false };
        record.after = Some(HookDoc { checks: vec![check], faults: Vec::new() });
        record.errors = [(word(), 1)].into();
        record.held = vec![HoldDoc { phase: word(), ..HoldDoc::default() }];
        record.phases = vec![PhaseDoc { name: word(), ..PhaseDoc::default() }; 2];
        record.steps = vec![StepDoc { name: word(), scenario: word(), ..StepDoc::default() }; 2];
        record.hosts = vec![HostUseDoc { name: word(), role: word(), ..HostUseDoc::default() }; 2];
        record.servers = vec![ServerCountDoc { server: word(), ..ServerCountDoc::default() }];
        check_harmless(&markdown(&record));
    }
}

/// Figures that a terminal or a page has are in Markdown, too.
#[test]
fn no_figure_is_in_other_formats_only() {
    let mut record = open();
    record.hello_us = times(10, [1e3; 5]);
    record.counts = [("sold".to_owned(), 350)].into();
    record.rendezvous = vec![RendezvousDoc { name: "doors".to_owned(), ..RendezvousDoc::default() }];
    let scenario = |name: &str| StepDoc { name: name.to_owned(), ..StepDoc::default() };
    record.scenarios = vec![scenario("browser"), scenario("buyer")];
    record.steps = vec![StepDoc { scenario: "buyer".to_owned(), ..scenario("buy") }];
    let group = GroupDoc { name: "checkout".to_owned(), scenario: "buyer".to_owned(), ..GroupDoc::default() };
    record.groups = vec![group];
    let target = TargetDoc { open: 1_200, open_before: 200, ..TargetDoc::default() };
    record.held = vec![HoldDoc { planned: 1_000, lowest: 990, target: Some(target), ..HoldDoc::default() }];
    let shown = markdown(&record);
    check_harmless(&shown);
    let rows = [
        "| hello | 1.00 ms |",
        "| `sold` | 350 |",
        "| `doors` | 0 |",
        "| `browser` |",
        "| `buyer: buy` | 0 |",
        "| `buyer: checkout (group)` |",
        "| 1,000 | 990 | 0 s | 0 | 0 | 1,000 |",
    ];
    for row in rows {
        assert!(shown.contains(row), "{row} is missing: {shown}");
    }
}

/// The page counts the rows that were left out, whichever list is too long.
#[test]
fn checks_around_a_run_that_are_left_out_are_counted() {
    let mut record = open();
    let check =
        HookCheckDoc { step: "put".to_owned(), name: "it is there".to_owned(), ..HookCheckDoc::default() };
    let around = |n| Some(HookDoc { checks: vec![check.clone(); n], faults: Vec::new() });
    record.checks = vec![CheckDoc { name: "one".to_owned(), ..CheckDoc::default() }];
    (record.before, record.after) = (around(2), around(52));
    let shown = markdown(&record);
    assert!(shown.contains("\n2 more are in `--format json`\n"), "{shown}");
    record.after = around(50);
    assert!(!markdown(&record).contains("more are in"), "{}", markdown(&record));
}

#[test]
fn what_is_taken_literally_reads_as_it_was_written() {
    let mut record = open();
    record.command = "wavetank run 'http://127.0.0.1/`x`' --body '```' -H 'a: b|c'".to_owned();
    record.thresholds = vec![Threshold { expr: "checks(`a`) < 1%".to_owned(), ..Threshold::default() }];
    let text = markdown(&record);
    let (mut blocks, mut codes) = (Vec::new(), Vec::new());
    walk(&parsed(&text), &mut |node| match node {
        Node::Code(block) => blocks.push(block.value.clone()),
        Node::InlineCode(code) => codes.push(code.value.clone()),
        _ => {}
    });
    assert_eq!(blocks, [record.command]);
    assert!(codes.contains(&"checks(`a`) < 1%".to_owned()), "{codes:?}");
}
