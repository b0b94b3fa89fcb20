//! The samples of this host's kernel and of the target during the load.

use maud::{Markup, html};
use wavetank_measure::HostSample;
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_link, show_share, show_size};

use super::Section;
use super::figures::{Numbers, RowInstant, figure};
use super::page_context::PageContext;
use super::table::{Cell, Table};
use crate::chart::{ColorRole, LineChart, Point, Series, Timeline, Unit};

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let words = sheet.words;
    let body = html! { (extremes(sheet)) (over_time(sheet)) };
    Section::new("hosts", words.titles.hosts, words.leads.hosts, body)
}

/// First, lowest, highest and last value of everything that was counted.
fn extremes(sheet: &PageContext) -> Markup {
    let (words, columns, hosts) = (&sheet.words.hosts, &sheet.words.columns, sheet.source.hosts);
    let heads =
        [("", false), (words.first, true), (columns.min, true), (columns.max, true), (words.last, true)];
    let mut table = Table::new(sheet.words.titles.hosts, &heads);
    let mut row = |name: &str, values: Vec<f64>, show: &dyn Fn(f64) -> String| {
        let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return };
        // A share describes a second of load, so there is no share at the instant before the load.
        let is_since = name == words.cpu_mean || name == words.cpu_core;
        let first = if is_since { "–".to_owned() } else { show(first) };
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut cells = vec![Cell::label(name), Cell::Number(first)];
        cells.extend([least, most, last].map(|value| Cell::Number(show(value))));
        table.row(cells);
    };
    let size = |value: f64| show_size(value as u64);
    let whole = |value: f64| format_grouped(value as u64);
    let of = |field: fn(&HostSample) -> u64| hosts.iter().map(|sample| field(sample) as f64).collect();
    row(words.cpu_mean, shares(hosts, mean), &show_share);
    row(words.cpu_core, shares(hosts, most), &show_share);
    row(words.memory, of(|sample| sample.mem_available_bytes), &size);
    row(words.slab, of(|sample| sample.slab_bytes), &size);
    row(words.rss, of(|sample| sample.rss_bytes), &size);
    row(words.sockets, of(|sample| sample.tcp_inuse), &whole);
    row(words.time_wait, of(|sample| sample.tcp_tw), &whole);
    let target = sheet.source.target.iter().map(|sample| sample.open as f64).collect();
    row(words.target_open, target, &whole);
    table.render(sheet)
}

/// Returns the highest share of all cores' busy time between two samples; `None` with fewer than
/// two. The kernel's ticks miss short bursts of work, so the CPU time of this process is used if it
/// is higher.
pub(crate) fn busiest(hosts: &[HostSample]) -> Option<f64> {
    let own = |pair: &[HostSample]| {
        let worked = |sample: &HostSample| sample.cpu_user_ns + sample.cpu_system_ns;
        let all = pair[1].at.since(pair[0].at).saturating_mul(pair[1].cores.len() as u64);
        (worked(&pair[1]).saturating_sub(worked(&pair[0])) as f64 / all.max(1) as f64).min(1.0)
    };
    let shares = |pair: &[HostSample]| Some(mean(&core_shares(&pair[0], &pair[1])?).max(own(pair)));
    hosts.windows(2).filter_map(shares).reduce(f64::max)
}

/// For each pair of consecutive samples, `join` of the cores' shares of busy time.
pub(crate) fn shares(hosts: &[HostSample], join: fn(&[f64]) -> f64) -> Vec<f64> {
    let pairs = hosts.windows(2);
    pairs.filter_map(|pair| Some(join(&core_shares(&pair[0], &pair[1])?))).collect()
}

/// Returns the share of busy time of each core. `None` if no tick passed, the cores differ, or the
/// time was too short for its few ticks to be meaningful. The samples before a load are that close.
fn core_shares(before: &HostSample, after: &HostSample) -> Option<Vec<f64>> {
    if after.at.since(before.at) < ROUND {
        return None;
    }
    let share = |(&(busy0, all0), &(busy1, all1)): (&(u64, u64), &(u64, u64))| {
        let all = all1.saturating_sub(all0);
        (all > 0).then(|| (busy1.saturating_sub(busy0) as f64 / all as f64).min(1.0))
    };
    let alike = before.cores.len() == after.cores.len();
    let each: Option<Vec<_>> = before.cores.iter().zip(&after.cores).map(share).collect();
    each.filter(|each| alike && !each.is_empty())
}

/// The mean of all cores.
pub(crate) fn mean(shares: &[f64]) -> f64 {
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}

/// The busiest core.
pub(crate) fn most(shares: &[f64]) -> f64 {
    shares.iter().copied().fold(0.0, f64::max)
}

