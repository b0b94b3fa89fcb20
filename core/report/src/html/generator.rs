//! Whether the generator itself can be believed.

use maud::html;
use wavetank_plan::quantity::{show_count, show_share, show_size};

use super::Section;
use super::sheet::{Sheet, outside};
use super::table::facts;
use crate::units::{self, part};

pub(crate) fn section(sheet: &Sheet) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let (own, generator) = (&words.generator, &record.generator);
    let cpu = generator.cpu_user_s.0 + generator.cpu_system_s.0;
    let of_cpu = (cpu > 0.0 && record.duration_s.0 > 0.0).then(|| {
        let cpus = format!("{:.2}", cpu / record.duration_s.0);
        (own.cpu_of)(&cpus, &format!("{cpu:.2} s"))
    });
    let lag = record.lag_us.spread.as_ref().map(|lag| units::percentile(lag, "p99"));
    let late = (record.requests.offered > 0).then(|| part(record.requests.late, record.requests.offered));
    let memory = (generator.peak_rss_bytes > 0).then(|| show_size(generator.peak_rss_bytes));
    let busiest = (generator.busiest_thread.0 > 0.0).then(|| show_share(generator.busiest_thread.0));
    let threads = (generator.threads > 0).then(|| generator.threads.to_string());
    let each = generator.connection_memory.map(|memory| {
        (own.per_connection_of)(&show_size(memory.bytes_per_connection), &show_count(memory.connections))
    });
    let body = facts(vec![
        (own.busiest, html! { (busiest.unwrap_or_default()) }),
        (own.lag_p99, html! { (lag.unwrap_or_default()) }),
        (own.late_share, html! { (late.unwrap_or_default()) }),
        (own.cpu, html! { (of_cpu.unwrap_or_default()) }),
        (own.memory, html! { (memory.unwrap_or_default()) }),
        (own.per_connection, html! { (each.unwrap_or_default()) }),
        (own.threads, html! { (threads.unwrap_or_default()) }),
        (own.engine, html! { @if !generator.engine.is_empty() { (outside(&generator.engine)) } }),
    ]);
    Section::new("generator", words.titles.generator, words.leads.generator, body)
}
