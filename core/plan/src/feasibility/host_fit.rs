//! [`adapt_to_host`] and [`lacking_for_share`]: a ready plan on a host that did not make it.

use std::net::SocketAddr;

use wavetank_units::UserError;

use super::shortfalls::shortfalls_of_share;
use super::{HostCapacity, Peak, Transport, choose_engine};
use crate::{EngineChoice, HostFacts, Load, Plan, PlanShare, SettingNames};

/// Settings that the user left to the program. Each host decides them for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutomaticChoices {
    /// The number of load threads: one for each CPU, and more where tables of files require them.
    pub threads: bool,
    /// The engine: the best one that the host allows.
    pub engine: bool,
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
        Ok(room) => {
            let names = SettingNames::Options;
            shortfalls_of_share(plan, share, &room, (connections_setting(plan), names))
        }
        Err(error) => vec![error],
    }
}

fn capacity<'a>(
    plan: &'a Plan,
    addresses: &'a [SocketAddr],
    facts: &'a HostFacts,
    automatic: AutomaticChoices,
) -> Result<HostCapacity<'a>, UserError> {
    let threads = (!automatic.threads).then_some(plan.threads);
    HostCapacity::new(facts, &plan.sources.ranges, addresses, plan.engine, threads, Transport::of(plan))
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
