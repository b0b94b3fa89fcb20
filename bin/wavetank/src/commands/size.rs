//! `wavetank size [URL|FILE]`.

use std::net::{Ipv4Addr, SocketAddr};

use wavetank_capacity::size::{
    ANSWER_BYTES, CloseSide, HostInventory, LoadDemand, LoadOptions, PlanBytes, SERVICE, Setting,
    SizeOptions, Sizing, TransactionProfile,
};
use wavetank_experiment::{Experiment, LowerContext, LoweredPlan, Sources, lower, plan_url};
use wavetank_plan::{Close, EngineChoice, HostFacts, Plan, RunOptions, SourcesPlan, TargetUrl, UrlProtocol};
use wavetank_report::{SizingInput, size_doc, size_text};
use wavetank_units::{Code, ExitCode, SourceRange, UserError};

use super::terminal_width::terminal_width;
use crate::cli::{FileArgs, FileFormat, LoadSource, SizeArgs};
use crate::experiment::{DataLoading, ExperimentFile, request_bytes};
use crate::output;

/// Represents a target that was not named (RFC 5737); nothing is ever sent there.
const UNUSED_ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// Represents requests of varying length.
const REQUEST_BYTES: u64 = 200;

/// Estimates what a load needs and prints it. Exit 0, even if hosts do not suffice (`lacking`), or
/// 2. Nothing is sent and no name is resolved; this host does not matter.
pub(crate) fn size(args: SizeArgs) -> Result<u8, UserError> {
    let format = args.format;
    let Some((mut asked, wishes)) = request(args)? else { return Ok(ExitCode::Usage as u8) };
    let means = HostInventory::from_options(&wishes, asked.targets)?;
    asked.settings.retain(|setting| !setting.value.is_empty());
    let sizing = Sizing::compute(asked.demand, &means);
    let doc = size_doc(&SizingInput {
        target: &asked.target,
        version: env!("CARGO_PKG_VERSION"),
        sizing: &sizing,
        means: &means,
        settings: &asked.settings,
        notes: &asked.notes,
    });
    let text =
        if format == FileFormat::Json { doc.to_json() + "\n" } else { size_text(&doc, terminal_width()) };
    output::print(&text)?;
    Ok(ExitCode::Pass as u8)
}

/// Computes what a load needs of hosts; `None` if its file cannot be read, which was reported.
#[cfg(target_os = "linux")]
pub(super) fn sizing(args: SizeArgs) -> Result<Option<Sizing>, UserError> {
    let Some((asked, wishes)) = request(args)? else { return Ok(None) };
    let means = HostInventory::from_options(&wishes, asked.targets)?;
    Ok(Some(Sizing::compute(asked.demand, &means)))
}

/// Reads the load and what hosts it may have; `None` if its file cannot be read, which was
/// reported.
fn request(args: SizeArgs) -> Result<Option<(SizingRequest, SizeOptions)>, UserError> {
    let SizeArgs { goal, options, mut wishes, format } = args;
    let asked = match &goal {
        Some(LoadSource::File(file)) => match of_file(file, &options, &wishes, format)? {
            Some(asked) => asked,
            None => return Ok(None),
        },
        Some(LoadSource::Url(url)) => of_url(url, true, &options, &wishes)?,
        None => of_url(&unnamed_target(&options), false, &options, &wishes)?,
    };
    wishes.sources = wishes.sources.or(asked.sources);
    Ok(Some((asked, wishes)))
}

/// A load, and where its values come from.
struct SizingRequest {
    target: String,
    demand: LoadDemand,
    targets: u64,
    /// Source addresses that a file names.
    sources: Option<u64>,
    settings: Vec<Setting>,
    notes: Vec<String>,
}

/// Sizes a load of one request, that of `url`.
fn of_url(
    url: &TargetUrl,
    named: bool,
    options: &RunOptions,
    wishes: &SizeOptions,
) -> Result<SizingRequest, UserError> {
    if wishes.request_bytes.is_some() {
        let of_request = [
            ("-X", options.method.is_some()),
            ("-H", !options.headers.is_empty()),
            ("--body", options.body.is_some()),
        ];
        if let Some((option, _)) = of_request.iter().find(|(_, given)| *given) {
            let message = format!("--request-bytes and {option} both set the size of a request");
            return Err(UserError::usage(Code::Conflict, message, "leave one of the two out"));
        }
    }
    // The code for runs checks the request and conflicts between options.
    let alone = RunOptions {
        method: options.method.clone(),
        headers: options.headers.clone(),
        body: options.body.clone(),
        no_keepalive: options.no_keepalive,
        requests_per_connection: options.requests_per_connection,
        close: options.close,
        tls: options.tls.clone(),
        ..RunOptions::default()
    };
    let address = SocketAddr::new(UNUSED_ADDRESS.into(), url.port);
    let plan = plan_url(&alone, url, &[address], &HostFacts::for_tests(1))?.plan;
    let words = LoadOptions {
        rate: options.rate,
        connections: options.connections,
        hold: wishes.hold,
        each: options.requests_per_connection.or(options.no_keepalive.then_some(1)),
        open_rate: options.open_rate,
        duration: options.duration,
        requests: options.requests,
    };
    if options.open_rate.is_some() && options.connections.is_none() {
        let hint = "-c opens connections ahead of the load; with -r alone they are opened as requests arrive";
        return Err(UserError::usage(Code::Conflict, "--open-rate needs -c", hint));
    }
    let bytes = request_bytes(&plan).first().and_then(|steps| *steps.first()?).unwrap_or(REQUEST_BYTES);
    let exchange = TransactionProfile {
        service: wishes.service.unwrap_or(SERVICE),
        service_given: wishes.service.is_some(),
        request_bytes: wishes.request_bytes.unwrap_or(bytes),
        answer_bytes: wishes.answer_bytes.unwrap_or(ANSWER_BYTES),
        tls: plan.tls.is_some(),
        closing: match options.close {
            Some(Close::Rst) => CloseSide::Reset,
            _ if options.no_keepalive => CloseSide::Server,
            _ => CloseSide::Client,
        },
    };
    let demand = LoadDemand::from_options(&words, exchange)?;
    let settings = settings(&demand.exchange, wishes, "the GET of `run`");
    let target = if named { url.url() } else { String::new() };
    Ok(SizingRequest { target, demand, targets: 1, sources: None, settings, notes: Vec::new() })
}

