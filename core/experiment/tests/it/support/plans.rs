//! Plans of files, on a host that can do everything.

use std::net::SocketAddr;

use wavetank_experiment::{
    Experiment, Factor, LowerContext, ParseInput, Parsed, UrlRequest, lower, read_url,
};
use wavetank_grammar::Diagnostic;
use wavetank_plan::{
    EngineChoice, HostFacts, HostLimits, LoadOrigin, Plan, RunOptions, Secret, SocketSupport, SourcesPlan,
    TargetUrl,
};
use wavetank_units::{Code, Ports, UserError};

use super::packages::check_sent;
use super::reading;

/// A host that can do everything.
pub(crate) fn host() -> HostFacts {
    HostFacts {
        cpus: vec![0, 1],
        memory_available_bytes: 4 << 40,
        files_max: 1 << 20,
        sockets: SocketSupport { uring: Ok(()), ..SocketSupport::plain() },
        limits: HostLimits::default(),
        port_range: (1_024, 65_535),
        ports: Ports::range(1_024, 65_535),
        addresses: Vec::new(),
        local_networks: Vec::new(),
        kernel: "6.18.0".to_owned(),
        hostname: "large".to_owned(),
        cpu_model: "test".to_owned(),
        origin: LoadOrigin::ThisHost,
        observed_hosts: Vec::new(),
        agent_hosts: Vec::new(),
    }
}

/// A factor of `--scale` or `--speed`.
pub(crate) fn factor(text: &str) -> Factor {
    Factor::parse("--scale", text).expect("a factor")
}

/// Returns the plan of a file. Its hosts are addresses, or `web.test` with two addresses. Its
/// traces are `times.csv` and `rates.csv`.
pub(crate) fn plan_of(name: &str, text: &str) -> Plan {
    plan_of_changed(name, text, |_| ())
}

/// The same, rehearsed.
pub(crate) fn plan_of_changed(name: &str, text: &str, change: impl FnOnce(&mut Experiment)) -> Plan {
    let read = reading(name, text.as_bytes(), &[]);
    let mut experiment = read.experiment.unwrap_or_else(|| panic!("{name}: {:?}", read.diagnostics.sorted()));
    change(&mut experiment);
    lowered(name, &experiment)
}

fn lowered(name: &str, experiment: &Experiment) -> Plan {
    let addresses = |url: &TargetUrl| -> Result<Vec<SocketAddr>, UserError> {
        let named = |last| SocketAddr::from(([127, 0, 0, last], url.port));
        Ok(if url.host == "web.test" {
            vec![named(2), named(3)]
        } else {
            vec![url.address().expect("an address")]
        })
    };
    let tables: Vec<_> = experiment.data.iter().map(|_| None).collect();
    let lowering = LowerContext {
        host: &host(),
        tables: &tables,
        addresses: &addresses,
        file: &|name| match name {
            "times.csv" => Ok(b"2s\n2250ms\n2500ms\n2750ms\n".to_vec()),
            "rates.csv" => Ok(b"time,rate\n1s,20/s\n3s,5/s\n".to_vec()),
            other => Err(UserError::usage(Code::BadFile, other.to_owned(), "no such file here")),
        },
        secret: &|name| (name == "PASSWORD").then(|| Secret::new("planted")),
        sources: SourcesPlan::default(),
        threads: None,
        engine: EngineChoice::Auto,
    };
    let lowered = lower(experiment, &lowering);
    let lowered = lowered.unwrap_or_else(|unfit| panic!("{name}: {}", unfit.into_user_error(name)));
    check_sent(name, &lowered, &host());
    lowered.plan
}

/// Reads a URL with these options.
pub(crate) fn read_of_url(request: &UrlRequest, options: &RunOptions) -> Parsed {
    let input = ParseInput {
        name: &request.url,
        bytes: &[],
        set: &[],
        env: &|_| None,
        has_secret: &|name| name == "PASSWORD",
        options,
    };
    read_url(request, &input)
}

/// The plan of a URL with these options, or the first error.
pub(crate) fn plan_of_url(request: &UrlRequest, options: &RunOptions) -> Result<Plan, Diagnostic> {
    let read = read_of_url(request, options);
    let Some(experiment) = read.experiment else { return Err(read.diagnostics.sorted()[0].clone()) };
    Ok(lowered(&request.url, &experiment))
}
