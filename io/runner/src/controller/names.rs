//! Reports about names that are resolved again.

use wavetank_record::EventKind;
use wavetank_units::sentence;

use super::RunController;
use super::agents::Agents;
use crate::dns_refresh::DnsUpdate;

/// Changes kept as events of a run at most: an answer may be another one every second.
const KEPT_MAX: u64 = 1_000;
/// Of them, those that are said while the run goes on.
const SAID_MAX: u64 = 20;

impl RunController<'_> {
    /// This is new of names.
    pub(super) fn names(&mut self, news: Vec<DnsUpdate>) {
        for one in news {
            if one.is_move() && self.log.moves.kept >= KEPT_MAX {
                self.log.moves.untold += 1;
                continue;
            }
            if one.is_move() {
                self.log.moves.kept += 1;
                if self.log.moves.kept <= SAID_MAX {
                    self.log.console.info(&format!("names      {}", one.text()));
                }
            } else {
                self.log.console.warn(one.text());
            }
            self.event(one.kind(), one.text().clone());
        }
    }

    /// The run is over: prints what was not reported yet.
    pub(super) fn end_names(&mut self) {
        let rest = match &mut self.agents {
            Agents::Local(_, host) => host.finish_dns_refresh(),
            Agents::Remote(_) => Vec::new(),
        };
        for one in rest {
            self.event(one.kind(), one.text().clone());
        }
        let untold = self.log.moves.untold;
        if untold > 0 {
            self.event(EventKind::NamesUntold, sentence!("addresses changed {untold} more times"));
        }
    }
}
