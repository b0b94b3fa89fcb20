//! Plans of changes, the journal, and the forms of other programs.

use wavetank_tuning::{
    ChangePlan, DropIns, Fix, Journal, JournalEntry, LIMITS_DROP_IN, PrintFormat, Row, SYSCTL_DROP_IN,
    Severity, Snapshot, print_changes, sysctl_path,
};

fn row(fix: Fix) -> Row {
    Row {
        what: String::new(),
        now: String::new(),
        wanted: String::new(),
        why: "ports run out".to_owned(),
        source: String::new(),
        severity: Severity::Warning,
        fix: Some(fix),
    }
}

fn plan(before: Option<&str>) -> ChangePlan {
    let mut snapshot = Snapshot::default();
    snapshot.insert(sysctl_path("net.ipv4.ip_local_port_range"), "32768\t60999\n");
    snapshot.insert("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    let set = |key: &str, value: &str| row(Fix::Setting { key: key.to_owned(), value: value.to_owned() });
    let rows = [
        set("net.ipv4.ip_local_port_range", "1024 65535"),
        set("net.ipv4.ip_local_reserved_ports", "8080"),
        row(Fix::OpenFiles(70_000)),
        row(Fix::Governor("performance".to_owned())),
    ];
    let before = DropIns { sysctl: before.map(str::to_owned) };
    ChangePlan::new(&rows, &snapshot, &before, &["nginx".to_owned()])
}

#[test]
fn ports_are_reserved_before_the_range_grows() {
    let plan = plan(None);
    let values: Vec<&str> = plan.values.iter().map(|value| value.what.as_str()).collect();
    assert_eq!(
        values,
        ["net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_local_port_range", "governor of cpu1"]
    );
    assert_eq!(plan.values[1].now, "32768 60999");
    let files: Vec<&str> = plan.files.iter().map(|file| file.path.as_str()).collect();
    let unit = "/etc/systemd/system/nginx.service.d/99-wavetank.conf";
    assert_eq!(files, [SYSCTL_DROP_IN, LIMITS_DROP_IN, unit]);
}

#[test]
fn a_drop_in_keeps_what_an_earlier_fix_wrote() {
    let text =
        &plan(Some("# x\nvm.swappiness = 10\nnet.ipv4.ip_local_port_range = 5000 60001\n")).files[0].text;
    assert!(text.contains("vm.swappiness = 10\n"), "{text}");
    assert!(text.contains("net.ipv4.ip_local_port_range = 1024 65535\n") && !text.contains("5000"), "{text}");
}

#[test]
fn changes_are_printed_for_other_programs() {
    let plan = plan(None);
    let shell = print_changes(&plan, PrintFormat::Sh);
    assert!(shell.starts_with("#!/bin/sh\nset -e\n"), "{shell}");
    assert!(shell.contains("sysctl -w net.ipv4.ip_local_port_range='1024 65535'\n"), "{shell}");
    assert!(shell.contains("mkdir -p /etc/security/limits.d\n"), "{shell}");
    let ansible = print_changes(&plan, PrintFormat::Ansible);
    assert!(ansible.starts_with("---\n") && ansible.contains("    value: \"1024 65535\"\n"), "{ansible}");
    let sysctl = print_changes(&plan, PrintFormat::Sysctl);
    let expected = "# ports run out\nnet.ipv4.ip_local_reserved_ports = 8080\n\
        # ports run out\nnet.ipv4.ip_local_port_range = 1024 65535\n\
        # not a kernel setting, see --print sh: governor of cpu1\n\
        # not a kernel setting, see --print sh: /etc/security/limits.d/99-wavetank.conf\n\
        # not a kernel setting, see --print sh: /etc/systemd/system/nginx.service.d/99-wavetank.conf\n";
    assert_eq!(sysctl, expected);
    // `--undo` does not know what another program writes.
    assert!(!shell.contains("--undo") && !ansible.contains("--undo"), "{shell}{ansible}");
}

#[test]
fn the_journal_keeps_what_was_first() {
    let entry = |before: &str, written: &str| JournalEntry {
        path: "/proc/sys/a".to_owned(),
        is_value: true,
        before: Some(before.to_owned()),
        written: written.to_owned(),
        folders: Vec::new(),
    };
    let mut journal = Journal::default();
    journal.add(entry("1", "2"));
    journal.add(entry("2", "3"));
    assert_eq!(journal.entries, [entry("1", "3")]);
    assert_eq!(Journal::parse(&journal.to_text()), Ok(journal));
    assert!(Journal::parse("{\"schema\":\"x\",\"entries\":[]}").is_err());
}
