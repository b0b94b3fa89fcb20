//! Connections: how many were opened, held and lost, and what their handshakes agreed on.

use std::collections::BTreeMap;

use maud::{Markup, html};
use wavetank_plan::quantity::show_whole;
use wavetank_record::{HeldDoc, TlsDoc};

use super::Section;
use super::sheet::{Sheet, outside};
use super::table::{Cell, Table, facts};
use crate::units::{self, part};

pub(crate) fn section(sheet: &Sheet) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let body = html! {
        @if record.connections.offered > 0 || record.connections.planned > 0 { (counts(sheet)) }
        @if !record.held.is_empty() { h3 { (words.front.plateau) } (plateaus(sheet)) }
        @if let Some(tls) = &record.tls { h3 { (words.connections.tls) } (handshakes(sheet, tls)) }
    };
    Section::new("connections", words.titles.connections, words.leads.connections, body)
}

fn counts(sheet: &Sheet) -> Markup {
    let (own, words) = (sheet.record().connections, &sheet.words.connections);
    let some = |n: u64| html! { @if n > 0 { (show_whole(n)) } };
    let always = |n: u64| html! { (show_whole(n)) };
    facts(vec![
        (words.planned, always(own.planned)),
        (words.opened, always(own.opened)),
        (words.peak, always(own.peak)),
        (words.closed, always(own.closed)),
        (words.failed, always(own.failed)),
        (words.lost, always(own.lost)),
        (words.reopened, some(own.reopened)),
        (words.late, some(own.late)),
        (words.opening, some(own.opening)),
        (words.open, some(own.open)),
        (words.held_min, html! { @if let Some(least) = own.held_min { (show_whole(least)) } }),
    ])
}

/// Phases that held one number of connections: what the run, the kernel and the target counted in the lowest second.
pub(crate) fn plateaus(sheet: &Sheet) -> Markup {
    let (words, columns) = (&sheet.words.connections, &sheet.words.columns);
    let heads = [
        (columns.phase, false),
        (columns.planned, true),
        (columns.lowest, true),
        (columns.at, true),
        (words.lost, true),
        (words.reopened, true),
        (columns.kernel, true),
        (columns.target_count, true),
    ];
    let mut table = Table::new(sheet.words.front.plateau, &heads);
    for held in &sheet.record().held {
        table.row(plateau(held));
    }
    table.render(sheet)
}

fn plateau(held: &HeldDoc) -> Vec<Cell> {
    // Both ends of a connection are among the kernel's where the target is on this host: the column tells what there
    // were more than before, less those on which the target is asked.
    let kernel = held.kernel.map(|kernel| {
        let more = kernel.tcp_inuse.saturating_sub(kernel.tcp_inuse_before).saturating_sub(kernel.tcp_asking);
        format!("+{}", show_whole(more))
    });
    let target = held.target.map(|target| show_whole(target.open.saturating_sub(target.open_before)));
    let none = || "–".to_owned();
    let mut cells = vec![Cell::Name(held.phase.clone())];
    cells.extend([held.planned, held.lowest].map(|n| Cell::Number(show_whole(n))));
    cells.push(Cell::Number(units::seconds(held.lowest_at_s)));
    cells.extend([held.lost, held.reopened].map(|n| Cell::Number(show_whole(n))));
    cells.extend([kernel, target].map(|count| Cell::Number(count.unwrap_or_else(none))));
    cells
}

fn handshakes(sheet: &Sheet, tls: &TlsDoc) -> Markup {
    let words = &sheet.words.connections;
    let agreed = |counts: &BTreeMap<String, u64>| {
        html! {
            @for (number, (name, n)) in counts.iter().enumerate() {
                @if number > 0 { ", " }
                (outside(name))
                @if *n != tls.handshakes { " " (part(*n, tls.handshakes)) }
            }
        }
    };
    facts(vec![
        (words.handshakes, html! { (show_whole(tls.handshakes)) }),
        (words.resumed, html! { (part(tls.resumed, tls.handshakes)) }),
        (words.not_completed, html! { (show_whole(tls.failed)) }),
        (words.version, agreed(&tls.version)),
        (words.cipher, agreed(&tls.cipher)),
        (words.group, agreed(&tls.group)),
        (words.alpn, agreed(&tls.alpn)),
    ])
}
