//! Rules on values that nginx rejects, and on directives that it no longer has.

use super::{Directive, value};
use crate::finding::found;
use crate::{Judgement, Verdict};

/// Directives with a time.
const TIMES: [&str; 20] = [
    "client_body_timeout",
    "client_header_timeout",
    "fastcgi_connect_timeout",
    "fastcgi_read_timeout",
    "fastcgi_send_timeout",
    "grpc_connect_timeout",
    "grpc_read_timeout",
    "grpc_send_timeout",
    "keepalive_time",
    "keepalive_timeout",
    "lingering_time",
    "lingering_timeout",
    "proxy_connect_timeout",
    "proxy_read_timeout",
    "proxy_send_timeout",
    "proxy_timeout",
    "resolver_timeout",
    "send_timeout",
    "ssl_session_timeout",
    "worker_shutdown_timeout",
];
/// Directives with a size.
const SIZES: [&str; 7] = [
    "client_body_buffer_size",
    "client_header_buffer_size",
    "client_max_body_size",
    "limit_rate_after",
    "proxy_buffer_size",
    "proxy_busy_buffers_size",
    "proxy_max_temp_file_size",
];
/// Directives with `on` or `off`.
const SWITCHES: [&str; 12] = [
    "absolute_redirect",
    "accept_mutex",
    "chunked_transfer_encoding",
    "multi_accept",
    "proxy_buffering",
    "proxy_ignore_client_abort",
    "proxy_request_buffering",
    "reset_timedout_connection",
    "sendfile",
    "server_name_in_redirect",
    "tcp_nodelay",
    "tcp_nopush",
];
/// Directives that nginx no longer has: since which version, and what replaces them.
const REMOVED: [(&str, &str, &str); 9] = [
    ("limit_zone", "1.7.6", "write limit_conn_zone $binary_remote_addr zone=NAME:SIZE"),
    ("http2_max_requests", "1.19.7", "write keepalive_requests"),
    ("http2_idle_timeout", "1.19.7", "write keepalive_timeout"),
    ("http2_recv_timeout", "1.19.7", "write client_header_timeout"),
    ("http2_max_field_size", "1.19.7", "write large_client_header_buffers"),
    ("http2_max_header_size", "1.19.7", "write large_client_header_buffers"),
    ("http2_push", "1.25.1", "remove the line: browsers no longer support it"),
    ("http2_push_preload", "1.25.1", "remove the line: browsers no longer support it"),
    ("optimize_server_names", "0.8.25", "write server_name_in_redirect"),
];

/// Judges one directive; `None` if no rule is about it.
pub(super) fn judge(directive: &Directive) -> Option<Judgement> {
    let (name, first) = (directive.name.as_str(), directive.arg(0));
    if let Some((_, version, hint)) = REMOVED.into_iter().find(|(known, ..)| *known == name) {
        return found(Verdict::Obsolete, format!("nginx {version} made it obsolete or removed it"), hint);
    }
    if name.starts_with("spdy_") || (name == "listen" && directive.args.iter().any(|own| own.text == "spdy"))
    {
        return found(Verdict::Obsolete, "nginx 1.9.5 replaced SPDY by HTTP/2", "write listen 443 ssl http2");
    }
    if directive.block.is_some() || first.is_empty() || first.contains('$') {
        return None;
    }
    if TIMES.contains(&name) && value::seconds(first).is_none() {
        let sentence = format!("`{first}` is not a time of nginx, which refuses to start");
        return found(Verdict::Rejected, sentence, "write 30s, 500ms or 1m");
    }
    if SIZES.contains(&name) && value::number(first).is_none() {
        let sentence = format!("`{first}` is not a size of nginx, which refuses to start");
        return found(Verdict::Rejected, sentence, "write a number with k, m or g: 10m");
    }
    if SWITCHES.contains(&name) && !matches!(first, "on" | "off") {
        let sentence = format!("`{first}` is not on or off, and nginx refuses to start");
        return found(Verdict::Rejected, sentence, "write on or off");
    }
    match name {
        "tcp_nodelay" if first == "off" => found(
            Verdict::Harmful,
            "pieces of a response on a kept connection wait 40 ms for an acknowledgement",
            "remove the line: on is the default",
        ),
        "error_log" if directive.arg(1) == "debug" => found(
            Verdict::Harmful,
            "a binary with debugging writes some hundred lines for each request",
            "write warn or error",
        ),
        "proxy_next_upstream" if directive.args.iter().any(|own| own.text == "non_idempotent") => found(
            Verdict::Harmful,
            "after a timeout nginx sends POST to a second server, so that an order may be executed twice",
            "remove non_idempotent",
        ),
        "server" => server(directive),
        _ => None,
    }
}

