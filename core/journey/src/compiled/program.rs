//! [`Program`]: a journey as a flat list of operations, so that one number holds the position of a
//! session.

use wavetank_plan::{Action, Check, Rendezvous, Template, Think};
use wavetank_units::UserError;

use super::check::CompiledCheck;

/// Maximum nesting depth of loops and groups. Deeper ones are rejected when the file is read.
pub const DEPTH_MAX: usize = 32;

/// One operation. Places are indices into [`Program::ops`].
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Send a step's request.
    Request(u16),
    /// Pause.
    Think(Think),
    /// The clock of a group starts.
    GroupBegin,
    /// The clock of the innermost group stops. It belongs to this group.
    GroupEnd(u16),
    /// Push a counter with this value.
    Count(u64),
    /// Turn the value of a variable into a list.
    List(u16),
    /// Decrement the top counter and continue. If it is zero, drop it and go to `exit`.
    Again { exit: u32 },
    /// The same, but also go to `exit` if the check is false.
    While { check: Box<CompiledCheck>, exit: u32 },
    /// The variable takes the value at the index in the top counter, which goes up by one. After
    /// the last value the counter is dropped and the program continues at `exit`.
    Each { list: u16, name: u16, exit: u32 },
    /// Go to `exit` unless the check is true.
    Unless { check: Box<CompiledCheck>, exit: u32 },
    /// Go to this place.
    Jump(u32),
    /// Go to one of these places, by weight. Each has the sum of the weights up to it.
    Choose(Vec<(u64, u32)>),
    /// Set a variable.
    Set(u16, Template),
    /// Log a line of text.
    Log(Template),
    /// Wait for other users.
    Rendezvous(Rendezvous),
    /// End the session early.
    EndSession,
    /// End the run.
    EndRun,
    /// The end of the list.
    Done,
}

/// A compiled list of actions.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) ops: Vec<Op>,
}

impl Program {
    /// Compiles `actions`.
    ///
    /// # Errors
    /// If a path, selector or expression of a check is invalid.
    pub fn new(actions: &[Action]) -> Result<Self, UserError> {
        let mut this = Self { ops: Vec::new() };
        this.all(actions)?;
        this.ops.push(Op::Done);
        Ok(this)
    }

    /// Whether the list has no actions.
    pub fn is_empty(&self) -> bool {
        self.ops.len() == 1
    }

    /// Returns the only step of a journey that consists of one request.
    pub fn single(&self) -> Option<u16> {
        match self.ops.as_slice() {
            [Op::Request(step), Op::Done] => Some(*step),
            _ => None,
        }
    }

    /// Whether an operation sets variable `slot`. A list is split in place.
    pub(crate) fn sets(&self, slot: u16) -> bool {
        self.ops.iter().any(|op| match op {
            Op::Set(own, _) | Op::List(own) => *own == slot,
            Op::Each { name, .. } => *name == slot,
            _ => false,
        })
    }

    fn here(&self) -> u32 {
        u32::try_from(self.ops.len()).expect("the size of an experiment limits its steps")
    }

    fn all(&mut self, actions: &[Action]) -> Result<(), UserError> {
        actions.iter().try_for_each(|action| self.one(action))
    }

    fn one(&mut self, action: &Action) -> Result<(), UserError> {
        match action {
            Action::Request(step) => self.ops.push(Op::Request(*step)),
            Action::Think(think) => self.ops.push(Op::Think(*think)),
            Action::Set(slot, value) => self.ops.push(Op::Set(*slot, value.clone())),
            Action::Log(text) => self.ops.push(Op::Log(text.clone())),
            Action::EndSession => self.ops.push(Op::EndSession),
            Action::EndRun => self.ops.push(Op::EndRun),
            Action::Rendezvous(place) => self.ops.push(Op::Rendezvous(*place)),
            Action::Group(group, steps) => {
                self.ops.push(Op::GroupBegin);
                self.all(steps)?;
                self.ops.push(Op::GroupEnd(*group));
            }
            Action::Repeat(times, steps) => self.looped(*times, steps, |exit| Op::Again { exit })?,
            Action::While { check, at_most, steps } => {
                let check = Box::new(CompiledCheck::new(check)?);
                self.looped(*at_most, steps, |exit| Op::While { check, exit })?;
            }
            Action::Each { list, name, steps } => {
                self.ops.push(Op::List(*list));
                self.looped(0, steps, |exit| Op::Each { list: *list, name: *name, exit })?;
            }
            Action::If { check, then, otherwise } => self.either(check, then, otherwise)?,
            Action::Choose(ways) => {
                let at = self.ops.len();
                self.ops.push(Op::Done);
                let (mut sum, mut places, mut ends) = (0, Vec::new(), Vec::new());
                for way in ways {
                    sum += way.weight;
                    places.push((sum, self.here()));
                    self.all(&way.steps)?;
                    ends.push(self.ops.len());
                    self.ops.push(Op::Done);
                }
                let exit = self.here();
                self.ops[at] = Op::Choose(places);
                for end in ends {
                    self.ops[end] = Op::Jump(exit);
                }
            }
        }
        Ok(())
    }

    /// `head` runs before each iteration. Its argument is the place after the loop.
    fn looped(
        &mut self,
        count: u64,
        steps: &[Action],
        head: impl FnOnce(u32) -> Op,
    ) -> Result<(), UserError> {
        self.ops.push(Op::Count(count));
        let at = self.here();
        self.ops.push(Op::Done);
        self.all(steps)?;
        self.ops.push(Op::Jump(at));
        self.ops[at as usize] = head(self.here());
        Ok(())
    }

    fn either(&mut self, check: &Check, then: &[Action], otherwise: &[Action]) -> Result<(), UserError> {
        let at = self.ops.len();
        self.ops.push(Op::Done);
        self.all(then)?;
        let end = self.ops.len();
        if !otherwise.is_empty() {
            self.ops.push(Op::Done);
        }
        self.ops[at] = Op::Unless { check: Box::new(CompiledCheck::new(check)?), exit: self.here() };
        if !otherwise.is_empty() {
            self.all(otherwise)?;
            self.ops[end] = Op::Jump(self.here());
        }
        Ok(())
    }
}
