//! Shared parts of the tests: example data, golden files and a seeded generator.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod hosts;
mod http_plan;
mod journeys;

use std::path::PathBuf;

use wavetank_measure::{
    Bytes, ConnCounts, ErrorClass, HandshakeParams, Handshakes, Histogram, Interval, MessageCounters,
    PacketCounters, PhaseSeries, RequestCounters, StatusCounts, StepSeries, TargetSeries, ThreadStats,
    WireCounters,
};
use wavetank_plan::{
    Arrivals, Close, Condition, ConnectionOwner, DnsPolicy, DnsRefreshPlan, EngineChoice, FileTables,
    HooksPlan, HttpPlan, HttpVersion, IpFamily, Key, Load, MaxOpenLimit, MessageAction, MessagePlan, Phase,
    Plan, PopulationCurve, RateCurve, ReadExtent, RefreshedName, Reply, RequestPlan, Scenario, ScenarioMix,
    SharedPlan, SourceOrder, SourcesPlan, StatusSet, Step, Target, TlsIdentity, TlsPlan, TlsResume,
    TlsVersions, WebSocketPlan,
};
use wavetank_record::{Blame, Finding, FixDoc};
use wavetank_units::{Nanos, Rate, SourceRange};

/// Compares `actual` with the golden file `name`; `WAVETANK_GOLDEN=update` writes it instead.
pub(crate) fn golden(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("WAVETANK_GOLDEN").is_some_and(|value| value == "update") {
        std::fs::write(&path, actual).expect("the golden can be written");
        return;
    }
    let expected =
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(
        actual, expected,
        "{name} differs; if that is meant: WAVETANK_GOLDEN=update, and docs/formats/"
    );
}

/// A small generator (xorshift64*), so that a seed replays a test.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// A number of any magnitude up to 2^`bits`.
    pub(crate) fn magnitude(&mut self, bits: u64) -> u64 {
        let bits = self.below(bits) + 1;
        self.next() >> (64 - bits)
    }

    pub(crate) fn histogram(&mut self) -> Histogram {
        let mut histogram = Histogram::default();
        for _ in 0..self.below(40) {
            let (ns, n) = (self.magnitude(45), self.magnitude(20) + 1);
            histogram.record_n(ns, n);
        }
        histogram
    }

    pub(crate) fn interval(&mut self) -> Interval {
        let steps = (0..self.below(4)).map(|step| self.step(step as u16)).collect();
        let phases = (0..self.below(3)).map(|phase| PhaseSeries {
            phase: phase as u16,
            lag: self.histogram(),
            wait: self.histogram(),
            ttfb: self.histogram(),
            transfer: self.histogram(),
            failed: self.histogram(),
        });
        Interval {
            phases: phases.collect(),
            steps,
            from: Nanos(self.magnitude(50) as i64 - (1 << 40)),
            len: Nanos(self.magnitude(31) as i64),
            targets: vec![TargetSeries {
                phase: 0,
                target: 1,
                connect: self.histogram(),
                tls: self.histogram(),
                handshakes: Handshakes {
                    complete: (0..self.below(3)).map(|n| (agreed(n > 0), self.magnitude(40))).collect(),
                    failed: self.magnitude(40),
                },
                hello: self.histogram(),
                ping: self.histogram(),
                pings_sent: self.magnitude(40),
                messages: MessageCounters { sent: self.magnitude(40), received: self.magnitude(40) },
            }],
            conns: self.conns(),
            bytes: Bytes { sent: self.magnitude(50), received: self.magnitude(50) },
            packets: PacketCounters { sent: self.magnitude(40), lost: self.magnitude(40) },
            users: self.magnitude(20),
            threads: (0..self.below(3)).map(|thread| self.thread(thread as u16)).collect(),
            journeys: journeys::random(self),
        }
    }

    fn step(&mut self, step: u16) -> StepSeries {
        let mut counters = RequestCounters {
            offered: self.magnitude(40),
            sent: self.magnitude(40),
            done: self.magnitude(40),
            late: self.magnitude(40),
            ..RequestCounters::default()
        };
        for slot in counters.errors.iter_mut().chain(&mut counters.dropped_by) {
            *slot = if self.below(3) == 0 { self.magnitude(40) } else { 0 };
        }
        StepSeries {
            key: Key { phase: self.below(3) as u16, scenario: self.below(9) as u16, step },
            counters,
            open: self.magnitude(24),
            status: StatusCounts(vec![(200, self.magnitude(40)), (503, self.magnitude(40))]),
            wire: WireCounters {
                sent: self.magnitude(40),
                retried: self.magnitude(40),
                redirected: self.magnitude(40),
                resources: self.magnitude(40),
                one_way: 0,
            },
            response: self.histogram(),
            service: self.histogram(),
        }
    }

    fn conns(&mut self) -> ConnCounts {
        ConnCounts {
            offered: self.magnitude(40),
            opened: self.magnitude(40),
            failed: self.magnitude(40),
            failed_by: std::array::from_fn(|_| self.magnitude(30)),
            closed: self.magnitude(40),
            lost: self.magnitude(40),
            lost_by: std::array::from_fn(|_| self.magnitude(30)),
            reopened: self.magnitude(40),
            late: self.magnitude(40),
            opening: self.magnitude(40),
            open: self.magnitude(40),
            peak: self.magnitude(40),
        }
    }

    fn thread(&mut self, thread: u16) -> ThreadStats {
        ThreadStats {
            agent: thread % 2,
            thread,
            turns: self.magnitude(30),
            stalled_turns: self.magnitude(30),
            starved_turns: self.magnitude(30),
            busy_ns: self.magnitude(40),
            evaluate_ns: self.magnitude(40),
            turn_ns_max: self.magnitude(40),
            send_call_ns_max: self.magnitude(40),
            cpu_ns: self.magnitude(40),
        }
    }
}

