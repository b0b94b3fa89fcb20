//! [`PlanShare`]: the part of a plan that one host executes, and what that host lacks for it.

use wavetank_units::UserError;

use crate::forecast::{Peak, shortfalls_of_share};
use crate::resolve::{HostCapacity, choose_engine};
use crate::{EngineChoice, HostFacts, Load, Plan};

/// The part of a plan that one host executes: `width` of every `of` users, sessions and
/// connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanShare {
    width: u64,
    of: u64,
}

/// Settings that the user left to the program. Each host decides them for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutomaticChoices {
    /// The number of load threads: one for each CPU, and more where tables of files require them.
    pub threads: bool,
    /// The engine: the best one that the host allows.
    pub engine: bool,
}

impl PlanShare {
    /// The whole plan, on one host.
    pub const WHOLE: Self = Self { width: 1, of: 1 };

    /// Returns the share of `width` of every `of`. `None` if it is nothing or more than all.
    pub const fn new(width: u64, of: u64) -> Option<Self> {
        if 0 < width && width <= of { Some(Self { width, of }) } else { None }
    }

    /// Returns how many of `total` belong to the share at most. Where the share begins decides
    /// whether it has one more or less.
    pub const fn part_of(self, total: u64) -> u64 {
        let rest = total % self.of;
        total / self.of * self.width + if rest < self.width { rest } else { self.width }
    }

    /// Returns the largest total of which at most `part` belong to the share.
    pub(crate) const fn total_of(self, part: u64) -> u64 {
        (part / self.width).saturating_mul(self.of).saturating_add(part % self.width)
    }
}

/// Returns the plan as a host executes its share. Choices that the user left open follow the host:
/// the engine, the number of load threads, and the file tables.
///
/// # Errors
/// The host lacks the engine that the user requested (exit 5), or has too many threads.
pub fn adapt_to_host(
    plan: &Plan,
    share: PlanShare,
    facts: &HostFacts,
    automatic: AutomaticChoices,
) -> Result<Plan, UserError> {
    let asked = if automatic.engine { EngineChoice::Auto } else { plan.engine };
    let engine = choose_engine(asked, &facts.sockets)?.choice;
    let plan = Plan { engine, ..plan.clone() };
    let addresses = plan.connection_addresses();
    let held =
        capacity(&plan, &addresses, facts, automatic)?.held(Peak::for_share(&plan, share).connections());
    Ok(Plan { threads: held.threads, files: held.files, ..plan })
}

/// Returns everything that a host lacks for its share of an adapted plan (exit 5), one error for
/// each reason. With any of them nothing may be sent. Reasons are files, source addresses and
/// ports, memory, threads and entries of the firewall.
pub fn lacking_for_share(
    plan: &Plan,
    share: PlanShare,
    facts: &HostFacts,
    automatic: AutomaticChoices,
) -> Vec<UserError> {
    let addresses = plan.connection_addresses();
    match capacity(plan, &addresses, facts, automatic) {
        Ok(room) => shortfalls_of_share(plan, share, &room, connections_setting(plan)),
        Err(error) => vec![error],
    }
}

fn capacity<'a>(
    plan: &'a Plan,
    addresses: &'a [std::net::SocketAddr],
    facts: &'a HostFacts,
    automatic: AutomaticChoices,
) -> Result<HostCapacity<'a>, UserError> {
    let threads = (!automatic.threads).then_some(plan.threads);
    HostCapacity::new(facts, &plan.sources.ranges, addresses, plan.engine, threads, plan.tls.is_some())
}

/// Returns the option or key that sets the number of connections. Only the scenario of a run
/// without a file has no name.
fn connections_setting(plan: &Plan) -> &'static str {
    let any = |is: fn(&Load) -> bool| plan.phases.iter().any(|phase| is(&phase.load));
    let in_file = plan.scenarios.iter().any(|scenario| !scenario.name.is_empty());
    if any(|load| matches!(load, Load::Hold { .. })) {
        "hold:"
    } else if in_file && any(|load| load.levels().is_some()) {
        "users:"
    } else {
        "-c"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(width: u64, of: u64, total: u64, part: u64) {
        let share = PlanShare::new(width, of).expect("a share");
        assert_eq!(share.part_of(total), part, "{share:?} of {total}");
        let most = share.total_of(part);
        assert!(share.part_of(most) <= part && most >= total, "{share:?}: {part} of at most {most}");
        assert!(most == u64::MAX || share.part_of(most + 1) > part, "{share:?}: {part} of at most {most}");
    }

    #[test]
    fn a_share_has_its_part_rounded_up() {
        check(1, 1, 7, 7);
        check(1, 3, 0, 0);
        check(1, 3, 1, 1);
        check(1, 3, 3, 1);
        check(1, 3, 4, 2);
        check(2, 3, 4, 3);
        check(2, 3, 1_000_000, 666_667);
        check(5, 7, u64::MAX, 13_176_245_766_935_394_011);
        assert_eq!([PlanShare::new(0, 3), PlanShare::new(4, 3), PlanShare::new(0, 0)], [None; 3]);
        assert_eq!(PlanShare::new(1, 1), Some(PlanShare::WHOLE));
    }
}
