//! `wavetank run URL`.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::bind_probe;
use wavetank_plan::resolve::usable_addresses;
use wavetank_plan::{ExitCode, Plan, RunOptions, SourceOrder, SourcesPlan, TargetUrl, UserError, resolve};
use wavetank_report::load_doc;
use wavetank_store::RunsDir;

use super::once::once;
use crate::cli::RunArgs;
use crate::run::{Execution, Host, Talk, admit, engine_line, execute, is_safe, lookup, output, tls_client};

/// Resolve, guard, probe, load, judge, deliver.
pub(crate) fn run(args: RunArgs) -> Result<u8, UserError> {
    let RunArgs { url, mut options, source_auto, format, out, runs_dir, no_archive, quiet, command } = args;
    let host = Host::look()?;
    let addresses = lookup(&options, &url)?;
    if source_auto {
        options.sources = own_addresses(&options, &url, &addresses)?;
    }
    let resolved = resolve(&options, &url, &addresses, &host.facts)?;
    admit(&resolved.guard, &options, &url, &resolved.plan.targets[0].addresses, &command)?;
    try_sources(&resolved.plan)?;
    let tls = tls_client(&resolved.plan)?;
    let files = output::open_all(&out)?;
    if options.once {
        return once(&resolved.plan, &host, tls);
    }
    let mut talk = Talk::new(quiet);
    talk.say(&format!("load       {}", resolved.load));
    talk.say(&engine_line(resolved.plan.engine, resolved.engine_why.as_ref()));
    for remark in &resolved.remarks {
        talk.say(&format!("note       {remark}"));
    }
    let plan = Arc::new(resolved.plan);
    let defaults = options.connections.is_none()
        && options.rate.is_none()
        && options.duration.is_none()
        && options.requests.is_none();
    let executed = execute(
        Execution {
            load: load_doc(&plan, defaults),
            plan: Arc::clone(&plan),
            tls,
            host: &host,
            engine_why: resolved.engine_why,
            command: &command,
            runs_dir: (!no_archive).then(|| RunsDir::new(&runs_dir)),
            repeatable: true,
            probe: !options.no_probe && is_safe(&plan.scenarios[0].steps[0].request.method),
        },
        &mut talk,
    )?;
    let delivered = output::deliver(&executed.record, format, files);
    if let Some(folder) = executed.archive {
        talk.say(&format!("archive    {}", folder.display()));
    }
    let exit = executed.record.verdict.exit;
    match delivered {
        // A run that did not pass has said enough with its code; what was not written is told all the same.
        Err(error) if exit != ExitCode::Pass as u8 => {
            talk.warn(&error.to_string());
            Ok(exit)
        }
        delivered => delivered.map(|()| exit),
    }
}

/// What `--source auto` stands for: all addresses of the interface towards the target, as few as do.
fn own_addresses(
    options: &RunOptions,
    url: &TargetUrl,
    addresses: &[SocketAddr],
) -> Result<SourcesPlan, UserError> {
    let targets = usable_addresses(options, url, addresses)?;
    let ranges = wavetank_observe::route_sources(&targets).map_err(|error| {
        UserError::refused(
            "no_source_address",
            format!("--source auto: this host has no way to `{}`: {error}", url.host),
            "look at the routes (ip route get ADDRESS), or name the addresses: --source CIDR",
        )
    })?;
    Ok(SourcesPlan { ranges, order: SourceOrder::FillFirst })
}

/// The first address of every source range can be bound, found out before anything is sent.
fn try_sources(plan: &Plan) -> Result<(), UserError> {
    for range in &plan.sources.ranges {
        bind_probe(SocketAddr::new(range.first, 0)).map_err(|errno| {
            UserError::refused(
                "no_source_address",
                format!("this host cannot bind the source address {}: {errno}", range.first),
                format!("give it to an interface: ip address add {} dev INTERFACE", range.first),
            )
        })?;
    }
    Ok(())
}
