//! Hosts that are observed outside of a lab: the one that sends the load, and those of `--observe`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use wavetank_testkit::{RunHarness, Script, Target, TestDir};

/// The samples of a host in the archive of the only run.
fn samples(place: &TestDir, host: &str) -> Vec<Value> {
    let run = place.runs("runs").pop().expect("one run");
    let text = fs::read_to_string(run.join("hosts").join(format!("{host}.jsonl"))).expect("it was sampled");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

#[test]
fn every_run_samples_its_own_host_and_names_the_nearest_limit() {
    let harness = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let target = Target::start(Script::constant(std::time::Duration::from_millis(1)));
    let run = harness.run(&target, "-c 2 -d 3s --threshold memory(local)<100%", 0);
    let host = &run.value()["hosts"][0];
    assert_eq!((host["name"].as_str(), host["role"].as_str()), (Some("local"), Some("load")), "{host}");
    let limits = host["limits"].as_array().expect("it has limits");
    let named: Vec<_> = limits.iter().filter_map(|limit| limit["resource"].as_str()).collect();
    for resource in ["cpu", "memory", "files", "load_thread"] {
        assert!(named.contains(&resource), "{named:?}");
    }
    assert!(
        limits.iter().all(|limit| limit["share"].as_f64().is_some_and(|share| share <= 1.01)),
        "{limits:?}"
    );
    let nearest = run.at("nearest_limit");
    assert!(nearest["host"] == "local" && nearest["load_factor"].as_f64() >= Some(1.0), "{nearest}");
    assert_eq!(run.value()["thresholds"][0]["ok"], true, "{}", run.value()["thresholds"]);
    let samples = samples(harness.place(), "local");
    assert!(samples.len() >= 3, "{}", samples.len());
    assert!(
        samples[0]["counters"]["rises"]["Tcp.OutSegs"].is_null(),
        "the first has nothing to compare with: {}",
        samples[0]
    );
    let sent = samples.iter().filter_map(|one| one["counters"]["rises"]["Tcp.OutSegs"].as_u64()).sum::<u64>();
    assert!(sent > 0, "segments of the load are counted: {samples:?}");
}

#[test]
fn a_full_queue_of_a_local_server_is_named() {
    let harness = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    // It never accepts, and its queue has room for nine.
    rustix::net::listen(&listener, 8).expect("it listens already");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    let args =
        ["-c", "60", "-d", "3s", "--no-probe", "--timeout", "2s", "--connect-timeout", "2s", "--drain", "3s"];
    let outcome = harness.load(&url, args).run();
    let run: Value = outcome.json();
    let findings = run["findings"].as_array().expect("a list");
    let full = findings.iter().find(|one| one["code"] == "accept_queue_full");
    let full = full.unwrap_or_else(|| panic!("{findings:#?}"));
    let text = |key: &str| full[key].as_str().unwrap_or_default().to_owned();
    assert!(text("message").contains("this host"), "{full}");
    assert!(text("evidence").contains("of 8 waited at 127.0.0.1:"), "{full}");
    assert_eq!((text("blame"), text("confidence")), ("target".to_owned(), "high".to_owned()), "{full}");
    assert_eq!(run["verdict"]["blame"], "target", "{}", run["verdict"]);
}

/// Two sockets that share a port of this host, as workers of a server have them.
fn shared_port() -> [TcpListener; 2] {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};
    let listen = |port: u16| {
        // A program that another test starts must not hold it open.
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).expect("a socket");
        sockopt::set_socket_reuseport(&socket, true).expect("the kernel has it");
        bind(&socket, &SocketAddr::from(([127, 0, 0, 1], port))).expect("the port is free or shared");
        rustix::net::listen(&socket, 1_024).expect("it is bound");
        TcpListener::from(socket)
    };
    let first = listen(0);
    let port = first.local_addr().expect("it is bound").port();
    [first, listen(port)]
}