/// The parameters of a server of an upstream.
fn server(directive: &Directive) -> Option<Judgement> {
    let parameter = |name: &str| {
        directive
            .args
            .iter()
            .find_map(|own| own.text.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
    };
    if parameter("weight").as_deref() == Some("0") {
        let sentence = "a weight is at least 1, and nginx refuses 0";
        return found(Verdict::Rejected, sentence, "write down to leave a server out");
    }
    let pause = parameter("fail_timeout")?;
    value::seconds(&pause).is_none().then(|| {
        let sentence = format!("`{pause}` is not a time of nginx, which refuses to start");
        Judgement::new(Verdict::Rejected, sentence, "write fail_timeout=10s")
    })
}

/// Compares the lines of each upstream, and the zones that limits name with those that exist.
pub(super) fn compare(directives: &[Directive]) -> Vec<(&Directive, Judgement)> {
    let all = flat(directives);
    let mut judged: Vec<_> =
        all.iter().filter(|one| one.name == "upstream").filter_map(|one| order(one)).collect();
    let zones = |name: &str| {
        let lines = all.iter().filter(|one| one.name == name).flat_map(|one| &one.args);
        let zone = |text: &str| Some(text.strip_prefix("zone=")?.split(':').next()?.to_owned());
        lines.filter_map(|own| zone(&own.text)).collect::<Vec<_>>()
    };
    for (limit, definition) in [("limit_req", "limit_req_zone"), ("limit_conn", "limit_conn_zone")] {
        let known = zones(definition);
        // A file below conf.d uses zones of others.
        let has_http = directives.iter().any(|one| one.name == "http");
        for line in all.iter().filter(|one| one.name == limit && has_http) {
            let first = line.args.iter().map(|own| own.text.as_str());
            let name = match limit {
                "limit_req" => first.clone().find_map(|text| text.strip_prefix("zone=")),
                _ => first.clone().next(),
            };
            if let Some(name) = name.filter(|name| !known.iter().any(|zone| zone == name)) {
                let sentence =
                    format!("no {definition} defines the zone `{name}`, and nginx refuses to start");
                let hint = format!("add {definition} $binary_remote_addr zone={name}:10m to http");
                judged.push((*line, Judgement::new(Verdict::Rejected, sentence, hint)));
            }
        }
    }
    judged
}

fn flat(directives: &[Directive]) -> Vec<&Directive> {
    directives.iter().flat_map(|one| std::iter::once(one).chain(flat(one.children()))).collect()
}

/// `keepalive` wraps the way of balancing before it, so that must come first.
fn order(upstream: &Directive) -> Option<(&Directive, Judgement)> {
    let mut children = upstream.children().iter();
    children.find(|one| one.name == "keepalive")?;
    let later = children.find(|one| {
        matches!(one.name.as_str(), "ip_hash" | "least_conn" | "hash" | "random" | "least_time")
    })?;
    let sentence = format!("{} after keepalive replaces it, so that no connection is kept", later.name);
    let hint = format!("write {} before keepalive", later.name);
    Some((later, Judgement::new(Verdict::Conflict, sentence, hint)))
}
