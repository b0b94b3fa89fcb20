//! The request that makes a connection ready for messages, where no step has one.

use wavetank_plan::{EVENT_STREAM_FIELDS, Plan, Target, TargetUrl, UrlProtocol};
use wavetank_wire::h1::{RequestParts, Version, render_request};

/// The fields of every upgrade to WebSocket.
const WEBSOCKET_FIELDS: [(&str, &str); 3] =
    [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")];

/// Returns the whole request, without its `Sec-WebSocket-Key` or `Last-Event-ID`. TCP and UDP need
/// none.
pub(crate) fn upgrade_request(plan: &Plan, target: &Target) -> Vec<u8> {
    let settings = &plan.http.websocket;
    let (fixed, fields) = match target.protocol() {
        UrlProtocol::WebSocket => (&WEBSOCKET_FIELDS[..], settings.fields()),
        UrlProtocol::Events => (&EVENT_STREAM_FIELDS[..], Vec::new()),
        _ => return Vec::new(),
    };
    let path = TargetUrl::parse(&target.url).map_or_else(|_| "/".to_owned(), |url| url.path);
    let own = settings.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let is_own = |name: &str| settings.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let fixed = fixed.iter().copied().filter(|(name, _)| !is_own(name));
    let headers: Vec<(&str, &str)> =
        own.chain(fixed).chain(fields.iter().map(|(name, value)| (*name, value.as_str()))).collect();
    render_request(&RequestParts {
        method: "GET",
        target: &path,
        version: Version::Http11,
        host: &target.host,
        keep_alive: true,
        headers: &headers,
        body: b"",
    })
}
