//! `wavetank plan FILE`.

use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use wavetank_experiment::{Experiment, LowerContext, LoweredPlan, Sources, lower};
use wavetank_plan::{EngineChoice, IpFamily, RunOptions, SourcesPlan, TargetUrl};
use wavetank_report::{ForecastInput, forecast_doc, forecast_text};
use wavetank_runner::{Host, local_source_addresses};
use wavetank_units::{ExitCode, UserError, split_zone, unix_address};

use super::terminal_width::terminal_width;
use crate::calibrate::calibrated_load;
use crate::cli::{CheckArgs, FileArgs, FileFormat};
use crate::experiment::{DataLoading, ExperimentFile, request_bytes, with_absolute_paths};
use crate::output;

/// Placeholders for a host name that is not looked up (RFC 5737 and RFC 3849). Nothing is ever sent
/// to them.
const PLACEHOLDERS: (Ipv4Addr, Ipv6Addr) =
    (Ipv4Addr::new(192, 0, 2, 1), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));

/// Describes the file: load over time, resources needed on this host, and problems with its
/// thresholds. Exit 0, even if this host lacks something (`lacking`); 2 if the file cannot be run.
/// Nothing is sent and no name is looked up.
pub(crate) fn plan(args: CheckArgs) -> Result<u8, UserError> {
    let CheckArgs { file: args, options, source_auto } = args;
    let options = with_absolute_paths(options);
    let mut loaded = ExperimentFile::read(&args, &options, DataLoading::Later)?;
    let Some(experiment) = loaded.experiment.take() else { return loaded.print_errors(args.format) };
    let host = Host::inspect()?;
    let (lowered, notes) = lowered(&experiment, &loaded, (&args, &options, source_auto), &host)?;
    let LoweredPlan { plan, lacking, .. } = lowered;
    let given = experiment.explicit_settings();
    let mut doc = forecast_doc(&ForecastInput {
        plan: &plan,
        file: &loaded.name,
        version: env!("CARGO_PKG_VERSION"),
        given: &given,
        host: &host.facts,
        request_bytes: &request_bytes(&plan),
        lacking: &lacking,
        notes: &notes,
    });
    doc.calibration = Some(calibrated_load(&plan, &host.facts));
    if args.format == FileFormat::Json {
        output::print(&(doc.to_json() + "\n"))?;
        return Ok(ExitCode::Pass as u8);
    }
    // If stderr is closed, stdout still gets the description.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), loaded.rendered().as_bytes());
    output::print(&forecast_text(&doc, terminal_width()))?;
    Ok(ExitCode::Pass as u8)
}

/// Returns the plan of a file on this host, and notes of one line each. No name is looked up.
pub(super) fn lowered(
    experiment: &Experiment,
    loaded: &ExperimentFile,
    (args, options, source_auto): (&FileArgs, &RunOptions, bool),
    host: &Host,
) -> Result<(LoweredPlan, Vec<String>), UserError> {
    let unnamed = RefCell::new(Vec::new());
    let addresses = |url: &TargetUrl| addresses(experiment, url, &mut unnamed.borrow_mut());
    let mut notes = Vec::new();
    let lowering = LowerContext {
        host: &host.facts,
        tables: &loaded.tables,
        addresses: &|url| Ok(addresses(url)),
        file: &|name| loaded.file(name),
        secret: &|name| args.secret(name),
        sources: sources(experiment, (options, source_auto), &addresses, &mut notes),
        threads: options.threads,
        engine: options.engine.unwrap_or(EngineChoice::Auto),
    };
    let lowered = lower(experiment, &lowering).map_err(|unfit| unfit.into_user_error(&loaded.name))?;
    notes.extend(
        unnamed
            .take()
            .into_iter()
            .map(|name: String| format!("{name} is not looked up: planned as one address of another host")),
    );
    notes.extend(lowered.remarks.iter().cloned());
    Ok((lowered, notes))
}

/// Returns the address and port in a URL. A name is replaced by one address of another host and
/// added to `unnamed`.
fn addresses(experiment: &Experiment, url: &TargetUrl, unnamed: &mut Vec<String>) -> Vec<SocketAddr> {
    let (host, port) = experiment.connect_point(url);
    if let Some(address) = unix_address(&host) {
        return vec![address];
    }
    let literal = split_zone(host.trim_start_matches('[').trim_end_matches(']')).0;
    if let Ok(address) = literal.parse::<IpAddr>() {
        return vec![SocketAddr::new(address, port)];
    }
    let v6 = experiment.http.ip == Some(IpFamily::V6);
    if literal.eq_ignore_ascii_case("localhost") {
        let own: IpAddr = if v6 { Ipv6Addr::LOCALHOST.into() } else { Ipv4Addr::LOCALHOST.into() };
        return vec![SocketAddr::new(own, port)];
    }
    if !unnamed.contains(&host) {
        unnamed.push(host);
    }
    let other: IpAddr = if v6 { PLACEHOLDERS.1.into() } else { PLACEHOLDERS.0.into() };
    vec![SocketAddr::new(other, port)]
}

/// Returns the source addresses of the options or, without those, of the file. `auto` depends on
/// the route to the target, which this host may not have now. The plan then has one source address.
fn sources(
    experiment: &Experiment,
    (options, auto): (&RunOptions, bool),
    addresses: &dyn Fn(&TargetUrl) -> Vec<SocketAddr>,
    notes: &mut Vec<String>,
) -> SourcesPlan {
    let of_file = experiment.sources.as_ref().map(|sources| &sources.value);
    let of_options = Sources::These(options.sources.clone());
    let wanted = match (auto, options.sources.is_empty()) {
        (true, _) => Some(&Sources::Auto),
        (false, false) => Some(&of_options),
        (false, true) => of_file,
    };
    match wanted {
        None => SourcesPlan::default(),
        Some(Sources::These(these)) => these.clone(),
        Some(Sources::Auto) => {
            let urls = experiment.targets.iter().flat_map(|target| &target.urls);
            let all: Vec<SocketAddr> = urls.flat_map(|one| addresses(&one.url.value)).collect();
            local_source_addresses(&all, "the target").unwrap_or_else(|error| {
                notes.push(format!("{}: planned with one source address", error.message));
                SourcesPlan::default()
            })
        }
    }
}