/// Answers requests, one on each connection.
fn serve_one_each(listener: &TcpListener) {
    while let Ok((mut peer, _)) = listener.accept() {
        let mut bytes = [0; 4_096];
        if peer.read(&mut bytes).unwrap_or(0) == 0 {
            continue;
        }
        let _ = peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
    }
}

#[test]
fn a_worker_that_does_not_accept_is_named() {
    let harness = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let [works, stuck] = shared_port();
    let address = works.local_addr().expect("it is bound");
    // It waits for connections until the program of the tests ends.
    std::thread::spawn(move || serve_one_each(&works));
    let url = format!("http://{address}/");
    let args = "-r 30/s -d 6s --no-probe --timeout 2s --drain 3s --threshold failed<1%".split(' ');
    let outcome = harness.load(&url, args).run();
    drop(stuck);
    let run: Value = outcome.json();
    let findings = run["findings"].as_array().expect("a list");
    let found = findings.iter().find(|one| one["code"] == "stuck_worker");
    let found = found.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(found["evidence"].as_str().is_some_and(|text| text.contains(&address.to_string())), "{found}");
    assert_eq!(run["verdict"]["blame"], "target", "{}", run["verdict"]);
    assert!(findings.iter().all(|one| one["code"] != "accept_queue_full"), "{findings:#?}");
}

/// An `ssh` that runs its last argument on this host, in a session of its own as sshd does. It
/// refuses hosts called `dead…`.
fn fake_ssh(place: &TestDir) -> String {
    let script = "#!/bin/sh\nfor last; do host=$before; before=$last; done\n\
                  case $host in dead*) echo 'ssh: connect to host dead port 22: No route to host' >&2; exit 255;; esac\n\
                  exec setsid -w sh -c \"$last\"\n";
    let path = place.write("ssh", script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let folder = Path::new(&path).parent().expect("a folder").display();
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}

#[test]
fn hosts_under_test_are_observed_over_ssh() {
    let harness = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let path = fake_ssh(harness.place());
    let target = Target::start(Script::constant(std::time::Duration::from_millis(1)));
    let with = |args: &str| {
        let args = args.split_whitespace();
        harness.load(&target.url("/"), args).environment("PATH", &path).run()
    };
    let run = with("-c 2 -d 3s --observe web1,web2 --threshold memory(web*)<100%");
    run.expect_exit(0);
    let json = run.json();
    let names: Vec<_> = json["hosts"].as_array().expect("a list").iter().map(|host| &host["name"]).collect();
    assert_eq!(names, ["local", "web1", "web2"]);
    assert_eq!(json["hosts"][1]["role"], "server", "{}", json["hosts"][1]);
    assert!(samples(harness.place(), "web1").len() >= 2);
    let dead = with("-c 2 -d 1s --observe dead1");
    dead.expect_exit(5);
    let error = dead.json();
    assert_eq!(error["code"], "host_unreachable", "{error}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("`dead1`")), "{error}");
}

#[test]
fn observe_prints_samples_of_this_host_and_of_others() {
    let harness = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let path = fake_ssh(harness.place());
    let lines = |args: &str| -> Vec<Value> {
        let program = harness.program().args(args.split_whitespace()).environment("PATH", &path);
        let outcome = program.run();
        outcome.expect_exit(0);
        outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    };
    let own = lines("observe --interval 100ms --for 1s");
    assert!(own.len() >= 2 && own.len() <= 11, "{}", own.len());
    assert!(own[0]["cores"].as_array().is_some_and(|cores| !cores.is_empty()), "{}", own[0]);
    assert!(own[1]["at_ns"].as_i64() > own[0]["at_ns"].as_i64(), "{own:?}");
    let other = lines("observe web1 --interval 200ms --for 5s");
    assert!(other.iter().all(|line| line["memory"]["all_bytes"].as_u64() > Some(0)), "{other:?}");
    let refused = harness.program().args(["observe", "dead1"]).environment("PATH", &path).run();
    refused.expect_exit(5);
    assert!(refused.stderr.contains("cannot observe `dead1`"), "{}", refused.stderr);
}
