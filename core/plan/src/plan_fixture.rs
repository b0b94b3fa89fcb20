//! [`Plan::for_tests`] and [`TlsPlan::for_tests`]: the plan of the simplest run, and of its TLS.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use wavetank_units::{Nanos, Rate};

use crate::constants::{
    CONNECTIONS, DRAIN_MIN, DURATION, LATE_TOLERANCE, OPEN_RATE_PER_S, SEED, TIMEOUT, USER_AGENT,
};
use crate::{
    ConnectionOwner, EngineChoice, FileTables, HooksPlan, HttpPlan, Load, MaxOpenLimit, Phase, Plan,
    PopulationCurve, RequestPlan, Scenario, ScenarioMix, SharedPlan, SourcesPlan, Step, Target, TargetUrl,
    TlsPlan, TlsResume, TlsVersions,
};

impl Plan {
    /// Returns the plan of `wavetank run URL` with all defaults: users who repeat a GET of `url` on
    /// two threads. Tests that need no command line start from it.
    pub fn for_tests(url: &TargetUrl, addresses: &[SocketAddr]) -> Self {
        let request = RequestPlan {
            method: "GET".to_owned(),
            path: url.path.as_str().into(),
            headers: vec![("User-Agent".to_owned(), USER_AGENT.into())],
            ..RequestPlan::default()
        };
        let step = Step::plain(format!("GET {}", url.path), 0, request);
        Self {
            name: "test".to_owned(),
            seed: SEED,
            targets: vec![Target {
                name: url.authority(),
                url: url.url(),
                host: url.host_header(),
                server_name: url.tls.then(|| url.certificate_name().to_owned()),
                tls: None,
                pick: None,
                addresses: addresses.to_vec(),
            }],
            http: HttpPlan::default(),
            tls: None,
            sources: SourcesPlan::default(),
            scenarios: vec![Scenario::from_steps("", ConnectionOwner::User, vec![step])],
            shared: SharedPlan::default(),
            around: HooksPlan::default(),
            phases: vec![Phase {
                name: "main".to_owned(),
                warmup: false,
                start: Nanos::ZERO,
                length: Some(DURATION),
                requests_max: None,
                sessions_max: None,
                load: Load::Closed {
                    users: PopulationCurve::constant(CONNECTIONS, Some(DURATION)),
                    sessions_each: None,
                },
                mix: ScenarioMix::one(0),
                max_open: CONNECTIONS,
                max_open_by: MaxOpenLimit::Plan,
                connections: CONNECTIONS,
                open_before: true,
            }],
            threads: 2,
            engine: EngineChoice::Epoll,
            files: FileTables::Shared,
            open_rate: Rate::per_second(OPEN_RATE_PER_S),
            drain: DRAIN_MIN.max(TIMEOUT),
            late_tolerance: LATE_TOLERANCE,
            thresholds: Vec::new(),
            stop: Vec::new(),
            under_test: Vec::new(),
            events: Vec::new(),
            tags: BTreeMap::new(),
        }
    }
}

impl TlsPlan {
    /// Returns settings that accept any certificate, resume no session and offer `alpn`. Tests that
    /// need no command line start from them.
    pub fn for_tests(alpn: &[&str]) -> Self {
        Self {
            verify: false,
            ca_pem: None,
            client: None,
            sni: None,
            resume: TlsResume::Never,
            versions: TlsVersions::Both,
            groups: Vec::new(),
            ciphers: Vec::new(),
            alpn: alpn.iter().map(|&name| name.to_owned()).collect(),
        }
    }
}
