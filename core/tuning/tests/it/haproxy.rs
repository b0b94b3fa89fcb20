//! Configurations of `HAProxy`.

use wavetank_tuning::FileKind::Haproxy;
use wavetank_tuning::LintContext;

use crate::support::{check, check_on};

#[test]
fn lines_of_global() {
    for (line, expected) in [
        ("nbproc 23", Some("setting_obsolete")),
        ("cpu-map 1 1", Some("setting_obsolete")),
        ("cpu-map auto:1/1-23 1-23", None),
        ("stats bind-process 23", Some("setting_obsolete")),
        ("maxconn 4000000", Some("setting_capped")),
        ("maxconn 400000", None),
        ("maxconn 4000000\nfd-hard-limit 8800000", None),
        ("nbthread 88", Some("setting_capped")),
        ("nbthread 88\nthread-groups 2", None),
        ("ulimit-n 100000", Some("setting_no_effect")),
        ("tune.maxaccept 100", Some("setting_no_effect")),
        ("tune.bufsize 1048576", Some("setting_too_large")),
        ("tune.ssl.default-dh-param 2048", None),
        ("log /dev/log local0", None),
        ("description \"a # b\" # comment", None),
    ] {
        let expected: Vec<String> = expected.iter().map(|code| format!("2 {code}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(Haproxy, &format!("global\n{line}\n"), &expected);
    }
    let host = LintContext { cpus: Some(2), ..LintContext::default() };
    check_on(&host, Haproxy, "global\n nbthread 4\n", &["2 setting_too_large"]);
}

#[test]
fn lines_of_proxies() {
    for (line, expected) in [
        ("timeout connect 5", Some("setting_unit")),
        ("timeout connect 5000", None),
        ("timeout connect 5s", None),
        ("timeout connect 10m", Some("setting_too_large")),
        ("timeout client 1minute", Some("setting_rejected")),
        ("stats auth admin:admin", Some("setting_harmful")),
        ("stats auth ops:x8Fz-2", None),
        ("option httplog", None),
        ("option httpclose", Some("setting_harmful")),
        ("option http-server-close", Some("setting_conflict")),
        ("option forceclose", Some("setting_obsolete")),
        ("reqadd X:\\ y", Some("setting_obsolete")),
        ("balance roundrobin", None),
        ("server s1 10.0.0.1:80 source 10.0.0.2:1024-65535", None),
        ("server s1 10.0.0.1:80 source 0.0.0.0 usesrc clientip", None),
    ] {
        let expected: Vec<String> = expected.iter().map(|code| format!("2 {code}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(Haproxy, &format!("defaults\n{line}\n"), &expected);
    }
    check(
        Haproxy,
        "global\nmaxconn 1000\nfrontend a\nmaxconn 2000\ntimeout client 5s\n",
        &["4 setting_capped"],
    );
    check(
        Haproxy,
        "defaults\n timeout client 5s\nfrontend a\n bind :80\nbackend b\n timeout connect 5s\n",
        &["5 setting_conflict"],
    );
}

#[test]
fn syntax_is_that_of_haproxy() {
    check(Haproxy, "maxconn 100\n", &["1 setting_syntax"]);
    check(Haproxy, "global\n description \"open\n", &["2 setting_syntax"]);
}
