//! Rules on paths and attributes: which code may use what.

use super::finding::Finding;
use super::source::{Next, PathUse, Source, is_test_path};

/// The only file that reads a clock.
const CLOCK_FILE: &str = "io/driver/src/clock.rs";
/// The only crate with `unsafe`.
const UNSAFE_DIR: &str = "io/driver/";
/// Code without `Serialize` types: stored formats are in `core/record`, so that they cannot freeze
/// it. The plan itself may be serialized, because only the same version reads a plan package.
const NOT_SERIALIZED: [&str; 3] = ["core/pace/", "core/measure/", "core/experiment/src/"];
/// The stored formats.
const FORMATS_DIR: &str = "core/record/src/";
/// The only format that contains the plan's own types.
const PACKAGE_DIR: &str = "core/record/src/plan_package/";
/// Crates with types that only a plan package may contain.
const PLAN_CRATES: [&str; 2] = ["wavetank_plan", "wavetank_units"];
/// A type of these crates that is stored as the text it is.
const PLAIN_TEXT: &str = "wavetank_units::Sentence";
/// Types of `std::net` that are plain data.
const NET_DATA: [&str; 9] = [
    "IpAddr",
    "Ipv4Addr",
    "Ipv6Addr",
    "SocketAddr",
    "SocketAddrV4",
    "SocketAddrV6",
    "AddrParseError",
    "Ipv6MulticastScope",
    "Shutdown",
];
/// Crates that touch the system, a clock or chance.
const IMPURE_CRATES: [&str; 12] = [
    "tokio",
    "rand",
    "getrandom",
    "fastrand",
    "libc",
    "rustix",
    "nix",
    "mio",
    "io_uring",
    "chrono",
    "async_std",
    "crossbeam",
];

/// Checks all rules on paths and attributes of one file.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for word in &source.paths {
        let found = [
            purity(source, word),
            clock(source, word),
            channels(word),
            sleeps(word),
            unfinished(word),
            unsafe_code(source, word),
        ];
        for (rule, message) in found.into_iter().flatten() {
            findings.push(Finding::at(rule, &source.path, word.line, message));
        }
    }
    attributes(source, &mut findings);
    plan_types(source, &mut findings);
    findings
}

