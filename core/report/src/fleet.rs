//! What agents of a fleet lack, as text.

use wavetank_record::{AgentDoc, AgentEndDoc, AgentLossDoc, FleetDoc};
use wavetank_units::Nanos;
use wavetank_units::quantity::format_grouped;

/// Returns what an agent lacks of its part of the run; `None` if it is complete.
pub fn agent_lack(agent: &AgentDoc) -> Option<String> {
    let loss = |loss: &AgentLossDoc| {
        let known = match loss.last_interval {
            Some(last) => format!("no interval after number {}", format_grouped(last)),
            None => "no interval arrived".to_owned(),
        };
        let time = Nanos(loss.at_ns);
        match &loss.phase {
            Some(phase) => format!("lost at {time} in {phase}: {known}"),
            None => format!("lost at {time} before the load: {known}"),
        }
    };
    let end = match agent.end {
        AgentEndDoc::Plan | AgentEndDoc::Command => None,
        AgentEndDoc::NotStarted => Some("it never started".to_owned()),
        AgentEndDoc::Orphaned => Some("it lost its controller and stopped early".to_owned()),
        AgentEndDoc::Overdue => Some("it was stopped at the hard end of the run".to_owned()),
        AgentEndDoc::Crashed => Some("its process ended early".to_owned()),
        AgentEndDoc::Unfinished => Some("it did not end".to_owned()),
        AgentEndDoc::Lost => Some(agent.losses.last().map_or_else(|| "it was lost".to_owned(), loss)),
    };
    let unstored = match agent.unstored {
        0 => None,
        1 => Some("one interval is not in the archive".to_owned()),
        count => Some(format!("{} intervals are not in the archive", format_grouped(count))),
    };
    let parts: Vec<_> = end.into_iter().chain(unstored).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The agents that lack something, each with what it lacks.
pub fn lacking_agents(fleet: &FleetDoc) -> Vec<(String, String)> {
    let lacks = fleet.agents.iter().map(|agent| Some((agent.name.clone(), agent_lack(agent)?)));
    lacks.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_exactly() {
        let check = |agent: &AgentDoc, lack: Option<&str>| {
            assert_eq!(agent_lack(agent).as_deref(), lack, "{agent:?}");
        };
        let ended = |end| AgentDoc { end, ..AgentDoc::default() };
        let silent = |phase: Option<&str>, last_interval| AgentLossDoc {
            at_ns: 12_300_000_000,
            phase: phase.map(str::to_owned),
            last_interval,
        };
        check(&ended(AgentEndDoc::Plan), None);
        check(&AgentDoc { losses: vec![silent(None, None)], ..ended(AgentEndDoc::Command) }, None);
        check(&ended(AgentEndDoc::Lost), Some("it was lost"));
        check(
            &AgentDoc { losses: vec![silent(Some("main"), Some(11))], ..ended(AgentEndDoc::Lost) },
            Some("lost at 12.3 s in main: no interval after number 11"),
        );
        check(
            &AgentDoc { losses: vec![silent(None, None)], unstored: 2, ..ended(AgentEndDoc::Lost) },
            Some("lost at 12.3 s before the load: no interval arrived; 2 intervals are not in the archive"),
        );
        check(
            &AgentDoc { unstored: 1, ..ended(AgentEndDoc::Plan) },
            Some("one interval is not in the archive"),
        );
        for end in [AgentEndDoc::NotStarted, AgentEndDoc::Orphaned, AgentEndDoc::Overdue] {
            assert!(agent_lack(&ended(end)).is_some());
        }
        for end in [AgentEndDoc::Crashed, AgentEndDoc::Unfinished] {
            assert!(agent_lack(&ended(end)).is_some());
        }
    }
}
