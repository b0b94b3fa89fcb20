//! Asks a gRPC server for the descriptions of its services, before anything else is sent to it.

use wavetank_driver::{Clock, Signals};
use wavetank_engine::{LoadConfig, SingleUser, SingleUserLimits, TraceEvent};
use wavetank_experiment::{Experiment, LowerContext, ParseInput, lower, read};
use wavetank_grpc::Reflection;
use wavetank_journey::Journeys;
use wavetank_plan::{EngineChoice, Guard, PemFile, RunOptions, SourcesPlan, TargetUrl, UrlProtocol};
use wavetank_units::{Code, UserError};

use crate::{Host, TargetAddresses, host_error, tls_client};

/// The name under which the experiment of a question reads its body.
const QUESTION: &str = "reflection-request";

/// Returns the descriptions that the first gRPC target of `experiment` gives, with a name for them.
///
/// # Errors
/// If the server does not give them, or must not be asked.
pub fn reflected(experiment: &Experiment, options: &RunOptions) -> Result<PemFile, UserError> {
    let urls = experiment.targets.iter().flat_map(|target| target.urls.iter().map(move |one| (target, one)));
    let mut calls = urls.filter(|(_, one)| one.url.value.protocol == UrlProtocol::Grpc);
    let Some((target, one)) = calls.next() else {
        let message = "there is no gRPC target to ask for its services";
        return Err(UserError::usage(Code::BadProto, message, "target: grpc://HOST:PORT"));
    };
    let url = TargetUrl { protocol: UrlProtocol::Http, path: "/".to_owned(), ..one.url.value.clone() };
    if experiment.http.proxy.is_some() || options.proxy.is_some() {
        let message = "a server cannot be asked for its gRPC services through a proxy";
        return Err(UserError::usage(
            Code::Conflict,
            message,
            "describe the services: --proto FILE, or grpc: {proto: FILE}",
        ));
    }
    let host = Host::inspect()?;
    let mut conversation = Reflection::new();
    while let Some((path, body)) = conversation.next_request() {
        let mut question = question(&url, &path, options)?;
        question.http.tls.clone_from(&experiment.http.tls);
        question.http.connect_to.clone_from(&experiment.http.connect_to);
        let fixed = experiment.http.headers.iter().filter(|header| header.value.as_fixed().is_some());
        question.http.headers = fixed.cloned().collect();
        if let Some(own) = question.targets.first_mut() {
            own.tls.clone_from(&target.tls);
        }
        let (status, answer) = ask(&question, (&host, options), &body)?;
        conversation.read_response(status, &answer)?;
    }
    Ok(PemFile {
        name: format!("the services of {}", url.authority()),
        bytes: conversation.into_descriptors()?,
    })
}

/// Returns an experiment that sends one question.
fn question(url: &TargetUrl, path: &str, options: &RunOptions) -> Result<Experiment, UserError> {
    let text = format!(
        "wavetank: 1\ntarget: {}\nhttp: {{version: 2}}\nsteps:\n  - post: {path}\n    file: {QUESTION}\n\
         \x20   headers: {{content-type: application/grpc, te: trailers}}\n    check: body contains grpc\n\
         phases: [{{users: 1, sessions: 1}}]\n",
        url.url()
    );
    let options = RunOptions {
        tls: options.tls.clone(),
        headers: options.headers.clone(),
        connect_to: options.connect_to.clone(),
        ip: options.ip,
        ..RunOptions::default()
    };
    let input = ParseInput {
        name: "reflection",
        bytes: text.as_bytes(),
        set: &[],
        env: &|_| None,
        has_secret: &|_| false,
        options: &options,
    };
    let reading = read(&input);
    reading.experiment.ok_or_else(|| {
        let error = reading.diagnostics.first_error("reflection");
        let hint = "describe the services: --proto FILE, or grpc: {proto: FILE}";
        error.unwrap_or_else(|| {
            UserError::usage(Code::BadProto, "the server cannot be asked for its services", hint)
        })
    })
}

/// Sends the question of `experiment`. Returns the status and the body of the answer.
fn ask(
    experiment: &Experiment,
    (host, options): (&Host, &RunOptions),
    body: &[u8],
) -> Result<(u16, Vec<u8>), UserError> {
    let names = TargetAddresses::new(experiment);
    let given = [&options.tls.ca, &options.tls.cert, &options.tls.key];
    let lowering = LowerContext {
        host: &host.facts,
        tables: &[],
        addresses: &|url| names.addresses(url),
        file: &|name| {
            if name == QUESTION {
                return Ok(body.to_vec());
            }
            let file = given.iter().copied().flatten().find(|file| file.name == name);
            file.map(|file| file.bytes.clone()).ok_or_else(|| {
                let message = format!("{name} is not read for reflection");
                UserError::usage(
                    Code::BadFile,
                    message,
                    "give the file as an option: --cacert, --cert, --key",
                )
            })
        },
        secret: &|_| None,
        sources: SourcesPlan::default(),
        threads: Some(1),
        engine: EngineChoice::Auto,
    };
    let plan = lower(experiment, &lowering).map_err(|unfit| unfit.into_user_error("reflection"))?.plan;
    names.admit(&Guard::new(options.allow_target.clone()), &plan, "wavetank run")?;
    let config = LoadConfig {
        cpus: Vec::new(),
        ports: host.source_ports(),
        namespaces: Vec::new(),
        features: host.found.features,
        tls: tls_client(&plan)?,
        journeys: Journeys::new(&plan, Vec::new())?,
    };
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let cancelled = || signals.received() > 0;
    let single_user = SingleUser::new(&plan, &config, Clock::starting_now(), &cancelled)?;
    let mut answer = Err(None);
    let limits = SingleUserLimits { sleeps: false, requests_max: 1 };
    single_user.within(limits).scenario(0, &Vec::new(), &mut |event| match event {
        TraceEvent::Answered(response) if response.body.len() as u64 == response.body_bytes => {
            answer = Ok((response.status, response.body.to_vec()));
        }
        TraceEvent::Answered(response) => {
            answer = Err(Some(format!("its answer has {} bytes, which is too long", response.body_bytes)));
        }
        TraceEvent::Unanswered { trouble, .. } => answer = Err(Some(trouble.detail.clone())),
        _ => {}
    });
    answer.map_err(|why| {
        let why = why.unwrap_or_else(|| "it did not answer".to_owned());
        let url = experiment.targets.first().and_then(|target| target.urls.first());
        let name = url.map(|one| one.url.value.authority()).unwrap_or_default();
        let message = format!("cannot ask {name} for its gRPC services: {why}");
        UserError::usage(Code::BadProto, message, "start the server, or describe the services: --proto FILE")
    })
}
