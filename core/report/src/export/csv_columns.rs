//! [`columns`]: the columns of the CSV, each with the function for its cell.

use wavetank_measure::{DropReason, ErrorClass, Histogram};
use wavetank_units::Nanos;

use super::csv_cells::{Row, count_or_empty, max, mean, name, percentile_cell, seconds};

/// One column.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) cell: Box<dyn Fn(&Row<'_>) -> String>,
}

/// The columns of a row of the whole run, or of a row of one step.
pub(super) fn columns(by_step: bool) -> Vec<Column> {
    let mut columns = Columns(Vec::new());
    columns.add("agent", |row| name(row.agent));
    columns.add("from_s", |row| seconds(row.interval.from));
    columns.add("len_s", |row| seconds(row.interval.len));
    columns.add("part", |row| row.part.name().to_owned());
    if by_step {
        columns.add("phase", |row| name(row.names[0]));
        columns.add("scenario", |row| name(row.names[1]));
        columns.add("step", |row| name(row.names[2]));
    } else {
        columns.add("planned_sessions", |row| count_or_empty(row.planned.sessions));
        columns.add("planned_users", |row| count_or_empty(row.planned.users));
        columns.add("planned_connections", |row| count_or_empty(row.planned.connections));
        columns.add_sessions();
    }
    columns.add_requests();
    columns.add_times(by_step);
    columns.add_kinds();
    if !by_step {
        columns.add_connections();
        columns.add_generator();
    }
    columns.0
}

struct Columns(Vec<Column>);

