//! The finding about a pool of connections that was too small.

use wavetank_plan::Load;
use wavetank_units::{Nanos, sentence};

use crate::facts::RuleInput;
use crate::validity_rules::lag_is_doubtful;
use crate::{Blame, Finding, FindingCode, format};

/// Reports that requests of an open load waited for a connection because all of the pool were in
/// use. The wait counts as a finding where it is a considerable part of the response time.
pub(crate) fn finding(case: &RuleInput<'_>) -> Option<Finding> {
    let is_pool = |phase: &&wavetank_plan::Phase| {
        !phase.warmup && phase.connections < phase.max_open && matches!(phase.load, Load::Open { .. })
    };
    let limit = case.facts.plan.phases.iter().filter(is_pool).map(|phase| phase.connections).max()?;
    let wait = case.judged.wait.percentile(99.0)?;
    let response = case.judged.response.percentile(99.0)?;
    let is_exhausted = case.facts.totals.conns.peak >= limit;
    (is_exhausted && lag_is_doubtful(wait, response as f64)).then(|| Finding {
        fix: Vec::new(),
        code: FindingCode::PoolLimit,
        blame: Blame::Generator,
        decisive: false,
        message: sentence!(
            "requests waited for one of the {} connections: wait p99 {}, part of the response time",
            format::count(limit),
            Nanos(wait as i64)
        ),
        evidence: sentence!(
            "all {} connections were in use · response p99 {}",
            format::count(limit),
            Nanos(response as i64)
        ),
        hint: sentence!(
            "use -c {} (in a file connections: {}) if the target is meant to serve that many",
            limit.saturating_mul(4),
            limit.saturating_mul(4)
        ),
    })
}
