//! [`resolve`]: options, resolved names and host facts become a [`Plan`] in which every number is
//! fixed.
//!
//! Each part (request, protocol, load, capacity, conditions) is a separate function of the options,
//! so that an experiment file can supply the same parts. All defaults are defined here and nowhere
//! else.

mod conflicts;
mod load;
mod notes;
mod request;
mod series;
mod tls;

use std::net::SocketAddr;

use wavetank_units::{Rate, UserError, unix_path};

use crate::constants::{CONNECT_TIMEOUT, DRAIN_MIN, LATE_TOLERANCE, OPEN_RATE_PER_S, TIMEOUT};
use crate::feasibility::{self, HostCapacity, choose_engine};
use crate::{
    Close, ConnectionOwner, DnsRefreshPlan, EngineChoice, Guard, HooksPlan, HostFacts, HttpPlan, HttpVersion,
    IpFamily, Load, Plan, RefreshedName, RunOptions, Scenario, SharedPlan, StatusSet, Step, Target,
    TargetUrl, Unsupported, sources, thresholds,
};

pub use conflicts::{EXCLUSIVE, Exclusive, NEEDS, check_conflicts, check_http2, check_websocket};
pub use load::most_open;
pub use notes::{dns_option_unused, port_search_note};
pub use request::{USER_AGENT, check_header, check_method, user_and_password};
pub use series::check_series;
pub use tls::tls_plan;

/// Seed of a run that names none: the same command gives the same load.
const SEED: u64 = 1;

/// A plan, with messages about how it was resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
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

/// Fixes every number of a run of one URL.
///
/// `addresses` are the resolved addresses of the name to connect to
/// ([`RunOptions::connect_point`]), port included, in the resolver's order. Fails with exit 2 on
/// options that contradict each other, and with exit 5 if this host lacks resources.
pub fn resolve(
    options: &RunOptions,
    url: &TargetUrl,
    addresses: &[SocketAddr],
    host: &HostFacts,
) -> Result<Resolved, UserError> {
    conflicts::check(options)?;
    let way = connect_addresses(options, url, addresses)?;
    sources::check_local(&options.sources.ranges, host)?;
    let request = request::request_plan(options, url)?;
    let http = http_plan(options, url, &way)?;
    let tls = tls::tls_plan(&options.tls, url, http.version)?;
    let engine = choose_engine(options.engine.unwrap_or(EngineChoice::Auto), &host.sockets)?;
    let tls_on = tls.is_some();
    let (ranges, ways) = (&options.sources.ranges, way.clone());
    let room = HostCapacity::new(host, ranges, &ways, engine.choice, options.threads, tls_on)?;
    let load = load::load_plan(options, http.timeout, &room)?;
    let mut notes: Vec<_> = load.remark.iter().cloned().collect();
    request::remarks(options, &request, &mut notes);
    notes.extend(notes::dns_option_unused(options.dns, &http));
    if let Some(tls) = &tls {
        tls::remarks(tls, options.once, &mut notes);
    }
    let plan = Plan {
        name: run_name(options, url)?,
        seed: options.seed.unwrap_or(SEED),
        // The addresses to which a proxy connects pass the guard, too.
        targets: vec![target(options, url, if http.proxy.is_some() { addresses.to_vec() } else { way })],
        drain: options.drain.unwrap_or(DRAIN_MIN.max(http.timeout)),
        http,
        tls,
        sources: options.sources.clone(),
        scenarios: vec![Scenario::from_steps(
            String::new(),
            match &load.main().load {
                Load::Open { .. } => ConnectionOwner::Shared,
                _ => ConnectionOwner::User,
            },
            vec![Step {
                auth: request::auth_plan(options)?,
                ..Step::plain(format!("{} {}", request.method, url.path), 0, request)
            }],
        )],
        shared: SharedPlan::default(),
        around: HooksPlan::default(),
        phases: load.phases,
        threads: load.threads,
        engine: engine.choice,
        files: load.files,
        open_rate: options.open_rate.unwrap_or(Rate::per_second(OPEN_RATE_PER_S)),
        late_tolerance: LATE_TOLERANCE,
        thresholds: options.thresholds.clone(),
        stop: options.stop.clone(),
        under_test: Vec::new(),
        events: Vec::new(),
        tags: options.tags.clone(),
    };
    conflicts::check_http2(&plan)?;
    thresholds::check_conditions(&plan, host)?;
    notes::plan_warnings(&plan, host, &mut notes);
    UserError::combine(feasibility::shortfalls(&plan, &room, "-c")).map_or(Ok(()), Err)?;
    Ok(Resolved {
        load: load.line,
        remarks: notes,
        engine_why: engine.why,
        guard: Guard::new(options.allow_target.clone()),
        plan,
    })
}

