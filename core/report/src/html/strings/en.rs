//! The page in English.

use super::glossary_en::{GLOSSARY, ONLY_NAMES};
use super::{
    ChartStrings, Columns, ConnectionStrings, CountStrings, GeneratorStrings, HostStrings, JourneyStrings,
    MarkStrings, PageWords, SectionIntros, Strings, SummaryStrings, TimeStrings, Titles, fact_words,
    verdict_words,
};

pub(crate) static WORDS: Strings = Strings {
    tag: "en",
    page: PageWords {
        report: "Load test report",
        skip: "Skip to the result",
        contents: "Contents",
        scrolls: |table| format!("{table}, table, scrolls sideways"),
        in_short: |table| format!("{table} in short"),
        made_by: |version| format!("Made by Wavetank {version} from the stored run."),
        offline: "This file is self-contained and makes no network requests.",
        colon: ": ",
        comma: ", ",
        brackets: (" (", ")"),
        on_paper: "In print, the tables behind the charts are left out, except those that were open in the browser when it was \
                   printed. The stored run contains all numbers.",
        sentence_gap: " ",
    },
    verdict: verdict_words::EN,
    front: SummaryStrings {
        tested: "What was tested",
        target: "Target",
        load: "Load",
        defaults: "defaults of the program",
        claimed: "Thresholds",
        nothing_claimed: "none: the user set no conditions",
        unasked: "implicit, added by Wavetank",
        cut_short: |ran, planned| format!("stopped after {ran} of {planned}"),
        known_of: |ran, planned| format!("{ran} of {planned} are in this record"),
        limit_owner: "What was the bottleneck?",
        however: "Note, however",
        unknown: "unknown",
        next_limit: "What is the next limit?",
        room_none: "No resource that could have been the limit was sampled.",
        room_thread: |share| {
            format!(
                "The busiest load thread was busy for up to {share} of its time; from 95\u{a0}% it is the bottleneck."
            )
        },
        room_cpus: |share| {
            format!(
                "The CPUs of the generator's host were busy up to {share}, as counted by its kernel or this process."
            )
        },
        room_target: "The target's resources were not monitored.",
        room_lab: |host, share| format!("Among the hosts, {host} had the busiest core: busy up to {share}."),
        room_memory: |least, most| {
            format!("Memory available on the generator's host fell to {least} of {most}.")
        },
        room_files: |peak, most| {
            format!("{peak} simultaneous connections, with a limit of {most} open files.")
        },
        plateau: "Plateaus",
        phases: "Phases",
        hosts: "Hosts",
        generator_host: "Generator",
        repeat: "How to repeat it",
        try_next: "What to try next",
        notes: "Good to know",
        rehearsal: "Rehearsal",
        more_below: |n| format!("and {n} more below"),
        more_found: |n| format!("and {n} more {} below", if n == "1" { "finding" } else { "findings" }),
        done_rate: "Done per second",
        done_later: |n| format!("not included: {n} answered outside the measured time"),
        of_offered: |rate| format!("of {rate} offered"),
        done_in: |count, time| format!("{count} in {time}"),
        response_p99: "Response time, p99",
        lag_of_it: |lag| format!("{lag} of it is the load generator's"),
        half_within: |p50| format!("half within {p50}"),
        failed_apart: |n, p99| format!("not included: {n} failed (not by timeout), their p99 {p99}"),
        failed_share: "Failed",
        failed_of: |failed, all| format!("{failed} of {all} requests"),
        held: "Connections held",
        held_all: |planned| format!("of {planned} planned, in every second of the plateau"),
        held_of: |planned, at| format!("of {planned} planned, in the lowest second (at {at})"),
        peak_of: |planned| format!("peak, of {planned} planned"),
        nothing_sent: "no request was sent",
        nothing_done: "no request was done",
        done_after_load: "done only after the load ended",
        cpus: |n| if n == "1" { "1 CPU".to_owned() } else { format!("{n} CPUs") },
        memory_free: |size| format!("{size} of memory available"),
    },
    titles: Titles {
        requests: "Request outcomes",
        thresholds: "Conditions",
        findings: "Findings",
        course: "Over time",
        times: "Latency",
        scopes: "Phases, scenarios and steps",
        journeys: "Sessions, checks and counts",
        connections: "Connections",
        generator: "Generator health",
        hosts: "Hosts",
        examples: "Notable requests",
        events: "Events",
        environment: "Environment and how to repeat it",
        glossary: "Glossary",
    },
    leads: SectionIntros {
        requests: "Every request that was scheduled until the run ended counts as exactly one of: done, failed, dropped or open.",
        thresholds: "The conditions that the run had to meet. Conditions marked implicit were added by Wavetank.",
        findings: "Each finding with the side that caused it, its evidence and what to do about it.",
        requests_known: "Every request that was scheduled until the last second of this record counts as exactly one of: done, failed, \
            dropped or open. Later results are not known.",
        cut_off: "The run was interrupted. Only per-second data was judged; end-of-run checks were skipped.",
        no_findings: "There are no findings beyond the verdict.",
        as_stored: "Some sentences are shown as they are stored.",
        course: "Requests and answers during the run. Warm-up and the time after the load are shaded grey. Results are plotted at the time when the request finished.",
        times: "Response time starts at the intended start of the request, so it includes the time spent waiting for a slow \
                target. It is the sum of lag, wait and service. Warm-up is left out.",
        times_closed: "Response time starts at the intended start of the request, when its user was ready. Because users wait for each answer, a slow target \
            receives fewer requests. It therefore includes no queueing that other clients would have caused. It is the sum of lag, wait and service. Warm-up is left out.",
        times_none: "No request was done, so there are no response times. Failed is the time from the intended start of a request \
            to its end. Warm-up is left out.",
        scopes: "The same numbers for each part of the load. Warm-up is left out.",
        phase_rate: "Done/s counts requests that a phase sent and that were answered before it ended, divided by its length. Done also includes \
            requests answered later.",
        journeys: "The sessions of the users and the checks on the answers.",
        connections: "Opened = closed + lost + open at the end, for the whole run including warm-up.",
        connections_known: "Opened = closed + lost + open at the end of this record, within this record and including warm-up.",
        generator: "Whether the results of the load generator can be trusted.",
        hosts: "Counts of this host's kernel and of the target during the load. The kernel's CPU shares may miss work in short bursts.",
        examples: "The first failures of each kind and the slowest answers. At is the intended start of a request, counted from the start of the measured load. Earlier requests belong to the warm-up and are not counted above. Charts over time plot each request where it ended.",
        events: "Times on the run's clock: 0 is the start of the measured load.",
        environment: "The information needed to verify and reproduce these numbers later.",
        glossary: "The terms used on this page and their exact meaning.",
    },
    columns: Columns {
        name: "Name",
        count: "Count",
        share: "Share",
        reason: "Reason",
        error: "Error",
        detail: "Detail",
        condition: "Condition",
        found: "Value",
        result: "Result",
        phase: "Phase",
        scenario: "Scenario",
        step: "Step",
        from: "From",
        at: "At",
        until: "Until",
        samples: "n",
        min: "min",
        mean: "mean",
        max: "max",
        status: "Status",
        time: "Time",
        why: "Why",
        address: "Address",
        event: "Event",
    },
    counts: CountStrings {
        offered: "Offered",
        sent: "Sent",
        done: "Done",
        failed: "Failed",
        late: "Late",
        dropped: "Dropped",
        open: "Open",
        sum: "offered = done + failed + dropped + open",
        errors: "Failed, by kind of error",
        dropped_by: "Dropped, by reason",
        statuses: "Answers, by status",
        traffic: "Traffic",
        warmup: "Warm-up",
        warmup_apart: "not counted above",
        setup: "Requests before and after the load (not counted)",
    },
    times: TimeStrings {
        response: "Response",
        service: "Service",
        wait: "Wait",
        lag: "Lag",
        connect: "Connect",
        tls: "TLS",
        hello: "Hello",
        ping: "Ping",
        ttfb: "First byte",
        transfer: "Transfer",
        failed: "Failed",
        uncertain: "~ fewer than 10 samples lie above this percentile.",
        unknown: "“> dropped”: if dropped requests are included, this percentile falls on one of them and cannot be known.",
        dropped_apart: |n| {
            format!(
                "Response times exclude {n} dropped requests; including them would make the times higher."
            )
        },
        failed_apart: |n| {
            format!("Response times exclude {n} requests that failed for reasons other than a timeout.")
        },
        lag_of_all: "Lag and wait cover all sent requests, so their means need not add up to the mean response time.",
        line_missing: "Lines have gaps where dropped requests make the value unknown.",
        lag_of_sent: "Sent requests only: dropped ones have no lag.",
        line_ends: "A line ends where dropped requests make the rest unknown.",
        of_sent: |p99| format!("{p99} for sent requests; dropped ones have none"),
        unknown_short: "only a lower bound is known: too many requests were dropped",
        above_dropped: "> dropped",
        censored: |name, n| format!("{name} includes {n} unanswered requests, each with the time it waited."),
        clipped: |name, n| format!("{name} includes {n} times above 73 minutes in one bucket."),
    },
    marks: MarkStrings {
        held: "pass",
        broken: "fail",
        undecided: "undecided",
        held_as_known: "skipped: passed so far",
        not_judged: "skipped: nothing was sent",
        implicit: "implicit",
        decisive: "decides the verdict",
        more: "More about these",
        evidence: "Evidence",
        fix: "What to do",
        fix_settings: "Settings",
    },
    connections: ConnectionStrings {
        failed: "Could not be opened",
        lost: "Lost",
        reopened: "Reopened after a loss",
        kernel_means: "The kernel counts sockets. If the target is on this host, it counts both ends of a connection.",
        tls: "TLS handshakes",
    },
    generator: GeneratorStrings {
        busiest: "Busiest load thread, peak",
        lag_p99: "Lag, p99",
        cpu: "CPU time of the whole process",
        cpu_of: |cpus, seconds| format!("{cpus} CPUs on average ({seconds}), including time spent waiting"),
        memory: "Memory of the process, peak",
        threads: "Load threads",
        engine: "Driver",
        per_connection: "Memory per connection",
        per_connection_of: |each, all| format!("{each}, over {all} connections"),
        late_share: "Started late, of all offered",
        lag_closed: "In a closed loop a user is ready when its load thread has read the previous response. Lag includes delays of \
            that thread from two timer ticks on (2 to 20 ms). Shorter delays are part of service.",
    },
    hosts: HostStrings {
        cpu_mean: "CPU, all cores",
        cpu_core: "CPU, busiest core",
        memory: "Memory available",
        slab: "Kernel objects (slab)",
        rss: "Memory of wavetank",
        sockets: "TCP sockets in use",
        time_wait: "TIME_WAIT",
        target_open: "Connections counted by the target",
        first: "First",
        last: "Last",
    },
    journeys: JourneyStrings {
        sessions: "Sessions",
        checks: "Checks",
        failed_checks: "Checks that failed",
        next_check: "; ",
        failed_of: |failed, all| format!(" in {failed} of {all} answers"),
        no_failed_check: "none",
        failed_otherwise: |n| {
            let requests = if n == "1" { "request" } else { "requests" };
            format!("at least {n} {requests} failed for another reason, such as an extraction")
        },
        see_failures: ": see the first failures below",
        found_instead: |check, found| format!("{check}: found {found}"),
        counts: "Counts",
        rendezvous: "Rendezvous",
        before: "Before the load",
        after: "After the load",
        phases: "Phases",
        scenarios: "Scenarios",
        steps: "Steps",
        groups: "Groups",
        first_failures: "First failures",
        slowest: "Slowest successful answers, up to ten per step",
        slowest_on_paper: |shown, all| {
            format!("In print, the {shown} slowest of {all}. The stored run contains all.")
        },
        more_rows: |n| format!("The stored run contains {n} more rows."),
    },
    facts: fact_words::EN,
    charts: ChartStrings {
        data: |title| format!("Numbers of “{title}” as a table"),
        thinned: |each, all| {
            format!(
                "One row in {each} of {all}, and the last. The highest and lowest values may be in rows that are not shown. The stored run contains all rows."
            )
        },
        column_length: |length| {
            format!(
                "Each point covers {length}. If it has fewer than 1,000 requests, fewer than ten of them are above its p99. Time axes count from the start of the measured load."
            )
        },
        last_column: |from, length| {
            format!(
                "If a table has a row that starts at {from}, that row covers only {length}, and its rates refer to that time."
            )
        },
        drain: "after the load",
        planned: "Planned",
        rate: "Requests per second",
        heat: "Response time distribution over time",
        unanswered: "Thereof without an answer",
        errors: "Failed per second, by kind of error",
        statuses: "Answers per second, by status",
        others: "others",
        users: "Users",
        spectrum: "Latency by percentile (tail expanded)",
        held: "Connections",
        open: "Open",
        comings: "Connections opened and ended per second",
        opened: "Opened",
        closed: "Closed as planned",
        lost: "Lost",
        busy: "Load thread utilisation",
        busy_max: "Busiest load thread",
        busy_mean: "All threads",
        busy_limit: "bottleneck from 95\u{a0}%",
        lag: "Lag: how late requests were started",
        late_when: "A late request is counted in the row in which it ended, which may be later than the row in which it started.",
        open_between: |most| {
            format!(
                "Charts and table show the connections that were open at the end of each point; in between there were at most {most}."
            )
        },
        not_drawn: |opened, closed| {
            format!(
                "Not in this chart: {opened} opened and {closed} closed at its start and end, in intervals too short for a rate."
            )
        },
        lag_p50: "p50",
        lag_p99: "p99",
        cpu: "CPUs used",
        stalled: "Long turns",
        starved: "Turns without a free slot",
        host_cpu: "CPU of the generator's host",
        host_memory: "Memory available on the generator's host",
        host_memory_used: "Memory of the kernel's objects and of wavetank",
        warmup_alongside: "A warm-up ran in parallel with the load. The values here include its connections, bytes and CPU time, but not its requests.",
        host_sockets: "Sockets and connections",
    },
    glossary: GLOSSARY,
    only_names: ONLY_NAMES,
};
