//! [`HostRows`]: the samples of hosts during a run, as CSV.

use std::io::{self, Write};

use wavetank_measure::HostSample;
use wavetank_units::Nanos;

use super::csv_cells::{name, seconds};
use super::csv_columns::share;
use super::csv_export::into_io_error;

/// A column's name, and its cell for a sample and the sample before, if there is one.
type Column = (&'static str, fn(&HostSample, Option<&HostSample>) -> String);

/// Columns after the host's name. Counters are differences to the sample before, so that the
/// columns add up to the total.
const COLUMNS: [Column; 17] = [
    ("at_s", |now, _| seconds(now.at)),
    ("cpu", |now, before| known(before.and_then(|before| now.cpu_since(before)).map(share))),
    ("busiest_core", |now, before| {
        known(before.and_then(|before| now.hottest_core_since(before)).map(share))
    }),
    ("cpu_user_s", |now, before| time(now, before, |sample| sample.cpu_user_ns)),
    ("cpu_system_s", |now, before| time(now, before, |sample| sample.cpu_system_ns)),
    ("cpu_load_threads_s", |now, before| time(now, before, |sample| sample.cpu_load_ns)),
    ("memory_bytes", |now, _| now.mem_used_bytes.to_string()),
    ("memory_all_bytes", |now, _| now.mem_all_bytes.to_string()),
    ("swap_bytes", |now, _| now.swap_bytes.to_string()),
    ("rss_bytes", |now, _| now.rss_bytes.to_string()),
    ("established", |now, _| now.tcp_established.to_string()),
    ("tcp_inuse", |now, _| now.tcp_inuse.to_string()),
    ("tcp_time_wait", |now, _| now.tcp_tw.to_string()),
    ("accept_queue", |now, _| now.accept_queue.to_string()),
    ("turned_away", |now, before| grown(now, before, |sample| sample.listen_overflows)),
    ("received_bytes", |now, before| grown(now, before, |sample| sample.net_in_bytes)),
    ("sent_bytes", |now, before| grown(now, before, |sample| sample.net_out_bytes)),
];

/// Writes the samples of hosts as CSV (RFC 4180, as [`CsvExport`](super::CsvExport) does). Each
/// sample of each host is a row; the hosts follow one another.
pub struct HostRows<W: Write> {
    writer: csv::Writer<W>,
    /// The sample before, with its host.
    before: Option<(String, HostSample)>,
}

impl<W: Write> HostRows<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// If `to` accepts no more data.
    pub fn new(to: W) -> io::Result<Self> {
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(to);
        let names = std::iter::once("host").chain(COLUMNS.iter().map(|(name, _)| *name));
        writer.write_record(names).map_err(into_io_error)?;
        Ok(Self { writer, before: None })
    }

    /// Write a sample of the host called `host`. The samples of one host come in order and without
    /// others between them.
    ///
    /// # Errors
    /// When there is no more room for it.
    pub fn add(&mut self, host: &str, sample: &HostSample) -> io::Result<()> {
        let before = self.before.as_ref().filter(|(known, _)| known == host).map(|(_, before)| before);
        let cells = COLUMNS.iter().map(|(_, cell)| cell(sample, before));
        self.writer.write_record(std::iter::once(name(host)).chain(cells)).map_err(into_io_error)?;
        self.before = Some((host.to_owned(), sample.clone()));
        Ok(())
    }

    /// Finishes the file.
    ///
    /// # Errors
    /// If there is no space left for the rest.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn known(cell: Option<String>) -> String {
    cell.unwrap_or_default()
}

/// Increase of a count since the sample before.
fn since(now: &HostSample, before: Option<&HostSample>, of: fn(&HostSample) -> u64) -> Option<u64> {
    before.map(|before| of(now).saturating_sub(of(before)))
}

fn grown(now: &HostSample, before: Option<&HostSample>, of: fn(&HostSample) -> u64) -> String {
    known(since(now, before, of).map(|count| count.to_string()))
}

/// The same for nanoseconds, as seconds.
fn time(now: &HostSample, before: Option<&HostSample>, of: fn(&HostSample) -> u64) -> String {
    let ns = since(now, before, of).map(|ns| Nanos(i64::try_from(ns).unwrap_or(i64::MAX)));
    known(ns.map(seconds))
}
