//! [`Control`]: the thread that controls a simulated load thread.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender};

use wavetank_engine::{Collector, Command, Message};
use wavetank_measure::Interval;
use wavetank_units::Nanos;

/// Commands are this far ahead, as those of a real controller.
const AHEAD: Nanos = Nanos::from_millis(20);

/// Hears the load thread's messages, and commands it; see the module documentation.
pub(crate) struct Control {
    messages: Receiver<Message>,
    commands: SyncSender<Command>,
    collector: Collector,
    /// Commands with the instant on the run's clock at which they are sent, in this order.
    planned: VecDeque<(Nanos, Command)>,
    /// Commands for the thread, and when it gets them.
    due: VecDeque<(Nanos, Command)>,
    /// Whether a planned command ends the run.
    finishes: bool,
    zero: Option<Nanos>,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) logged: Vec<String>,
}

impl Control {
    pub(crate) fn new(
        messages: Receiver<Message>,
        commands: SyncSender<Command>,
        planned: Vec<(Nanos, Command)>,
    ) -> Self {
        let finishes = planned.iter().any(|(_, command)| matches!(command, Command::Finish(_)));
        Self {
            messages,
            commands,
            collector: Collector::new(1),
            planned: planned.into(),
            due: VecDeque::new(),
            finishes,
            zero: None,
            intervals: Vec::new(),
            logged: Vec::new(),
        }
    }

    /// Hears what the thread sent until `now`. Returns when it gets the next command.
    pub(super) fn hear(&mut self, now: Nanos) -> Option<Nanos> {
        while let Ok(message) = self.messages.try_recv() {
            let ahead = now.after(AHEAD);
            match message {
                Message::Ready(..) => {
                    self.zero = Some(ahead);
                    self.due.push_back((now, Command::Start(ahead)));
                    self.due.extend(self.planned.drain(..).map(|(at, command)| (ahead.after(at), command)));
                }
                Message::Sealed(sealed) => {
                    assert_eq!(sealed.accounting, None);
                    self.collector.sealed(*sealed);
                }
                Message::Drained(..) if !self.finishes => self.end(now, Command::Finish),
                Message::Drained(..) => {}
                Message::EndRun(_) => self.end(now, Command::Drain),
                Message::Finished(thread) => self.collector.thread_ended(thread),
                Message::Failed(_, why) => panic!("{why}"),
            }
        }
        while let Some(merged) = self.collector.poll() {
            self.intervals.push(merged.interval);
            self.logged.extend(merged.logs.0.into_iter().map(|line| line.text));
        }
        self.due.front().map(|(at, _)| *at)
    }

    fn end(&mut self, now: Nanos, command: impl Fn(Nanos) -> Command) {
        let zero = self.zero.expect("the run has started");
        // Ahead of commands for later.
        self.due.push_front((now, command(now.after(AHEAD) - zero)));
    }

    /// Sends the commands that are due. Returns whether there were any.
    pub(super) fn send_due(&mut self, now: Nanos) -> bool {
        let mut any = false;
        while let Some((_, command)) = self.due.pop_front_if(|(at, _)| *at <= now) {
            self.commands.send(command).expect("the thread takes commands");
            any = true;
        }
        any
    }
}
