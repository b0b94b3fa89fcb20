//! The forward proxy of a file.

use wavetank_grammar::Diagnostic;
use wavetank_plan::{ProxyPlan, ProxyUrl, Secret};
use wavetank_units::Code;

use super::LowerError;
use super::shared::GlobalScope;
use super::target::Targets;
use crate::model::{Part, Proxy, Template, Value};

/// Maximum nesting of variables in variables.
const DEPTH_MAX: u32 = 32;

/// Lowers the proxy. Its name is resolved like a target's.
pub(super) fn proxy(
    shared: &GlobalScope<'_>,
    targets: &Targets<'_>,
) -> Result<Option<ProxyPlan>, LowerError> {
    let (experiment, input) = (shared.experiment, shared.input);
    let Some(Proxy { url, user }) = &experiment.http.proxy else { return Ok(None) };
    if let Some(place) = targets.second_url_place() {
        let message = "a target with several URLs cannot be used with a proxy";
        let hint = "use two named targets, and to: NAME in the steps";
        return Err(Diagnostic::error(Code::ValueLater, place, message, hint).into());
    }
    let credentials = match user {
        None => url.value.credentials.clone(),
        Some((user, password)) => {
            let words = format!("{}:{}", words(shared, user, 0)?, words(shared, password, 0)?);
            Some(Secret::new(words))
        }
    };
    let found = (input.addresses)(&url.value.at)?;
    let host = &url.value.at.host;
    let filter = experiment.address_filter(&input.sources);
    let addresses = filter.usable_addresses(host, host, &found)?;
    let known = ProxyUrl { at: url.value.at.clone(), credentials };
    known.plan(addresses).map(Some).map_err(|error| Diagnostic::from_error(error, url.place).into())
}

/// Returns a text that is fixed before the run, with variables and secrets filled in.
fn words(shared: &GlobalScope<'_>, template: &Template, depth: u32) -> Result<String, LowerError> {
    let not_fixed = || {
        let hint = "proxy: http://USER:${secret:PASSWORD}@HOST:PORT";
        let message = "proxy credentials are fixed before the run";
        LowerError::from(Diagnostic::error(Code::TemplateNotFixed, template.place, message, hint))
    };
    let mut text = String::new();
    for part in &template.parts {
        match part {
            Part::Text(written) => {
                text.push_str(&ProxyUrl::decode_user(written).ok_or_else(not_fixed)?);
            }
            Part::Secret(name) => text.push_str(shared.secret(name)?.reveal()),
            Part::Variable(name) => match shared.var(name) {
                Some(Value::Text(inner)) if depth < DEPTH_MAX => {
                    text.push_str(&words(shared, inner, depth + 1)?);
                }
                Some(Value::Number(digits)) => text.push_str(digits),
                _ => return Err(not_fixed()),
            },
            _ => return Err(not_fixed()),
        }
    }
    Ok(text)
}
