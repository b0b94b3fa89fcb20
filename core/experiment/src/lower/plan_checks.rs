//! Checks of a plan as a whole: series, and what a protocol cannot do.

use wavetank_plan::constants::SERIES_MAX;
use wavetank_plan::{
    ConnectionOwner, HttpVersion, Load, MessageAction, Plan, ReadExtent, Reply, Step, TlsVersions,
    UrlProtocol,
};
use wavetank_units::quantity::format_grouped;
use wavetank_units::{Code, UserError, unix_path};

/// Checks the number of time series. Every step is counted and timed separately in every phase with
/// sessions that may reach it. Every load thread keeps all series and writes them each second.
///
/// # Errors
/// A usage error if there are more than [`SERIES_MAX`] series.
pub(super) fn check_series(plan: &Plan) -> Result<(), UserError> {
    let steps = |scenario: u16| plan.scenarios.get(usize::from(scenario)).map_or(0, |it| it.steps.len());
    let loaded = || plan.phases.iter().filter(|phase| phase.load != Load::Pause);
    let series: usize =
        loaded().flat_map(|phase| phase.mix.parts()).map(|&(scenario, _)| steps(scenario)).sum();
    if series <= SERIES_MAX {
        return Ok(());
    }
    let all: usize = plan.scenarios.iter().map(|scenario| scenario.steps.len()).sum();
    let message = format!(
        "{} series, one for each step in each phase, are more than {}: {} phases, {} steps",
        format_grouped(series as u64),
        format_grouped(SERIES_MAX as u64),
        format_grouped(loaded().count() as u64),
        format_grouped(all as u64)
    );
    let hint = "fewer phases: a ramp or a stair is one ({rate: 100/s to 1k/s, step: 100/s, every: 10s}), and phases of a scenario's \
                own count its steps alone; or fewer steps";
    Err(UserError::usage(Code::TooManySeries, message, hint))
}

/// Checks that a plan with targets that carry messages contains nothing that these cannot do.
///
/// # Errors
/// A version of HTTP that does not carry them, and connections that serve one request.
pub(super) fn check_messages(plan: &Plan) -> Result<(), UserError> {
    let carriers = plan.targets.iter().enumerate().filter(|(target, _)| plan.carries_messages(*target));
    let mut protocols = carriers.map(|(_, target)| target.protocol());
    let Some(protocol) = protocols.next() else { return Ok(()) };
    super::datagram::check_path(plan)?;
    let conflict = |message: &str, hint: &str| Err(UserError::usage(Code::Conflict, message, hint));
    let (what, close) = match protocol {
        UrlProtocol::Events => ("an event stream", "sse.close: true"),
        UrlProtocol::Tcp => ("a TCP connection", "tcp.close: true"),
        UrlProtocol::Udp => ("a UDP socket", ""),
        UrlProtocol::Grpc => ("a gRPC call", "grpc.end: true"),
        _ => ("a WebSocket", "ws.close: 1000"),
    };
    if plan.http.version == HttpVersion::Http2 {
        check_tunnels(plan)?;
    } else if plan.http.version != HttpVersion::Http11 {
        let message = match protocol {
            UrlProtocol::WebSocket => "a WebSocket needs HTTP/1.1 or HTTP/2".to_owned(),
            UrlProtocol::Events => "an event stream needs HTTP/1.1 or HTTP/2".to_owned(),
            _ => format!("{what} in a plan needs HTTP/1.1 for all targets"),
        };
        return conflict(&message, "leave the version of HTTP out");
    }
    if !plan.http.keepalive || plan.http.requests_per_connection.is_some() {
        let message = format!("{what} carries any number of messages");
        let hint = match protocol {
            UrlProtocol::Udp => "leave it out, or connection: session in a file".to_owned(),
            _ => format!("close it in a step: {close}"),
        };
        return conflict(&message, &hint);
    }
    let is_simple = |step: &Step| {
        step.message.as_ref().is_none_or(|message| {
            let is_any = !matches!(message.reply, Reply::Matching(_)) && message.count == 1;
            message.action == MessageAction::Send && is_any && message.read != Some(ReadExtent::Close)
        })
    };
    let is_shared =
        |owner: ConnectionOwner| matches!(owner, ConnectionOwner::Shared | ConnectionOwner::Request);
    if plan.scenarios.iter().any(|own| is_shared(own.connection) && !own.steps.iter().all(is_simple)) {
        let hint = match protocol {
            UrlProtocol::Events => {
                "-c CONNECTIONS instead of a rate, or connection: session, at the top of a file"
            }
            _ => "connection: session, in the scenario or at the top of the file",
        };
        let message = match protocol {
            UrlProtocol::WebSocket => {
                "several steps on a WebSocket need a connection of the session's own".to_owned()
            }
            _ => format!("steps that read from {what} need a connection of the session's own"),
        };
        return conflict(&message, hint);
    }
    Ok(())
}

