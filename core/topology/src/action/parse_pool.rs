//! Parses pool changes given as text: `haproxy app1 drain`, `web[1-2] weight 3`.

use wavetank_units::{Code, UserError, did_you_mean};

use super::parse_fault::find_host;
use super::{PoolAction, ServerMode};
use crate::parse::expanded;
use crate::{Backend, Host, Lab, Service, ServiceKind};

/// The accepted forms of a pool change.
const SHAPES: &str = "SERVICE SERVER drain, SERVICE SERVER ready or SERVICE SERVER weight N";

/// Parses `words` as a pool change for a balancer of the host of `lab` called `host`. The service
/// may be left out if the host has only one service with a changeable pool. A server is a host
/// name, `NAME:PORT` or a pattern such as `app[1-2]`.
///
/// # Errors
/// A usage error with the reason and the accepted forms.
pub fn parse_pool_change(words: &str, lab: &Lab, host: &str) -> Result<PoolAction, UserError> {
    let host = find_host(lab, host)?;
    let words: Vec<&str> = words.split_whitespace().collect();
    let (names, wish) = match words.as_slice() {
        [names @ .., "drain"] => (names, ServerMode::Drain),
        [names @ .., "ready"] => (names, ServerMode::Ready),
        [names @ .., "weight", number] => (names, ServerMode::Weight(weight(number, host)?)),
        [.., "weight"] => return Err(wrong(host, "`weight` needs a number")),
        [.., last] => {
            let near = did_you_mean(last, ["drain", "ready", "weight"]);
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            return Err(wrong(host, &format!("`{last}` is not a change of a server{near}")));
        }
        [] => return Err(wrong(host, "a server and its change are required")),
    };
    let (service, server) = match names {
        [server] => (None, *server),
        [service, server] => (Some(*service), *server),
        [] => return Err(wrong(host, &format!("`{wish}` needs a server"))),
        _ => return Err(wrong(host, &format!("`{}` has an unexpected argument", words.join(" ")))),
    };
    let service = match pools_of(lab, &host.name, service)?.as_slice() {
        [only] => *only,
        some => {
            let names: Vec<&str> = some.iter().map(|service| service.name.as_str()).collect();
            let message = format!("host {} has several pools: `{server}` needs its service", host.name);
            return Err(UserError::usage(
                Code::LabPoolWords,
                message,
                format!("one of: {}", names.join(", ")),
            ));
        }
    };
    let places = places(server, service, host)?;
    let wishes = places.into_iter().map(|place| (place, wish)).collect();
    Ok(PoolAction { service: service.name.clone(), wishes })
}

/// Returns the services of a host with pools that can be read and changed while they run. `host` is
/// a host name of `lab`. With `service`, only the service with that name is returned. The result is
/// never empty.
///
/// # Errors
/// A usage error if no service has such a pool, or not the service with that name.
pub fn pools_of<'l>(lab: &'l Lab, host: &str, service: Option<&str>) -> Result<Vec<&'l Service>, UserError> {
    let host = find_host(lab, host)?;
    let pools: Vec<&Service> = host.services.iter().filter(|service| has_pool(service)).collect();
    let found = match service {
        None => pools.clone(),
        Some(name) => pools.iter().copied().filter(|service| service.name == name).collect(),
    };
    if !found.is_empty() {
        return Ok(found);
    }
    let own = &host.name;
    let message = match service {
        None => format!("host {own} has no pool of servers"),
        Some(name) if host.service(name).is_some() => {
            format!("service `{name}` of host {own} has no pool that can be changed while it runs")
        }
        Some(name) => format!("host {own} has no service `{name}`"),
    };
    let names = || pools.iter().map(|service| service.name.as_str());
    let near = service.and_then(|name| did_you_mean(name, names()));
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None if pools.is_empty() => {
            "direct routing, NAT and HAProxy with a generated configuration have one".to_owned()
        }
        None => format!("one of: {}", names().collect::<Vec<_>>().join(", ")),
    };
    Err(UserError::usage(Code::LabPoolWords, message, hint))
}

/// Whether the pool of `service` can be read and changed while it runs. The contents of a user's
/// own configuration are unknown, nginx has no such interface, and keepalived reloads its whole
/// file.
fn has_pool(service: &Service) -> bool {
    match &service.kind {
        ServiceKind::DirectRouting(_) | ServiceKind::Nat(_) => true,
        ServiceKind::Haproxy(haproxy) => haproxy.own.config.is_none() && !haproxy.servers.is_empty(),
        ServiceKind::Nginx(_) | ServiceKind::Serve(_) | ServiceKind::Ipvs(_) | ServiceKind::Command(_) => {
            false
        }
    }
}

fn weight(word: &str, host: &Host) -> Result<u32, UserError> {
    let known = word.parse::<u32>().ok().filter(|weight| *weight <= ServerMode::WEIGHT_MAX);
    known.ok_or_else(|| {
        wrong(host, &format!("`{word}` is not a weight: use a number from 0 to {}", ServerMode::WEIGHT_MAX))
    })
}

/// Returns the indices of the servers named by `word` among the backends of `service`. The result
/// is never empty.
fn places(word: &str, service: &Service, host: &Host) -> Result<Vec<usize>, UserError> {
    let (names, port) = match word.rsplit_once(':') {
        None => (word, None),
        Some((names, port)) => {
            let known = port.parse::<u16>().ok();
            let known = known.ok_or_else(|| wrong(host, &format!("`{port}` is not a port")))?;
            (names, Some(known))
        }
    };
    let backends = service.backends();
    let mut places = Vec::new();
    for name in expanded(names).map_err(|hint| wrong(host, &format!("`{names}` is not a pattern: {hint}")))? {
        let is_it = |server: &Backend| server.name == name && port.is_none_or(|port| server.port == port);
        let its = backends.iter().enumerate().filter(|(_, server)| is_it(server)).map(|(place, _)| place);
        let before = places.len();
        places.extend(its);
        if places.len() == before {
            return Err(unknown_server(&name, word, service, host));
        }
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

fn unknown_server(name: &str, word: &str, service: &Service, host: &Host) -> UserError {
    let mut known: Vec<&str> = service.backends().iter().map(|server| server.name.as_str()).collect();
    known.dedup();
    let message = format!("no server `{word}` behind `{}` of host {}", service.name, host.name);
    let hint = match did_you_mean(name, known.iter().copied()) {
        Some(near) if near != name => format!("did you mean {near}?"),
        _ => format!("one of: {}", known.join(", ")),
    };
    UserError::usage(Code::LabPoolWords, message, hint)
}

fn wrong(host: &Host, message: &str) -> UserError {
    UserError::usage(Code::LabPoolWords, format!("host {}: {message}", host.name), SHAPES)
}