impl Columns {
    fn add(&mut self, name: impl Into<String>, cell: impl Fn(&Row<'_>) -> String + 'static) {
        self.0.push(Column { name: name.into(), cell: Box::new(cell) });
    }

    fn add_sessions(&mut self) {
        self.add("sessions_offered", |row| row.sessions.counts.offered.to_string());
        self.add("sessions_started", |row| row.sessions.counts.started.to_string());
        self.add("sessions_done", |row| row.sessions.counts.done.to_string());
        self.add("sessions_failed", |row| row.sessions.counts.failed.to_string());
        self.add("sessions_dropped", |row| row.sessions.counts.dropped().to_string());
        self.add("sessions_open", |row| row.sessions.open.to_string());
    }

    fn add_requests(&mut self) {
        self.add("offered", |row| row.requests.counters.offered.to_string());
        self.add("sent", |row| row.requests.counters.sent.to_string());
        self.add("done", |row| row.requests.counters.done.to_string());
        self.add("failed", |row| row.requests.counters.failed().to_string());
        self.add("late", |row| row.requests.counters.late.to_string());
        self.add("dropped", |row| row.requests.counters.dropped().to_string());
        self.add("open", |row| row.requests.open.to_string());
    }

    fn add_times(&mut self, by_step: bool) {
        self.add("response_count", |row| row.requests.response.count().to_string());
        self.add("response_mean_us", |row| mean(&row.requests.response));
        for (word, q) in [("p50", 50.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p99_9", 99.9)] {
            self.add(format!("response_{word}_us"), move |row| row.percentile(&row.requests.response, q));
        }
        self.add("response_max_us", |row| max(&row.requests.response));
        self.add_spread("service", |row| &row.requests.service);
        if by_step {
            return;
        }
        self.add_spread("lag", |row| &row.times.lag);
        self.add_spread("wait", |row| &row.times.wait);
        self.add_spread("ttfb", |row| &row.times.ttfb);
        self.add_spread("transfer", |row| &row.times.transfer);
        self.add_spread("failed", |row| &row.times.failed);
        self.add_spread("connect", |row| &row.opening.connect);
        self.add_spread("tls", |row| &row.opening.tls);
        self.add_spread("hello", |row| &row.opening.hello);
        self.add_spread("ping", |row| &row.opening.ping);
        self.add("messages_sent", |row| row.opening.messages.sent.to_string());
        self.add("messages_received", |row| row.opening.messages.received.to_string());
    }

    fn add_spread(&mut self, of: &str, times: for<'r, 'a> fn(&'r Row<'a>) -> &'r Histogram) {
        self.add(format!("{of}_p50_us"), move |row| percentile_cell(times(row), 50.0));
        self.add(format!("{of}_p99_us"), move |row| percentile_cell(times(row), 99.0));
        self.add(format!("{of}_max_us"), move |row| max(times(row)));
    }

    /// Failures by class, drops by reason, responses by status.
    fn add_kinds(&mut self) {
        for class in ErrorClass::ALL {
            self.add(format!("failed_{}", class.name()), move |row| {
                row.requests.counters.errors[class as usize].to_string()
            });
        }
        for reason in DropReason::ALL {
            self.add(format!("dropped_{}", reason.name()), move |row| {
                row.requests.counters.dropped_by[reason as usize].to_string()
            });
        }
        for hundred in 1..=5_u16 {
            self.add(format!("status_{hundred}xx"), move |row| {
                let statuses = row.requests.status.0.iter().filter(|(status, _)| status / 100 == hundred);
                statuses.map(|(_, n)| n).sum::<u64>().to_string()
            });
        }
        self.add("wire_sent", |row| row.requests.wire.sent.to_string());
        self.add("wire_retried", |row| row.requests.wire.retried.to_string());
        self.add("wire_redirected", |row| row.requests.wire.redirected.to_string());
        self.add("wire_resources", |row| row.requests.wire.resources.to_string());
    }

    fn add_connections(&mut self) {
        self.add("users", |row| row.run_only_count(row.interval.users));
        self.add("conns_offered", |row| row.run_only_count(row.interval.conns.offered));
        self.add("conns_opened", |row| row.run_only_count(row.interval.conns.opened));
        self.add("conns_failed", |row| row.run_only_count(row.interval.conns.failed));
        self.add("conns_closed", |row| row.run_only_count(row.interval.conns.closed));
        self.add("conns_lost", |row| row.run_only_count(row.interval.conns.lost));
        self.add("conns_reopened", |row| row.run_only_count(row.interval.conns.reopened));
        self.add("conns_late", |row| row.run_only_count(row.interval.conns.late));
        self.add("conns_opening", |row| row.run_only_count(row.interval.conns.opening));
        self.add("conns_open", |row| row.run_only_count(row.interval.conns.open));
        self.add("conns_peak", |row| row.run_only_count(row.interval.conns.peak));
        self.add("sent_bytes", |row| row.run_only_count(row.interval.bytes.sent));
        self.add("received_bytes", |row| row.run_only_count(row.interval.bytes.received));
        self.add("packets_sent", |row| row.run_only_count(row.interval.packets.sent));
        self.add("packets_lost", |row| row.run_only_count(row.interval.packets.lost));
    }

    /// State of the load threads.
    fn add_generator(&mut self) {
        self.add("threads", |row| row.per_thread(|threads| threads.len().to_string()));
        self.add("thread_busy_max", |row| {
            let len = row.interval.len;
            row.per_thread(|threads| share(threads.iter().map(|one| one.busy_share(len)).fold(0.0, f64::max)))
        });
        self.add("thread_busy_mean", |row| {
            let len = row.interval.len;
            let sum = |threads: &[wavetank_measure::ThreadStats]| {
                threads.iter().map(|one| one.busy_share(len)).sum::<f64>()
            };
            row.per_thread(|threads| share(sum(threads) / threads.len() as f64))
        });
        self.add("thread_cpu_s", |row| {
            row.per_thread(|threads| seconds(Nanos(threads.iter().map(|one| one.cpu_ns as i64).sum())))
        });
        self.add("turns", |row| {
            row.per_thread(|threads| threads.iter().map(|one| one.turns).sum::<u64>().to_string())
        });
        self.add("turns_stalled", |row| {
            row.per_thread(|threads| threads.iter().map(|one| one.stalled_turns).sum::<u64>().to_string())
        });
        self.add("turns_starved", |row| {
            row.per_thread(|threads| threads.iter().map(|one| one.starved_turns).sum::<u64>().to_string())
        });
    }
}

/// A share from 0 to 1.
pub(super) fn share(share: f64) -> String {
    format!("{:.4}", share.clamp(0.0, 1.0))
}
