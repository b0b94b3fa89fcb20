//! [`UpPlan`]: what `wavetank fleet up` has to do on a host.

use wavetank_fleet::{AgentState, RunId};

use super::agent_hosts::AgentGreeting;
use super::agent_settings::AgentSettings;
use super::program_file::ProgramFile;
use super::up_scripts::FoundFiles;

/// What is to be done on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpPlan {
    /// Its agent runs this program.
    Nothing,
    /// An agent is to be started.
    Start {
        /// The program is copied first, from this byte on.
        copy_from: Option<u64>,
        /// The agent that runs is ended first.
        restart: bool,
    },
}

/// Decides what is to be done on a host. Settings of an agent that `fleet up` did not start are
/// unknown, and stay.
///
/// # Errors
/// Why nothing can be done, as one line.
pub(super) fn plan(
    settings: &AgentSettings,
    program: &mut ProgramFile,
    found: &FoundFiles,
    agent: Option<&AgentGreeting>,
) -> Result<UpPlan, String> {
    if found.system != program.system {
        let system = if found.system.is_empty() { "no system that it names" } else { &found.system };
        return Err(format!("this program is for {}, and the host has {system}", program.system));
    }
    let is_copied = found.program.as_ref() == Some(&(program.size, program.digest.clone()));
    let copy_from = (!is_copied)
        .then(|| found.part.as_ref().map_or(0, |(size, digest)| program.resume_at(*size, digest)));
    let Some(AgentGreeting { run, hello }) = agent else {
        return Ok(UpPlan::Start { copy_from, restart: false });
    };
    let name = &settings.name;
    if hello.name != *name {
        return Err(format!("the folder belongs to the agent {}; choose another one by --dir", hello.name));
    }
    let is_same = hello.version == env!("CARGO_PKG_VERSION");
    let has_changed = found.settings.as_ref().is_some_and(|digest| *digest != settings.digest());
    if is_same && is_copied && !has_changed {
        return Ok(UpPlan::Nothing);
    }
    let is_idle =
        hello.state == AgentState::Idle || (hello.state == AgentState::Sealed && *run == RunId::NONE);
    match (is_idle, is_same) {
        (true, _) => Ok(UpPlan::Start { copy_from, restart: true }),
        (false, true) if has_changed => Err("it takes part in a run with its former settings".to_owned()),
        // It takes part in a run, and another build of the same version serves it as well.
        (false, true) => Ok(UpPlan::Nothing),
        (false, false) => Err(format!("it takes part in a run with version {}", hello.version)),
    }
}

#[cfg(test)]
mod tests {
    use wavetank_fleet::AgentSetup;

    use super::*;

    #[test]
    fn agents_are_restarted_only_when_they_are_idle() {
        let mut program = ProgramFile::read().expect("this program");
        let here = Some((program.size, program.digest.clone()));
        let files =
            |program| FoundFiles { system: "Linux test".to_owned(), program, ..FoundFiles::default() };
        let settings = AgentSettings { name: "local".to_owned(), ..AgentSettings::default() };
        program.system = "Linux test".to_owned();
        let agent = |version: &str, state| {
            let hello = AgentSetup::local(version).identity.hello(state);
            AgentGreeting { run: RunId(1), hello }
        };
        let own = env!("CARGO_PKG_VERSION");
        let mut check = |found: &FoundFiles, agent: Option<AgentGreeting>, expected: Result<UpPlan, &str>| {
            let found = plan(&settings, &mut program, found, agent.as_ref());
            match (&found, expected) {
                (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
                (found, expected) => assert_eq!(found.as_ref().ok().copied(), expected.ok()),
            }
        };
        let start = |copy_from, restart| Ok(UpPlan::Start { copy_from, restart });
        check(&files(None), None, start(Some(0), false));
        check(&files(here.clone()), None, start(None, false));
        check(&files(here.clone()), Some(agent(own, AgentState::Running)), Ok(UpPlan::Nothing));
        check(&files(None), Some(agent(own, AgentState::Running)), Ok(UpPlan::Nothing));
        check(&files(None), Some(agent(own, AgentState::Idle)), start(Some(0), true));
        check(&files(here.clone()), Some(agent("9.9.9", AgentState::Idle)), start(None, true));
        check(&files(here.clone()), Some(agent("9.9.9", AgentState::Running)), Err("takes part in a run"));
        let with = |digest: String| FoundFiles { settings: Some(digest), ..files(here.clone()) };
        check(&with(settings.digest()), Some(agent(own, AgentState::Idle)), Ok(UpPlan::Nothing));
        check(&with("1f".to_owned()), Some(agent(own, AgentState::Idle)), start(None, true));
        check(&with("1f".to_owned()), Some(agent(own, AgentState::Running)), Err("former settings"));
        let other = FoundFiles { system: "FreeBSD amd64".to_owned(), ..FoundFiles::default() };
        check(&other, None, Err("the host has FreeBSD amd64"));
        let mut stranger = agent(own, AgentState::Idle);
        stranger.hello.name = "load9".to_owned();
        check(&files(None), Some(stranger), Err("belongs to the agent load9"));
    }
}
