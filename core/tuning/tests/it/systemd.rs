//! Units of systemd, and `limits.conf`.

use wavetank_tuning::FileKind::{Limits, Systemd};
use wavetank_tuning::LintContext;

use crate::support::{check, check_on};

#[test]
fn limits_of_units() {
    check(Systemd, "[Service]\nLimitNOFILE=1000000\n", &[]);
    check(Systemd, "[Service]\nLimitNOFILE=2000000\n", &["2 setting_capped"]);
    check(Systemd, "[Service]\nLimitNOFILE=infinity\nLimitNPROC=1024:2048\n", &[]);
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
fn units_are_read_as_systemd_reads_them() {
    let text = "[Service]\n# a comment\nExecStart=/bin/sh -c \\\n  'a' \\\n  LimitNOFILES=3\nnonsense\n";
    check(Systemd, text, &["6 setting_syntax"]);
}

#[test]
fn limits_of_sessions() {
    check(Limits, "# a comment\n* soft nofile 1000000\n* hard nofile 1000000\nroot - nofile 1000 # c\n", &[]);
    check(Limits, "* soft nofile 10000000\n", &["1 setting_rejected"]);
    check(Limits, "* soft nofiles 100\n", &["1 setting_unknown"]);
    check(Limits, "* both nofile 100\n", &["1 setting_unknown"]);
    check(Limits, "* soft nofile\n", &["1 setting_syntax"]);
    check(Limits, "* soft nofile many\n", &["1 setting_rejected"]);
    check(Limits, "@web soft nofile 2000\n@web hard nofile 1000\nftp -\n", &["1 setting_conflict"]);
    check(Limits, "* - nproc unlimited\n", &[]);
}
