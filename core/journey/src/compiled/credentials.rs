//! [`Credentials`]: the name and password with which a step answers a challenge.

use wavetank_plan::{AuthPlan, Expr, Plan, Step, Template};

/// The name and password with which a step answers a challenge.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    /// The first step with the same credentials for the same target, and the target. All such steps
    /// share this key.
    pub(crate) key: (usize, usize),
    pub(crate) user: Template,
    pub(crate) password: Template,
    /// Whether the credentials differ between sessions.
    pub(crate) varies: bool,
}

impl Credentials {
    /// Returns the credentials of `step` if it sends them only after a challenge.
    pub(crate) fn for_step(step: &Step, plan: &Plan) -> Option<Self> {
        let Some(AuthPlan::Digest(user, password)) = &step.auth else { return None };
        let around = [&plan.around.before, &plan.around.after].into_iter().flatten().map(AsRef::as_ref);
        let mut all = plan.scenarios.iter().chain(around).flat_map(|scenario| &scenario.steps);
        let first = all.position(|other| other.auth == step.auth);
        let varies = |template: &Template| {
            template.holes().any(|hole| !matches!(hole.value, Expr::Secret { .. } | Expr::Text(_)))
        };
        let varies = varies(user) || varies(password);
        let key = (first.unwrap_or(usize::MAX), step.target);
        Some(Self { key, user: user.clone(), password: password.clone(), varies })
    }
}
