//! [`FleetHosts`]: load hosts for tests. All are this machine, in a network of their own. A real
//! sshd leads to a home folder for each, in which an agent is started.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{
    JitterProbe, Outcome, Program, RunResult, Running, Script, Signal, Target, TestDir, poll_until, skip,
};

/// No wait of a test is as long on a machine that works.
pub(crate) const LIMIT: Duration = Duration::from_mins(2);
/// The target's address. It is not that of a loopback interface, which fleets refuse.
const ADDRESS: &str = "10.99.0.1";
/// Makes that address, and keeps the network until it is killed.
const NETWORK: &str = "ip link add v0 type veth peer name v1; ip address add 10.99.0.1/24 dev v0
ip link set v0 up; ip link set v1 up; ip link set lo up; echo ready; exec sleep 3600";
/// How far apart agents may start: they share the CPUs of this machine with other tests.
pub(crate) const START_TOLERANCE: &str = "5s";
/// The exit code of a run that says it is invalid.
const INVALID: i32 = 3;

/// See the module's description.
pub(crate) struct FleetHosts {
    pub(crate) place: TestDir,
    /// The agent of each host, with a name from `load1` on.
    agents: Vec<Option<Running>>,
    _sshd: Running,
}

/// Calls `body` in the network of `count` hosts with an agent each, and returns its result. If that
/// cannot be had here, the test is recorded as skipped. So it is if `body` fails on a machine that
/// wakes threads late: agents, controller, ssh and target share its CPUs, and each may be late.
/// Programs that `body` starts are in the network, too.
pub(crate) fn with_hosts<T: Send>(
    test: &str,
    count: usize,
    body: impl FnOnce(&mut FleetHosts) -> T + Send,
) -> Option<T> {
    if !NetNs::available(test) {
        return None;
    }
    let (Some(sshd), Some(keygen)) = (Program::foreign("sshd"), Program::foreign("ssh-keygen")) else {
        skip(test, "ssh is not installed");
        return None;
    };
    let unshare = Program::foreign("unshare").expect("it was used just now");
    let network = unshare.args(["--net", "sh", "-ec", NETWORK]).start();
    let made = poll_until(LIMIT, || {
        let dead = network.ends_within(Duration::ZERO);
        (dead || network.stdout().contains("ready")).then_some(!dead)
    });
    if made != Some(true) {
        skip(test, &format!("no network can be made: {}", network.stderr().trim()));
        return None;
    }
    let namespace = std::fs::File::open(format!("/proc/{}/ns/net", network.id())).expect("it runs");
    let witness = JitterProbe::start();
    std::thread::scope(|scope| {
        // The thread of a test may be that of other tests, which stay in their network.
        let thread = std::thread::Builder::new().name(test.to_owned()).spawn_scoped(scope, || {
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(namespace.as_fd(), kind).expect("root may enter");
            let mut hosts = FleetHosts::new(sshd, &keygen, count);
            for host in 1..=count {
                hosts.start_agent(host, &[], &[]);
            }
            body(&mut hosts)
        });
        let result = thread.expect("a thread can be started").join();
        let lateness = witness.end();
        match result {
            Ok(result) => Some(result),
            Err(_) if lateness.is_noisy() => {
                skip(test, &format!("this machine is too noisy for it ({lateness:?})"));
                None
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

impl FleetHosts {
    fn new(sshd: Program, keygen: &Program, count: usize) -> Self {
        let place = TestDir::new();
        for key in ["host", "user"] {
            keygen
                .clone()
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &place.file(key)])
                .run()
                .expect_exit(0);
        }
        // sshd of Debian wants its folder, which is empty.
        std::fs::create_dir_all("/run/sshd").expect("root may make it");
        let mut server = format!(
            "ListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nPidFile none\n\
             UsePAM no\nMaxStartups 200\n",
            place.file("host"),
            place.file("user.pub")
        );
        let mut client = format!(
            "Host *\n  HostName 127.0.0.1\n  IdentityFile {}\n  StrictHostKeyChecking no\n  \
             UserKnownHostsFile /dev/null\n  LogLevel ERROR\n",
            place.file("user")
        );
        let (mut matches, mut fleet) = (String::new(), "wavetank_fleet: 1\nload:\n".to_owned());
        for host in 1..=count {
            let home = place.file(&format!("load{host}"));
            std::fs::create_dir_all(Path::new(&home).join(".wavetank/agent")).expect("a folder");
            server.extend([format!("Port {}\n", 2200 + host)]);
            matches.extend([format!("Match LocalPort {}\n  SetEnv HOME={home}\n", 2200 + host)]);
            client.extend([format!("Host load{host}\n  Port {}\n", 2200 + host)]);
            fleet.extend([format!("  load{host}: {{}}\n")]);
        }
        place.write("config", client);
        place.write("fleet.yaml", fleet);
        let file = place.write("sshd", server + &matches);
        let sshd = sshd.args(["-D", "-e", "-f", &file]).start();
        let up = poll_until(LIMIT, || {
            let dead = sshd.ends_within(Duration::ZERO);
            let accepts = (1..=count)
                .all(|host| std::net::TcpStream::connect(("127.0.0.1", 2200 + host as u16)).is_ok());
            (dead || accepts).then_some(!dead)
        });
        assert_eq!(up, Some(true), "sshd does not accept: {}", sshd.stderr());
        let hosts = Self { place, agents: (0..count).map(|_| None).collect(), _sshd: sshd };
        (1..=count).for_each(|host| hosts.relink(host));
        hosts
    }

    /// Puts the program under test into the folder of a host's agent.
    pub(crate) fn relink(&self, host: usize) {
        let place = self.folder(host).join("wavetank");
        let _ = std::fs::remove_file(&place);
        std::os::unix::fs::symlink(&self.program().arguments()[0], place).expect("a link");
    }

    /// The folder of a host's agent.
    pub(crate) fn folder(&self, host: usize) -> PathBuf {
        self.place.path().join(format!("load{host}/.wavetank/agent"))
    }

    /// Starts the agent of a host by `wrapper` and with these options, and waits until it listens.
    pub(crate) fn start_agent(&mut self, host: usize, wrapper: &[&str], options: &[&str]) {
        let (folder, name) = (self.folder(host), format!("load{host}"));
        let folder = folder.to_string_lossy();
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(self.place.path());
        let program = program.args(["agent", "serve", "--dir", &folder, "--name", &name]).args(options);
        let agent = program.under(wrapper).start();
        let listens = poll_until(LIMIT, || {
            let dead = agent.ends_within(Duration::ZERO);
            (dead || agent.stderr().contains("listens in")).then_some(!dead)
        });
        assert_eq!(listens, Some(true), "the agent does not listen: {}", agent.stderr());
        self.agents[host - 1] = Some(agent);
    }

    /// The agent of a host.
    pub(crate) fn agent(&self, host: usize) -> &Running {
        self.agents[host - 1].as_ref().expect("it was started")
    }

    /// Kills the agent of a host, and returns once it is gone.
    pub(crate) fn kill_agent(&mut self, host: usize) {
        let agent = self.agents[host - 1].take().expect("it was started");
        agent.signal(Signal::KILL);
        agent.wait(LIMIT);
    }

    /// The spools that a host's agent has.
    pub(crate) fn spools(&self, host: usize) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder(host).join("spools"));
        entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
    }

    /// `wavetank` in the folder of the hosts.
    pub(crate) fn program(&self) -> Program {
        Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(self.place.path())
    }

    /// `wavetank fleet` with this subcommand and these arguments, for the hosts of the fleet file.
    pub(crate) fn fleet(&self, line: &str) -> Outcome {
        let words = line.split_whitespace().chain(["--fleet", "fleet.yaml", "--ssh-config", "config"]);
        self.program().args(["fleet"]).args(words).run()
    }

    /// `wavetank run` of this URL or file from all hosts.
    pub(crate) fn run<S: AsRef<str>>(&self, goal: &str, words: impl IntoIterator<Item = S>) -> Program {
        let fleet = ["--fleet", "fleet.yaml", "--ssh-config", "config", "--format", "json"];
        let start = ["--start-tolerance", START_TOLERANCE];
        self.program().args(["run", goal]).args(words).args(fleet).args(start)
    }

    /// Runs this URL or file from all hosts, with new counts of the target.
    pub(crate) fn outcome(&self, goal: &str, words: &str, target: &Target) -> Outcome {
        target.reset();
        self.run(goal, words.split_whitespace()).start().wait(LIMIT)
    }

    /// Starts such a run, and waits until the target has seen this number of its requests.
    #[track_caller]
    pub(crate) fn under_load(&self, goal: &str, words: &str, target: &Target, requests: u64) -> Running {
        target.reset();
        let run = self.run(goal, words.split_whitespace()).start();
        let is_there = poll_until(LIMIT, || {
            let has_ended = run.ends_within(Duration::ZERO);
            (has_ended || target.truth().requests >= requests).then_some(!has_ended)
        });
        assert_eq!(is_there, Some(true), "no load: {}{}", run.stdout(), run.stderr());
        run
    }

    /// The archive of the last run.
    #[track_caller]
    pub(crate) fn archive(&self) -> PathBuf {
        self.place.runs("runs").pop().expect("there is a run")
    }
}

impl Drop for FleetHosts {
    /// Ends the agents that a test started by `fleet up`.
    fn drop(&mut self) {
        for host in (1..=self.agents.len()).filter(|host| self.agents[host - 1].is_none()) {
            let folder = self.folder(host).to_string_lossy().into_owned();
            let _ = self.program().args(["agent", "stop", "--dir", &folder]).start().ends_within(LIMIT);
        }
    }
}

/// A target that the hosts reach.
pub(crate) fn target(script: Script) -> Target {
    Target::start_at(format!("{ADDRESS}:0").parse().expect("an address"), script)
}

/// Checks the exit code and the conservation of all counters. A run may say that this machine was
/// too slow for it: its counters are right then, too.
#[track_caller]
pub(crate) fn check_exit(outcome: &Outcome, exit: i32) -> RunResult {
    if !outcome.exit.is_some_and(|code| [exit, INVALID].contains(&code)) {
        outcome.expect_exit(exit);
    }
    let result = outcome.result();
    if outcome.exit != Some(exit) {
        assert_eq!(result.text("verdict.blame"), "generator", "{outcome}");
    }
    result.conserved();
    result
}

/// The same, and that the target has seen each request of the result, and no other.
#[track_caller]
pub(crate) fn check(outcome: &Outcome, target: &Target, exit: i32) -> RunResult {
    let truth = target.settled();
    let result = check_exit(outcome, exit);
    result.agrees_with(&truth);
    result
}

/// Whether this machine was fast enough to send each request of the plan.
pub(crate) fn is_all_sent(result: &RunResult) -> bool {
    result.count("requests.dropped") == 0
}

/// The value of `name` in the result's part for an agent.
#[track_caller]
pub(crate) fn of_agent<'a>(result: &'a RunResult, host: usize, name: &str) -> &'a serde_json::Value {
    let agent = &result.at("fleet.agents")[host - 1];
    assert_eq!(agent["name"], format!("load{host}"), "{result}");
    &agent[name]
}