/// Checks that all connections of a plan can be streams of HTTP/2 that carry messages.
fn check_tunnels(plan: &Plan) -> Result<(), UserError> {
    let conflict = |message: &str, hint: &str| Err(UserError::usage(Code::Conflict, message, hint));
    for target in &plan.targets {
        let message = match target.protocol() {
            UrlProtocol::WebSocket | UrlProtocol::Events | UrlProtocol::Grpc => continue,
            UrlProtocol::Tcp => "a TCP connection in a plan needs HTTP/1.1 for all targets",
            UrlProtocol::Udp => "a UDP socket in a plan needs HTTP/1.1 for all targets",
            UrlProtocol::Http => {
                "with HTTP/2, WebSockets, event streams and open gRPC calls cannot be in one file with \
                 HTTP targets"
            }
        };
        return conflict(message, "leave the version of HTTP out");
    }
    if plan.http.proxy.is_some() || plan.http.proxy_protocol.is_some() {
        let message = "WebSockets, event streams and open gRPC calls over HTTP/2 do not work through a proxy";
        return conflict(message, "leave the proxy out, or use HTTP/1.1");
    }
    Ok(())
}

/// Checks that a plan contains nothing that HTTP/2 or HTTP/3 cannot express.
///
/// # Errors
/// A request that is written out, and a proxy for targets without TLS; with HTTP/3 any proxy,
/// targets without TLS, and TLS without version 1.3.
pub(super) fn check_streams(plan: &Plan) -> Result<(), UserError> {
    if !plan.http.version.has_streams() {
        return Ok(());
    }
    let conflict = |message: &str, hint: &str| Err(UserError::usage(Code::Conflict, message, hint));
    let around = [&plan.around.before, &plan.around.after].into_iter().flatten().map(|hook| &**hook);
    let mut steps = plan.scenarios.iter().chain(around).flat_map(|scenario| &scenario.steps);
    if steps.any(|step| step.message.is_none() && step.request.method.is_empty()) {
        let hint = "write it as get:, post: or request:, or use HTTP/1.1";
        return conflict("a raw request is HTTP/1 and cannot be sent as HTTP/2 or HTTP/3", hint);
    }
    if plan.http.version == HttpVersion::Http3 {
        return check_quic(plan);
    }
    if plan.http.proxy.is_some() && plan.targets.iter().any(|target| target.server_name.is_none()) {
        let hint = "use https, for which the proxy opens a tunnel, or HTTP/1.1";
        return conflict("HTTP/2 to a target without TLS does not work through a proxy", hint);
    }
    Ok(())
}

/// Checks that QUIC leads to all targets of a plan.
fn check_quic(plan: &Plan) -> Result<(), UserError> {
    let conflict = |message: &str, hint: &str| Err(UserError::usage(Code::Conflict, message, hint));
    if let Some(target) = plan.targets.iter().find(|target| target.server_name.is_none()) {
        let message = format!("HTTP/3 always uses TLS, and {} does not", target.host);
        return conflict(&message, "use https, or HTTP/1.1");
    }
    if plan.targets.iter().any(|target| target.addresses.iter().any(|at| unix_path(*at).is_some())) {
        return conflict("HTTP/3 is over QUIC, which Unix sockets do not carry", "use HTTP/1.1");
    }
    if plan.http.proxy.is_some() {
        return conflict("HTTP/3 through a proxy is not supported", "leave the proxy out");
    }
    if plan.http.proxy_protocol.is_some() {
        return conflict("the PROXY protocol is not supported over QUIC", "leave proxy_protocol out");
    }
    let common = plan.tls.iter();
    let own = plan.targets.iter().filter_map(|target| target.tls.as_deref());
    for tls in common.chain(own) {
        if tls.versions == TlsVersions::Tls12 {
            return conflict("QUIC uses TLS 1.3, and the TLS version is 1.2", "leave the TLS version out");
        }
    }
    Ok(())
}