type Breach = Option<(&'static str, String)>;

fn purity(source: &Source, word: &PathUse) -> Breach {
    if !source.path.starts_with("core/") || word.test {
        return None;
    }
    let segments: Vec<&str> = word.text.split("::").collect();
    let impure = match segments.as_slice() {
        ["std", "net", name, ..] => !NET_DATA.contains(name),
        ["std", "time", name, ..] => matches!(*name, "Instant" | "SystemTime" | "UNIX_EPOCH" | "self" | "*"),
        ["std", "io", name, ..] => matches!(*name, "stdin" | "stdout" | "stderr"),
        ["std", module, ..] => {
            matches!(*module, "net" | "time" | "fs" | "thread" | "env" | "process" | "os")
                || segments.last() == Some(&"RandomState")
        }
        [name, _, ..] => IMPURE_CRATES.contains(name),
        _ => false,
    };
    let say =
        || format!("`{}`: core has no system, clock or chance of its own; take it as an argument", word.text);
    impure.then(|| ("pure-core", say()))
}

fn clock(source: &Source, word: &PathUse) -> Breach {
    if source.path == CLOCK_FILE {
        return None;
    }
    let last_two: Vec<&str> = word.text.rsplitn(3, "::").take(2).collect();
    let reads = matches!(last_two.as_slice(), ["now", "Instant" | "SystemTime"])
        || matches!(last_two.first(), Some(&"clock_gettime" | &"_rdtsc" | &"__rdtscp"))
        || last_two
            .iter()
            .any(|name| name.starts_with("CLOCK_MONOTONIC") || name.starts_with("CLOCK_REALTIME"));
    reads.then(|| ("clock", format!("`{}`: the clock is read in {CLOCK_FILE} only", word.text)))
}

fn channels(word: &PathUse) -> Breach {
    let segments: Vec<&str> = word.text.split("::").collect();
    let unbounded = match segments.as_slice() {
        [.., "unbounded_channel"] | ["std", "sync", "mpsc", "channel"] => true,
        [.., "mpsc", "channel"] => word.next == Next::EmptyParens,
        [.., "unbounded"] => word.next == Next::EmptyParens || segments.len() > 1,
        _ => false,
    };
    unbounded.then(|| ("unbounded", format!("`{}`: a limit on everything; name a bound", word.text)))
}

fn sleeps(word: &PathUse) -> Breach {
    let slept = word.text.ends_with("thread::sleep") || word.text.ends_with("time::sleep");
    slept.then(|| ("sleep", format!("`{}`: wait for an event with a deadline instead", word.text)))
}

fn unfinished(word: &PathUse) -> Breach {
    let open = word.next == Next::Bang && matches!(word.text.as_str(), "todo" | "unimplemented");
    open.then(|| ("unfinished", format!("`{}!`: finish it or leave it out", word.text)))
}

fn unsafe_code(source: &Source, word: &PathUse) -> Breach {
    let outside = word.text == "unsafe" && !source.path.starts_with(UNSAFE_DIR);
    outside.then(|| ("unsafe", format!("`unsafe` is for {UNSAFE_DIR} alone")))
}

/// A stored format has types of its own. Otherwise a change to the plan would change the format.
fn plan_types(source: &Source, findings: &mut Vec<Finding>) {
    if !source.path.starts_with(FORMATS_DIR) || source.path.starts_with(PACKAGE_DIR) {
        return;
    }
    let of_plan = |path: &str| {
        path.split_once("::").is_some_and(|(name, _)| PLAN_CRATES.contains(&name)) && path != PLAIN_TEXT
    };
    let imported: Vec<&str> = source
        .paths
        .iter()
        .filter(|word| of_plan(&word.text))
        .filter_map(|word| word.text.rsplit("::").next())
        .collect();
    for word in source.paths.iter().filter(|word| word.serialized) {
        if of_plan(&word.text) || imported.contains(&word.text.as_str()) {
            let message = format!(
                "`{}`: a stored format has its own types; only {PACKAGE_DIR} contains the plan's",
                word.text
            );
            findings.push(Finding::at("serialized-core", &source.path, word.line, message));
        }
    }
}

fn attributes(source: &Source, findings: &mut Vec<Finding>) {
    for attribute in &source.attributes {
        let has = |name: &str| attribute.names.iter().any(|one| one == name);
        let first = attribute.names.first().map_or("", String::as_str);
        let mut breach = |rule, message: &str| {
            findings.push(Finding::at(rule, &source.path, attribute.line, message));
        };
        if matches!(first, "ignore" | "cfg_attr") && has("ignore") {
            breach(
                "ignored-test",
                "a test runs or says why not through the list of skips; it is not ignored",
            );
        }
        if has("should_panic") {
            breach("should-panic", "assert on the error that is returned, or on what was caught");
        }
        // Each test program uses a part of a shared helper module, so no expectation fits all of
        // them.
        let shared_by_tests = is_test_path(&source.path) && has("reason");
        if first == "allow" && !shared_by_tests {
            breach(
                "allow",
                "`#[expect(…, reason = \"…\")]` instead: the compiler reports it once it is no longer needed",
            );
        }
        if first == "expect" && !has("reason") {
            breach("allow", "an expectation has its `reason`");
        }
        let derives = first == "derive" && (has("Serialize") || has("Deserialize"));
        if derives && NOT_SERIALIZED.iter().any(|dir| source.path.starts_with(dir)) {
            breach(
                "serialized-core",
                "only the plan's types are `Serialize`; the formats live in core/record",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which rules `text` breaks as the file `path`, in order.
    fn check_at(path: &str, text: &str, expected: &[&str]) {
        let source = Source::parse(path, text).expect("is Rust");
        let rules: Vec<_> = check(&source).iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, expected, "{path}: {text}");
    }

    #[test]
    fn core_is_pure() {
        for text in [
            "use std::net::TcpStream;",
            "use std::{fs, collections::BTreeMap};",
            "fn f() { std::thread::spawn(g); }",
            "fn f() -> String { std::env::var(\"X\").unwrap_or_default() }",
            "use std::time::SystemTime;",
            "fn f(t: std::time::Instant) {}",
            "fn f() { println(rand::random::<u8>()) }",
            "use tokio::sync::Notify;",
            "use std::hash::RandomState;",
            "fn f() { assert!(std::process::id() > 0) }",
        ] {
            check_at("core/pace/src/x.rs", text, &["pure-core"]);
        }
        check_at("core/pace/src/x.rs", "use std::net::{IpAddr, SocketAddr}; use std::time::Duration;", &[]);
        check_at("core/pace/src/x.rs", "#[cfg(test)] mod tests { use std::fs; }", &[]);
        check_at("core/pace/tests/x.rs", "use std::fs;", &[]);
        check_at("io/store/src/x.rs", "use std::fs;", &[]);
    }

    #[test]
    fn the_clock_is_read_in_one_file() {
        for text in [
            "fn f() { let t = Instant::now(); }",
            "fn f() { std::time::SystemTime::now(); }",
            "fn f() { rustix::time::clock_gettime(id); }",
            "fn f() { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0); }",
        ] {
            check_at("io/engine/src/x.rs", text, &["clock"]);
            check_at("io/driver/src/clock.rs", text, &[]);
        }
        check_at("io/engine/tests/x.rs", "fn f() { Instant::now(); }", &["clock"]);
        check_at("io/engine/src/x.rs", "fn f(c: &Clock) { c.now(); Clock::now(c); }", &[]);
    }

    #[test]
    fn channels_have_bounds() {
        for text in [
            "use std::sync::mpsc::channel;",
            "fn f() { let (a, b) = mpsc::channel::<u8>(); }",
            "fn f() { mpsc::unbounded_channel(); }",
            "fn f() { crossbeam_channel::unbounded(); }",
        ] {
            check_at("io/link/src/x.rs", text, &["unbounded"]);
        }
        check_at("io/link/src/x.rs", "fn f() { mpsc::sync_channel(4); tokio::sync::mpsc::channel(4); }", &[]);
    }

    #[test]
    fn sleeping_is_banned() {
        check_at("io/link/tests/x.rs", "fn f() { std::thread::sleep(d); }", &["sleep"]);
        check_at("io/link/tests/x.rs", "use std::thread; fn f() { thread::sleep(d) }", &["sleep"]);
        check_at("io/link/src/x.rs", "async fn f() { tokio::time::sleep(d).await }", &["sleep"]);
    }

    #[test]
    fn nothing_is_left_unfinished() {
        check_at("io/link/src/x.rs", "fn f() { todo!() }", &["unfinished"]);
        check_at("io/link/src/x.rs", "fn f() { unimplemented!(\"later\") }", &["unfinished"]);
        check_at("io/link/src/x.rs", "fn f() { let todo = 1; g(todo != 2) }", &[]);
    }

    #[test]
    fn unsafe_lives_in_the_driver() {
        check_at("io/engine/src/x.rs", "fn f() { unsafe { g() } }", &["unsafe"]);
        check_at("io/driver/src/x.rs", "fn f() { unsafe { g() } }", &[]);
        check_at("io/engine/src/x.rs", "#![forbid(unsafe_code)]", &[]);
    }

    #[test]
    fn tests_are_neither_ignored_nor_expected_to_panic() {
        check_at("io/engine/src/x.rs", "#[test] #[ignore = \"slow\"] fn f() {}", &["ignored-test"]);
        check_at("io/engine/src/x.rs", "#[cfg_attr(miri, ignore)] fn f() {}", &["ignored-test"]);
        check_at("io/engine/src/x.rs", "#[test] #[should_panic] fn f() {}", &["should-panic"]);
    }

    #[test]
    fn exceptions_are_expected_with_a_reason() {
        check_at("io/engine/src/x.rs", "#[allow(dead_code)] fn f() {}", &["allow"]);
        check_at("io/engine/src/x.rs", "#[allow(dead_code, reason = \"r\")] fn f() {}", &["allow"]);
        check_at("io/engine/tests/support/mod.rs", "#![allow(dead_code, reason = \"r\")]", &[]);
        check_at("io/engine/tests/support/mod.rs", "#![allow(dead_code)]", &["allow"]);
        check_at("io/engine/src/x.rs", "#[expect(dead_code)] fn f() {}", &["allow"]);
        check_at("io/engine/src/x.rs", "#[expect(dead_code, reason = \"r\")] fn f() {}", &[]);
    }

    #[test]
    fn core_types_are_not_serialized() {
        check_at("core/pace/src/x.rs", "#[derive(Clone, Serialize)] struct X;", &["serialized-core"]);
        check_at("core/capacity/src/size/x.rs", "#[derive(Serialize)] struct X;", &[]);
        check_at("core/plan/src/x.rs", "#[derive(Clone, Serialize)] struct X;", &[]);
        check_at("core/measure/src/x.rs", "#[derive(serde::Deserialize)] struct X;", &["serialized-core"]);
        check_at("core/record/src/x.rs", "#[derive(Serialize)] struct X;", &[]);
    }

    #[test]
    fn stored_formats_have_their_own_types() {
        let of_plan = "use wavetank_plan::{Load, Plan}; #[derive(Serialize)] struct X { plan: Plan }";
        check_at("core/record/src/x.rs", of_plan, &["serialized-core"]);
        check_at("core/record/src/plan_package/mod.rs", of_plan, &[]);
        check_at(
            "core/record/src/x.rs",
            "#[derive(Serialize)] struct X(wavetank_units::Nanos);",
            &["serialized-core"],
        );
        let text = "use wavetank_units::{Nanos, Sentence}; #[derive(Serialize)] struct X(Sentence);";
        check_at("core/record/src/x.rs", text, &[]);
        let converted = "use wavetank_plan::Plan; #[derive(Serialize)] struct X(u64); fn f(plan: &Plan) {}";
        check_at("core/record/src/x.rs", converted, &[]);
    }
}