fn target(options: &RunOptions, url: &TargetUrl, addresses: Vec<SocketAddr>) -> Target {
    Target {
        name: url.authority(),
        url: url.url(),
        host: host_header(options, url),
        server_name: tls::server_name(options, url),
        tls: None,
        pick: None,
        addresses,
    }
}

impl RunOptions {
    /// Returns the host and port to resolve and connect to: those of the URL, or those of
    /// `--connect-to`. Fails if that option is about another URL or given twice.
    pub fn connect_point(&self, url: &TargetUrl) -> Result<(String, u16), UserError> {
        match self.connect_to.as_slice() {
            [] => Ok((url.host.clone(), url.port)),
            [rule] => rule.apply(url).ok_or_else(|| {
                UserError::usage(
                    "conflict",
                    format!("--connect-to is about another host or port than {}", url.authority()),
                    format!("--connect-to {}:HOST:PORT, or HOST:PORT alone", url.authority()),
                )
            }),
            _ => Err(UserError::usage("conflict", "--connect-to is given twice for one URL", "give one")),
        }
    }
}

/// Returns the addresses that connections use: those of the proxy, or the target's addresses that
/// match family and sources.
///
/// # Errors
/// As [`usable_addresses`].
pub fn connect_addresses(
    options: &RunOptions,
    url: &TargetUrl,
    addresses: &[SocketAddr],
) -> Result<Vec<SocketAddr>, UserError> {
    match &options.proxy {
        None => usable_addresses(options, url, addresses),
        Some(_) if url.is_unix_socket() => Err(UserError::usage(
            "conflict",
            "--proxy has no effect on a Unix socket, to which this host connects itself",
            "leave --proxy out, or use an address of TCP",
        )),
        Some(proxy) => usable_addresses(options, &proxy.url.at, &proxy.addresses),
    }
}

/// The addresses that family and sources leave.
///
/// # Errors
/// When none is left, or a source address reaches none of them.
pub fn usable_addresses(
    options: &RunOptions,
    url: &TargetUrl,
    addresses: &[SocketAddr],
) -> Result<Vec<SocketAddr>, UserError> {
    if addresses.iter().any(|address| unix_path(*address).is_some()) {
        return unix_only(options, addresses);
    }
    let family = |address: &&SocketAddr| options.ip.is_none_or(|family| family.contains(address.ip()));
    let mut left: Vec<SocketAddr> = addresses.iter().filter(family).copied().collect();
    one_of_localhost(options, url, &mut left)?;
    if left.is_empty() {
        let name = &url.host;
        let (other, wanted) = match options.ip {
            Some(IpFamily::V4) => ("--ip 6", "IPv4 "),
            Some(IpFamily::V6) => ("--ip 4", "IPv6 "),
            None => ("another name", ""),
        };
        let hint = format!("{other}, or look with: getent ahosts {name}");
        return Err(UserError::usage("no_address", format!("`{name}` has no {wanted}address"), hint));
    }
    if options.sources.is_empty() {
        return Ok(left);
    }
    let reached: Vec<SocketAddr> = left
        .iter()
        .filter(|to| options.sources.ranges.iter().any(|range| range.first.is_ipv4() == to.is_ipv4()))
        .copied()
        .collect();
    let idle = options
        .sources
        .ranges
        .iter()
        .find(|range| !reached.iter().any(|to| to.is_ipv4() == range.first.is_ipv4()));
    if let Some(range) = idle {
        let family = if range.first.is_ipv4() { "IPv4" } else { "IPv6" };
        return Err(UserError::usage(
            "conflict",
            format!("--source {} is {family}, and `{}` has no such address", range.first, url.host),
            "source and target must be of one family; --ip 4 or --ip 6 chooses",
        ));
    }
    Ok(reached)
}

