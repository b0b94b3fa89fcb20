//! Configurations of nginx.

use wavetank_tuning::FileKind::Nginx;
use wavetank_tuning::{FileKind, LintContext, LintFile, Verdict, lint_files};

use crate::support::{check, check_on, lint};

fn in_http(line: &str) -> String {
    format!("events {{}}\nhttp {{\n{line}\n}}\n")
}

#[test]
fn directives_of_http() {
    for (line, expected) in [
        ("send_timeout 2;", Some("setting_harmful")),
        ("send_timeout 30s;", None),
        ("client_body_timeout 10;", None),
        ("client_header_timeout 5;", Some("setting_harmful")),
        ("keepalive_timeout 0;", Some("setting_harmful")),
        ("keepalive_timeout 65;", None),
        ("keepalive_requests 20000000;", Some("setting_too_large")),
        ("keepalive_requests 100000;", None),
        ("gzip_comp_level 9;", Some("setting_too_large")),
        ("access_log /var/log/$host.log main buffer=64k;", Some("setting_rejected")),
        ("access_log off;", None),
        ("open_file_cache max=200000 inactive=20s;", None),
        ("proxy_ignore_client_abort on;", Some("setting_harmful")),
        ("proxy_connect_timeout 600;", Some("setting_harmful")),
        ("proxy_connect_timeout 500ms;", None),
        ("proxy_http_version 1.0;", Some("setting_harmful")),
        ("proxy_set_header Connection \"keep-alive\";", Some("setting_conflict")),
        ("proxy_set_header Connection \"\";", None),
        ("proxy_set_header Connection $connection_upgrade;", None),
        ("server { listen 888 backlog=168888; }", Some("setting_capped")),
        ("server { listen 80 reuseport backlog=65535; }", None),
        ("server { ssl on; }", Some("setting_obsolete")),
        ("server { location /s { echo_sleep 5; } }", Some("setting_rejected")),
        ("keepalive_timeouts 5;", Some("setting_unknown")),
        ("more_set_headers 'a: b';", None),
        ("worker_connections 100;", Some("setting_rejected")),
        ("upstream b { server 10.0.0.1; }", Some("setting_harmful")),
        ("upstream b { server 10.0.0.1; keepalive 32; } proxy_http_version 1.1;", None),
        ("upstream b { server 10.0.0.1; keepalive 32; }", Some("setting_conflict")),
        (
            "upstream b { server 10.0.0.1; keepalive 1000; } proxy_http_version 1.1;",
            Some("setting_too_large"),
        ),
    ] {
        let expected: Vec<String> = expected.iter().map(|code| format!("3 {code}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(Nginx, &in_http(line), &expected);
    }
}

#[test]
fn directives_of_workers() {
    let host = LintContext { cpus: Some(8), ..LintContext::default() };
    let text = "worker_processes 88;\nworker_rlimit_nofile 1000;\nevents {\n use epoll;\n worker_connections 1000000;\n\
        multi_accept on;\naccept_mutex off;\n}\n";
    check_on(
        &host,
        Nginx,
        text,
        &["1 setting_too_large", "2 setting_conflict", "5 setting_capped", "6 setting_conflict"],
    );
    let text = "worker_processes 88;\nevents { worker_connections 1000000; }\n";
    let found = lint(Nginx, text, &LintContext::default());
    let large = found.iter().find(|finding| finding.verdict == Verdict::TooLarge).expect("one is too large");
    assert!(large.sentence.contains("88 workers 37.4 GB"), "{large:?}");
    check(Nginx, "worker_processes auto;\nworker_rlimit_nofile 2000000;\n", &["2 setting_capped"]);
}

#[test]
fn syntax_is_that_of_nginx() {
    check(Nginx, "worker_processes 1\nevents {}\n", &["1 setting_syntax"]);
    check(Nginx, "events {\n", &["1 setting_syntax"]);
    check(Nginx, "events {}\n}\n", &["2 setting_syntax"]);
    check(Nginx, "user 'www;\n", &["1 setting_syntax"]);
    check(Nginx, "error_log /var/log/e.log crit\nworker_connections 4000;\n", &["1 setting_syntax"]);
    let quiet = "events {}\nhttp {\n log_format main '$remote_addr {x;}'\n 'keepalive';\n\
        types { text/html html; }\n map $a $b { default \"a;b\"; \"~*^x{2}\" y; }\n\
        location ~ \"^/a{2}\" { return 200 \"x\\\"y\"; }\n\
        content_by_lua_block { local t = { a = '}' } -- }\n ngx.say(\"}\") }\n set $x ${y}z;\n}\n";
    check(Nginx, quiet, &[]);
    let deep = "a {".repeat(100);
    check(Nginx, &deep, &["1 setting_syntax"]);
}

/// Lints `nginx.conf` with files that it may include.
fn with_files(text: &str, files: &[(&str, &str)]) -> Vec<String> {
    let file = LintFile { name: "nginx.conf".to_owned(), text: text.to_owned(), kind: FileKind::Nginx };
    let found = lint_files(&[file], &LintContext::default(), &|_, pattern| {
        let found = files.iter().find(|(name, _)| *name == pattern);
        let text =
            found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "there is no such file".to_owned());
        vec![(pattern.to_owned(), text)]
    });
    let wrong = found.iter().filter(|finding| finding.verdict.severity() != wavetank_tuning::Severity::Note);
    wrong.map(|finding| format!("{}:{} {}", finding.file, finding.line, finding.verdict.code())).collect()
}

#[test]
fn includes_are_followed_and_loops_found() {
    let text = "events {}\nhttp {\n include a;\n}\n";
    assert_eq!(with_files(text, &[("a", "\nsend_timeout 1;\n")]), ["a:2 setting_harmful"]);
    assert_eq!(with_files(text, &[]), ["nginx.conf:3 setting_syntax"]);
    let looped = [("a", "include b;"), ("b", "\n\ninclude a;")];
    assert_eq!(with_files(text, &looped), ["b:3 setting_syntax"]);
    assert_eq!(
        with_files("include nginx.conf;", &[("nginx.conf", "include nginx.conf;")]),
        ["nginx.conf:1 setting_syntax"]
    );
}

#[test]
fn values_are_those_of_nginx() {
    for (line, expected) in [
        ("proxy_read_timeout 30sec;", "setting_rejected"),
        ("client_max_body_size 10MB;", "setting_rejected"),
        ("sendfile yes;", "setting_rejected"),
        ("tcp_nodelay off;", "setting_harmful"),
        ("error_log /var/log/e.log debug;", "setting_harmful"),
        ("proxy_next_upstream error timeout non_idempotent;", "setting_harmful"),
        ("limit_zone one $binary_remote_addr 10m;", "setting_obsolete"),
        ("http2_max_requests 1000;", "setting_obsolete"),
        ("limit_req zone=one burst=5;", "setting_rejected"),
        ("limit_conn one 5;", "setting_rejected"),
        ("upstream a { server b:80 weight=0; keepalive 9; } proxy_http_version 1.1;", "setting_rejected"),
        (
            "upstream a { server b:80 fail_timeout=9sec; keepalive 9; } proxy_http_version 1.1;",
            "setting_rejected",
        ),
        ("upstream a { keepalive 9; server b:80; ip_hash; } proxy_http_version 1.1;", "setting_conflict"),
    ] {
        check(Nginx, &in_http(line), &[&format!("3 {expected}")]);
    }
    for line in [
        "proxy_read_timeout $time;",
        "client_max_body_size 10m;",
        "client_max_body_size 0;",
        "proxy_next_upstream error timeout;",
        "limit_req_zone $binary_remote_addr zone=one:10m rate=9r/s; limit_req zone=one burst=5;",
        "limit_conn_zone $binary_remote_addr zone=one:10m; limit_conn one 5;",
        "upstream a { ip_hash; server b:80 fail_timeout=10; keepalive 9; } proxy_http_version 1.1;",
    ] {
        check(Nginx, &in_http(line), &[]);
    }
    // A file below conf.d uses zones of others.
    check(Nginx, "server { limit_req zone=one; }\n", &[]);
}
