//! Pages of real runs in a real browser: their requests, width, accessibility and printed form.

mod made;

use std::path::{Path, PathBuf};

use made::Made;
use serde_json::Value;
use wavetank_testkit::{Browser, skip};

/// Widths of a phone, a small window and a large one, in CSS pixels.
const WIDTHS: [u32; 3] = [380, 1_024, 1_600];
/// Printable width of A4 with margins of 12 mm, in CSS pixels.
const PAPER: u32 = 703;

/// Elements that extend beyond the page, or are cut off without a scroll bar. On paper nothing can
/// scroll.
const CUT: &str = r"(() => {
  const wide = document.documentElement.clientWidth, found = [];
  const paper = matchMedia('print').matches;
  for (const e of document.querySelectorAll('body *')) {
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    if (e.parentElement.closest('svg') !== null || e.closest('.skip')) continue;
    if (box.width === 0 || style.visibility === 'hidden') continue;
    const within = [];
    for (let p = e.parentElement; p; p = p.parentElement) within.push(getComputedStyle(p).overflowX);
    const scrolled = within.some(o => o === 'auto' || o === 'scroll' || o === 'hidden' || o === 'clip');
    if (box.right > wide + 1 && (!scrolled || paper))
      found.push(`${e.tagName}.${e.className.baseVal ?? e.className} ends at ${box.right}: ${e.textContent.slice(0, 60)}`);
  }
  return found.slice(0, 5);
})()";

/// Texts of charts that lie outside their figure, which has other content next to it and below it.
const CUT_TEXTS: &str = r"(() => {
  const found = [];
  for (const text of document.querySelectorAll('svg text')) {
    const box = text.getBoundingClientRect(), of = text.closest('figure').getBoundingClientRect();
    if (box.width === 0) continue;
    if (box.left < of.left - 2 || box.right > of.right + 2 || box.top < of.top - 2 || box.bottom > of.bottom + 2)
      found.push(`${text.textContent} in ${text.closest('figure').id}`);
  }
  return found.slice(0, 5);
})()";

/// Serious and critical problems that axe-core finds with `OPTIONS`.
const PROBLEMS: &str = r"axe.run(document, {resultTypes: ['violations']OPTIONS}).then(found => found.violations
  .filter(one => one.impact === 'serious' || one.impact === 'critical')
  .map(one => `${one.id}: ${one.help}: ` + one.nodes.slice(0, 3).map(node => `${node.html.slice(0, 200)} ${node.failureSummary}`).join(' | ')))";
/// Colour schemes with the rules that are checked in each. All but those on contrast depend on the
/// document alone, which is the same in both.
const SCHEMES: [(&str, &str); 2] =
    [("light", ""), ("dark", ", runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}")];

fn list(value: &Value) -> Vec<String> {
    let rows = value.as_array().expect("a list").iter();
    rows.map(|row| row.as_str().expect("a text").to_owned()).collect()
}

/// All problems of the pages. They are reported at the end, so that one test run finds all of them.
#[derive(Default)]
pub(crate) struct Wrong(Vec<String>);

impl Wrong {
    /// Fails with all problems, if there are any.
    #[track_caller]
    pub(crate) fn expect_none(&self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }

    fn none(&mut self, what: &str, page: &str, found: &[String]) {
        self.0.extend(found.iter().map(|one| format!("{page}: {what}: {one}")));
    }

    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, page: &str, found: &T, expected: &T) {
        if found != expected {
            self.0.push(format!("{page}: {what}: {found:?} instead of {expected:?}"));
        }
    }
}