fn over_time(sheet: &PageContext) -> Markup {
    let hosts = sheet.source.hosts;
    let (Some(first), Some(last)) = (hosts.first(), hosts.last()) else { return html! {} };
    let (words, own) = (&sheet.words.charts, &sheet.words.hosts);
    let timeline = match sheet.source.course {
        Some(course) if !course.columns.is_empty() => sheet.timeline(course),
        _ => Timeline::new(first.at, last.at),
    };
    let of = |field: fn(&HostSample) -> u64| -> Vec<Point> {
        hosts.iter().map(|sample| (sample.at, Some(field(sample) as f64))).collect()
    };
    let shares = |join: fn(&[f64]) -> f64| -> Vec<Point> {
        let share =
            |pair: &[HostSample]| (pair[1].at, core_shares(&pair[0], &pair[1]).map(|each| join(&each)));
        hosts.windows(2).map(share).collect()
    };
    let cpu = vec![
        Series::line(own.cpu_core, shares(most)).with_color(ColorRole::Of(1)),
        Series::line(own.cpu_mean, shares(mean)).with_color(ColorRole::Of(0)),
    ];
    let memory = vec![Series::line(own.memory, of(|sample| sample.mem_available_bytes))];
    // On the axis of the available memory these would be flat lines.
    let used = vec![
        Series::line(own.slab, of(|sample| sample.slab_bytes)),
        Series::line(own.rss, of(|sample| sample.rss_bytes)),
    ];
    let mut sockets = vec![
        Series::line(own.sockets, of(|sample| sample.tcp_inuse)),
        Series::line(own.time_wait, of(|sample| sample.tcp_tw)),
    ];
    let target: Vec<Point> =
        sheet.source.target.iter().map(|sample| (sample.at, Some(sample.open as f64))).collect();
    if !target.is_empty() {
        sockets.push(Series::line(own.target_open, target));
    }
    let draw = |id: &str, title: &str, unit: Unit, series: Vec<Series>| {
        sampled(sheet, &timeline, (id, title), unit, series)
    };
    html! {
        (draw("host-cpu", words.host_cpu, Unit::Share, cpu))
        (draw("host-memory", words.host_memory, Unit::Bytes, memory))
        (draw("host-memory-used", words.host_memory_used, Unit::Bytes, used))
        (draw("host-sockets", words.host_sockets, Unit::Count, sockets))
    }
}

/// A chart of host samples with its id, its title and its table.
pub(super) fn sampled(
    sheet: &PageContext,
    timeline: &Timeline,
    (id, title): (&str, &str),
    unit: Unit,
    series: Vec<Series>,
) -> Markup {
    let numbers = samples(title, &series, unit);
    let frame = sheet.frame(id, title).high(130);
    let series = amid(in_rounds(series), unit);
    let lines = LineChart { frame, timeline: timeline.clone(), unit, series, limits: Vec::new() };
    figure(sheet, &lines.draw(), &numbers)
}

/// Moves all samples of a round in `series` to the instant of its first sample. Hosts are sampled
/// one after the other, and a tooltip must show all of them.
fn in_rounds(mut series: Vec<Series>) -> Vec<Series> {
    let mut instants: Vec<Nanos> =
        series.iter().flat_map(|one| one.points.iter().map(|point| point.0)).collect();
    instants.sort_unstable();
    let mut rounds: Vec<Nanos> = Vec::new();
    for at in instants {
        if rounds.last().is_none_or(|begin| at.since(*begin) >= ROUND) {
            rounds.push(at);
        }
    }
    for point in series.iter_mut().flat_map(|one| &mut one.points) {
        let after = rounds.partition_point(|begin| *begin <= point.0);
        point.0 = rounds[after.saturating_sub(1)];
    }
    series
}

/// Returns `series` as they are drawn. Shares and rates describe the time since the sample before,
/// so they are drawn in its middle, like values of columns. The first stretch of a line is taken to
/// be as long as the second.
fn amid(mut series: Vec<Series>, unit: Unit) -> Vec<Series> {
    if is_since(unit) {
        for one in &mut series {
            let at: Vec<Nanos> = one.points.iter().map(|point| point.0).collect();
            let since = |number: usize| at.get(number + 1).map_or(0, |next| next.since(at[number]) / 2);
            for (number, point) in one.points.iter_mut().enumerate() {
                let half = since(number.saturating_sub(1)).cast_signed();
                point.0 = Nanos(at[number].0.saturating_sub(half));
            }
        }
    }
    series
}

/// Whether samples of `unit` describe the time since the sample before.
const fn is_since(unit: Unit) -> bool {
    matches!(unit, Unit::Share | Unit::BitRate)
}

/// Samples are taken once a second. The samples of one round are at most this far apart, in
/// nanoseconds.
const ROUND: u64 = 500_000_000;

