//! [`Strings`]: every text of the page that is ours, in one language.
//!
//! All texts are fields of structs, so a missing translation does not compile. Sentences of the
//! record (findings, notes, reasons) are not here: they are stored in English, and `translate` has
//! them in other languages.

mod en;
mod fact_words;
mod front_words;
mod glossary_en;
mod glossary_zh;
mod sentence;
mod verdict_words;
mod zh;

pub(crate) use en::WORDS as EN;
pub(crate) use fact_words::EnvironmentStrings;
pub(crate) use front_words::SummaryStrings;
pub(crate) use sentence::{Of1, Of2};
pub(crate) use verdict_words::VerdictStrings;
pub(crate) use zh::WORDS as ZH;

/// The English glossary entry of `word`; empty for a term that it does not have.
pub(crate) fn glossary(word: &str) -> &'static str {
    let said = glossary_en::GLOSSARY.iter().find(|(own, _)| *own == word);
    said.map_or("", |&(_, meaning)| meaning)
}

/// All texts, by where they are shown.
pub(crate) struct Strings {
    /// BCP 47 tag of the language.
    pub(crate) tag: &'static str,
    pub(crate) page: PageWords,
    pub(crate) verdict: VerdictStrings,
    pub(crate) front: SummaryStrings,
    pub(crate) titles: Titles,
    /// Introduction of each section: its content and how to read it, in a sentence or two.
    pub(crate) leads: SectionIntros,
    pub(crate) columns: Columns,
    pub(crate) counts: CountStrings,
    pub(crate) times: TimeStrings,
    pub(crate) marks: MarkStrings,
    pub(crate) connections: ConnectionStrings,
    pub(crate) generator: GeneratorStrings,
    pub(crate) hosts: HostStrings,
    pub(crate) journeys: JourneyStrings,
    pub(crate) facts: EnvironmentStrings,
    pub(crate) charts: ChartStrings,
    /// Term and its meaning.
    pub(crate) glossary: &'static [(&'static str, &'static str)],
    /// Terms of the glossary that are listed only if a number has that name.
    pub(crate) only_names: &'static [&'static str],
}

/// Texts of the document around the sections.
pub(crate) struct PageWords {
    pub(crate) report: &'static str,
    pub(crate) skip: &'static str,
    pub(crate) contents: &'static str,
    pub(crate) scrolls: Of1,
    /// Name of a short table on the first page; the full one of that name is below.
    pub(crate) in_short: Of1,
    pub(crate) made_by: Of1,
    pub(crate) offline: &'static str,
    pub(crate) colon: &'static str,
    /// Between two parts of a line.
    pub(crate) comma: &'static str,
    /// Brackets around remarks.
    pub(crate) brackets: (&'static str, &'static str),
    /// In print, where the tables behind charts are.
    pub(crate) on_paper: &'static str,
    /// Between two sentences.
    pub(crate) sentence_gap: &'static str,
}

/// Headings of sections.
pub(crate) struct Titles {
    pub(crate) requests: &'static str,
    pub(crate) thresholds: &'static str,
    pub(crate) findings: &'static str,
    pub(crate) course: &'static str,
    pub(crate) times: &'static str,
    pub(crate) scopes: &'static str,
    pub(crate) journeys: &'static str,
    pub(crate) connections: &'static str,
    pub(crate) generator: &'static str,
    pub(crate) hosts: &'static str,
    pub(crate) examples: &'static str,
    pub(crate) events: &'static str,
    pub(crate) environment: &'static str,
    pub(crate) glossary: &'static str,
}

/// The sentence under each heading.
pub(crate) struct SectionIntros {
    pub(crate) requests: &'static str,
    pub(crate) thresholds: &'static str,
    pub(crate) findings: &'static str,
    /// The sentence on requests, in a record without an end.
    pub(crate) requests_known: &'static str,
    pub(crate) cut_off: &'static str,
    pub(crate) no_findings: &'static str,
    /// Shown where sentences of the record are in another language than the page.
    pub(crate) as_stored: &'static str,
    pub(crate) course: &'static str,
    pub(crate) times: &'static str,
    /// The same for a closed loop, which plans no instants.
    pub(crate) times_closed: &'static str,
    /// Shown if there are no response times.
    pub(crate) times_none: &'static str,
    pub(crate) scopes: &'static str,
    /// Next to the phases: how their rate is computed.
    pub(crate) phase_rate: &'static str,
    pub(crate) journeys: &'static str,
    pub(crate) connections: &'static str,
    /// The same in a record without an end.
    pub(crate) connections_known: &'static str,
    pub(crate) generator: &'static str,
    pub(crate) hosts: &'static str,
    pub(crate) examples: &'static str,
    pub(crate) events: &'static str,
    pub(crate) environment: &'static str,
    pub(crate) glossary: &'static str,
}

