//! [`Upgrades`]: which targets carry messages, and how their connections become ready for them.

use wavetank_plan::{Plan, UrlProtocol};
use wavetank_wire::ws::Deflater;

use crate::upgrade_request::upgrade_request;

/// How the connections of a target become ready for messages.
pub(super) enum TargetUpgrade {
    /// They do not: the target is HTTP.
    Never,
    /// A step makes them ready.
    ByStep(UrlProtocol),
    /// They are made ready when they are opened, with this request.
    AtOpening(UrlProtocol, Vec<u8>),
}

/// See the module documentation.
pub(super) struct Upgrades {
    /// By target.
    pub(super) targets: Vec<TargetUpgrade>,
    pub(super) deflater: Option<Box<Deflater>>,
}

impl Upgrades {
    /// Returns `None` if no target of `plan` carries messages.
    pub(super) fn new(plan: &Plan) -> Option<Self> {
        let upgrade = |(at, target): (usize, &wavetank_plan::Target)| {
            let protocol = target.protocol();
            if !plan.carries_messages(at) {
                TargetUpgrade::Never
            } else if plan.upgrades_itself(at) {
                TargetUpgrade::AtOpening(protocol, upgrade_request(plan, target))
            } else {
                TargetUpgrade::ByStep(protocol)
            }
        };
        let has_any = (0..plan.targets.len()).any(|target| plan.carries_messages(target));
        let targets = plan.targets.iter().enumerate();
        has_any.then(|| Self { targets: targets.map(upgrade).collect(), deflater: None })
    }

    /// Returns the protocol of a target.
    pub(super) fn protocol(&self, target: u16) -> UrlProtocol {
        match &self.targets[usize::from(target)] {
            TargetUpgrade::Never => UrlProtocol::Http,
            TargetUpgrade::ByStep(protocol) | TargetUpgrade::AtOpening(protocol, _) => *protocol,
        }
    }
}
