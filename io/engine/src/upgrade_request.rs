//! The request that upgrades a connection to WebSocket, where no step has one.

use wavetank_plan::{Plan, Target, TargetUrl};
use wavetank_wire::h1::{RequestParts, Version, render_request};

/// Returns the whole request without its `Sec-WebSocket-Key`.
pub(crate) fn upgrade_request(plan: &Plan, target: &Target) -> Vec<u8> {
    let settings = &plan.http.websocket;
    let path = TargetUrl::parse(&target.url).map_or_else(|_| "/".to_owned(), |url| url.path);
    let fields = settings.fields();
    let own = settings.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let fixed = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")];
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