/// Headings of columns.
pub(crate) struct Columns {
    pub(crate) name: &'static str,
    pub(crate) count: &'static str,
    pub(crate) share: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) error: &'static str,
    pub(crate) detail: &'static str,
    pub(crate) condition: &'static str,
    pub(crate) found: &'static str,
    pub(crate) result: &'static str,
    pub(crate) phase: &'static str,
    pub(crate) scenario: &'static str,
    pub(crate) step: &'static str,
    pub(crate) from: &'static str,
    pub(crate) at: &'static str,
    /// The end of the time that a row describes.
    pub(crate) until: &'static str,
    pub(crate) samples: &'static str,
    pub(crate) min: &'static str,
    pub(crate) mean: &'static str,
    pub(crate) max: &'static str,
    pub(crate) status: &'static str,
    pub(crate) time: &'static str,
    pub(crate) why: &'static str,
    pub(crate) address: &'static str,
    pub(crate) event: &'static str,
}

/// Outcomes of requests.
pub(crate) struct CountStrings {
    pub(crate) offered: &'static str,
    pub(crate) sent: &'static str,
    pub(crate) done: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) late: &'static str,
    pub(crate) dropped: &'static str,
    pub(crate) open: &'static str,
    pub(crate) sum: &'static str,
    pub(crate) errors: &'static str,
    pub(crate) dropped_by: &'static str,
    pub(crate) statuses: &'static str,
    pub(crate) traffic: &'static str,
    pub(crate) warmup: &'static str,
    pub(crate) warmup_apart: &'static str,
    pub(crate) setup: &'static str,
}

/// Parts of a request's time.
pub(crate) struct TimeStrings {
    pub(crate) response: &'static str,
    pub(crate) service: &'static str,
    pub(crate) wait: &'static str,
    pub(crate) lag: &'static str,
    pub(crate) connect: &'static str,
    pub(crate) tls: &'static str,
    pub(crate) hello: &'static str,
    pub(crate) ping: &'static str,
    pub(crate) ttfb: &'static str,
    pub(crate) transfer: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) uncertain: &'static str,
    pub(crate) unknown: &'static str,
    /// Next to times over the run and over a point, with the number of dropped requests.
    pub(crate) dropped_apart: Of1,
    pub(crate) failed_apart: Of1,
    pub(crate) lag_of_all: &'static str,
    pub(crate) unknown_short: &'static str,
    /// Below percentiles drawn as lines.
    pub(crate) line_ends: &'static str,
    /// The same for lines over time.
    pub(crate) line_missing: &'static str,
    /// Next to lags of a run with dropped requests.
    pub(crate) lag_of_sent: &'static str,
    /// A percentile of the requests that have such a time.
    pub(crate) of_sent: Of1,
    pub(crate) above_dropped: &'static str,
    pub(crate) censored: Of2,
    pub(crate) clipped: Of2,
}

/// Texts next to a threshold, a check or a finding.
pub(crate) struct MarkStrings {
    pub(crate) held: &'static str,
    pub(crate) broken: &'static str,
    pub(crate) undecided: &'static str,
    pub(crate) held_as_known: &'static str,
    pub(crate) not_judged: &'static str,
    pub(crate) implicit: &'static str,
    pub(crate) decisive: &'static str,
    /// Before the command that explains the text above.
    pub(crate) more: &'static str,
    pub(crate) evidence: &'static str,
    pub(crate) fix: &'static str,
    pub(crate) fix_settings: &'static str,
}

/// Connections.
pub(crate) struct ConnectionStrings {
    pub(crate) failed: &'static str,
    pub(crate) lost: &'static str,
    pub(crate) reopened: &'static str,
    pub(crate) kernel_means: &'static str,
    pub(crate) tls: &'static str,
}

