//! [`request_bytes`]: the size of each step's request.

use wavetank_journey::RequestTemplate;
use wavetank_plan::{AuthPlan, Plan, Step};

/// Returns the bytes that each step sends, if they are the same for all users. Cookies and digest
/// credentials are added later, so such steps are `None`.
pub(crate) fn request_bytes(plan: &Plan) -> Vec<Vec<Option<u64>>> {
    let of_step = |step: &Step| {
        let changes = plan.http.cookies || matches!(step.auth, Some(AuthPlan::Digest(..)));
        let shape = RequestTemplate::new(step, plan).ok()?;
        shape.as_fixed().filter(|_| !changes).map(|bytes| bytes.len() as u64)
    };
    plan.scenarios.iter().map(|scenario| scenario.steps.iter().map(of_step).collect()).collect()
}
