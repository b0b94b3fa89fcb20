//! Moves a [`Session`] through its program.

use wavetank_plan::Rendezvous;
use wavetank_units::Nanos;

use super::render_context::RenderContext;
use super::session_event::SessionEvent;
use crate::compiled::{Op, Program};
use crate::extract::json_items;
use crate::state::Session;
use crate::value::{JsonType, Values};

/// Maximum number of operations in one call: a journey that loops without sending or pausing gives
/// way to others.
const OPS_MAX: usize = 1_000;

/// The next action of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAction {
    /// Send this step's request.
    Request(u16),
    /// Wait for this duration, then call again.
    Pause(Nanos),
    /// Wait for other users there, then call again.
    Wait(Rendezvous),
    /// The session is over.
    End {
        /// Whether the run is over too, because `end: run` was reached.
        run: bool,
    },
    /// The session did much work without sending: call again in the next turn.
    GiveWay,
}

impl Session {
    /// Continues at `now` until the session has to wait.
    pub fn advance(
        &mut self,
        program: &Program,
        scene: &mut RenderContext<'_>,
        now: Nanos,
        events: &mut Vec<SessionEvent>,
    ) -> SessionAction {
        self.advance_by(OPS_MAX, program, scene, now, events)
    }

    /// Does the same for at most `ops_max` operations, then it [gives way](SessionAction::GiveWay).
    pub fn advance_by(
        &mut self,
        ops_max: usize,
        program: &Program,
        scene: &mut RenderContext<'_>,
        now: Nanos,
        events: &mut Vec<SessionEvent>,
    ) -> SessionAction {
        for _ in 0..ops_max {
            let op = &program.ops[self.at as usize];
            self.at += 1;
            match op {
                Op::Request(step) => return SessionAction::Request(*step),
                Op::Think(think) => {
                    let length = scene.draw_think(self, think);
                    if length > Nanos::ZERO {
                        return SessionAction::Pause(length);
                    }
                }
                Op::Rendezvous(place) => return SessionAction::Wait(*place),
                Op::EndSession | Op::EndRun => {
                    self.ended = true;
                    return SessionAction::End { run: matches!(op, Op::EndRun) };
                }
                Op::Done => {
                    self.at -= 1;
                    return SessionAction::End { run: false };
                }
                Op::GroupBegin => self.data_mut().groups.push(now),
                Op::GroupEnd(group) => {
                    let began = self.data_mut().groups.pop().unwrap_or(now);
                    events.push(SessionEvent::Group(*group, began, now));
                }
                Op::Set(slot, template) => scene.set(self, *slot, template),
                Op::Log(template) => {
                    let text = scene.text(self, template);
                    events.push(SessionEvent::Log(String::from_utf8_lossy(&text).into_owned()));
                }
                Op::Count(count) => self.data_mut().counters.push(*count),
                Op::List(list) => self.list(*list),
                Op::Jump(to) => self.at = *to,
                Op::Again { exit } => self.again(true, *exit),
                Op::While { check, exit } => {
                    let holds = scene.holds(self, check);
                    self.again(holds, *exit);
                }
                Op::Each { list, name, exit } => self.each(*list, *name, *exit),
                Op::Unless { check, exit } => {
                    if !scene.holds(self, check) {
                        self.at = *exit;
                    }
                }
                Op::Choose(ways) => {
                    let all = ways.last().map_or(0, |&(sum, _)| sum);
                    let place = scene.draw_below(self, all);
                    let way = ways.iter().find(|&&(sum, _)| place < sum);
                    self.at = way.map_or(self.at, |&(_, at)| at);
                }
            }
        }
        SessionAction::GiveWay
    }

    /// The condition that comes next, if the session is before an `if` or at the head of a `while`:
    /// its text, and where the program continues if it is false, for [`is_at`](Self::is_at).
    pub fn pending_condition<'p>(&self, program: &'p Program) -> Option<(&'p str, u32)> {
        match program.ops.get(self.at as usize)? {
            Op::Unless { check, exit } | Op::While { check, exit } => Some((check.text(), *exit)),
            _ => None,
        }
    }

    /// Whether the session is at that place of its program.
    pub const fn is_at(&self, place: u32) -> bool {
        self.at == place
    }

    /// Whether the session is at the end of `program`.
    pub fn is_at_end(&self, program: &Program) -> bool {
        matches!(program.ops.get(self.at as usize), Some(Op::Done))
    }

    /// Starts the next iteration or leaves the loop.
    fn again(&mut self, wanted: bool, exit: u32) {
        let counters = &mut self.data_mut().counters;
        match counters.last_mut() {
            Some(left) if wanted && *left > 0 => *left -= 1,
            _ => {
                counters.pop();
                self.at = exit;
            }
        }
    }

    fn each(&mut self, list: u16, name: u16, exit: u32) {
        let held = self.data_mut();
        let place = held.counters.last_mut().expect("a loop begins with its counter");
        let index = *place as usize;
        *place += 1;
        let mut value = std::mem::take(self.variable_mut(name));
        value.clear();
        let found = self.variable(list).and_then(|list| list.get(index));
        let more = found.is_some_and(|found| value.push(found.kind, found.text));
        *self.variable_mut(name) = value;
        if !more {
            self.data_mut().counters.pop();
            self.at = exit;
        }
    }

    /// Turns a variable with a JSON array into the list of its items.
    fn list(&mut self, slot: u16) {
        let value = self.variable_mut(slot);
        if let (1, Some(found)) = (value.len(), value.first())
            && found.kind == JsonType::Json
        {
            let mut items = Values::default();
            // A value that is not an array stays a single value.
            if json_items(found.text, usize::MAX, &mut items).is_ok() {
                *value = items;
            }
        }
    }
}
