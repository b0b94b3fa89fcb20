//! Lowers HTTP and TLS settings.

use wavetank_grammar::{Diagnostic, Spanned};
use wavetank_plan::{
    Action, AuthPlan, Close, DnsPolicy, HttpPlan, HttpVersion, PemFile, Scenario, TlsOptions, TlsPlan,
};

use super::target::{ResolvedTarget, Targets};
use super::tls::tls_plan;
use super::{LowerContext, LowerError};
use crate::model::{Experiment, PhaseLoad, TlsSettings};

/// Lowers HTTP settings. Defaults are those of a URL run, except that users keep cookies if they
/// can send them back.
pub(super) fn http(experiment: &Experiment, scenarios: &[Scenario]) -> HttpPlan {
    let http = &experiment.http;
    let default = HttpPlan::default();
    let timeout = http.timeout.as_ref().map_or(default.timeout, |timeout| timeout.value);
    let connect = default.connect_timeout.min(timeout);
    let connect = http.connect_timeout.as_ref().map_or(connect, |timeout| timeout.value);
    let all = || experiment.phases.iter().chain(experiment.scenarios.iter().flat_map(|one| &one.phases));
    let holds = |load: &PhaseLoad| matches!(load, PhaseLoad::Hold(_) | PhaseLoad::Pause(_));
    let held = all().any(|phase| matches!(phase.load.value, PhaseLoad::Hold(_)))
        && all().all(|phase| holds(&phase.load.value));
    HttpPlan {
        version: http.version.unwrap_or(default.version),
        timeout,
        connect_timeout: connect,
        keepalive: http.keepalive.unwrap_or(default.keepalive),
        requests_per_connection: http.requests_per_connection,
        close: http.close.unwrap_or(if held { Close::Rst } else { default.close }),
        pipeline: http.requests_in_flight(),
        expect: http.expect.clone().unwrap_or_else(|| default.expect.clone()),
        cookies: http.cookies.unwrap_or_else(|| !scenarios.iter().all(is_one_message)),
        body_max: http.body_max,
        ping: http.ping.as_ref().or(experiment.ws.ping.as_ref()).map(|ping| ping.value),
        websocket: super::message::websocket(experiment),
        proxy_protocol: http.proxy_protocol,
        // Proxy and look-ups are resolved with the targets.
        ..default
    }
}

/// Returns whether a user only repeats one request, which is a single message. Such a load needs
/// no state per user. A step that follows redirects, fetches resources or answers a challenge needs
/// the cookies of its first message for the next one.
fn is_one_message(scenario: &Scenario) -> bool {
    let journey = match scenario.journey.as_slice() {
        [] => true,
        [Action::Request(step)] => {
            let step = &scenario.steps[usize::from(*step)];
            step.follow == 0 && !step.resources && !matches!(step.auth, Some(AuthPlan::Digest(..)))
        }
        _ => false,
    };
    journey && scenario.before.is_empty() && scenario.after.is_empty()
}

/// Looking names up again was asked for where every target is an address.
pub(super) fn dns_option_unused(asked: Option<DnsPolicy>, http: &HttpPlan) -> Option<String> {
    let asked = asked.filter(|asked| *asked != DnsPolicy::Once && http.dns.is_none());
    asked.map(|_| "no name is looked up again: the target is given as an address".to_owned())
}

/// TLS settings of most targets, and of each target with its own settings.
pub(super) type TlsPlans = (Option<TlsPlan>, Vec<Option<Box<TlsPlan>>>);

/// Lowers TLS settings. See [`TlsPlans`].
pub(super) fn tls(
    experiment: &Experiment,
    input: &LowerContext<'_>,
    targets: &Targets<'_>,
) -> Result<TlsPlans, LowerError> {
    let version = experiment.http.version.unwrap_or(HttpVersion::Http11);
    let plan = |choice: Option<&TlsSettings>, known: &ResolvedTarget<'_>| {
        let options = choice.map(|choice| options(choice, input)).transpose()?.unwrap_or_default();
        Ok::<_, LowerError>(tls_plan(&options, &known.url, version, experiment.setting_names)?)
    };
    let common = experiment.http.tls.as_ref();
    let secure = targets.all().iter().find(|known| known.url.tls);
    let of_all = match (secure, targets.all().first()) {
        (Some(known), _) => plan(common, known)?,
        // Reports settings that have no effect without TLS.
        (None, Some(known)) if common.is_some() => plan(common, known)?,
        _ => None,
    };
    let own = |known: &ResolvedTarget<'_>| {
        Ok(known.tls.map(|own| plan(Some(own), known)).transpose()?.flatten().map(Box::new))
    };
    let own = targets.all().iter().map(own).collect::<Result<_, LowerError>>()?;
    Ok((of_all, own))
}

/// Returns the settings as options of the command line, with the files read.
fn options(choice: &TlsSettings, input: &LowerContext<'_>) -> Result<TlsOptions, LowerError> {
    let pem = |file: &Option<Spanned<String>>| {
        let read = |file: &Spanned<String>| {
            let bytes =
                (input.file)(&file.value).map_err(|error| Diagnostic::from_error(error, file.place))?;
            Ok::<_, LowerError>(PemFile { name: file.value.clone(), bytes })
        };
        file.as_ref().map(read).transpose()
    };
    Ok(TlsOptions {
        insecure: choice.verify == Some(false),
        ca: pem(&choice.ca)?,
        cert: pem(&choice.cert)?,
        key: pem(&choice.key)?,
        sni: choice.sni.clone(),
        version: choice.version,
        groups: choice.groups.clone(),
        ciphers: choice.ciphers.clone(),
        alpn: choice.alpn.clone(),
        resume: choice.resume,
    })
}
