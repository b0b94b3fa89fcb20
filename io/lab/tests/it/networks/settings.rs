//! Settings and limits of hosts: their effect, and errors before anything is created.

use wavetank_lab::{LabTag, net};
use wavetank_testkit::netns::NetNs;
use wavetank_testkit::skip;
use wavetank_topology::{Host, Lab, Limits};
use wavetank_units::ExitCode;

use crate::networks::hosts::{Hosts, printed};
use crate::networks::plan::{FILE, host, lab, with};

fn one(host: Host) -> Lab {
    lab(&[("front", "10.9.0.0/24")], vec![host])
}

fn plain() -> Host {
    host("load1", &[(0, &["10.9.0.1"])])
}

#[test]
fn a_host_has_the_settings_asked_for_and_the_machine_keeps_its_own() {
    let machine = || std::fs::read_to_string("/proc/sys/net/core/somaxconn").expect("a setting");
    let before = machine();
    let asked = [
        ("net.core.somaxconn", "23456"),
        ("net.ipv4.ip_local_port_range", "1024 65535"),
        ("net.ipv4.ip_local_reserved_ports", "8081,8080,80"),
        ("net.ipv4.conf.eth0.rp_filter", "1"),
    ];
    let host = asked.iter().fold(plain(), |host, (key, value)| with(host, key, value));
    let test = "a_host_has_the_settings_asked_for_and_the_machine_keeps_its_own";
    let Some(hosts) = Hosts::of(test, &one(host)) else { return };
    for (key, value) in [
        ("core/somaxconn", "23456"),
        ("ipv4/ip_local_port_range", "1024\t65535"),
        ("ipv4/ip_local_reserved_ports", "80,8080-8081"),
        ("ipv4/conf/eth0/rp_filter", "1"),
        ("ipv4/conf/all/rp_filter", "0"),
        ("ipv4/conf/eth0/arp_announce", "2"),
        ("ipv4/conf/all/forwarding", "0"),
    ] {
        let found = hosts.inside(0, move || std::fs::read_to_string(format!("/proc/sys/net/{key}")));
        assert_eq!(found.expect("a setting").trim(), value, "{key}");
    }
    assert_eq!(machine(), before);
}

/// Asserts that `check` refuses the host before anything is created, with a message that contains
/// `words`.
#[track_caller]
fn check_refused(host: Host, code: &str, words: &[&str]) {
    let error = net::check(&one(host), FILE).expect_err("refused");
    assert_eq!((error.code.as_str(), error.exit), (code, ExitCode::Refused), "{error}");
    let reported = error.to_string();
    assert!(words.iter().all(|word| reported.contains(word)), "{words:?} in {reported}");
}

#[test]
fn what_a_host_cannot_have_is_known_before_anything_is_there() {
    if !NetNs::available("what_a_host_cannot_have_is_known_before_anything_is_there") {
        return;
    }
    check_refused(
        with(plain(), "vm.swappiness", "0"),
        "lab_setting",
        &["lab.yaml:12:9: ", "vm.swappiness", "this machine"],
    );
    check_refused(
        with(plain(), "net.ipv4.tcp_tw_recycle", "1"),
        "lab_setting",
        &["lab.yaml:12:9: ", "no setting"],
    );
    check_refused(
        with(plain(), "net.ipv4.tcp_mem", "1 2 3"),
        "lab_setting",
        &["lab.yaml:12:9: ", "whole machine"],
    );
    check_refused(with(plain(), "net.ipv4.tcp_syncookies", "many"), "lab_setting", &["rejects", "many"]);
    check_refused(with(plain(), "net.core.rmem_max", "1"), "lab_setting", &["whole machine"]);
    let limited = |limits| Host { limits, ..plain() };
    let cpu = Limits { cpus: Some(vec![0, 4095]), ..Limits::default() };
    check_refused(limited(cpu), "lab_limit", &["`load1`", "CPU 4095"]);
    let files = Limits { open_files: Some(1 << 40), ..Limits::default() };
    check_refused(limited(files), "lab_limit", &["1099511627776 open files"]);
    net::check(&one(plain()), FILE).expect("a plain host needs nothing special");
}

#[test]
fn all_missing_parts_are_reported_together() {
    if !NetNs::available("all_missing_parts_are_reported_together") {
        return;
    }
    let host = with(with(plain(), "net.no.such", "1"), "net.core.nor_such", "1");
    let error = net::check(&one(host), FILE).expect_err("refused");
    assert_eq!(error.others.len(), 1, "{error}");
}

#[test]
fn limits_stand_in_control_groups_that_can_be_removed() {
    let test = "limits_stand_in_control_groups_that_can_be_removed";
    let limits = Limits {
        cpus: Some(vec![0]),
        cpu_share_milli: Some(1500),
        memory_bytes: Some(64 << 20),
        ..Limits::default()
    };
    let lab = one(Host { limits, ..plain() });
    if !NetNs::available(test) {
        return;
    }
    if let Err(error) = net::check(&lab, FILE) {
        return skip(test, &error.message);
    }
    let mark = LabTag::generate("groups").expect("a name");
    let found = || printed("find", &["/sys/fs/cgroup", "-maxdepth", "2", "-name", &format!("{mark}-*")]);
    net::make_group(&lab, 0, &mark, FILE).expect("made");
    let folders = found();
    let read = |file: &str| {
        let files = folders.lines().map(|folder| format!("{folder}/{file}"));
        files.filter_map(|file| std::fs::read_to_string(file).ok()).map(|text| text.trim().to_owned()).next()
    };
    let share = read("cpu.max").or_else(|| Some(format!("{} 100000", read("cpu.cfs_quota_us")?)));
    assert_eq!(share.as_deref(), Some("150000 100000"), "{folders}");
    let memory = read("memory.max").or_else(|| read("memory.limit_in_bytes"));
    assert_eq!(memory.as_deref(), Some("67108864"), "{folders}");
    let used = read("memory.current").or_else(|| read("memory.usage_in_bytes"));
    assert_eq!(used.as_deref(), Some("0"), "no process is in it: {folders}");
    net::remove_groups(&mark).expect("removed");
    assert_eq!(found(), "");
    net::remove_groups(&mark).expect("nothing to remove is no failure");
}
