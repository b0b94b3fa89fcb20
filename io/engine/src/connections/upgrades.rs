//! [`Upgrades`]: which targets are WebSockets, and how their connections are upgraded.

use wavetank_plan::Plan;
use wavetank_wire::ws::Deflater;

use crate::requests::Requests;
use crate::upgrade_request::upgrade_request;

/// How the connections of a target become WebSockets.
pub(super) enum TargetUpgrade {
    /// They do not: the target is HTTP.
    Never,
    /// A step upgrades them.
    ByStep,
    /// They are upgraded when they are opened, with this request.
    AtOpening(Vec<u8>),
}

/// See the module documentation.
pub(super) struct Upgrades {
    /// By target.
    pub(super) targets: Vec<TargetUpgrade>,
    /// Whether some step reads messages that arrived before it started.
    pub(super) keeps_messages: bool,
    pub(super) deflater: Option<Box<Deflater>>,
}

impl Upgrades {
    /// Returns `None` if no target of `plan` is a WebSocket.
    pub(super) fn new(plan: &Plan, requests: &Requests) -> Option<Self> {
        let upgrade = |(at, target): (usize, &wavetank_plan::Target)| match target.is_websocket() {
            false => TargetUpgrade::Never,
            true if plan.upgrades_itself(at) => TargetUpgrade::AtOpening(upgrade_request(plan, target)),
            true => TargetUpgrade::ByStep,
        };
        let has_any = plan.targets.iter().any(wavetank_plan::Target::is_websocket);
        has_any.then(|| Self {
            targets: plan.targets.iter().enumerate().map(upgrade).collect(),
            keeps_messages: requests.reads_earlier_messages(),
            deflater: None,
        })
    }
}
