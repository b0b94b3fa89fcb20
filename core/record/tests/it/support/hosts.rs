//! A host with a limit.

use wavetank_record::{HostLimitDoc, HostUseDoc, Number};

/// Half of the ports to a destination.
pub(crate) fn host_limit() -> HostLimitDoc {
    HostLimitDoc {
        resource: "ports".to_owned(),
        of: "10.0.0.7:80".to_owned(),
        before: Number(0.0),
        used: Number(14_116.0),
        max: Number(28_232.0),
        share: Number(0.5),
        at_s: Number(7.0),
        load_factor: Some(Number(2.0)),
    }
}

/// The host that sent the load, with that limit.
pub(crate) fn sampled_host() -> HostUseDoc {
    HostUseDoc {
        name: "local".to_owned(),
        role: "load".to_owned(),
        limits: vec![host_limit()],
        ..HostUseDoc::default()
    }
}
