//! Requests of other processes: state, stop, another load, marks.

use std::sync::Arc;

use wavetank_control::{ControlReply, ControlRequest};
use wavetank_diagnose::RunEnd;
use wavetank_plan::LoadChange;
use wavetank_plan::constants::{INTERVAL, SIGNAL_DRAIN_MAX};
use wavetank_record::{EventKind, EventLine, LiveAgent, LiveDoc, LiveState};
use wavetank_units::quantity::{format_grouped, show_request_rate};
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use super::RunController;
use super::agents::Agents;
use crate::control_replies;
use crate::run_control::{LiveFacts, RunControl};

/// How far ahead a change of the load is, at least. Agents take none that is less than a second
/// ahead of them, and messages take time.
const CHANGE_AHEAD: Nanos = Nanos::from_millis(1_250);

impl<'a> RunController<'a> {
    /// The same, controlled by other processes.
    pub(crate) fn controlled(mut self, control: &'a RunControl<'a>) -> Self {
        self.control = Some(control);
        self
    }

    /// Carries out the requests that wait.
    pub(super) fn serve_requests(&mut self) {
        let Some(control) = self.control else { return };
        while let Some(pending) = control.next_request() {
            let reply = self.reply_to(control, &pending.request);
            pending.reply(reply);
        }
    }

    fn reply_to(&mut self, control: &RunControl<'_>, request: &ControlRequest) -> ControlReply {
        match request {
            ControlRequest::Status | ControlRequest::Watch => {
                ControlReply::State(Box::new(self.state(control)))
            }
            ControlRequest::Stop { now } => {
                control.stop();
                self.stop_on_request(*now)
            }
            ControlRequest::Set { .. } if control.is_search() => control_replies::search(),
            ControlRequest::Set { load, phase } => self.change_load((*load).into(), phase.as_deref()),
            ControlRequest::Mark { text } => self.mark(text),
        }
    }

    /// Shows the state after a seal, and sends it to processes that watch.
    pub(super) fn publish_state(&mut self) {
        let Some(control) = self.control else { return };
        if !control.is_search() && !self.ending_early {
            self.log.console.open_view(control_replies::KEYS);
        }
        if control.is_watched() || self.log.console.has_view() {
            let state = self.state(control);
            control.publish(&state);
            self.log.console.show(&state);
        }
    }

    fn state(&self, control: &RunControl<'_>) -> LiveDoc {
        let state = match (self.is_started(), self.ending_early) {
            (false, _) => LiveState::Starting,
            (true, true) => LiveState::Draining,
            (true, false) if self.plan.load_end().is_some_and(|end| end <= self.clock.now()) => {
                LiveState::Draining
            }
            (true, false) => LiveState::Running,
        };
        control.state(LiveFacts {
            plan: &self.plan,
            ledger: &self.log.ledger,
            events: &self.log.events,
            samples: &self.log.samples.lines(),
            memory: self.log.memory,
            setup: self.log.setup,
            latest: self.latest.as_ref(),
            state,
            agents: self.live_agents(),
        })
    }

    /// The agents of a fleet with their states.
    fn live_agents(&self) -> Vec<LiveAgent> {
        if matches!(self.agents, Agents::Local(..)) {
            return Vec::new();
        }
        let views = self.controller.agents(self.now());
        let agent = |view: wavetank_fleet::AgentView| LiveAgent {
            state: if view.lost { "lost".to_owned() } else { view.state.name().to_owned() },
            name: view.name,
        };
        views.into_iter().map(agent).collect()
    }

    /// Whether the start of the load is agreed on.
    fn is_started(&self) -> bool {
        self.zero != Nanos::ZERO
    }

    fn stop_on_request(&mut self, now: bool) -> ControlReply {
        self.event(EventKind::StopRequested, phrase!("the run was stopped by `wavetank stop`"));
        let at_once = now || self.ending_early;
        let drain = (!at_once).then(|| self.plan.drain.min(SIGNAL_DRAIN_MAX));
        self.end(RunEnd::Stopped, drain);
        control_replies::stopping(drain)
    }

    fn mark(&mut self, text: &str) -> ControlReply {
        let text = text.trim();
        if text.is_empty() || text.len() > control_replies::MARK_BYTES_MAX || text.contains(char::is_control)
        {
            return control_replies::bad_mark();
        }
        self.event(EventKind::Marked, Sentence::quoted(text));
        control_replies::marked(self.clock.now())
    }

    /// Changes the load of an active phase, on all agents at one instant.
    fn change_load(&mut self, change: LoadChange, phase: Option<&str>) -> ControlReply {
        if !self.is_started() || self.ending_early {
            return control_replies::no_load(self.ending_early);
        }
        let at = next_second(self.clock.now().after(CHANGE_AHEAD));
        let mut plan = (*self.plan).clone();
        let phase = match phase.map(|name| plan.phase_named(name, at).ok_or(name)).transpose() {
            Ok(phase) => phase,
            Err(name) => return control_replies::no_phase(name, &plan),
        };
        let sessions = plan.change_in_sessions(at, phase, change);
        let phase = match plan.change_load(at, phase, sessions) {
            Ok(phase) => phase,
            Err(error) => return control_replies::unchanged(&error),
        };
        let now = self.now();
        if let Err(refused) = self.controller.change(at, phase, sessions.into(), now) {
            return control_replies::not_ordered(refused);
        }
        self.plan = Arc::new(plan);
        self.log.ledger.load_changed(phase);
        let name = &self.plan.phases[usize::from(phase)].name;
        let text = sentence!("load of phase {name} changed to {}", load_text(change));
        let load = Some(sessions.into());
        let event = EventLine {
            phase: Some(phase),
            load,
            ..EventLine::new(at, EventKind::LoadChanged, text.clone())
        };
        self.log.event(event, at);
        self.log.console.info(&format!("changed    {text}, from {at} on"));
        control_replies::changed(&text, at)
    }
}

/// Returns the first whole second at or after `at`. Intervals start there.
const fn next_second(at: Nanos) -> Nanos {
    Nanos((at.0 + INTERVAL.0 - 1).div_euclid(INTERVAL.0) * INTERVAL.0)
}

fn load_text(change: LoadChange) -> Sentence {
    match change {
        LoadChange::Rate(rate) => {
            sentence!("{}", show_request_rate(rate.count as f64 * 1e9 / rate.per.0 as f64))
        }
        LoadChange::Users(1) => phrase!("1 user"),
        LoadChange::Users(users) => sentence!("{} users", format_grouped(users)),
        LoadChange::Connections(1) => phrase!("1 connection"),
        LoadChange::Connections(count) => sentence!("{} connections", format_grouped(count)),
    }
}
