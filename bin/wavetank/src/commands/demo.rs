//! `wavetank demo`: the same freeze, seen by a closed loop and by an open one.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use wavetank_experiment::plan_url;
use wavetank_plan::{RunOptions, TargetUrl};
use wavetank_record::{RunRecord, Times};
use wavetank_runner::{Execution, FinishedRun, Host, PreparedRun, execute};
use wavetank_store::{RunsDir, os_error_text};
use wavetank_target::ServeOptions;
use wavetank_units::{Code, ExitCode, Nanos, Rate, UserError};

use crate::cli::DemoArgs;
use crate::output::{self, Console};

const USERS: u64 = 16;
const RATE_PER_S: u64 = 2_000;
const LENGTH: Nanos = Nanos::from_secs(5);
/// Start of the freeze after the first request: the middle of the run.
const FREEZE_AT: Nanos = Nanos::from_millis(2_000);
const FREEZE: Nanos = Nanos::from_millis(300);
/// Loopback responds immediately or never.
const REACH: Duration = Duration::from_secs(2);
const PATH: &str = "/delay/2ms";

/// Runs two tests on loopback against the built-in server, each through a freeze of 300 ms. Exit 0
/// if both completed and the server counted what was sent; noise of the machine does not matter.
pub(crate) fn demo(args: &DemoArgs) -> Result<u8, UserError> {
    let mut talk = Console::new(false);
    output::print(&format!(
        "A target that answers {PATH} after 2 ms, and freezes once for {FREEZE}. Two ways to measure it:\n\n"
    ))?;
    output::print(&format!(
        "1. Closed loop: {USERS} users, each sends after its last answer, for {LENGTH}\n"
    ))?;
    let closed = Options { connections: Some(USERS), ..options("demo-closed") };
    let closed = make(&closed, args, &mut talk)?;
    output::print_sent(&demo_text(&closed))?;
    output::print_sent(&format!(
        "2. Open loop: {RATE_PER_S} arrivals a second on a schedule, for {LENGTH}\n"
    ))?;
    let open = Options { rate: Some(Rate::per_second(RATE_PER_S)), ..options("demo-open") };
    let open = make(&open, args, &mut talk)?;
    output::print_sent(&demo_text(&open))?;
    output::print_sent(&lesson(&closed.record, &open.record))?;
    if let Some(folder) = &open.archive {
        output::print_sent(&format!(
            "\nThe archive of the second run: {}\nLook at it again: wavetank report {}\n",
            folder.display(),
            folder.display()
        ))?;
    }
    let honest = closed.counted == closed.sent && open.counted == open.sent;
    let worked = closed.record.requests.done > 0 && open.record.requests.done > 0;
    Ok(if honest && worked { ExitCode::Pass } else { ExitCode::Fail } as u8)
}

type Options = RunOptions;

fn options(name: &str) -> Options {
    Options { duration: Some(LENGTH), name: Some(name.to_owned()), threads: Some(1), ..Options::default() }
}

/// A run and the count of its server.
struct DemoRun {
    record: RunRecord,
    archive: Option<PathBuf>,
    /// Requests that the server counted.
    counted: u64,
    /// Requests that were sent.
    sent: u64,
}

/// Makes one run against a new server.
fn make(options: &Options, args: &DemoArgs, talk: &mut Console) -> Result<DemoRun, UserError> {
    let server = wavetank_target::start(ServeOptions {
        listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
        threads: Some(1),
        freeze: Some((FREEZE_AT, FREEZE)),
        ..ServeOptions::default()
    })?;
    let address = server.addresses()[0];
    check_reachable(address)?;
    let url = TargetUrl::parse(&format!("http://{address}{PATH}"))?;
    let host = Host::inspect()?;
    let resolved = plan_url(options, &url, &[address], &host.facts)?;
    let execution = Execution {
        // The freeze is counted from the first request: a probe would start its clock too early.
        prepared: PreparedRun::from_url(resolved, false, false)?,
        host: &host,
        command: "wavetank demo",
        runs_dir: Some(RunsDir::new(&args.runs_dir)),
        repeatable: false,
        fleet: None,
        rehearsal: None,
        search: None,
        known_latency: None,
        samples_host: true,
        metrics: None,
    };
    let FinishedRun { record, archive, .. } = execute(execution, talk)?;
    let counted = server.truth().requests;
    server.stop();
    let sent = record.wire.sent + record.setup.sent;
    Ok(DemoRun { record, archive, counted, sent })
}

/// Fails if this host cannot reach itself, because the demo would only show a million failures. A
/// connection without a request does not start the clock of the freeze.
fn check_reachable(address: SocketAddr) -> Result<(), UserError> {
    let Err(error) = TcpStream::connect_timeout(&address, REACH) else { return Ok(()) };
    let message = format!("this host does not reach itself at {address}: {}", os_error_text(&error));
    let hint = "ip link set lo up; if loopback is up, a firewall blocks it";
    Err(UserError::refused(Code::NoLoopback, message, hint))
}

fn demo_text(made: &DemoRun) -> String {
    let DemoRun { record, counted, sent, .. } = made;
    let verdict = if counted == sent { "the same" } else { "NOT the same" };
    format!("{}the target's own count is {verdict}: {counted} requests\n\n", wavetank_report::text(record))
}

fn lesson(closed: &RunRecord, open: &RunRecord) -> String {
    let p99 = |times: &Times| times.spread.as_ref().map_or(0.0, |spread| spread.p99.0 * 1e3);
    let show = |ns: f64| Nanos(ns as i64).to_string();
    let (hidden, true_) = (p99(&closed.response_us), p99(&open.response_us));
    format!(
        "Both runs had the same freeze of {FREEZE}. In the closed loop, the {USERS} users waited and sent nothing \
         during the freeze,\nso {USERS} slow responses disappear among {} fast ones: p99 {}. Arrivals on a \
         schedule do not wait\nfor others: every request due during the freeze was delayed, and p99 is {}.\n",
        closed.requests.done,
        show(hidden),
        show(true_),
    )
}
