//! The private parts of a host in a lab, as a user's commands see them: limits, settings, names, an
//! SSH server.

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Outcome, Program, skip};

const FILE: &str = "\
wavetank_lab: 1
name: hosts-test
networks: {front: 10.97.0.0/24}
hosts:
  load1:
    role: load
    networks: [front]
    sources: 2
    files: {/etc/wavetank-test: \"own\\n\"}
    limits: {cpus: \"0\", memory: 256MiB, open_files: 1000}
  app1: {role: server, networks: [front], sshd: true}
";

/// A lab in its own folder. Dropping it takes the lab down.
struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("lab.yaml"), FILE).expect("written");
        Self { folder }
    }

    fn program(&self) -> Program {
        let labs = self.folder.path().join("labs");
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(self.folder.path());
        program.environment("WAVETANK_LABS", labs.to_str().expect("text"))
    }

    fn lab(&self, words: &[&str]) -> Outcome {
        self.program().args(["lab"]).args(words).run()
    }

    /// Returns the output of `sh` for `script` in that host.
    fn inside(&self, host: &str, script: &str) -> String {
        let outcome = self.lab(&["exec", host, "--", "sh", "-c", script]);
        assert_eq!(outcome.exit, Some(0), "{script}: {}{}", outcome.stdout, outcome.stderr);
        outcome.stdout.trim().to_owned()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.lab(&["down"]);
    }
}

#[test]
fn a_host_has_its_limits_its_names_and_its_ssh_server() {
    let test = "a_host_has_its_limits_its_names_and_its_ssh_server";
    if !NetNs::available(test) {
        return;
    }
    if Program::foreign("sshd").is_none() || Program::foreign("ssh").is_none() {
        return skip(test, "an SSH server and client are not installed");
    }
    let lab = Lab::new();
    let up = lab.lab(&["up", "lab.yaml"]);
    if up.stderr.contains("[lab_limit]") {
        return skip(test, up.stderr.trim());
    }
    assert_eq!(up.exit, Some(0), "{}{}", up.stdout, up.stderr);
    assert_eq!(lab.inside("load1", "ulimit -n; ulimit -Hn"), "1000\n1000");
    assert_eq!(lab.inside("load1", "grep Cpus_allowed_list /proc/self/status"), "Cpus_allowed_list:\t0");
    assert_eq!(lab.inside("load1", "cat /etc/wavetank-test; hostname"), "own\nload1");
    assert_eq!(lab.inside("load1", "cat /proc/sys/net/ipv4/ip_local_port_range"), "1024\t65535");
    let addresses = lab.inside("load1", "ip -brief -4 address show eth0");
    assert_eq!(addresses.matches("/24").count(), 2, "{addresses}");
    // The machine has neither the file nor the setting of the host.
    assert!(!std::path::Path::new("/etc/wavetank-test").exists());
    // Any host can log in to the host with an SSH server, by its name. The other host has no such
    // server.
    let entered = lab.inside("load1", "ssh app1 'hostname; test ! -e /etc/wavetank-test && echo clean'");
    assert_eq!(entered, "app1\nclean");
    let refused = lab.lab(&["exec", "app1", "--", "ssh", "-o", "BatchMode=yes", "load1", "true"]);
    assert_eq!(refused.exit, Some(255), "{}", refused.stderr);
    assert!(refused.stderr.contains("Connection refused"), "{}", refused.stderr);
    let down = lab.lab(&["down"]);
    assert_eq!(down.exit, Some(0), "{}{}", down.stdout, down.stderr);
    let left = Program::foreign("find").expect("find is there");
    let left = left.args(["/sys/fs/cgroup", "-maxdepth", "2", "-name", "wavetank-hosts-test-*"]).run();
    assert_eq!(left.stdout, "", "control groups are left");
}
