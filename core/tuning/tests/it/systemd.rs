//! Units of systemd, and `limits.conf`.

use wavetank_tuning::FileKind::{Limits, Systemd};
use wavetank_tuning::LintContext;

use crate::support::{check, check_on};

#[test]
fn limits_of_units() {
    check(Systemd, "[Service]\nLimitNOFILE=1000000\n", &[]);
    check(Systemd, "[Service]\nLimitNOFILE=2000000\n", &["2 setting_capped"]);
    check(Systemd, "[Service]\nLimitNOFILE=infinity\nLimitNPROC=1024:2048\n", &["2 setting_too_large"]);
    check(
        Systemd,
        "[Service]\nLimitNOFILE=65536:1024\nLimitNPROC=10\n",
        &["2 setting_rejected", "3 setting_lowers"],
    );
    check(Systemd, "[Service]\nLimitNoFile=1000\n", &["2 setting_unknown"]);
    check(Systemd, "[Service]\nLimitNOFILES=1000\n", &["2 setting_unknown"]);
    check(Systemd, "[Service]\nLimitNOFILE=1M\n", &["2 setting_rejected"]);
    check(Systemd, "[Unit]\nLimitNOFILE=1000\n", &["2 setting_syntax"]);
    check(Systemd, "LimitNOFILE=1000\n", &["1 setting_syntax"]);
    check(
        Systemd,
        "[Service]\nTasksMax=100\nCPUQuota=50%\nMemoryLimit=1G\n",
        &["2 setting_too_large", "3 setting_conflict", "4 setting_obsolete"],
    );
    let host = LintContext { nr_open: Some(4_000_000), ..LintContext::default() };
    check_on(&host, Systemd, "[Service]\nLimitNOFILE=2000000\n", &[]);
}

#[test]
fn lines_of_services() {
    for (line, expected) in [
        ("CPUQuota=50", "setting_rejected"),
        ("Restart=allways", "setting_rejected"),
        ("Type=fork", "setting_rejected"),
        ("Nice=-30", "setting_rejected"),
        ("OOMScoreAdjust=-2000", "setting_rejected"),
        ("PrivateNetwork=yes", "setting_harmful"),
        ("TimeoutStatSec=10", "setting_unknown"),
        ("ExecStart=/usr/sbin/nginx -g 'daemon off;'\nType=forking", "setting_conflict"),
    ] {
        let number = 2 + line.matches('\n').count();
        check(Systemd, &format!("[Service]\n{line}\n"), &[&format!("{number} {expected}")]);
    }
    let fine = "[Service]\nType=notify\nRestart=on-failure\nNice=-5\nExecStart=/usr/sbin/haproxy -Ws\n\
        PrivateNetwork=no\nX-Own=1\nRestart=\n";
    check(Systemd, fine, &[]);
}

#[test]
fn units_are_read_as_systemd_reads_them() {
    let text = "[Service]\n# a comment\nExecStart=/bin/sh -c \\\n  'a' \\\n  LimitNOFILES=3\nnonsense\n";
    check(Systemd, text, &["6 setting_syntax"]);
}

#[test]
fn limits_of_sessions() {
    check(Limits, "# a comment\n* soft nofile 1000000\n* hard nofile 1000000\nroot - nofile 1000 # c\n", &[]);
    check(Limits, "nginx soft nofile 65536\n", &["1 setting_no_effect"]);
    check(Limits, "deploy soft nofile 65536\n", &[]);
    check(Limits, "* soft nofile 10000000\n", &["1 setting_rejected"]);
    check(Limits, "* soft nofiles 100\n", &["1 setting_unknown"]);
    check(Limits, "* both nofile 100\n", &["1 setting_unknown"]);
    check(Limits, "* soft nofile\n", &["1 setting_syntax"]);
    check(Limits, "* soft nofile many\n", &["1 setting_rejected"]);
    check(Limits, "@web soft nofile 2000\n@web hard nofile 1000\nftp -\n", &["1 setting_conflict"]);
    check(Limits, "* - nproc unlimited\n", &[]);
}