/// Returns the URL used if none is given.
fn unnamed_target(options: &RunOptions) -> TargetUrl {
    let tls = options.tls.version.is_some();
    TargetUrl {
        host: UNUSED_ADDRESS.to_string(),
        port: if tls { 443 } else { 80 },
        path: "/".to_owned(),
        tls,
        protocol: UrlProtocol::Http,
    }
}

/// Returns the load of a file; `None` if it cannot be read, which was reported.
fn of_file(
    args: &FileArgs,
    options: &RunOptions,
    wishes: &SizeOptions,
    format: FileFormat,
) -> Result<Option<SizingRequest>, UserError> {
    if wishes.hold.is_some() {
        let hint = "the file's phases set how long connections are kept";
        return Err(UserError::usage(Code::Conflict, "--hold has no effect with a file", hint));
    }
    let mut loaded = ExperimentFile::read(args, options, DataLoading::Later)?;
    let Some(experiment) = loaded.experiment.take() else {
        loaded.print_errors(format)?;
        return Ok(None);
    };
    let lowering = LowerContext {
        // The resources of this host do not matter.
        host: &HostFacts::for_tests(1),
        tables: &loaded.tables,
        addresses: &|url| Ok(vec![SocketAddr::new(UNUSED_ADDRESS.into(), url.port)]),
        file: &|name| loaded.file(name),
        secret: &|name| args.secret(name),
        sources: SourcesPlan::default(),
        threads: None,
        engine: EngineChoice::Auto,
    };
    let LoweredPlan { plan, .. } =
        lower(&experiment, &lowering).map_err(|unfit| unfit.into_user_error(&loaded.name))?;
    let bytes = PlanBytes {
        each: &request_bytes(&plan),
        otherwise: REQUEST_BYTES,
        answer: wishes.answer_bytes.unwrap_or(ANSWER_BYTES),
    };
    let demand = LoadDemand::from_plan(&plan, &bytes, wishes)?;
    // If stderr is closed, stdout still gets the result.
    if format == FileFormat::Text {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), loaded.rendered().as_bytes());
    }
    let settings = settings(&demand.exchange, wishes, "those of the file, on average");
    let targets = targets(&plan);
    let (sources, notes) = sources(&experiment);
    Ok(Some(SizingRequest { target: loaded.name.clone(), demand, targets, sources, settings, notes }))
}

/// Returns the number of source addresses in the file, and a note if it depends on hosts.
fn sources(experiment: &Experiment) -> (Option<u64>, Vec<String>) {
    match experiment.sources.as_ref().map(|sources| &sources.value) {
        None => (None, Vec::new()),
        Some(Sources::Auto) => {
            (None, vec!["sources: auto depends on the hosts that run the file".to_owned()])
        }
        Some(Sources::These(these)) => {
            let count: u128 = these.ranges.iter().map(SourceRange::len).sum();
            (Some(u64::try_from(count).unwrap_or(u64::MAX)), Vec::new())
        }
    }
}

/// Returns the number of host and port pairs that the plan connects to.
fn targets(plan: &Plan) -> u64 {
    if plan.http.proxy.is_some() {
        return 1;
    }
    let mut hosts: Vec<&str> = plan.targets.iter().map(|target| target.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    hosts.len().max(1) as u64
}

/// Lists the sizes and times of a request, and where each value comes from.
fn settings(exchange: &TransactionProfile, wishes: &SizeOptions, request: &str) -> Vec<Setting> {
    let one = |name, value: String, given, why: &str| Setting { name, value, given, why: why.to_owned() };
    vec![
        one("service", exchange.service.to_string(), exchange.service_given, "taken for granted"),
        one(
            "request-bytes",
            format!("{} B", exchange.request_bytes),
            wishes.request_bytes.is_some(),
            request,
        ),
        one(
            "answer-bytes",
            format!("{} B", exchange.answer_bytes),
            wishes.answer_bytes.is_some(),
            "taken for granted",
        ),
    ]
}