/// Returns the addresses of Unix sockets, which have no family and no source address.
fn unix_only(options: &RunOptions, addresses: &[SocketAddr]) -> Result<Vec<SocketAddr>, UserError> {
    let without_effect = match (options.ip, options.sources.is_empty(), options.proxy_protocol) {
        (Some(_), ..) => "--ip",
        (_, false, _) => "--source",
        (.., Some(_)) => "--proxy-protocol",
        _ => return Ok(addresses.to_vec()),
    };
    Err(UserError::usage(
        "conflict",
        format!("{without_effect} has no effect on a Unix socket, which has no IP address"),
        format!("leave {without_effect} out, or use an address of TCP"),
    ))
}

/// `localhost` is one host with two addresses, and most servers listen on only one of them. If both
/// were used in turn, half of all connections would be refused. The family of the first address is
/// used unless `--ip` or `--source` say otherwise.
fn one_of_localhost(
    options: &RunOptions,
    url: &TargetUrl,
    addresses: &mut Vec<SocketAddr>,
) -> Result<(), UserError> {
    let (host, _) = options.connect_point(url)?;
    if !TargetUrl::is_localhost(&host) {
        return Ok(());
    }
    let ranges = &options.sources.ranges;
    let is_reached = |to: &&SocketAddr| {
        ranges.is_empty() || ranges.iter().any(|range| range.first.is_ipv4() == to.is_ipv4())
    };
    if let Some(first) = addresses.iter().find(is_reached).copied() {
        addresses.retain(|address| address.is_ipv4() == first.is_ipv4());
    }
    Ok(())
}

fn http_plan(options: &RunOptions, url: &TargetUrl, way: &[SocketAddr]) -> Result<HttpPlan, UserError> {
    let name = match &options.proxy {
        Some(proxy) => (proxy.url.at.host.clone(), proxy.url.at.port),
        None => options.connect_point(url)?,
    };
    let timeout = options.timeout.unwrap_or(TIMEOUT);
    Ok(HttpPlan {
        version: options.http.unwrap_or(HttpVersion::Http11),
        timeout,
        connect_timeout: options.connect_timeout.unwrap_or(CONNECT_TIMEOUT.min(timeout)),
        keepalive: !options.no_keepalive,
        requests_per_connection: options.requests_per_connection,
        close: options.close.unwrap_or(Close::Fin),
        pipeline: options.requests_in_flight(),
        expect: options.expect_status.clone().unwrap_or_else(StatusSet::default_expected),
        cookies: false,
        body_max: None,
        websocket: crate::WebSocketPlan::default(),
        proxy: options.proxy.as_ref().map(|proxy| proxy.url.plan(way.to_vec())).transpose()?,
        proxy_protocol: options.proxy_protocol,
        dns: DnsRefreshPlan::new(options.dns, options.ip, vec![RefreshedName::all_addresses(name)]),
    })
}

/// A `Host` header of the user's replaces the URL's.
fn host_header(options: &RunOptions, url: &TargetUrl) -> String {
    let own = options.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    own.map_or_else(|| url.host_header(), |(_, value)| value.reveal().to_owned())
}

/// `--name`, or the URL's host and port in the letters a folder's name may have.
fn run_name(options: &RunOptions, url: &TargetUrl) -> Result<String, UserError> {
    let Some(name) = &options.name else {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let name: String = url.authority().chars().map(plain).take(NAME_MAX).collect();
        return Ok(name.trim_matches(['-', '.']).to_owned());
    };
    check_name(name)?;
    Ok(name.clone())
}

/// Refuses a `--name` that cannot be part of a directory's name.
///
/// # Errors
/// Other letters than a folder's, or too many of them.
pub fn check_name(name: &str) -> Result<(), UserError> {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    if name.is_empty() || name.len() > NAME_MAX || !letters || name.starts_with(['.', '-']) {
        return Err(UserError::usage(
            "bad_name",
            format!("--name `{name}` cannot be part of a directory's name"),
            format!("up to {NAME_MAX} letters, digits, - _ and . in it, for example checkout-v2"),
        ));
    }
    Ok(())
}

/// Longest name of a run: a folder's name also holds time and id.
const NAME_MAX: usize = 64;
