//! The hosts of a lab: what each of them used and carried during the load, and the counts of its
//! servers.

use maud::{Markup, html};
use wavetank_measure::HostSample;

use super::Section;
use super::hosts::sampled;
use super::page_context::PageContext;
use crate::chart::{Point, Series, Timeline, Unit};
use crate::section::PageText::{self, Own};
use crate::section::{hosts, page_body, page_section, servers};

/// Most hosts drawn in one chart; there are no more colours than this.
const DRAWN_MAX: usize = 8;

/// Titles of the charts.
const CPU: PageText = Own(["CPU of the hosts", "各主机 CPU"]);
const ESTABLISHED: PageText = Own(["Established connections of the hosts", "各主机已建立连接数"]);
const TRAFFIC: PageText = Own(["Traffic of the hosts, in and out together", "各主机流量（入与出合计）"]);

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let is_lab = sheet.source.environment.is_some_and(|environment| environment.lab.is_some());
    let (hosts, servers) = (hosts(sheet.record(), is_lab), servers(sheet.record()));
    let more = html! {
        @if !hosts.table.rows.is_empty() { (over_time(sheet)) }
        @if !servers.table.rows.is_empty() {
            h3 { (servers.title.in_language(sheet.language())) }
            (page_body(&servers, sheet))
        }
    };
    page_section(&hosts, sheet, &more)
}

/// CPU, connections and traffic of the busiest hosts.
fn over_time(sheet: &PageContext) -> Markup {
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
    let draw = |id: &str, title: PageText, unit: Unit, series: Vec<Series>| {
        sampled(sheet, &timeline, (id, title.in_language(sheet.language())), unit, series)
    };
    html! {
        (draw("lab-cpu", CPU, Unit::Share, pairs(&|before, now| now.cpu_since(before))))
        (draw("lab-established", ESTABLISHED, Unit::Count, pairs(&|_, now| Some(now.tcp_established as f64))))
        (draw("lab-net", TRAFFIC, Unit::BitRate,
            pairs(&|before, now| now.net_since(before).map(|(received, sent)| received + sent))))
    }
}