/// Reads axe-core from where `cargo ci` stores it, next to the build output.
fn axe() -> Option<String> {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in cargo's folder");
    let place = PathBuf::from("node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(built.join("axe-core").join(place)).ok()
}

/// Checks that the page loads only itself, logs no errors, and has a policy that keeps it so.
fn check_alone(browser: &mut Browser, made: &Made, wrong: &mut Wrong) {
    let asked = browser.requests().into_iter().filter(|url| !url.starts_with("data:")).collect();
    wrong.equal("asked for", made.name, &asked, &vec![format!("file://{}", made.page.display())]);
    wrong.none("complaint", made.name, &browser.complaints());
    let policy =
        browser.evaluate("document.querySelector('meta[http-equiv=Content-Security-Policy]').content");
    let policy = policy.as_str().expect("a text");
    let closed = policy.starts_with("default-src 'none';") && !policy.contains("script-src");
    wrong.equal(&format!("policy {policy}"), made.name, &closed, &true);
    let alien = browser.evaluate("document.querySelectorAll('script, img, iframe, object').length");
    wrong.equal("elements made from names and responses", made.name, &alien, &0.into());
    wrong.equal("script that was executed", made.name, &browser.evaluate("window.alerted ?? 0"), &0.into());
}

/// Checks that all expected charts are there and visible.
fn check_charts(browser: &mut Browser, made: &Made, wrong: &mut Wrong) {
    let seen = "[...document.querySelectorAll('[id]')].filter(e => e.querySelector('svg.plot')?.getBoundingClientRect().height > 20).map(e => e.id)";
    let seen = list(&browser.evaluate(seen));
    let absent: Vec<_> = made.charts.iter().filter(|chart| !seen.iter().any(|id| id == *chart)).collect();
    wrong.equal(&format!("no such charts among {seen:?}"), made.name, &absent, &vec![]);
}

/// Checks that nothing of the open page is cut off at any width.
pub(crate) fn check_widths(browser: &mut Browser, name: &str, wrong: &mut Wrong) {
    for width in WIDTHS {
        browser.show(width, "light", "screen");
        let page = format!("{name} at {width}");
        wrong.equal("width", &page, &browser.evaluate("document.documentElement.scrollWidth"), &width.into());
        wrong.none("cut off", &page, &list(&browser.evaluate(CUT)));
        wrong.none("text of a chart cut off", &page, &list(&browser.evaluate(CUT_TEXTS)));
    }
}

fn check_prints(browser: &mut Browser, made: &Made, wrong: &mut Wrong) {
    browser.show(PAPER, "light", "print");
    wrong.none("cut off", &format!("{} on paper", made.name), &list(&browser.evaluate(CUT)));
    let pdf = browser.pdf();
    let pdf = String::from_utf8_lossy(&pdf);
    let sheets = pdf.matches("/Type /Page\n").count();
    wrong.equal(&format!("{sheets} sheets"), made.name, &(1..=15).contains(&sheets), &true);
}

/// Checks the open page with axe-core, light and dark.
pub(crate) fn check_readable(browser: &mut Browser, name: &str, axe: &str, wrong: &mut Wrong) {
    browser.evaluate(&format!("{axe}; 0"));
    for (scheme, options) in SCHEMES {
        browser.show(1_024, scheme, "screen");
        let problems = browser.evaluate(&PROBLEMS.replace("OPTIONS", options));
        wrong.none("axe-core", &format!("{name}, {scheme}"), &list(&problems));
    }
}

/// Reads axe-core; without it, records that `test` did not use it.
pub(crate) fn axe_or_skip(test: &str) -> Option<String> {
    let axe = axe();
    if axe.is_none() {
        skip(
            &format!("{test} with axe-core"),
            "it is not in cargo's folder, where `cargo ci` puts it with npm",
        );
    }
    axe
}

#[test]
fn pages_of_real_runs_in_a_browser() {
    let test = "pages_of_real_runs_in_a_browser";
    let Some(mut browser) = Browser::start(test) else { return };
    let axe = axe_or_skip(test);
    let mut wrong = Wrong::default();
    for made in &made::all() {
        browser.show(1_024, "light", "screen");
        browser.open(&made.page);
        check_alone(&mut browser, made, &mut wrong);
        check_charts(&mut browser, made, &mut wrong);
        check_widths(&mut browser, made.name, &mut wrong);
        check_prints(&mut browser, made, &mut wrong);
        if let Some(axe) = &axe {
            check_readable(&mut browser, made.name, axe, &mut wrong);
        }
    }
    wrong.expect_none();
}
