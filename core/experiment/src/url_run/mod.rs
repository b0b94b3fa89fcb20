//! [`plan_url`]: a run of one URL. It takes the same steps as a file: overrides, validation,
//! lowering.

mod load_line;
mod remarks;

use std::net::SocketAddr;

use wavetank_grammar::{Diagnostics, Severity};
use wavetank_plan::{
    EngineChoice, Guard, HostFacts, PemFile, Plan, RunOptions, TargetUrl, Unsupported, check_conditions,
};
use wavetank_units::{Code, UserError};

use crate::from_url::one_request;
use crate::lower::{LowerContext, LowerError, LoweredPlan, check_tls_options, lower};
use crate::model::{Body, Experiment, Request, RequestHead, Template};
use crate::option_conflicts::check_url_conflicts;
use crate::placeless::{PLACE, without_span};
use crate::request_rules::{check_headers, check_method};
use crate::validate::verify;

/// The plan of a run of one URL, with messages about how it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct UrlPlan {
    /// The plan; every address in it has still to pass `guard`.
    pub plan: Plan,
    /// The load in one line: `50 connections, 10 s, closed loop (defaults; -c, -d, -r change
    /// them)`.
    pub load: String,
    /// Notes about other defaults and about settings that look unintended. Each is one line, and
    /// they are printed first.
    pub remarks: Vec<String>,
    /// Why the best engine is not used, with a hint, if that was not requested.
    pub engine_why: Option<Unsupported>,
    /// Decides over every socket address of the run.
    pub guard: Guard,
}

/// Plans a run of one URL with `options`.
///
/// `addresses` are the resolved addresses of the name to connect to
/// ([`RunOptions::connect_point`]), port included, in the resolver's order.
///
/// # Errors
/// Options that contradict each other (exit 2), and resources that this host lacks (exit 5).
pub fn plan_url(
    options: &RunOptions,
    url: &TargetUrl,
    addresses: &[SocketAddr],
    host: &HostFacts,
) -> Result<UrlPlan, UserError> {
    check_url_conflicts(options, url)?;
    check_tls_options(&options.tls, url)?;
    let mut experiment = read_target(options, url)?;
    experiment.apply_overrides(&load_options(options), &mut |text| Ok(Template::fixed(text, PLACE)))?;
    let warnings = validated(&experiment)?;
    let lowering = LowerContext {
        host,
        tables: &[],
        addresses: &|asked| {
            let at_proxy = options.proxy.as_ref().filter(|proxy| proxy.url.at == *asked);
            Ok(at_proxy.map_or(addresses, |proxy| &proxy.addresses).to_vec())
        },
        file: &|name| pem_bytes(options, name),
        secret: &|_| None,
        sources: options.sources.clone(),
        threads: options.threads,
        engine: options.engine.unwrap_or(EngineChoice::Auto),
    };
    let LoweredPlan { plan, lacking, remarks, engine_why } =
        lower(&experiment, &lowering).map_err(LowerError::without_place)?;
    check_threads(options, &plan)?;
    check_conditions(&plan, host)?;
    UserError::combine(lacking).map_or(Ok(()), Err)?;
    let mut lines = remarks::remarks(&plan, options, host);
    lines.extend(warnings);
    lines.extend(remarks);
    Ok(UrlPlan {
        load: load_line::load_line(options, &plan),
        remarks: lines,
        engine_why,
        guard: Guard::new(options.allow_target.clone()),
        plan,
    })
}

/// Returns the addresses that connections use: those of the proxy, or the target's addresses that
/// match family and sources.
///
/// # Errors
/// No address matches, or a source address reaches none of them.
pub fn connect_addresses(
    options: &RunOptions,
    url: &TargetUrl,
    addresses: &[SocketAddr],
) -> Result<Vec<SocketAddr>, UserError> {
    check_url_conflicts(options, url)?;
    let filter = options.address_filter();
    match &options.proxy {
        None => filter.usable_addresses(&url.host, &options.connect_point(url)?.0, addresses),
        Some(proxy) => {
            let host = &proxy.url.at.host;
            filter.usable_addresses(host, host, &proxy.addresses)
        }
    }
}

/// Returns the experiment of a request to `url`, before any other option is applied.
fn read_target(options: &RunOptions, url: &TargetUrl) -> Result<Experiment, UserError> {
    let default = if options.body.is_some() { "POST" } else { "GET" };
    let method = options.method.as_deref().unwrap_or(default);
    check_method(method)?;
    check_headers(&options.headers)?;
    let head = RequestHead::Http {
        method: without_span(method.to_owned()),
        url: Template::fixed(url.path.as_str(), PLACE),
    };
    let body = options.body.clone().map(Body::Bytes);
    let target = TargetUrl { path: "/".to_owned(), ..url.clone() };
    Ok(one_request(target, Request { body, ..Request::plain(head) }))
}

/// Returns the options of the load, without those of the request. A single request is a load of
/// one.
fn load_options(options: &RunOptions) -> RunOptions {
    let one = options.once.then_some(1);
    RunOptions {
        method: None,
        body: None,
        once: false,
        connections: one.or(options.connections),
        requests: one.or(options.requests),
        ..options.clone()
    }
}

/// Returns the warnings about an experiment, one line each.
fn validated(experiment: &Experiment) -> Result<Vec<String>, UserError> {
    let mut found = Diagnostics::default();
    verify(experiment, &mut found);
    let (errors, warnings): (Vec<_>, Vec<_>) =
        found.sorted().into_iter().partition(|one| one.severity == Severity::Error);
    let errors = errors.into_iter().map(|one| LowerError::from(one.clone()).without_place());
    UserError::combine(errors.collect()).map_or(Ok(()), Err)?;
    Ok(warnings.into_iter().map(|one| format!("{}: {}", one.message, one.hint)).collect())
}

/// Returns the bytes of a file that an option of TLS names.
fn pem_bytes(options: &RunOptions, name: &str) -> Result<Vec<u8>, UserError> {
    let tls = &options.tls;
    let mut files = [&tls.ca, &tls.cert, &tls.key].into_iter().flatten();
    let found = files.find(|file: &&PemFile| file.name == name);
    found.map(|file| file.bytes.clone()).ok_or_else(|| {
        UserError::usage(Code::BadFile, format!("cannot read {name}: no option names it"), "--cacert FILE")
    })
}

/// Never more threads than connections: an idle thread measures nothing.
fn check_threads(options: &RunOptions, plan: &Plan) -> Result<(), UserError> {
    let connections = plan.phases.last().map_or(0, |phase| phase.connections);
    match options.threads.filter(|threads| u64::from(*threads) > connections) {
        None => Ok(()),
        Some(threads) => Err(UserError::usage(
            Code::Conflict,
            format!("--threads {threads} is more than the {connections} connections they would share"),
            format!("--threads {connections} or fewer, or more connections with -c"),
        )),
    }
}
