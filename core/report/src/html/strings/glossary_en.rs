//! The glossary in English.

/// Terms of the list below that sentences also use in another meaning.
pub(super) const ONLY_NAMES: &[&str] = &["First byte", "Open", "Planned", "Plateau", "Wait"];

pub(super) const GLOSSARY: &[(&str, &str)] = &[
    ("Offered", "Requests that the plan scheduled, whether or not they could be sent."),
    (
        "Planned",
        "The load of the plan at that time: requests per second, or connections that should be open at the end of each row.",
    ),
    ("Done", "Requests that received the full, expected answer (by default a status from 200 to 399)."),
    ("Failed", "Requests that ended in an error: no connection, a timeout, a wrong status, a failed check."),
    (
        "Late",
        "Requests that the generator started more than a millisecond after their intended start; counted when they end.",
    ),
    ("Dropped", "Requests that were never sent: a limit was full, or the generator was a second behind."),
    (
        "Open",
        "Requests without an answer when the run ended or, over time, at the end of each row. For connections: those that are open at the end of each row.",
    ),
    (
        "Response time",
        "From the intended start of the request (set by the plan; in a closed loop, when its user was ready) to the last byte of its answer. It is the sum of lag (until the generator started it), \
      wait (for a connection) and service (from its first byte sent). \
      Requests that timed out, or were open at the end, count with the time they waited. Other failures are not included.",
    ),
    (
        "Lag",
        "From the intended start of the request until the generator started it. The generator causes it.",
    ),
    ("Wait", "Waiting for a connection: a free one of the pool, connecting, and TLS."),
    ("Service", "From the first byte sent to the last byte of the answer."),
    ("First byte", "From the first byte sent to the first byte of the answer."),
    ("p99", "99 of 100 requests took at most this long. Never an average of other percentiles."),
    ("~", "Fewer than 10 samples lie above this percentile: another run may well give another value."),
    (
        "Open loop",
        "Requests arrive at planned times, however slow the target is, like traffic from the public.",
    ),
    (
        "Closed loop",
        "A fixed number of users, each of which waits for an answer before its next request; a slow target receives fewer requests.",
    ),
    ("Phase", "A part of the load with one shape: a ramp, a plateau, a pause."),
    ("Session", "One pass of one user through a scenario."),
    ("Plateau", "A part of the load at a constant number of connections, number of users or rate."),
    (
        "Lost",
        "Of connections: those that ended although the plan still needed them. As a reason for the verdict: a part of the \
      run's own record is missing.",
    ),
    (
        "Busiest load thread",
        "How busy a load thread is: the share of its time that it spent in loop turns that did work. Spinning and calls that wait \
         for work are not included, but take CPU time.",
    ),
    (
        "Long turns",
        "Turns of a load thread's loop that took longer than a millisecond, during which nothing else could start.",
    ),
    (
        "Turns without a free slot",
        "Turns of a load thread's loop in which no buffer or slot in a kernel queue was free.",
    ),
    (
        "Resumed",
        "A TLS handshake that resumed an earlier TLS session instead of negotiating everything again.",
    ),
    (
        "Knee",
        "The load at which the probability that a run meets the conditions falls to one half. It is estimated from runs.",
    ),
    (
        "95 % interval",
        "An interval that contains the true value in 95 of 100 cases, if its assumptions are met.",
    ),
    ("B/A", "The value of side B divided by the value of side A: 1 is no difference."),
    (
        "By chance, corrected",
        "The probability of a difference this large if there is none, corrected for the number of values that are judged (Holm).",
    ),
    ("INVALID", "The generator or the path may have caused the result, so it says nothing about the target."),
    (
        "INCOMPLETE",
        "Something is missing: the run was stopped, an interval was lost, or a condition is undecided.",
    ),
];
