//! Tests of the command line: from arguments to a command or one clear error.

mod bad_input;
mod commands;
mod curl;
mod files;
mod help;
mod install;
mod runs;
mod tls;
mod wrong_together;

use std::ffi::OsString;
use std::net::SocketAddr;

use wavetank_experiment::{UrlPlan, check_conflicts, plan_url};
use wavetank_plan::{HostFacts, LoadOrigin, SocketSupport, TargetUrl};
use wavetank_units::UserError;

use super::{Command, LoadSource, ParseExit, RunArgs, parse};

/// Splits a line as a shell would, with single quotes only, and prepends the program's name.
fn argv(line: &str) -> Vec<OsString> {
    let mut words = vec![OsString::from("/usr/bin/wavetank")];
    let mut word: Option<String> = None;
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take().map(OsString::from)),
            other => word.get_or_insert_default().push(other),
        }
    }
    assert!(!quoted, "{line}: a quote is open");
    words.extend(word.map(OsString::from));
    words
}

/// Returns the command of a valid line.
fn command(line: &str) -> Command {
    parse(argv(line)).unwrap_or_else(|exit| panic!("{line}: {exit:?}"))
}

/// Returns the arguments of a valid `run` line.
fn run(line: &str) -> RunArgs {
    match command(line) {
        Command::Run(args) => *args,
        other => panic!("{line}: {other:?}"),
    }
}

/// Returns the error of an invalid line, found by parsing it or by resolving it on a small host.
fn error(line: &str) -> UserError {
    let args = match parse(argv(line)) {
        Ok(Command::Run(args)) => *args,
        Ok(other) => panic!("{line}: {other:?}"),
        Err(ParseExit::Error { error, .. }) => return error,
        Err(ParseExit::Help(text)) => panic!("{line}: {text}"),
    };
    if let LoadSource::File(_) = &args.goal {
        return check_conflicts(&args.options).expect_err(line);
    }
    let resolved = plan(&args).and_then(|resolved| {
        let host = &url(&args).host;
        let targets = &resolved.plan.targets;
        targets
            .iter()
            .flat_map(|target| &target.addresses)
            .try_for_each(|address| resolved.guard.check(host, *address, &args.command))
    });
    resolved.expect_err(line)
}

/// Resolves with fixed addresses for `localhost` and every other name; no name is looked up.
fn plan(args: &RunArgs) -> Result<UrlPlan, UserError> {
    let (host, port) = args.options.connect_point(url(args))?;
    let ip = match host.as_str() {
        "localhost" => "127.0.0.1",
        "public.example" => "203.0.113.9",
        address => address,
    };
    let address = SocketAddr::new(ip.parse().expect("an address"), port);
    plan_url(&args.options, url(args), &[address], &small_host())
}

fn url(args: &RunArgs) -> &TargetUrl {
    match &args.goal {
        LoadSource::Url(url) => url,
        LoadSource::File(file) => panic!("{:?} is no plain URL", file.source),
    }
}

/// A host with two CPUs, 1,024 files and two addresses.
fn small_host() -> HostFacts {
    HostFacts {
        cpus: vec![0, 1],
        memory_available_bytes: 4 << 30,
        files_max: 1_024,
        sockets: SocketSupport::plain(),
        limits: wavetank_plan::HostLimits::default(),
        port_range: (32_768, 60_999),
        ports: wavetank_units::Ports::range(32_768, 60_999),
        addresses: vec!["127.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()],
        local_networks: vec![("127.0.0.0".parse().unwrap(), 8)],
        kernel: "6.1.0".to_owned(),
        hostname: "small".to_owned(),
        cpu_model: "test".to_owned(),
        origin: LoadOrigin::ThisHost,
        observed_hosts: Vec::new(),
        agent_hosts: Vec::new(),
    }
}
