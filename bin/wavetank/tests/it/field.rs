//! Cases from the field, each a scripted server in Python with what is right: `tests/field/http`.

use wavetank_testkit::{Program, expect_time, retry_timing, skip};

/// The exit code of a case that cannot be tried here, with the reason in its output.
const SKIPPED: i32 = 2;
/// The exit code of a case in which only a time was wrong.
const OFF: i32 = 3;

/// Runs one case. It prints what is wrong and exits with 1, or with 3 if a busy machine may
/// explain it.
fn check(case: &str) {
    let Some(python) = Program::foreign("python3") else {
        return skip(case, "`python3` is not installed");
    };
    let script = format!("{}/tests/field/http/{case}.py", env!("CARGO_MANIFEST_DIR"));
    retry_timing(|| {
        let outcome = python.clone().args([script.as_str(), env!("CARGO_BIN_EXE_wavetank")]).run();
        expect_time(outcome.exit != Some(OFF), || format!("{outcome}"))?;
        match outcome.exit {
            Some(SKIPPED) => skip(case, outcome.stdout.trim()),
            _ => assert_eq!(outcome.exit, Some(0), "{outcome}"),
        }
        Ok(())
    });
}

/// Makes a test of each case.
macro_rules! cases {
    ($($name:ident: $case:literal,)*) => {
        $(#[test]
        fn $name() {
            check($case);
        })*

        #[test]
        fn no_case_is_missing() {
            let folder = format!("{}/tests/field/http", env!("CARGO_MANIFEST_DIR"));
            let entries = std::fs::read_dir(folder).expect("the folder of the cases");
            let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
            let mut found: Vec<String> =
                names.filter_map(|name| name.strip_suffix(".py").map(str::to_owned)).collect();
            found.retain(|name| !["all", "tiny"].contains(&name.as_str()));
            found.sort();
            let mut known = [$($case),*];
            known.sort_unstable();
            assert_eq!(found, known);
        }
    };
}

cases! {
    css_is_own_work: "answer-work-css",
    json_is_own_work: "answer-work-json",
    mark_in_a_secret_file: "basic-file-bom",
    charset_of_checks: "charset-contains",
    bare_address: "connect-to-bare",
    one_cookie_header: "cookie-by-hand",
    quota_of_a_cgroup: "cpu-quota",
    quote_left_open: "csv-open-quote",
    basic_instead_of_digest: "digest-meets-basic",
    dead_first_address: "first-address-dead",
    folded_header: "folded-header",
    large_integers: "json-integers",
    localhost_on_ipv6: "localhost-six",
    cookie_of_a_login: "login-redirect",
    limit_of_a_file: "out-file-limit",
    one_url_one_spelling: "path-umlaut",
    end_within_an_answer: "post-after-end",
    proxy_that_asks: "proxy-asks",
    rate_of_two_requests: "rate-of-two",
    full_disk_for_output: "stdout-full",
    name_with_a_dot: "trailing-dot",
    two_content_codings: "two-codings",
    zone_of_an_address: "zone-of-address",
}
