//! [`Stand`]: services of a topology in the test's own network, without a lab around them.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use wavetank_lab::service::{ServiceState, ServiceStatus, Services, check_programs};
use wavetank_testkit::skip;
use wavetank_topology::{Input, Lab, MachineFacts, read};
use wavetank_units::UserError;

/// Longer than any answer takes.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);

/// All hosts share one network, in which each has its addresses, so their ports must differ.
pub(crate) struct Stand {
    pub(crate) lab: Lab,
    pub(crate) hosts: Vec<Services>,
    folder: tempfile::TempDir,
}

/// Runs `test` in a separate network namespace, or records why it cannot.
pub(crate) fn alone(name: &str, programs: &[&str], test: impl FnOnce() + Send) {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin";
    let there = |program: &&&str| path.split(':').any(|folder| Path::new(folder).join(program).is_file());
    if let Some(missing) = programs.iter().chain(&["ip"]).find(|program| !there(program)) {
        skip(name, &format!("{missing} is not installed"));
        return;
    }
    // Only the thread is in the new network namespace; its children inherit it.
    let done = thread::scope(|scope| {
        let inside = scope.spawn(|| {
            if unshare(CloneFlags::CLONE_NEWNET).is_err() {
                return false;
            }
            ip(&["link", "set", "lo", "up"]);
            test();
            true
        });
        inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    if !done {
        skip(name, "network namespaces need root");
    }
}

fn ip(words: &[&str]) {
    let status = Command::new("ip").args(words).status().expect("it is installed");
    assert!(status.success(), "ip {words:?}");
}

impl Stand {
    /// Returns the services of `hosts`, the text below that key of a topology file. Nothing is
    /// started; the addresses exist.
    pub(crate) fn new(hosts: &str) -> Self {
        Self::with_files(hosts, &[])
    }

    /// Like [`new`](Self::new), with `files` next to the topology file.
    pub(crate) fn with_files(hosts: &str, files: &[(&str, &str)]) -> Self {
        let text = format!("wavetank_lab: 1\nname: stand\nnetworks: {{net: 10.30.0.0/24}}\nhosts:\n{hosts}");
        let alongside = |name: &str| {
            let found = files.iter().find(|(own, _)| *own == name);
            found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "no such file".to_owned())
        };
        let input = Input {
            name: "lab.yaml",
            bytes: text.as_bytes(),
            files: &alongside,
            machine: MachineFacts::default(),
        };
        let reading = read(&input);
        let reported = wavetank_grammar::render(&reading.diagnostics, "lab.yaml", &reading.text);
        let lab = reading.lab.unwrap_or_else(|| panic!("{reported}"));
        check_programs(&lab, "lab.yaml").expect("every program is there and every configuration can be made");
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        let services = |(index, host): (usize, &wavetank_topology::Host)| {
            let own = folder.path().join(&host.name);
            std::fs::create_dir(&own).expect("can be made");
            for (address, _) in host.interfaces.iter().flat_map(|one| &one.addresses) {
                ip(&["addr", "replace", &format!("{address}/32"), "dev", "lo"]);
            }
            Services::new(&lab, index, &own, "lab.yaml")
        };
        let hosts = lab.hosts.iter().enumerate().map(services).collect();
        Self { lab, hosts, folder }
    }

    /// Checks and starts everything, the last host first: a balancer is listed before its servers.
    #[track_caller]
    pub(crate) fn start(&mut self) {
        for services in self.hosts.iter_mut().rev() {
            let outcome = services.check().and_then(|_| services.start());
            outcome.unwrap_or_else(|error| panic!("{error}"));
        }
    }

    /// Returns the error of the first host's services.
    #[track_caller]
    pub(crate) fn refused(&mut self) -> UserError {
        let services = &mut self.hosts[0];
        services.check().and_then(|_| services.start()).expect_err("it must not come up")
    }

    /// Returns the path of a host's file.
    pub(crate) fn path(&self, path: &str) -> String {
        self.folder.path().join(path).to_string_lossy().into_owned()
    }

    /// Returns the content of a file.
    pub(crate) fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Returns the first address of a host.
    pub(crate) fn address(&self, host: &str) -> IpAddr {
        self.lab.host(host).expect("it is in the file").interfaces[0].addresses[0].0
    }

    /// Sends `asked` to a host and returns everything up to the connection's end.
    pub(crate) fn answer(&self, host: &str, port: u16, asked: &str) -> String {
        exchange(SocketAddr::new(self.address(host), port), asked)
    }

    /// GETs `path` on a new connection.
    pub(crate) fn get(&self, host: &str, port: u16, path: &str) -> String {
        self.answer(host, port, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    /// Returns the status of the first service of the host with that index.
    pub(crate) fn status(&self, host: usize) -> ServiceStatus {
        self.hosts[host].status().into_iter().next().expect("it has a service")
    }

    /// Repeatedly notifies the services that `pids` may have ended, until `wanted` is the state of
    /// the host's first service.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, host: usize, wanted: ServiceState, pids: &[u32]) {
        let reached = wavetank_testkit::poll_until(LIMIT, || {
            for pid in pids {
                self.hosts[host].handle_exit(*pid);
            }
            (self.status(host).state == wanted).then_some(())
        });
        assert!(reached.is_some(), "{:?}", self.status(host));
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        for services in &mut self.hosts {
            services.stop();
        }
    }
}

/// Sends `asked` to `place` and returns the answer.
pub(crate) fn exchange(place: SocketAddr, asked: &str) -> String {
    let go = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(place)?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.write_all(asked.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    };
    String::from_utf8_lossy(&go().unwrap_or_else(|error| panic!("{place}: {error}"))).into_owned()
}
