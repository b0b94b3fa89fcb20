//! Snapshots of this host, of another network and of a folder.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use wavetank_settings::{kernel_keys, read_snapshot, read_snapshot_of_process};
use wavetank_testkit::netns::NetNs;
use wavetank_tuning::{HostState, Snapshot, snapshot_script};

#[test]
fn this_host_has_what_every_host_has() {
    let snapshot = read_snapshot(Path::new("/"));
    let host = HostState { snapshot: &snapshot };
    assert!(host.kernel().is_some() && host.cpus().is_some() && host.memory_bytes().is_some());
    assert!(host.file_limits().iter().any(|limit| limit.process.is_empty() && limit.hard > 0));
    assert!(snapshot.setting("net.core.somaxconn").is_some_and(|value| value.parse::<u64>().is_ok()));
    let keys = kernel_keys(Path::new("/"));
    assert!(keys.contains("net.core.somaxconn") && keys.contains("vm.swappiness"), "{}", keys.len());
}

#[test]
fn a_shell_reads_the_same() {
    let output = Command::new("sh").args(["-c", &snapshot_script()]).output().expect("there is a shell");
    let by_shell = Snapshot::parse(&String::from_utf8_lossy(&output.stdout)).expect("it is complete");
    let own = read_snapshot(Path::new("/"));
    for key in ["net.core.somaxconn", "net.ipv4.tcp_rmem", "fs.file-max", "vm.swappiness"] {
        assert_eq!(by_shell.setting(key), own.setting(key), "{key}");
    }
    let (by_shell, own) = (HostState { snapshot: &by_shell }, HostState { snapshot: &own });
    assert_eq!((by_shell.cpus(), by_shell.memory_bytes()), (own.cpus(), own.memory_bytes()));
    assert!(Snapshot::parse("== /proc/x\n 1\n").is_none(), "the end is missing");
}

#[test]
fn another_network_is_read_from_outside() {
    if !NetNs::available("another_network_is_read_from_outside") {
        return;
    }
    let script = "echo 777 > /proc/sys/net/core/somaxconn; echo ready; read end";
    let mut child = Command::new("unshare")
        .args(["--net", "sh", "-ec", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it is available");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it is piped");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).expect("it writes");
    let snapshot = read_snapshot_of_process(child.id()).expect("it can be entered");
    assert_eq!(snapshot.setting("net.core.somaxconn").as_deref(), Some("777"));
    assert_ne!(read_snapshot(Path::new("/")).setting("net.core.somaxconn").as_deref(), Some("777"));
    drop(child.stdin.take());
    child.wait().expect("it ends with its input");
    assert!(read_snapshot_of_process(u32::MAX).is_err());
}

#[test]
fn patterns_are_expanded_below_a_folder() {
    let root = tempfile::tempdir().expect("temporary folders can be made");
    for (path, text) in [
        ("sys/class/net/eth0/speed", "1000\n"),
        ("sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("proc/42/comm", "nginx\n"),
        ("proc/42/limits", "Max open files            1024                 4096                 files\n"),
    ] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("can be made");
        fs::write(path, text).expect("can be written");
    }
    let snapshot = read_snapshot(root.path());
    assert_eq!(snapshot.get("/sys/class/net/eth0/speed"), Some("1000"));
    assert_eq!(snapshot.get("/sys/class/net/eth0/queues/rx-0/rps_cpus"), Some("0"));
    assert_eq!(snapshot.get("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), Some("powersave"));
    let limits = HostState { snapshot: &snapshot }.file_limits();
    assert_eq!(
        limits.iter().map(|limit| (limit.process.as_str(), limit.soft, limit.hard)).collect::<Vec<_>>(),
        [("nginx", 1_024, 4_096)]
    );
}
