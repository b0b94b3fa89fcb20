//! [`request_bytes`]: what a plan's steps send.

use wavetank_journey::RequestTemplate;
use wavetank_plan::{AuthPlan, Plan, Step};

/// What each step sends, where it is the same for everybody. Cookies and digests are put in later.
pub(crate) fn request_bytes(plan: &Plan) -> Vec<Vec<Option<u64>>> {
    let of_step = |step: &Step| {
        let changes = plan.http.cookies || matches!(step.auth, Some(AuthPlan::Digest(..)));
        RequestTemplate::new(step, plan).as_fixed().filter(|_| !changes).map(|bytes| bytes.len() as u64)
    };
    plan.scenarios.iter().map(|scenario| scenario.steps.iter().map(of_step).collect()).collect()
}
