//! How many requests a connection carries at a time.

use wavetank_plan::Plan;

/// Returns the number of requests that a connection carries simultaneously.
pub(super) fn streams_per_connection(plan: &Plan) -> u32 {
    if has_streams(plan) { plan.http.pipeline } else { 1 }
}

/// Whether requests are in streams of connections of HTTP/2 or HTTP/3. To this module, streams that
/// carry messages are connections of their own.
pub(super) fn has_streams(plan: &Plan) -> bool {
    plan.http.version.has_streams() && !plan.uses_tunnels()
}
