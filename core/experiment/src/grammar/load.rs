//! Scenarios and phases.

use wavetank_grammar::key;

use super::CustomKind::{CountOrRate, CountRange, Rate, RateRange, Sessions, Spike, Steps, Think};
use super::{Kind, MapName, Section};

/// A scenario.
pub(crate) static SCENARIO: Section = Section {
    name: "a scenario",
    title: "Scenarios",
    about: "The journey of one virtual user. With a weight it takes its share of the top-level phases; \
        with its own phases it runs in parallel with them. Exactly one of the two is given.",
    keys: &[
        key(
            "weight",
            Kind::Count,
            "Its share of the top-level phases, relative to the other scenarios. A single scenario needs none.",
        ),
        key("phases", Kind::List(&Kind::Is(MapName::Phase)), "Its own phases."),
        key(
            "before",
            Kind::Own(Steps),
            "Once per user, before its first session; again if it was not completed.",
        ),
        key(
            "steps",
            Kind::Own(Steps),
            "The journey; users repeat it. Without steps the connection is held silently.",
        ),
        key(
            "after",
            Kind::Own(Steps),
            "Once per user, when it leaves or has completed its sessions; not if the run is interrupted.",
        ),
        key(
            "connection",
            Kind::Word(&["user", "session", "request", "shared"]),
            "Owner of a connection: user (kept across its sessions), session, request (one each), \
             shared (a pool of the run). Default: user; in phases with a rate or a trace, shared if \
             a session is one request or connections is given.",
        ),
        key("think", Kind::Own(Think), "Think time between two steps."),
        key(
            "pace",
            Kind::Duration,
            "Minimum time from the start of a user's session to the start of its next.",
        ),
        key("target", Kind::Name, "Target of its steps, a name under targets."),
        key(
            "on_failure",
            Kind::Word(&["continue", "end_session", "end_run"]),
            "Reaction to a failed request; default continue.",
        ),
    ],
    verbs: &[],
};

/// A phase.
pub(crate) static PHASE: Section = Section {
    name: "a phase",
    title: "Phases",
    about: "A period of load with one shape: exactly one of rate, users, hold, trace, pause, and a key \
        that sets its length. Users and held connections carry over into a following phase of the same \
        kind.",
    keys: &[
        key(
            "rate",
            Kind::Own(RateRange),
            "Open loop: arrival rate of sessions, 500/s or 0/s to 1k/s; 500 requests/s counts \
             requests instead.",
        ),
        key(
            "users",
            Kind::Own(CountRange),
            "Closed loop: users that repeat their scenario, 300 or 0 to 300.",
        ),
        key(
            "hold",
            Kind::Own(CountRange),
            "Connections held open, 1M or 0 to 1M; each repeats its scenario.",
        ),
        key(
            "trace",
            Kind::File,
            "Arrivals from a file: in each row a time (1.5s), or a time and a rate (90s,200/s).",
        ),
        key("pause", Kind::Duration, "No new users for this duration; running sessions continue."),
        key("for", Kind::Duration, "Its length."),
        key(
            "at",
            Kind::Own(Rate),
            "Instead of for, with A to B: rate at which users start or connections open.",
        ),
        key(
            "step",
            Kind::Own(CountOrRate),
            "Instead of for, with A to B: stairs of this height; needs every.",
        ),
        key("every", Kind::Duration, "Length of one stair."),
        key("ramp", Kind::Duration, "Time to climb one stair; default: none, a jump."),
        key(
            "sessions",
            Kind::Own(Sessions),
            "Ends after this many sessions have started (15k), or each user leaves after this many \
             (1 each); with for it is an upper limit.",
        ),
        key("name", Kind::Name, "Its name in reports and conditions."),
        key("arrivals", Kind::Word(&["even", "poisson"]), "Spacing of arrivals; default even."),
        key("wave", Kind::Duration, "With A to B: period of a wave between the two."),
        key("spike", Kind::Own(Spike), "A periodic higher rate: 5k/s for 10s every 1m."),
        key(
            "max_open",
            Kind::Count,
            "Open requests above which arrivals are dropped. Default: rate × timeout, limited by this host.",
        ),
        key("warmup", Kind::Bool, "Stored, but not judged; default false."),
        key("from", Kind::Duration, "Its start time; default: after the previous phase."),
    ],
    verbs: &[],
};
