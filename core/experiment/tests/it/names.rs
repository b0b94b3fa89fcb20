//! What a plan looks up again while its load runs.

use crate::support;

use support::plans::plan_of;

/// For a file with these lines: how many addresses its target starts with, and which name is
/// resolved again, using only the first address of a response or all.
#[track_caller]
fn check(lines: &str, addresses: usize, expected: Option<(&str, bool)>) {
    let text = format!("wavetank: 1\n{lines}\nsteps: [{{get: /}}]\nphases: [{{users: 1, for: 1s}}]\n");
    let plan = plan_of("names.yaml", &text);
    let again = plan.http.dns.as_ref().map(|dns| &dns.ways[0]);
    let again = again.map(|way| (way.names[0].0.as_str(), way.first_only));
    assert_eq!((plan.targets[0].addresses.len(), again), (addresses, expected), "{lines}");
}

#[test]
fn names_are_looked_up_again_as_the_file_says() {
    check("target: http://web.test", 2, None);
    check("target: http://web.test\nhttp: {dns: once}", 2, None);
    check("target: http://web.test\nhttp: {dns: 5s}", 2, Some(("web.test", false)));
    check("target: http://web.test\nhttp: {dns: each_session}", 2, Some(("web.test", false)));
    check("target: http://127.0.0.1\nhttp: {dns: 5s}", 1, None);
}

#[test]
fn of_some_names_the_first_address_counts() {
    let first = "targets: {a: {urls: [\"http://web.test\"], pick: dns}}";
    check(first, 1, None);
    check(&format!("{first}\nhttp: {{dns: 5s}}"), 1, Some(("web.test", true)));
}

#[test]
fn behind_a_proxy_it_is_the_proxys_name() {
    check("target: http://web.test\nhttp: {dns: 5s, proxy: \"http://127.0.0.9:3128\"}", 2, None);
    let by_name = "target: http://127.0.0.1\nhttp: {dns: 5s, proxy: \"http://web.test:3128\"}";
    check(by_name, 1, Some(("web.test", false)));
}
