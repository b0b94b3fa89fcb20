//! The glossary in English.

/// Of the words below, those that sentences have in another meaning, too.
pub(super) const ONLY_NAMES: &[&str] = &["First byte", "Open", "Planned", "Plateau", "Wait"];

pub(super) const GLOSSARY: &[(&str, &str)] = &[
    ("Offered", "Requests that the plan wanted at an instant, whether or not they could be sent."),
    (
        "Planned",
        "What the plan asks for at that time, by the plan alone: requests per second, or connections that are to be open at the end of each row.",
    ),
    ("Done", "Requests whose full answer came and was as expected (by default a status from 200 to 399)."),
    ("Failed", "Requests that ended in an error: no connection, a timeout, a wrong status, a failed check."),
    (
        "Late",
        "Requests that the generator took up more than a millisecond after the instant at which they were wanted; counted when they end.",
    ),
    ("Dropped", "Requests that were never sent: a limit was full, or the generator was a second behind."),
    (
        "Open",
        "Requests without an answer yet: when the run ended, or over time at the end of each row. Of connections: those that are open, over time at the end of each row.",
    ),
    (
        "Response time",
        "From the instant the request was wanted (by the plan; in a closed loop when its user was ready) to the last byte of its answer: lag (until the generator took it up) + \
      wait (for a connection) + service (from its first byte sent on). \
      What timed out, or was open at the end, counts with the time it waited; other failures are not in it.",
    ),
    (
        "Lag",
        "From the instant the request was wanted until the generator took it up. The generator's own doing.",
    ),
    ("Wait", "Waiting for a connection: a free one of the pool, connecting, and TLS."),
    ("Service", "From the first byte sent to the last byte of the answer."),
    ("First byte", "From the first byte sent to the first byte of the answer."),
    ("p99", "99 of 100 requests took at most so long. Never an average of other percentiles."),
    ("~", "Fewer than 10 samples lie above this percentile: another run may well give another."),
    ("Open loop", "Requests come at planned instants, however slow the target is, as from the public."),
    (
        "Closed loop",
        "So many users, each of whom waits for an answer before asking again; a slow target is asked less.",
    ),
    ("Phase", "A stretch of the load with one shape: a ramp, a plateau, a pause."),
    ("Session", "One pass of one user through a scenario."),
    ("Plateau", "A stretch of the load that stays at one level: of connections, users or a rate."),
    (
        "Lost",
        "Of connections: those that ended although the plan still wanted them. As a reason of the verdict: a part of the \
      run's own record is missing.",
    ),
    (
        "Busiest load thread",
        "How busy a load thread is: the share of its time that it spent in turns that did work. Spinning and calls that wait \
         for work are no part of it, but take CPU time.",
    ),
    (
        "Long turns",
        "Turns of a load thread's loop that worked longer than a millisecond, in which nothing else could begin.",
    ),
    (
        "Turns without room",
        "Turns of a load thread's loop in which no buffer or place in a queue of the kernel was free.",
    ),
    (
        "Resumed",
        "A TLS handshake that went on with an earlier TLS session instead of agreeing on everything anew.",
    ),
    (
        "Knee",
        "The load at which the chance that a run meets the conditions falls through one half. It is estimated from runs.",
    ),
    (
        "95 % interval",
        "Made in such a way that, as far as its assumptions hold, it has the true value in it in 95 of 100 cases.",
    ),
    ("B/A", "The value of side B divided by that of side A: 1 is no difference."),
    (
        "By chance, corrected",
        "How often a difference as large comes where there is none, raised for the number of values that are judged (Holm).",
    ),
    ("INVALID", "The generator or the path may have made the result: it says nothing about the target."),
    (
        "INCOMPLETE",
        "Something is missing: the run was stopped, an interval was lost, or a condition is undecided.",
    ),
];
