//! The syntax of files, and findings over several files.

use proptest::prelude::*;
use wavetank_tuning::{FileKind, LintContext, LintFile, lint_files};

#[track_caller]
fn check_kind(name: &str, text: &str, expected: Result<FileKind, &str>) {
    let found = FileKind::detect(name, text);
    assert_eq!(
        found.as_ref().map_err(|error| error.code.as_str()),
        expected.as_ref().map_err(|code| *code),
        "{name}"
    );
}

#[test]
fn the_name_or_the_text_says_the_syntax() {
    check_kind("/etc/sysctl.d/50-a.conf", "", Ok(FileKind::Sysctl));
    check_kind("tuned.txt", "net.core.somaxconn=1\n", Ok(FileKind::Sysctl));
    check_kind("limits.conf", "* - nofile 1", Ok(FileKind::Limits));
    check_kind("a", "* - nofile 1", Ok(FileKind::Limits));
    check_kind("nginx.service", "[Unit]", Ok(FileKind::Systemd));
    check_kind("x/nginx.service.d/a.conf", "[Service]", Ok(FileKind::Systemd));
    check_kind("web.conf", "events {\n}\nuser a;\n", Ok(FileKind::Nginx));
    check_kind("lb.cfg", "global\n maxconn 1\n", Ok(FileKind::Haproxy));
    check_kind("x", "#!/bin/sh\n", Ok(FileKind::Script));
    check_kind("notes.txt", "some text\n", Err("lint_kind_unknown"));
    check_kind("nginx.conf", "global\n maxconn 1\n", Err("lint_foreign"));
    check_kind("sysctl.conf", "[Service]\nLimitNOFILE=1\n", Err("lint_foreign"));
}

#[test]
fn ports_of_servers_in_the_range_are_found() {
    let file = |name: &str, kind, text: &str| LintFile { name: name.into(), text: text.into(), kind };
    let range = |more: &str| format!("net.ipv4.ip_local_port_range = 15000 65001\n{more}");
    let server = "defaults\n timeout client 5s\n timeout server 5s\n timeout connect 5s\nlisten a\n bind :30000\n bind :8200\n";
    let lint = |sysctl: &str| {
        let files = [file("s", FileKind::Sysctl, sysctl), file("h", FileKind::Haproxy, server)];
        let found = lint_files(&files, &LintContext::default(), &|_, _| Vec::new());
        found
            .iter()
            .filter(|finding| finding.verdict.severity() != wavetank_tuning::Severity::Note)
            .map(|finding| format!("{}:{} {}", finding.file, finding.line, finding.setting))
            .collect::<Vec<_>>()
    };
    assert_eq!(lint(&range("")), ["h:6 30000"]);
    assert_eq!(lint(&range("net.ipv4.ip_local_reserved_ports = 80,29000-31000")), Vec::<String>::new());
    // The backlog of nginx follows somaxconn of the other file.
    let files = [
        file("s", FileKind::Sysctl, "net.core.somaxconn = 8192"),
        file("n", FileKind::Nginx, "events {} http { server { listen 80 backlog=16384; } }"),
    ];
    let found = lint_files(&files, &LintContext::default(), &|_, _| Vec::new());
    assert!(found.iter().any(|finding| finding.sentence.contains("to 8192")), "{found:?}");
}

proptest! {
    #[test]
    fn no_text_panics(text in "[a-z0-9 .=;{}#'\"\\\\\\n\\[\\]$/:-]{0,300}") {
        wavetank_tuning::fuzzing::fuzz_lint(text.as_bytes());
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        wavetank_tuning::fuzzing::fuzz_lint(&bytes);
    }
}
