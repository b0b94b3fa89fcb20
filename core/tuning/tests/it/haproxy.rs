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

#[test]
fn words_are_those_of_haproxy() {
    for (line, expected) in [
        ("option redispach", "setting_unknown"),
        ("timeout http-requests 5s", "setting_unknown"),
        ("balance roundrobbin", "setting_unknown"),
        ("default_backed app", "setting_unknown"),
        ("server a 10.0.0.1:80 maxcon 9", "setting_unknown"),
        ("server a 10.0.0.1:80 wieght 9", "setting_unknown"),
        ("server a 10.0.0.1:80 weight 300", "setting_rejected"),
        ("block if { src 10.0.0.1 }", "setting_obsolete"),
        ("clitimeout 50000", "setting_obsolete"),
        ("appsession ID len 52 timeout 3h", "setting_obsolete"),
        ("retries 0", "setting_lowers"),
        ("server a 10.0.0.1:80 minconn 50 maxconn 10", "setting_conflict"),
        ("server a 10.0.0.1:80 minconn 50", "setting_no_effect"),
        ("server a 10.0.0.1:80 maxqueue 50", "setting_no_effect"),
    ] {
        check(Haproxy, &format!("defaults\n{line}\n"), &[&format!("2 {expected}")]);
    }
    for line in [
        "server a 10.0.0.1:80 cookie wieght check inter 2s fall 3 rise 2 send-proxy-v2 no-check",
        "balance hdr(Host)",
        "no option forwardfor",
        "option httpchk GET /health",
        "log-format \"%ci maxcon\"",
        "newkeyword-of-a-later-version on",
    ] {
        check(Haproxy, &format!("defaults\n{line}\n"), &[]);
    }
}

#[test]
fn lines_of_a_file_fit_together() {
    const TIMES: &str = "defaults\n timeout client 5s\n timeout server 5s\n timeout connect 5s\n";
    for (lines, expected) in [
        ("frontend a\n default_backend be\nbackend b\n", &["6 setting_rejected"][..]),
        ("frontend a\n use_backend %[hdr(x)]\nbackend b\n", &[]),
        ("backend a\n server x 10.0.0.1:80\n server x 10.0.0.2:80\n", &["7 setting_rejected"]),
        ("backend a\n server x 10.0.0.1:80\nbackend b\n server x 10.0.0.2:80\n", &[]),
        ("frontend a\n bind :80\nfrontend b\n bind :80\n", &["8 setting_conflict"]),
        ("frontend a\n bind :80\n bind :80\n", &[]),
        ("global\n maxconn 1000\n ulimit-n 1024\n", &["6 setting_capped", "7 setting_no_effect"]),
    ] {
        check(Haproxy, &format!("{TIMES}{lines}"), expected);
    }
}
