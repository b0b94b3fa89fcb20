//! The terms of a page are explained on that page, and its texts are those of the record.

use crate::support;

use support::measured::bare;
use support::{asked, closed, failed, finding, implicit, open};
use wavetank_record::{Blame, CheckDoc, RunRecord, SampleLine, Times};
use wavetank_report::{Language, html};
use wavetank_units::Sentence;

fn page(record: &RunRecord, language: Language) -> String {
    html(bare(record), language)
}

#[test]
fn a_word_has_its_own_name_in_the_glossary() {
    let check = |language, there: &str, absent: &[&str]| {
        let page = page(&closed(), language);
        let words = page.split("<section id=\"words\"").nth(1).expect("a glossary");
        assert!(words.contains(&format!("<dt>{there}</dt>")), "{there}: {words}");
        assert!(absent.iter().all(|word| !words.contains(&format!("<dt>{word}</dt>"))), "{words}");
    };
    // Users wait on this page, and the wait for a connection is shown.
    check(Language::English, "Wait", &[]);
    check(Language::English, "Busiest load thread", &["Knee", "B/A", "Resumed"]);
    check(Language::Chinese, "最忙的负载线程", &["拐点", "会话复用（resumed）"]);
    // Sentences about waiting users are not about that term.
    let unanswered = RunRecord { wait_us: Times::default(), response_us: Times::default(), ..closed() };
    let page = html(bare(&unanswered), Language::English);
    assert!(page.contains("users wait") && !page.contains("<dt>Wait</dt>"), "{page}");
}

/// The page says that some sentences are not translated if it has such sentences. Names do not
/// count.
#[test]
fn stored_text_is_shown_where_it_exists() {
    let check = |evidence: &str, printed: bool| {
        let mut record = failed();
        record.findings = vec![finding("status", Blame::Target, "", evidence, "")];
        record.notes.clear();
        let page = page(&record, Language::Chinese);
        assert_eq!(page.contains("个别尚无译文的语句"), printed, "{evidence}");
    };
    check("a sentence without a translation", true);
    check("web1 · /api/cart", false);
    check("502: 2 · 503: 1", false);
}

/// The page counts the thresholds that were set and the implicit ones that passed. The table has
/// the same number of rows.
#[test]
fn implicit_conditions_are_reported_next_to_those_that_were_set() {
    let mut record = open();
    record.verdict.headline = Sentence::empty();
    record.thresholds = vec![
        asked("p99 < 1s", Some(true), 9e3, "us"),
        asked("p50 < 1s", Some(true), 9e3, "us"),
        implicit("done > 0", Some(true), 9.0),
    ];
    let added = "✓</span> pass</span> · implicit, added by Wavetank: <code class=\"option\"><bdi>done &gt; 0</bdi></code></p>";
    let english = page(&record, Language::English);
    assert!(
        english.contains("Both conditions that were set passed.") && english.contains(added),
        "{english}"
    );
    assert!(page(&record, Language::Chinese).contains("用户设置的 2 项条件全部满足"));
    // A failed implicit threshold is listed once, among those that were set.
    record.thresholds[2].ok = Some(false);
    assert!(!page(&record, Language::English).contains("implicit, added"));
    record.thresholds.pop();
    assert!(!page(&record, Language::English).contains("implicit, added"));
}

/// The reason of a failed request is shown with the failure. Our text is in the page's language;
/// text from outside is unchanged.
#[test]
fn what_failures_say_is_reported_in_the_pages_language() {
    let check = |class: &str, detail: &str, language, printed: &str| {
        let mut record = failed();
        let sample =
            SampleLine { detail: detail.to_owned(), class: class.to_owned(), ..SampleLine::default() };
        record.samples = vec![sample];
        let names = ["time < 15ms", "body contains \": found x\""];
        record.checks = names.map(|name| CheckDoc { name: name.to_owned(), ..CheckDoc::default() }).to_vec();
        let page = page(&record, language);
        assert!(page.contains(&format!("<td class=\"name\"><bdi>{printed}</bdi>")), "{printed}: {page}");
    };
    let slow = "time < 15ms: found 21.038 ms";
    check("check", slow, Language::Chinese, "time &lt; 15ms：实测 21.038 ms");
    check("check", slow, Language::English, "time &lt; 15ms: found 21.038 ms");
    check(
        "check",
        "body contains \": found x\": found y",
        Language::Chinese,
        "body contains &quot;: found x&quot;：实测 y",
    );
    check("check", "json $.sku: not found in the response", Language::Chinese, "json $.sku：应答中没有");
    // As earlier versions stored it.
    check("check", "json $.sku: not found in the answer", Language::Chinese, "json $.sku：应答中没有");
    // Text of others is unchanged, and nothing in it becomes code.
    let stored = |text: &str| format!("<span lang=\"en\">{text}</span>");
    check("tls", "alert: found no suite", Language::Chinese, &stored("alert: found no suite"));
    check("tls", slow, Language::Chinese, &stored("time &lt; 15ms: found 21.038 ms"));
    check("tls", "set `5 ms` by --slow", Language::Chinese, &stored("set `5 ms` by --slow"));
    let cut = format!("{}…{}", "a".repeat(119), "a".repeat(40));
    check("other", &"a".repeat(400), Language::Chinese, &stored(&cut));
}
