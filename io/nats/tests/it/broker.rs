//! [`TestBroker`]: a `nats-server` of a test.

use std::net::TcpStream;
use std::time::Duration;

use wavetank_nats::{Broker, BrokerFiles, BrokerSetup, NatsKey};
use wavetank_testkit::{Program, Running, Signal, TestDir, free_port, poll_until, skip};

use crate::LONG;

/// The certificate is valid for longer than this code.
const FAR: (i32, u8, u8) = (2200, 1, 1);

/// A broker for a fleet `dc1`, on a port of the loopback.
pub(crate) struct TestBroker {
    place: TestDir,
    pub(crate) files: BrokerFiles,
    agents: Vec<String>,
    port: u16,
    program: Program,
    running: Option<Running>,
}

impl TestBroker {
    /// `None` if nats-server is not installed, recorded as a skip of `test`.
    pub(crate) fn start(test: &str, agents: &[&str]) -> Option<Self> {
        let mut broker = Self::prepare(test, agents, FAR)?;
        broker.start_again();
        Some(broker)
    }

    /// A broker that does not run yet, with a certificate that is valid until this day.
    pub(crate) fn prepare(test: &str, agents: &[&str], valid_until: (i32, u8, u8)) -> Option<Self> {
        // A newer server than that of the system, for those who have one.
        let named = std::env::var("WAVETANK_NATS").ok().map(|path| Program::new(&path));
        let Some(program) = named.or_else(|| Program::foreign("nats-server")) else {
            skip(test, "nats-server is not installed");
            return None;
        };
        let (place, port) = (TestDir::new(), free_port());
        let agents: Vec<String> = agents.iter().map(|name| (*name).to_owned()).collect();
        let setup = BrokerSetup {
            listen: "0.0.0.0",
            fleet: "dc1",
            agents: &agents,
            hosts: &["127.0.0.1".to_owned()],
            port: i32::from(port),
            dir: place.path(),
            valid_until,
        };
        let files = BrokerFiles::make(&setup).expect("the files");
        place.write("nats-server.conf", files.config.replace("0.0.0.0", "127.0.0.1"));
        for (name, text) in [
            ("ca.pem", &files.ca),
            ("server.pem", &files.certificate),
            ("server.key", &files.certificate_key),
        ] {
            place.write(name, text);
        }
        let program = program.args(["-c", &place.file("nats-server.conf")]);
        Some(Self { place, files, agents, port, program, running: None })
    }

    pub(crate) fn start_again(&mut self) {
        let running = self.program.clone().start();
        let accepts = poll_until(LONG, || {
            let dead = running.ends_within(Duration::ZERO);
            (dead || TcpStream::connect(("127.0.0.1", self.port)).is_ok()).then_some(!dead)
        });
        assert_eq!(accepts, Some(true), "nats-server does not accept: {}", running.stderr());
        self.running = Some(running);
    }

    pub(crate) fn kill(&mut self) {
        let running = self.running.take().expect("it runs");
        running.signal(Signal::KILL);
        assert!(running.ends_within(LONG));
    }

    /// This broker for the owner of a key.
    pub(crate) fn with_key(&self, key: NatsKey) -> Broker {
        Broker::new(&self.url(), "dc1", key, self.place.file("ca.pem").as_ref()).expect("a broker")
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn controller(&self) -> Broker {
        self.with_key(self.files.controller.clone())
    }

    pub(crate) fn agent(&self, name: &str) -> Broker {
        let index = self.agents.iter().position(|agent| agent == name).expect("an agent");
        self.with_key(self.files.agents[index].clone())
    }

    /// The file with the certificate that its clients trust.
    pub(crate) fn ca_file(&self) -> String {
        self.place.file("ca.pem")
    }

    /// What the broker wrote.
    pub(crate) fn log(&self) -> String {
        self.running.as_ref().map(Running::stderr).unwrap_or_default()
    }
}