/// Health of the generator.
pub(crate) struct GeneratorStrings {
    pub(crate) busiest: &'static str,
    pub(crate) lag_p99: &'static str,
    pub(crate) cpu: &'static str,
    pub(crate) cpu_of: Of2,
    pub(crate) memory: &'static str,
    pub(crate) threads: &'static str,
    pub(crate) engine: &'static str,
    pub(crate) per_connection: &'static str,
    pub(crate) per_connection_of: Of2,
    pub(crate) late_share: &'static str,
    /// Delays that lag does not show if users wait for their responses.
    pub(crate) lag_closed: &'static str,
}

/// Sampled hosts.
pub(crate) struct HostStrings {
    pub(crate) cpu_mean: &'static str,
    pub(crate) cpu_core: &'static str,
    pub(crate) memory: &'static str,
    pub(crate) slab: &'static str,
    pub(crate) rss: &'static str,
    pub(crate) sockets: &'static str,
    pub(crate) time_wait: &'static str,
    pub(crate) target_open: &'static str,
    pub(crate) first: &'static str,
    pub(crate) last: &'static str,
}

/// Results of sessions.
pub(crate) struct JourneyStrings {
    pub(crate) sessions: &'static str,
    pub(crate) checks: &'static str,
    /// Before the failed checks, in a line.
    pub(crate) failed_checks: &'static str,
    /// Between two of them.
    pub(crate) next_check: &'static str,
    /// For one of them: responses that failed it, and all responses that it checked.
    pub(crate) failed_of: Of2,
    /// In their place, if no check failed.
    pub(crate) no_failed_check: &'static str,
    /// Number of requests that failed for another reason than a check, at least.
    pub(crate) failed_otherwise: Of1,
    /// After it, if there are examples.
    pub(crate) see_failures: &'static str,
    /// The value that a failed check found.
    pub(crate) found_instead: Of2,
    pub(crate) counts: &'static str,
    pub(crate) rendezvous: &'static str,
    pub(crate) before: &'static str,
    pub(crate) after: &'static str,
    pub(crate) phases: &'static str,
    pub(crate) scenarios: &'static str,
    pub(crate) steps: &'static str,
    pub(crate) groups: &'static str,
    pub(crate) first_failures: &'static str,
    pub(crate) slowest: &'static str,
    pub(crate) slowest_on_paper: Of2,
    pub(crate) more_rows: Of1,
}

/// Charts and the tables of their data.
pub(crate) struct ChartStrings {
    pub(crate) data: Of1,
    pub(crate) thinned: Of2,
    pub(crate) column_length: Of1,
    /// Start and length of a last column that is shorter than the others.
    pub(crate) last_column: Of2,
    pub(crate) drain: &'static str,
    pub(crate) planned: &'static str,
    pub(crate) rate: &'static str,
    pub(crate) heat: &'static str,
    pub(crate) unanswered: &'static str,
    pub(crate) errors: &'static str,
    pub(crate) statuses: &'static str,
    pub(crate) others: &'static str,
    pub(crate) users: &'static str,
    pub(crate) spectrum: &'static str,
    pub(crate) held: &'static str,
    pub(crate) open: &'static str,
    pub(crate) comings: &'static str,
    pub(crate) opened: &'static str,
    pub(crate) closed: &'static str,
    pub(crate) lost: &'static str,
    pub(crate) busy: &'static str,
    pub(crate) busy_max: &'static str,
    pub(crate) busy_mean: &'static str,
    pub(crate) busy_limit: &'static str,
    pub(crate) lag: &'static str,
    pub(crate) late_when: &'static str,
    pub(crate) open_between: fn(&str) -> String,
    pub(crate) not_drawn: Of2,
    pub(crate) lag_p50: &'static str,
    pub(crate) lag_p99: &'static str,
    pub(crate) cpu: &'static str,
    pub(crate) stalled: &'static str,
    pub(crate) starved: &'static str,
    pub(crate) host_cpu: &'static str,
    pub(crate) host_memory: &'static str,
    pub(crate) host_memory_used: &'static str,
    /// Shown if a warm-up runs in parallel to judged load.
    pub(crate) warmup_alongside: &'static str,
    pub(crate) host_sockets: &'static str,
}