/// Returns the points of `series` as rows, one for each instant of the first series. The other
/// series contribute the point of the same round, because the samples of one round are some
/// microseconds apart.
fn samples<'a>(title: &'a str, series: &[Series], unit: Unit) -> Numbers<'a> {
    let show = |value: f64| match unit {
        Unit::Share => show_share(value),
        Unit::Bytes => show_size(value as u64),
        Unit::BitRate => show_link(value),
        _ => format_grouped(value as u64),
    };
    // Of a long run only every second, fourth and so on is kept, and the series may keep different
    // ones.
    let reach = |one: &Series| match (one.points.first(), one.points.last()) {
        (Some(first), Some(last)) if one.points.len() > 1 => {
            (last.0.since(first.0) / (one.points.len() as u64 - 1) * 3 / 5).max(ROUND)
        }
        _ => ROUND,
    };
    let in_round = |one: &Series, at: Nanos| {
        let apart = |point: &&Point| point.0.0.abs_diff(at.0);
        let after = one.points.partition_point(|point| point.0 <= at);
        let around = one.points[after.saturating_sub(1)..].iter().take(2);
        around.min_by_key(apart).filter(|point| apart(point) <= reach(one)).and_then(|point| point.1)
    };
    let instants = series.first().map(|one| one.points.iter().map(|point| point.0)).into_iter().flatten();
    let cells = |at| series.iter().map(|one| in_round(one, at).map(show).unwrap_or_default()).collect();
    let heads = series.iter().map(|one| one.name.clone()).collect();
    // A share and a rate describe the time since the sample before.
    let rows = instants.map(|at| (at, cells(at))).collect();
    let instant = if is_since(unit) { RowInstant::Until } else { RowInstant::At };
    Numbers { title, heads, rows, instant, note: "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_drawn_amid_their_time() {
        let check = |unit: Unit, points: &[i64], drawn: &[i64]| {
            let points = points.iter().map(|at| (Nanos(at * 1_000), Some(1.0))).collect();
            let series = amid(vec![Series::line("cpu", points)], unit);
            assert_eq!(series[0].points.iter().map(|point| point.0.0 / 1_000).collect::<Vec<_>>(), drawn);
        };
        check(Unit::Share, &[1_000, 2_000, 4_000], &[500, 1_500, 3_000]);
        check(Unit::BitRate, &[1_000], &[1_000]);
        check(Unit::Share, &[], &[]);
        check(Unit::Count, &[1_000, 2_000], &[1_000, 2_000]);
    }

    #[test]
    fn samples_of_a_round_are_drawn_at_one_instant() {
        let line = |name: &str, us: &[i64]| {
            Series::line(name, us.iter().map(|us| (Nanos(us * 1_000), Some(1.0))).collect())
        };
        let drawn = in_rounds(vec![
            line("first", &[1_000_000, 2_000_100]),
            line("later", &[1_000_400, 2_000_000, 3_000_000]),
        ]);
        let at = |one: &Series| one.points.iter().map(|point| point.0.0 / 1_000).collect::<Vec<_>>();
        assert_eq!(at(&drawn[0]), [1_000_000, 2_000_000]);
        assert_eq!(at(&drawn[1]), [1_000_000, 2_000_000, 3_000_000]);
        assert!(in_rounds(Vec::new()).is_empty());
    }

    /// Hosts are sampled one after the other. A row shows one round of samples, and nothing of an
    /// earlier one.
    #[test]
    fn samples_of_a_round_stand_in_one_row() {
        let line = |name: &str, points: &[(i64, f64)]| {
            Series::line(name, points.iter().map(|&(us, value)| (Nanos(us * 1_000), Some(value))).collect())
        };
        let series = [
            line("first", &[(1_000_000, 1.0), (2_000_000, 2.0)]),
            line("later", &[(1_000_050, 10.0), (2_000_080, 20.0)]),
            line("sooner", &[(999_950, 100.0), (1_999_920, 200.0)]),
            line("once", &[(2_000_010, 7.0)]),
        ];
        let numbers = samples("hosts", &series, Unit::Count);
        let cells: Vec<String> = numbers.rows.iter().map(|(_, cells)| cells.join(" ")).collect();
        assert_eq!(cells, ["1 10 100 ", "2 20 200 7"]);
        let traffic = samples("hosts", &[line("first", &[(1_000_000, 2e9)])], Unit::BitRate);
        assert_eq!(traffic.rows[0].1, ["2.00 Gbit/s"], "in the unit of the chart");
        // Thinned to every second one.
        let series = [
            line("first", &[(0, 1.0), (2_000_000, 2.0)]),
            line("odd", &[(1_000_000, 3.0), (3_000_000, 4.0)]),
        ];
        let thinned = samples("hosts", &series, Unit::Count);
        assert_eq!(thinned.rows.iter().map(|(_, cells)| cells.join(" ")).collect::<Vec<_>>(), ["1 3", "2 3"]);
        assert_eq!((numbers.instant, traffic.instant), (RowInstant::At, RowInstant::Until));
    }
}
