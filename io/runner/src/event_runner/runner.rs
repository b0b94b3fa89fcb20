//! [`EventRunner`]: starts the plan's events at their times, and reverts them at their ends or at
//! the end of the run.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use wavetank_plan::PlannedEvent;
use wavetank_units::{Code, Nanos, UserError};

use super::{EventExecutor, ExecutorFactory};

/// Threads that work at most; of more hosts some share one.
const HANDS_MAX: usize = 16;

/// The plan's events while the run goes on.
pub(crate) struct EventRunner {
    all: Vec<RunningEvent>,
    executors: Vec<SyncSender<Order>>,
    answers: Receiver<Answer>,
    /// Nothing more is begun.
    over: bool,
}

/// What became of an event. `at` is on the run's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventUpdate {
    /// It is being done from now on.
    Begun { event: u16, at: Nanos },
    /// What was begun at `at` is done.
    Done { event: u16, at: Nanos },
    /// What was begun at `at` could not be done.
    Failed { event: u16, at: Nanos, why: UserError },
    /// It was reverted.
    Undone { event: u16, at: Nanos },
    /// It could not be reverted.
    Stuck { event: u16, at: Nanos, why: UserError },
}

struct RunningEvent {
    plan: PlannedEvent,
    executor: usize,
    stage: Stage,
    begun: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Beginning,
    Active(u64),
    Ending,
    Over,
}

struct Order {
    event: u16,
    plan: PlannedEvent,
    /// `None`: start it; otherwise revert the action with this id.
    end: Option<u64>,
}

struct Answer {
    event: u16,
    result: Result<u64, UserError>,
}

impl EventRunner {
    /// `events`, as the plan numbers them, none of them begun.
    ///
    /// # Errors
    /// Where there is no hand for them: nothing has been done then.
    pub(crate) fn new(events: &[PlannedEvent], executors: ExecutorFactory<'_>) -> Result<Self, UserError> {
        let mut hosts: Vec<&str> = Vec::new();
        let mut running_events = Vec::new();
        for event in events {
            let host = hosts.iter().position(|host| *host == event.host).unwrap_or_else(|| {
                hosts.push(&event.host);
                hosts.len() - 1
            });
            let (plan, executor) = (event.clone(), host % HANDS_MAX);
            running_events.push(RunningEvent { plan, executor, stage: Stage::Waiting, begun: Nanos::ZERO });
        }
        // Each is begun once and ended once.
        let most = 2 * running_events.len() + 1;
        let (report, answers) = sync_channel(most);
        let mut senders = Vec::new();
        for _ in 0..hosts.len().min(HANDS_MAX) {
            let (order, orders) = sync_channel(most);
            let (executor, report) = (executors()?, report.clone());
            let started =
                Builder::new().name("events".to_owned()).spawn(move || work(executor, &orders, &report));
            started.map_err(|error| {
                let message = format!("no thread for the plan's events: {error}");
                UserError::refused(Code::HostCannot, message, "look at `ulimit -u`")
            })?;
            senders.push(order);
        }
        Ok(Self { all: running_events, executors: senders, answers, over: false })
    }

    /// Starts and reverts what is due at `now` of the run's clock. Returns the updates of all
    /// events.
    pub(crate) fn turn(&mut self, now: Nanos) -> Vec<EventUpdate> {
        let mut news = Vec::new();
        while let Ok(answer) = self.answers.try_recv() {
            news.extend(self.heard(answer, now));
        }
        self.act(now, &mut news);
        news
    }

    /// Starts no more events and reverts all active ones.
    pub(crate) fn end(&mut self) {
        self.over = true;
    }

    /// Returns whether no event is left to revert.
    pub(crate) fn is_over(&self) -> bool {
        let lasts = |running_event: &RunningEvent| matches!(running_event.stage, Stage::Active(_));
        self.over && !self.is_busy() && !self.all.iter().any(lasts)
    }

    /// Whether a hand is at work.
    pub(crate) fn is_busy(&self) -> bool {
        self.all.iter().any(|running_event| matches!(running_event.stage, Stage::Beginning | Stage::Ending))
    }

    /// Waits for an update, at most for `most`.
    pub(crate) fn wait(&mut self, most: Duration, now: Nanos) -> Vec<EventUpdate> {
        let answer = self.answers.recv_timeout(most).ok();
        let mut news: Vec<_> = answer.and_then(|answer| self.heard(answer, now)).into_iter().collect();
        self.act(now, &mut news);
        news
    }

    fn act(&mut self, now: Nanos, news: &mut Vec<EventUpdate>) {
        let mut running_events: Vec<(u16, &mut RunningEvent)> = (0_u16..).zip(&mut self.all).collect();
        if self.over {
            // The last one first: what it found is what the ones before had made.
            running_events.reverse();
        }
        // Hands that are still beginning something.
        let mut beginning: Vec<usize> = Vec::new();
        for (event, running_event) in running_events {
            if self.over && beginning.contains(&running_event.executor) {
                continue;
            }
            let due = running_event.plan.when <= now && !self.over;
            let done = |lasts: Nanos| running_event.begun.after(lasts) <= now;
            let end = match running_event.stage {
                Stage::Waiting if due => None,
                // An event that cannot be reverted is left as it is.
                Stage::Active(id)
                    if running_event.plan.is_reversible()
                        && (self.over || running_event.plan.lasts.is_some_and(done)) =>
                {
                    Some(id)
                }
                Stage::Active(_) if self.over => {
                    running_event.stage = Stage::Over;
                    continue;
                }
                Stage::Beginning => {
                    // Earlier events are reverted after later ones, so this one has to wait.
                    beginning.push(running_event.executor);
                    continue;
                }
                _ => continue,
            };
            let order = Order { event, plan: running_event.plan.clone(), end };
            // The channel has room for all possible orders. An executor that is gone never
            // responds, and the end of the run waits for that with a limit.
            let _ = self.executors[running_event.executor].try_send(order);
            if end.is_none() {
                (running_event.stage, running_event.begun) = (Stage::Beginning, now);
                news.push(EventUpdate::Begun { event, at: now });
            } else {
                running_event.stage = Stage::Ending;
            }
        }
    }

    fn heard(&mut self, answer: Answer, now: Nanos) -> Option<EventUpdate> {
        let Answer { event, result } = answer;
        let running_event = self.all.get_mut(usize::from(event))?;
        let (stage, news) = match (running_event.stage, result) {
            (Stage::Beginning, Ok(id)) => {
                (Stage::Active(id), EventUpdate::Done { event, at: running_event.begun })
            }
            (Stage::Beginning, Err(why)) => {
                (Stage::Over, EventUpdate::Failed { event, at: running_event.begun, why })
            }
            (_, Ok(_)) => (Stage::Over, EventUpdate::Undone { event, at: now }),
            (_, Err(why)) => (Stage::Over, EventUpdate::Stuck { event, at: now, why }),
        };
        running_event.stage = stage;
        Some(news)
    }
}

/// What a thread does: one order after the other, until there will be no more.
fn work(mut executor: Box<dyn EventExecutor>, orders: &Receiver<Order>, report: &SyncSender<Answer>) {
    while let Ok(Order { event, plan, end }) = orders.recv() {
        let result = match end {
            None => executor.begin(&plan),
            Some(id) => executor.end(&plan, id).map(|()| id),
        };
        // A run that is gone needs no answer.
        if report.try_send(Answer { event, result }).is_err() {
            return;
        }
    }
}
