//! What steps counted, and how users met.

use wavetank_record::{Number, RendezvousDoc, RendezvousReleaseDoc, RunRecord};
use wavetank_units::quantity::format_grouped;

use super::model::Section;
use super::page_text::PageText::{Own, Shared};
use super::table::{Column, Table};
use super::value::Value;
use crate::format;

const COUNTS: [Column<(String, u64)>; 2] = [
    Column::text("name", Shared(|w| w.columns.name), |(name, _)| Value::Name(name.clone())),
    Column::number("count", Shared(|w| w.columns.count), |(_, count)| Value::Count(*count)),
];

const RENDEZVOUS: [Column<RendezvousDoc>; 5] = [
    Column::text("name", Shared(|w| w.columns.name), |place| Value::Name(place.name.clone())),
    Column::number("met", Own(["Releases", "放行次数"]), |place| Value::Count(place.met)),
    Column::number("users", Own(["Users", "用户数"]), |place| Value::Count(place.present)),
    Column::number("waits timed out", Own(["Wait timed out", "等待超时"]), |place| {
        Value::Count(place.by_wait)
    }),
    Column::number("maximum skew", Own(["Maximum skew", "最大偏差"]), |place| {
        Value::Number(place.skew_us.map_or_else(|| "–".to_owned(), format::time))
    }),
];

/// The counts of steps.
pub(crate) fn counts(record: &RunRecord) -> Section {
    let rows: Vec<_> = record.counts.iter().map(|(name, &count)| (name.clone(), count)).collect();
    let parts = rows.iter().map(|(name, count)| format!("{name} {}", format_grouped(*count))).collect();
    let section = Section::of_table("Counts", Table::new("counts", &COUNTS, &rows));
    Section { terminal_notes: vec![("counts", parts)], ..section }
}

/// Every rendezvous, met or not.
pub(crate) fn rendezvous(record: &RunRecord) -> Section {
    let section = Section::of_table("Rendezvous", Table::new("rendezvous", &RENDEZVOUS, &record.rendezvous));
    let labels = std::iter::once("rendezvous").chain(std::iter::repeat(""));
    Section { terminal_notes: labels.zip(record.rendezvous.iter().map(parts)).collect(), ..section }
}

fn parts(place: &RendezvousDoc) -> Vec<String> {
    let skew = |us: Option<Number>| us.map(format::time);
    match &place.meetings[..] {
        [] => vec![place.name.clone(), "no users met there".to_owned()],
        [RendezvousReleaseDoc { of, present, by_wait, skew_us, .. }] if place.met == 1 => {
            let met = format!("{} of {} met", format_grouped(*present), format_grouped(*of));
            let wait = if *by_wait { "the wait timed out" } else { "" };
            let skew = skew(*skew_us).map_or("no user continued".to_owned(), |skew| format!("skew {skew}"));
            vec![place.name.clone(), met, wait.to_owned(), skew]
        }
        _ => {
            let waits = if place.by_wait > 0 {
                format!("the wait timed out {} times", format_grouped(place.by_wait))
            } else {
                String::new()
            };
            let met = format!("met {} times", format_grouped(place.met));
            let present = format!("{} users in all", format_grouped(place.present));
            let skew = skew(place.skew_us).map(|skew| format!("maximum skew {skew}"));
            vec![place.name.clone(), met, present, waits, skew.unwrap_or_default()]
        }
    }
}
