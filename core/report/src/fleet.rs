//! What agents of a fleet lack, as text.

use wavetank_record::{AgentDoc, AgentEndDoc, AgentLossDoc, FleetDoc};
use wavetank_units::quantity::format_grouped;
use wavetank_units::{Nanos, Sentence, phrase, sentence};

/// Returns what an agent lacks of its part of the run; `None` if it is complete.
pub fn agent_lack(agent: &AgentDoc) -> Option<Sentence> {
    let loss = |loss: &AgentLossDoc| {
        let known = match loss.last_interval {
            Some(last) => sentence!("no interval after number {}", format_grouped(last)),
            None => phrase!("no interval arrived"),
        };
        let time = Nanos(loss.at_ns);
        match &loss.phase {
            Some(phase) => sentence!("lost at {time} in {phase}: {known}"),
            None => sentence!("lost at {time} before the load: {known}"),
        }
    };
    let end = match agent.end {
        AgentEndDoc::Plan | AgentEndDoc::Command => None,
        AgentEndDoc::NotStarted => Some(phrase!("it never started")),
        AgentEndDoc::Orphaned => Some(phrase!("it lost its controller and stopped early")),
        AgentEndDoc::Overdue => Some(phrase!("it was stopped at the hard end of the run")),
        AgentEndDoc::Crashed => Some(phrase!("its process ended early")),
        AgentEndDoc::Unfinished => Some(phrase!("it did not end")),
        AgentEndDoc::Lost => Some(agent.losses.last().map_or_else(|| phrase!("it was lost"), loss)),
    };
    let unstored = match agent.unstored {
        0 => None,
        1 => Some(phrase!("one interval is not in the archive")),
        count => Some(sentence!("{} intervals are not in the archive", format_grouped(count))),
    };
    let parts: Vec<_> = end.into_iter().chain(unstored).collect();
    (!parts.is_empty()).then(|| Sentence::join(parts, "; "))
}

/// The agents that lack something, each with what it lacks.
pub fn lacking_agents(fleet: &FleetDoc) -> Vec<(String, Sentence)> {
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
