//! `link: nats`: `fleet up` starts the broker and a tunnel to each host; `fleet down` ends them.

use std::time::Duration;

use wavetank_testkit::{Program, Script, poll_until, skip};

use crate::fleet_hosts::{FleetHosts, LIMIT, check, target, with_hosts};

const FLEET: &str = "wavetank_fleet: 1\nname: dc1\nlink: nats\nload: {'load[1-2]': {}}\n";

/// The ssh process that carries a port of the host `load1`, by its command line.
fn tunnel(hosts: &FleetHosts) -> Option<u32> {
    let ports = std::fs::read_to_string(hosts.place.file("fleet.broker/ports")).ok()?;
    let port = ports.lines().find_map(|line| line.strip_suffix(" load1"))?;
    let option = format!("127.0.0.1:{port}:");
    let numbers = std::fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut tunnels = numbers.filter(|number| {
        let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        line.starts_with(b"ssh\0") && String::from_utf8_lossy(&line).contains(&option)
    });
    tunnels.next()
}

fn kill(process: u32) {
    let process = rustix::process::Pid::from_raw(process.cast_signed()).expect("a number");
    rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("it runs");
}

/// The process of a number in a file of the broker's folder, while it exists.
fn process(hosts: &FleetHosts, file: &str) -> Option<u32> {
    let text = std::fs::read_to_string(hosts.place.file(&format!("fleet.broker/{file}"))).ok()?;
    let number: u32 = text.trim().parse().ok()?;
    std::fs::exists(format!("/proc/{number}")).unwrap_or(false).then_some(number)
}

#[test]
fn a_broker_is_started_with_its_tunnels_and_ended() {
    let test = "a_broker_is_started_with_its_tunnels_and_ended";
    if Program::foreign("nats-server").is_none() {
        return skip(test, "nats-server is not installed");
    }
    with_hosts(test, 2, |hosts| {
        hosts.kill_agent(1);
        hosts.kill_agent(2);
        hosts.place.write("fleet.yaml", FLEET);
        let early = hosts.fleet("up");
        assert!(early.expect_exit(2).stderr.contains("wavetank fleet broker init"), "{early}");
        hosts.program().args(["fleet", "broker", "init", "--fleet", "fleet.yaml"]).run().expect_exit(0);
        let words = "fleet up --fleet fleet.yaml --ssh-config config";
        let bare = hosts.program().args(words.split(' ')).environment("PATH", "/nowhere").run();
        assert!(bare.expect_exit(5).stderr.contains("cannot start nats-server: No such file"), "{bare}");
        let up = hosts.fleet("up");
        assert_eq!(up.expect_exit(0).stdout, "load1  started\nload2  started\n", "{up}");
        let server = process(hosts, "nats-server.pid").expect("nats-server runs");
        assert_eq!(
            hosts.fleet("up").expect_exit(0).stdout,
            "load1  already running\nload2  already running\n"
        );
        for host in 1..=2 {
            let mode = |name: &str| {
                use std::os::unix::fs::PermissionsExt as _;
                let file = std::fs::metadata(hosts.folder(host).join(format!("agent.load{host}.{name}")))
                    .expect("it was copied");
                file.permissions().mode() & 0o777
            };
            assert_eq!((mode("seed"), mode("ca.pem")), (0o600, 0o600));
            let seed =
                std::fs::read_to_string(hosts.place.file(&format!("fleet.broker/agent-load{host}.seed")));
            let settings =
                std::fs::read_to_string(hosts.folder(host).join(format!("agent.load{host}.settings")));
            assert!(!settings.expect("it was written").contains(seed.expect("a seed").trim()));
        }
        let target = target(Script::constant(Duration::from_millis(1)));
        // A server and a tunnel that were killed are started again, and both ends connect to it.
        kill(server);
        let again = poll_until(LIMIT, || process(hosts, "nats-server.pid").filter(|one| *one != server));
        let carrier = tunnel(hosts).expect("a tunnel");
        kill(carrier);
        let other = poll_until(LIMIT, || tunnel(hosts).filter(|one| *one != carrier));
        assert!(other.is_some(), "the tunnel is started again");
        let outcome = hosts.outcome(&target.url("/"), "-r 100/s -d 2s", &target);
        let result = check(&outcome, &target, 0);
        assert_eq!((result.count("requests.offered"), result.text("fleet.status")), (200, "complete"));
        // Changed targets restart the agents.
        hosts.place.write("fleet.yaml", format!("{FLEET}allow: [10.99.0.0/16]\n"));
        assert_eq!(hosts.fleet("up").expect_exit(0).stdout, "load1  restarted\nload2  restarted\n");
        hosts.fleet("down -w load1").expect_exit(0);
        assert!(again.is_some() && process(hosts, "nats-server.pid") == again, "others use it");
        hosts.fleet("down").expect_exit(0);
        assert_eq!(process(hosts, "nats-server.pid"), None);
        let status = hosts.program().args(["fleet", "broker", "serve", "--fleet", "missing.yaml"]).run();
        status.expect_exit(2);
    });
}

#[test]
fn agents_are_started_with_their_link() {
    let test = "agents_are_started_with_their_link";
    let Some(server) = Program::foreign("nats-server") else {
        return skip(test, "nats-server is not installed");
    };
    with_hosts(test, 1, |hosts| {
        hosts.kill_agent(1);
        let file = "wavetank_fleet: 1\nname: dc1\nlink: nats://127.0.0.1:4222\nload: {load1: {}}\n";
        hosts.place.write("fleet.yaml", file);
        hosts.program().args(["fleet", "broker", "init", "--fleet", "fleet.yaml"]).run().expect_exit(0);
        let config = hosts.place.file("fleet.broker/nats-server.conf");
        let server = server.args(["-c", &config]).start();
        let ready = poll_until(LIMIT, || server.stderr().contains("Server is ready").then_some(()));
        assert!(ready.is_some(), "{}", server.stderr());
        assert_eq!(hosts.fleet("up").expect_exit(0).stdout, "load1  started\n");
        let target = target(Script::constant(Duration::from_millis(1)));
        let outcome = hosts.outcome(&target.url("/"), "-r 100/s -d 1s", &target);
        assert_eq!(check(&outcome, &target, 0).count("requests.offered"), 100);
        // A host that was added later has no key.
        hosts.place.write("fleet.yaml", file.replace("load1: {}", "load1: {}, load2: {}"));
        let later = hosts.fleet("up");
        assert!(later.expect_exit(2).stderr.contains("agent-load2.seed"), "{later}");
        // `down` needs no files of the broker.
        hosts.place.write("fleet.yaml", file);
        assert_eq!(hosts.fleet("down").expect_exit(0).stdout, "load1  stopped\n");
    });
}
