//! How close the generator, and the other hosts of a lab, were to their limits: the first limits
//! that a higher load would reach.

use wavetank_plan::FileTables;
use wavetank_units::quantity::{format_grouped, show_share, show_size};

use super::hosts::busiest;
use super::page_context::{PageContext, harmless};

/// One limit: the share of it that was used, and a sentence.
pub(crate) struct Headroom {
    /// Share of it that was used, 0 to 1.
    pub(crate) used: f64,
    pub(crate) said: String,
}

/// Every sampled limit of the generator and of the lab's other hosts, the closest first.
pub(crate) fn rooms(sheet: &PageContext) -> Vec<Headroom> {
    let mut rooms: Vec<_> =
        [thread(sheet), cpus(sheet), lab(sheet), memory(sheet), files(sheet)].into_iter().flatten().collect();
    rooms.sort_by(|a, b| b.used.total_cmp(&a.used));
    rooms
}

fn thread(sheet: &PageContext) -> Option<Headroom> {
    let used = sheet.record().generator.busiest_thread.0;
    let said = (sheet.words.front.room_thread)(&show_share(used));
    (used > 0.0).then_some(Headroom { used, said })
}

fn cpus(sheet: &PageContext) -> Option<Headroom> {
    let used = busiest(sheet.source.hosts)?;
    Some(Headroom { used, said: (sheet.words.front.room_cpus)(&show_share(used)) })
}

/// The host with the busiest core, among hosts of the lab that send no load.
fn lab(sheet: &PageContext) -> Option<Headroom> {
    let hosts = sheet.record().hosts.iter().filter(|host| host.role != "load");
    let busy = hosts.filter_map(|host| Some((host.hottest_core_max?.0, host.name.as_str())));
    let (used, name) = busy.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let said = (sheet.words.front.room_lab)(&harmless(name), &show_share(used));
    (used > 0.0).then_some(Headroom { used, said })
}

fn memory(sheet: &PageContext) -> Option<Headroom> {
    let available = || sheet.source.hosts.iter().map(|sample| sample.mem_available_bytes);
    let (most, least) = (available().next()?, available().min()?);
    let used = if most == 0 { 0.0 } else { 1.0 - least as f64 / most as f64 };
    let said = (sheet.words.front.room_memory)(&show_size(least), &show_size(most));
    // A lower share is the idle activity of any machine.
    (used >= 0.02).then_some(Headroom { used, said })
}

/// With epoll, one table of files limits all connections; sockets of `io_uring` are in no table.
fn files(sheet: &PageContext) -> Option<Headroom> {
    let record = sheet.record();
    let shared = sheet.source.plan?.files == FileTables::Shared && record.generator.engine == "epoll";
    let most = sheet.source.environment?.host.files_max;
    let peak = record.connections.peak;
    let used = peak as f64 / most.max(1) as f64;
    let said = (sheet.words.front.room_files)(&format_grouped(peak), &format_grouped(most));
    (shared && used >= 0.02).then_some(Headroom { used, said })
}
