//! Scenarios and phases.

use super::CustomKind::{CountOrRate, CountRange, Rate, RateRange, Sessions, Spike, Steps, Think};
use super::{Kind, MapName, Section, key};

/// A scenario.
pub(crate) static SCENARIO: Section = Section {
    name: "a scenario",
    title: "Scenarios",
    about: "What one virtual user does. With a weight it takes its part of the top-level phases; with phases of its \
            own it runs beside them. One of the two.",
    keys: &[
        key("weight", Kind::Count, "Its part of the top-level phases, relative to the other scenarios."),
        key("phases", Kind::List(&Kind::Is(MapName::Phase)), "Phases of its own."),
        key(
            "before",
            Kind::Own(Steps),
            "Once per user, ahead of its first session; again if it came to no end.",
        ),
        key(
            "steps",
            Kind::Own(Steps),
            "The journey; users repeat it. None: the connection is held in silence.",
        ),
        key(
            "after",
            Kind::Own(Steps),
            "Once per user, when it leaves or has had its sessions; not if the run is cut.",
        ),
        key(
            "connection",
            Kind::Word(&["user", "session", "request", "shared"]),
            "Who owns a connection: user (default; kept over its sessions), session, request (one each), shared (a \
             pool of the run).",
        ),
        key("think", Kind::Own(Think), "Waited between two steps."),
        key(
            "pace",
            Kind::Duration,
            "From the start of one session of a user to the start of its next, at least.",
        ),
        key("target", Kind::Name, "The target of its steps, a name under targets."),
        key(
            "on_failure",
            Kind::Word(&["continue", "end_session", "end_run"]),
            "What a failed request leads to; default continue.",
        ),
    ],
    verbs: &[],
};

/// A phase.
pub(crate) static PHASE: Section = Section {
    name: "a phase",
    title: "Phases",
    about: "A stretch of load with one shape: exactly one of rate, users, hold, trace, pause, and what fixes its \
            length. Users and held connections carry over into a next phase of the same kind.",
    keys: &[
        key(
            "rate",
            Kind::Own(RateRange),
            "Open model: sessions that arrive, 500/s or 0/s to 1k/s; 500 requests/s counts requests instead.",
        ),
        key(
            "users",
            Kind::Own(CountRange),
            "Closed model: users that repeat their scenario, 300 or 0 to 300.",
        ),
        key(
            "hold",
            Kind::Own(CountRange),
            "Connections kept open, 1M or 0 to 1M; each repeats its scenario.",
        ),
        key("trace", Kind::File, "Arrivals from a file: times, or time,rate in each row."),
        key("pause", Kind::Duration, "Nobody new for this long; sessions that run go on."),
        key("for", Kind::Duration, "Its length."),
        key(
            "at",
            Kind::Own(Rate),
            "Instead of for, for A to B: users started or connections opened per time.",
        ),
        key("step", Kind::Own(CountOrRate), "Instead of for, for A to B: stairs of this height; with every."),
        key("every", Kind::Duration, "Length of one stair."),
        key("ramp", Kind::Duration, "Time in which a stair is climbed; default: at once."),
        key(
            "sessions",
            Kind::Own(Sessions),
            "Until this many sessions have started (15k), or for each user this many, who then leaves (1 each); \
             with for it is a cap.",
        ),
        key("name", Kind::Name, "Its name in reports and conditions."),
        key("arrivals", Kind::Word(&["even", "poisson"]), "Spacing of arrivals; default even."),
        key("wave", Kind::Duration, "A to B: swing between the two, once in this time."),
        key("spike", Kind::Own(Spike), "A higher rate now and then: 5k/s for 10s every 1m."),
        key("max_open", Kind::Count, "Open requests above which arrivals are dropped."),
        key("warmup", Kind::Bool, "Kept, but not judged; default false."),
        key("from", Kind::Duration, "When it starts, instead of after the one before."),
    ],
    verbs: &[],
};