/// A small interval with everything in it, for goldens.
pub(crate) fn interval() -> Interval {
    let mut interval = Interval {
        from: Nanos::from_secs(3),
        len: Nanos::SECOND,
        users: 50,
        conns: ConnCounts {
            offered: 3,
            opened: 2,
            failed: 1,
            closed: 1,
            lost: 1,
            late: 1,
            open: 50,
            peak: 51,
            ..ConnCounts::default()
        },
        bytes: Bytes { sent: 12_000, received: 160_000 },
        threads: vec![ThreadStats {
            agent: 0,
            thread: 0,
            turns: 900,
            stalled_turns: 1,
            starved_turns: 0,
            busy_ns: 420_000_000,
            evaluate_ns: 0,
            turn_ns_max: 1_200_000,
            send_call_ns_max: 40_000,
            cpu_ns: 430_000_000,
        }],
        ..Interval::default()
    };
    let mut step =
        StepSeries { key: Key { phase: 1, scenario: 0, step: 0 }, open: 2, ..StepSeries::default() };
    step.counters = RequestCounters { offered: 8, sent: 7, done: 4, late: 1, ..RequestCounters::default() };
    step.counters.errors[ErrorClass::ConnectRefused as usize] = 1;
    step.counters.errors[ErrorClass::Status as usize] = 1;
    step.counters.dropped_by[0] = 1;
    step.status = StatusCounts(vec![(200, 4), (503, 1)]);
    step.wire = WireCounters { sent: 8, retried: 1, ..WireCounters::default() };
    for ns in [0, 255, 256, 2_000_000, 5_000_000_000_000] {
        step.response.record(ns);
    }
    step.service.record(1_999_999);
    interval.steps.push(step);
    let mut phase = PhaseSeries { phase: 1, ..PhaseSeries::default() };
    phase.lag.record_n(12_345, 7);
    interval.phases.push(phase);
    let mut target = TargetSeries { phase: 1, target: 0, ..TargetSeries::default() };
    target.connect.record(88_000);
    target.tls.record(1_250_000);
    target.handshakes.add(&agreed(false), 1);
    target.handshakes.failed = 1;
    interval.targets.push(target);
    interval.journeys = journeys::journeys();
    interval
}

/// Possible parameters of a handshake.
fn agreed(resumed: bool) -> HandshakeParams {
    HandshakeParams {
        version: "TLSv1.3".to_owned(),
        cipher: "TLS_AES_128_GCM_SHA256".to_owned(),
        group: if resumed { String::new() } else { "X25519".to_owned() },
        alpn: "http/1.1".to_owned(),
        resumed,
    }
}

