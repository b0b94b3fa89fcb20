//! [`SearchControl`]: a search as other processes of its user see and steer it.

use std::cell::{Cell, RefCell};

use wavetank_control::{ControlReply, ControlRequest, ControlServer};
use wavetank_driver::Clock;
use wavetank_record::{
    LIVE_SCHEMA, LiveDoc, LiveLevel, LiveSearch, LiveState, Number, SearchDoc, Status, VerdictDoc,
};
use wavetank_units::{ExitCode, Sentence};

use super::{RunConsole, control_replies, run_folder};

/// One socket for all runs of a search. A run in progress replies by itself, through the same
/// socket; between two runs the search does.
pub struct SearchControl {
    server: Option<ControlServer>,
    /// The search's clock, which starts with it.
    clock: Clock,
    /// The state that was published last.
    latest: RefCell<LiveDoc>,
    /// The current run's zero on the search's clock, in seconds.
    run_zero: Cell<Option<f64>>,
    is_stopped: Cell<bool>,
}

/// Which search it is.
pub struct SearchIdentity<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The URLs of its targets.
    pub target: &'a str,
    /// The varied load: `rate`, `users` or `connections`.
    pub of: &'a str,
    /// Its folder; `None` without one.
    pub folder: Option<String>,
}

impl SearchControl {
    /// Listens for requests. If it cannot, it prints why and the search goes on without.
    pub fn listen(search: SearchIdentity<'_>, clock: Clock, console: &mut dyn RunConsole) -> Self {
        let server = ControlServer::listen(&run_folder(), search.id).inspect_err(|error| {
            console.warn(&format!("cannot listen for `wavetank status` and `stop`: {error}"));
        });
        let state = LiveDoc {
            schema: LIVE_SCHEMA.to_owned(),
            id: search.id.to_owned(),
            name: search.name.to_owned(),
            pid: std::process::id(),
            target: search.target.to_owned(),
            load: format!("search for the highest {} that passes", search.of),
            archive: search.folder,
            search: Some(LiveSearch { of: search.of.to_owned(), ..LiveSearch::default() }),
            ..LiveDoc::default()
        };
        let this = Self {
            server: server.ok(),
            clock,
            latest: RefCell::new(state),
            run_zero: Cell::new(None),
            is_stopped: Cell::new(false),
        };
        this.publish_latest();
        this
    }

    /// The socket of the search.
    pub(super) const fn server(&self) -> Option<&ControlServer> {
        self.server.as_ref()
    }

    /// The user stops the search, during a run or between two.
    pub(super) fn stop(&self) {
        self.is_stopped.set(true);
    }

    /// Whether the user stopped the search.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }

    /// A run at `level` begins, for the purpose `stage`.
    pub fn begin_run(&self, level: Number, stage: &str) {
        self.run_zero.set(None);
        let mut latest = self.latest.borrow_mut();
        if let Some(search) = &mut latest.search {
            (search.level, search.stage) = (Some(level), stage.to_owned());
        }
    }

    /// A run ended; `doc` is what is known by now.
    pub fn end_run(&self, doc: &SearchDoc) {
        let mut latest = self.latest.borrow_mut();
        let level =
            |run: &wavetank_record::SearchRunDoc| LiveLevel { level: run.level, result: run.result.clone() };
        latest.search = Some(LiveSearch {
            of: doc.of.clone(),
            runs: doc.runs.iter().map(level).collect(),
            low: doc.answer.low,
            high: doc.answer.high,
            ..LiveSearch::default()
        });
        // The next run prepares; nothing is sent meanwhile.
        (latest.state, latest.at_s) = (LiveState::Starting, self.seconds());
        latest.phases.clear();
        drop(latest);
        self.publish_latest();
    }

    /// Replies to the requests that wait, between two runs.
    pub fn serve_requests(&self) {
        while let Some(pending) = self.server.as_ref().and_then(ControlServer::next) {
            let reply = match &pending.request {
                ControlRequest::Status | ControlRequest::Watch => {
                    ControlReply::State(Box::new(self.latest.borrow().clone()))
                }
                ControlRequest::Stop { .. } => {
                    self.stop();
                    control_replies::stopping_search()
                }
                ControlRequest::Set { .. } => control_replies::search(),
                ControlRequest::Mark { .. } => control_replies::between_runs(),
            };
            pending.reply(reply);
        }
    }

    /// The state of the search while its current run is in the state `run`.
    pub(super) fn state(&self, run: LiveDoc) -> LiveDoc {
        let has_intervals = run.latest.length_s.0 > 0.0;
        // Intervals end at whole seconds. The state is made shortly after the seal.
        let zero = self
            .run_zero
            .get()
            .unwrap_or_else(|| (self.clock.now().as_secs_f64() - run.at_s.0).max(0.0).round());
        if has_intervals {
            self.run_zero.set(Some(zero));
        }
        let mut latest = self.latest.borrow_mut();
        let shifted = |at: Number| Number(at.0 + zero);
        let mut state = LiveDoc {
            id: latest.id.clone(),
            name: latest.name.clone(),
            archive: latest.archive.clone(),
            search: latest.search.clone(),
            at_s: shifted(run.at_s),
            // The end of the run is not that of the search.
            ends_at_s: None,
            ..run
        };
        for phase in &mut state.phases {
            phase.ends_at_s = phase.ends_at_s.map(shifted);
        }
        state.events.iter_mut().for_each(|event| event.at_s = shifted(event.at_s));
        latest.clone_from(&state);
        state
    }

    /// The search is over: sends its result to all processes that watch it.
    pub fn end(self, doc: &SearchDoc) {
        let status = match doc.answer.exit {
            code if code == ExitCode::Pass as u8 => Status::Pass,
            code if code == ExitCode::Fail as u8 => Status::Fail,
            code if code == ExitCode::Invalid as u8 => Status::Invalid,
            _ => Status::Incomplete,
        };
        let mut latest = self.latest.borrow_mut();
        (latest.state, latest.at_s) = (LiveState::Over, self.seconds());
        latest.verdict = Some(VerdictDoc {
            status,
            exit: doc.answer.exit,
            headline: Sentence::quoted(&doc.answer.headline),
            blame: doc.answer.blame,
            ..VerdictDoc::default()
        });
        drop(latest);
        self.publish_latest();
    }

    fn publish_latest(&self) {
        if let Some(server) = &self.server {
            server.publish(&self.latest.borrow());
        }
    }

    /// Whole seconds since the start of the search.
    fn seconds(&self) -> Number {
        Number(self.clock.now().as_secs_f64().round())
    }
}
