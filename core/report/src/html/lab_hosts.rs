//! The hosts of a lab: what each of them used and carried during the load, and the counts of its
//! servers.

use maud::{Markup, html};
use wavetank_measure::HostSample;
use wavetank_plan::THIS_HOST;
use wavetank_record::{HostUseDoc, Number, ServerCountDoc};
use wavetank_units::quantity::{format_grouped, show_link, show_share, show_size};

use super::Section;
use super::hosts::sampled;
use super::lab_words::LabStrings;
use super::page_context::{PageContext, isolate_untrusted};
use super::table::{Cell, Table};
use crate::chart::{Point, Series, Timeline, Unit};
use crate::format::{seconds, time};

/// Longest name of a server that is kept on one line, in letters.
const SERVER_NAME_MAX: usize = 28;
/// Most hosts drawn in one chart; there are no more colours than this.
const DRAWN_MAX: usize = 8;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), LabStrings::for_language(sheet.language()));
    // The host that sent the load has a section of its own.
    let has_others = record.hosts.iter().any(|host| host.name != THIS_HOST);
    let body = html! {
        @if has_others { (worked(sheet, words)) (carried(sheet, words)) (over_time(sheet, words)) }
        @if !record.servers.is_empty() { (servers(sheet, words)) }
    };
    let is_lab = sheet.source.environment.is_some_and(|environment| environment.lab.is_some());
    Section::new("lab", words.title, words.lead(is_lab), body)
}

/// Two tables, since one would be wider than paper.
fn worked(sheet: &PageContext, words: &LabStrings) -> Markup {
    let heads = [
        (words.host, false),
        (words.role, false),
        (words.cpu, true),
        (words.cpu_max, true),
        (words.hottest, true),
        (words.load_threads, true),
        (words.per_request, true),
    ];
    let mut table = Table::new(words.title, &heads);
    for host in &sheet.record().hosts {
        table.row(work(host, words));
    }
    table.render(sheet)
}

fn carried(sheet: &PageContext, words: &LabStrings) -> Markup {
    let heads = [
        (words.host, false),
        (words.memory, true),
        (words.established, true),
        (words.queue, true),
        (words.overflows, true),
        (words.net_in, true),
        (words.net_out, true),
    ];
    let mut table = Table::new(words.carried, &heads);
    let has_queued = sheet.record().hosts.iter().any(|host| host.accept_queue_max > 0);
    for host in &sheet.record().hosts {
        table.row(load(host, has_queued));
    }
    html! { h3 { (words.carried) } (table.render(sheet)) }
}

fn work(host: &HostUseDoc, words: &LabStrings) -> Vec<Cell> {
    let share =
        |share: Option<Number>| Cell::Number(share.map(|share| show_share(share.0)).unwrap_or_default());
    // The cost of a request on the hosts that send it is shown with the generator.
    let cost = host.cpu_us_per_request.filter(|us| us.0 > 0.0 && host.role != "load");
    vec![
        Cell::Name(host.name.clone()),
        Cell::label(words.role_word(&host.role)),
        share(host.cpu),
        share(host.cpu_max),
        share(host.hottest_core_max),
        Cell::Number(host.cpu_load_s.map(seconds).unwrap_or_default()),
        Cell::Number(cost.map(time).unwrap_or_default()),
    ]
}

fn load(host: &HostUseDoc, has_queued: bool) -> Vec<Cell> {
    // A column is empty, and left out, if its event occurred on no host.
    let some = |count: u64| Cell::Number(if count == 0 { String::new() } else { format_grouped(count) });
    let queue = if has_queued { format_grouped(host.accept_queue_max) } else { String::new() };
    vec![
        Cell::Name(host.name.clone()),
        Cell::Number(show_size(host.memory_max_bytes)),
        Cell::Number(format_grouped(host.established_max)),
        Cell::Number(queue),
        some(host.listen_overflows),
        Cell::Number(show_link(host.in_bits_per_s_max.0)),
        Cell::Number(show_link(host.out_bits_per_s_max.0)),
    ]
}

fn servers(sheet: &PageContext, words: &LabStrings) -> Markup {
    let heads = [
        (words.server, false),
        (words.connections, true),
        (words.run_connections, true),
        (words.requests, true),
        (words.run_requests, true),
        (words.agrees, false),
    ];
    let mut table = Table::new(words.servers, &heads);
    let whole = |count: u64| Cell::Number(format_grouped(count));
    for server in &sheet.record().servers {
        let ServerCountDoc { connections, requests, run_connections, run_requests, .. } = *server;
        let maybe = |count: Option<u64>| count.map_or(Cell::Number(String::new()), whole);
        let agrees = server.agrees().map(|agrees| if agrees { words.yes } else { words.no });
        table.row(vec![
            server_name(&server.server),
            whole(connections),
            maybe(run_connections),
            maybe(requests),
            maybe(run_requests.filter(|_| requests.is_some())),
            Cell::label(agrees.unwrap_or_default()),
        ]);
    }
    html! { h3 { (words.servers) } (table.render(sheet)) }
}

/// Names of a lab's servers are short and kept on one line; those of another archive may be longer.
fn server_name(name: &str) -> Cell {
    if name.chars().count() <= SERVER_NAME_MAX {
        Cell::Short(isolate_untrusted(name))
    } else {
        Cell::Name(name.to_owned())
    }
}

/// CPU, connections and traffic of the busiest hosts.
fn over_time(sheet: &PageContext, words: &LabStrings) -> Markup {
    let mut hosts: Vec<&(String, Vec<HostSample>)> =
        sheet.source.others.iter().filter(|(_, samples)| samples.len() > 1).collect();
    let worked = |name: &str| {
        let known = sheet.record().hosts.iter().find(|host| host.name == *name);
        known.map_or(0.0, |host| host.cpu_s.0)
    };
    // The sort is stable: equally busy hosts stay in order.
    hosts.sort_by(|a, b| worked(&b.0).total_cmp(&worked(&a.0)));
    hosts.truncate(DRAWN_MAX);
    hosts.sort_by_key(|(name, _)| sheet.record().hosts.iter().position(|host| host.name == *name));
    let instants = || hosts.iter().flat_map(|(_, samples)| [samples.first(), samples.last()]).flatten();
    let (Some(first), Some(last)) =
        (instants().map(|sample| sample.at).min(), instants().map(|sample| sample.at).max())
    else {
        return html! {};
    };
    let timeline = match sheet.source.course {
        Some(course) if !course.columns.is_empty() => sheet.timeline(course),
        _ => Timeline::new(first, last),
    };
    let pairs = |of: &dyn Fn(&HostSample, &HostSample) -> Option<f64>| -> Vec<Series> {
        let line = |(name, samples): &&(String, Vec<HostSample>)| {
            let points = samples.windows(2).map(|pair| (pair[1].at, of(&pair[0], &pair[1])));
            Series::line(name, points.collect::<Vec<Point>>())
        };
        hosts.iter().map(line).collect()
    };
    let draw = |id: &str, title: &str, unit: Unit, series: Vec<Series>| {
        sampled(sheet, &timeline, (id, title), unit, series)
    };
    html! {
        (draw("lab-cpu", words.chart_cpu, Unit::Share, pairs(&|before, now| now.cpu_since(before))))
        (draw("lab-established", words.chart_established, Unit::Count, pairs(&|_, now| Some(now.tcp_established as f64))))
        (draw("lab-net", words.chart_net, Unit::BitRate,
            pairs(&|before, now| now.net_since(before).map(|(received, sent)| received + sent))))
    }
}