/// A plan with everything in it, and two planted secrets.
pub(crate) fn plan() -> Plan {
    let condition = |text| Condition::parse(text).expect("a good condition");
    Plan {
        name: "shop".to_owned(),
        seed: u64::MAX,
        targets: vec![Target {
            name: "localhost:8080".to_owned(),
            url: "https://user:PLANTED-SECRET@localhost:8080/cart?a=b&c=%20".to_owned(),
            host: "localhost:8080".to_owned(),
            server_name: Some("localhost".to_owned()),
            tls: None,
            pick: None,
            addresses: vec![
                "127.0.0.1:8080".parse().expect("a good address"),
                "[::1]:8080".parse().expect("a good address"),
            ],
        }],
        http: http_plan::http(),
        tls: Some(tls()),
        sources: SourcesPlan {
            ranges: vec![SourceRange {
                first: "127.0.0.2".parse().expect("a good address"),
                last: "127.0.0.9".parse().expect("a good address"),
            }],
            order: SourceOrder::FillFirst,
        },
        scenarios: vec![Scenario::from_steps(
            "",
            ConnectionOwner::Shared,
            vec![Step::plain("POST /cart", 0, request()), message_step()],
        )],
        shared: SharedPlan::default(),
        around: HooksPlan::default(),
        phases: phases(),
        threads: 2,
        engine: EngineChoice::Epoll,
        files: FileTables::Shared,
        open_rate: Rate::per_second(5_000),
        drain: Nanos::from_secs(60),
        late_tolerance: Nanos::from_millis(1),
        thresholds: vec![condition("p99 < 250ms"), condition("failed < 0.1% in main for 10s")],
        stop: vec![condition("failed > 50% for 10s")],
        under_test: Vec::new(),
        events: Vec::new(),
        tags: [("host", "a: b"), ("empty", ""), ("number", "007")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
    }
}

fn message_step() -> Step {
    Step {
        message: Some(MessagePlan {
            action: MessageAction::Send,
            binary: true,
            reply: Reply::Any,
            count: 2,
            read: Some(ReadExtent::Until(b"\r\n".to_vec())),
        }),
        ..Step::plain("ws.send", 0, RequestPlan::default())
    }
}

fn tls() -> TlsPlan {
    let cert = |base64: &str| format!("-----BEGIN CERTIFICATE-----\n{base64}\n-----END CERTIFICATE-----\n");
    TlsPlan {
        verify: true,
        ca_pem: Some((cert("MIIBCg==") + &cert("MIIBCw==")).into_bytes()),
        client: Some(TlsIdentity {
            chain_pem: cert("MIIBDA==").into_bytes(),
            key_pem: b"-----BEGIN PRIVATE KEY-----\nPLANTED-SECRET\n-----END PRIVATE KEY-----\n".to_vec(),
        }),
        sni: Some("localhost".to_owned()),
        resume: TlsResume::User,
        versions: TlsVersions::Both,
        groups: vec!["X25519".to_owned()],
        ciphers: Vec::new(),
        alpn: vec!["http/1.1".to_owned()],
    }
}

fn request() -> RequestPlan {
    let header = |name: &str, value: &str| (name.to_owned(), value.into());
    RequestPlan {
        method: "POST".to_owned(),
        path: "/cart?q=#x: *y &z !".into(),
        headers: vec![
            header("Accept", "*/*"),
            header("Authorization", "Basic PLANTED-SECRET"),
            header("X-Mine", "PLANTED-SECRET"),
            header("X-Empty", ""),
        ],
        body: "{\"item\": 1,\n \"n\": \"y\"}\n".into(),
        secret_headers: vec!["x-mine".to_owned()],
    }
}

fn phases() -> Vec<Phase> {
    let warmup = Phase {
        name: "warmup".to_owned(),
        warmup: true,
        start: Nanos::from_secs(-5),
        length: Some(Nanos::from_secs(5)),
        requests_max: None,
        sessions_max: None,
        load: Load::Closed {
            users: PopulationCurve::constant(50, Some(Nanos::from_secs(5))),
            sessions_each: None,
        },
        mix: ScenarioMix::one(0),
        max_open: 50,
        max_open_by: MaxOpenLimit::Files,
        connections: 50,
        open_before: true,
    };
    let main = Phase {
        name: "main".to_owned(),
        warmup: false,
        start: Nanos::ZERO,
        length: None,
        requests_max: Some(100_000),
        load: Load::Open {
            rate: RateCurve::constant(Rate { count: 7, per: Nanos::from_millis(3) }, None),
            arrivals: Arrivals::Poisson,
            requests_each: None,
        },
        max_open: 300_000,
        max_open_by: MaxOpenLimit::Plan,
        ..warmup.clone()
    };
    vec![warmup, main]
}

/// Returns a finding with every field.
pub(crate) fn finding() -> Finding {
    let [text, host, configured] = ["lb1: keepalive 64;", "lb1", "nginx"].map(str::to_owned);
    let [section, action, directive, value] = ["upstream", "set", "keepalive", "64"].map(str::to_owned);
    let fix = vec![FixDoc { text, host, configured, section, action, directive, value }];
    let [code, confidence] = ["slow", "high"].map(str::to_owned);
    Finding { code, blame: Blame::Target, decisive: true, confidence, fix, ..Finding::default() }
}
