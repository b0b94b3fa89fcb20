//! The parts of the screen, each as lines or a widget.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType};
use wavetank_record::{LiveDoc, LiveHost, LiveState, Number, Times};
use wavetank_units::quantity::{format_grouped, show_link, show_request_rate};
use wavetank_units::{Nanos, sanitize};

use super::history::{History, Line as ChartLine};

/// From this width on, all counters are in one line.
const WIDE: u16 = 120;
/// From this number of lines on, several hosts are shown.
const HIGH: u16 = 40;
/// Hosts that are shown then at most.
const HOSTS_MAX: usize = 4;

/// Whether colours are used. They never carry meaning alone.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) colours: bool,
}

impl Look {
    fn style(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    /// A count that should be zero.
    fn trouble(self, name: &str, count: u64) -> Span<'static> {
        let text = format!("{name} {}   ", format_grouped(count));
        if count > 0 { Span::styled(text, self.style(Color::Yellow)) } else { Span::raw(text) }
    }
}

/// Text that may be overlooked.
pub(super) fn faint(text: &str) -> Line<'_> {
    Line::styled(text, Style::new().add_modifier(Modifier::DIM))
}

fn bold(text: String) -> Span<'static> {
    Span::styled(text, Style::new().add_modifier(Modifier::BOLD))
}

/// Name, target, time and phase; the time is at the right edge.
pub(super) fn title(state: &LiveDoc, width: u16) -> Line<'static> {
    let name = format!("{} · {} · {}", sanitize(&state.name), sanitize(&state.id), sanitize(&state.target));
    let of = state.ends_at_s.map_or_else(String::new, |end| format!(" of {}", seconds(end)));
    let phases: Vec<String> = state.phases.iter().map(|phase| sanitize(&phase.name).to_string()).collect();
    let when = format!("{}{of} · {} {}", seconds(state.at_s), state.state.name(), phases.join(" + "));
    let room = usize::from(width).saturating_sub(when.chars().count() + 2);
    let name: String = name.chars().take(room).collect();
    let gap = usize::from(width).saturating_sub(name.chars().count() + when.chars().count());
    Line::from(vec![bold(name), Span::raw(" ".repeat(gap.max(1))), Span::raw(when)])
}

/// Of a search: the level of the run, and what was found.
pub(super) fn search(state: &LiveDoc) -> Option<Line<'static>> {
    state.search.as_ref().map(|search| Line::from(wavetank_report::live_search(search)))
}

/// The conditions so far: those that fail, and how many pass.
pub(super) fn thresholds(state: &LiveDoc, look: Look) -> Line<'static> {
    if state.state == LiveState::Starting {
        return Line::from("no load yet");
    }
    let of = |ok: Option<bool>| state.thresholds.iter().filter(|one| one.ok == ok).count();
    let mut spans = vec![Span::raw(format!("thresholds so far: {} pass", of(Some(true))))];
    if of(None) > 0 {
        spans.push(Span::raw(format!(", {} undecided", of(None))));
    }
    let failing = state.thresholds.iter().filter(|one| one.ok == Some(false));
    let failing: Vec<String> = failing.map(|one| sanitize(&one.expr).to_string()).collect();
    if !failing.is_empty() {
        let text = format!(", {} FAIL: {}", failing.len(), failing.join(" · "));
        spans.push(Span::styled(text, look.style(Color::Red).add_modifier(Modifier::BOLD)));
    }
    if state.modified {
        spans.push(Span::raw("   load modified"));
    }
    Line::from(spans)
}

/// The three numbers of the last second: rate, p99 and failures.
pub(super) fn numbers(state: &LiveDoc, look: Look) -> Line<'static> {
    let latest = &state.latest;
    let held: u64 = state.phases.iter().filter_map(|phase| phase.connections).sum();
    if held > 0 {
        let lost = latest.connections_lost;
        return Line::from(vec![
            bold(format!("held {} of {}", format_grouped(latest.connections), format_grouped(held))),
            Span::raw("     "),
            look.trouble("lost", lost),
        ]);
    }
    let p99 = latest.response_us.spread.as_ref().map_or_else(|| "-".to_owned(), |spread| micros(spread.p99));
    Line::from(bold(format!(
        "last second: done {} of {}   p99 {p99}   failed {}",
        show_request_rate(latest.done_per_s.0),
        show_request_rate(latest.offered_per_s.0),
        format_grouped(latest.failed),
    )))
}

/// The seven counters of the judged phases, in two lines on a narrow terminal.
pub(super) fn counters(state: &LiveDoc, look: Look, width: u16) -> Vec<Line<'static>> {
    let requests = &state.requests;
    let plain = |name: &str, count: u64| Span::raw(format!("{name} {}   ", format_grouped(count)));
    let mut sent =
        vec![plain("offered", requests.offered), plain("sent", requests.sent), plain("done", requests.done)];
    let rest = [
        look.trouble("failed", requests.failed),
        look.trouble("late", requests.late),
        look.trouble("dropped", requests.dropped),
        plain("open", state.latest.open),
    ];
    if width < WIDE {
        return vec![Line::from(sent), Line::from(rest.to_vec())];
    }
    sent.extend(rest);
    vec![Line::from(sent)]
}

/// Failed requests by class, else the statuses.
pub(super) fn errors(state: &LiveDoc, look: Look) -> Line<'static> {
    if state.errors.is_empty() {
        let statuses =
            state.status.iter().map(|(status, count)| format!("{status}: {}", format_grouped(*count)));
        return Line::from(format!("status  {}", statuses.collect::<Vec<_>>().join("   ")));
    }
    let errors =
        state.errors.iter().map(|(class, count)| format!("{} {}", sanitize(class), format_grouped(*count)));
    Line::styled(format!("errors  {}", errors.collect::<Vec<_>>().join("   ")), look.style(Color::Yellow))
}

/// Rates and percentiles over time, side by side if there is room.
pub(super) fn charts(frame: &mut Frame<'_>, area: Rect, history: &History, look: Look) {
    let [rates, times]: [Rect; 2] =
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(area);
    let span = history.span();
    let [offered, done] = history.rates();
    let lines = [("offered", offered, Color::DarkGray), ("done", done, Color::Cyan)];
    chart(frame, rates, "requests per second", span, &lines, look);
    let [p50, p99] = history.percentiles();
    let lines = [("p50", p50, Color::Green), ("p99", p99, Color::Magenta)];
    chart(frame, times, "response time, ms", span, &lines, look);
}

fn chart(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    span: [f64; 2],
    lines: &[(&'static str, ChartLine, Color); 2],
    look: Look,
) {
    let most = lines.iter().flat_map(|(_, line, _)| line).map(|point| point.1).fold(0.0, f64::max);
    // A flat line at the top edge would be hidden by it.
    let top = if most > 0.0 { most * 1.1 } else { 1.0 };
    let sets = lines.iter().zip([Marker::Dot, Marker::Braille]).map(|((name, line, colour), marker)| {
        let set = Dataset::default().name(*name).data(line).marker(marker);
        set.graph_type(GraphType::Line).style(look.style(*colour))
    });
    let x = Axis::default().bounds(span).labels([seconds(Number(span[0])), seconds(Number(span[1]))]);
    let y = Axis::default().bounds([0.0, top]).labels(["0".to_owned(), amount(top / 2.0), amount(top)]);
    let chart =
        Chart::new(sets.collect()).block(Block::bordered().title(title.to_owned())).x_axis(x).y_axis(y);
    frame.render_widget(chart, area);
}

/// A line for each step, and one with the heads. Without a second step there is nothing to add.
pub(super) fn steps(state: &LiveDoc, most: usize) -> Vec<Line<'static>> {
    if state.steps.len() < 2 {
        return Vec::new();
    }
    let head = format!("{:<28} {:>14} {:>10} {:>10} {:>10}", "step", "done", "p50", "p99", "failed");
    let mut lines = vec![Line::from(head)];
    let shown = most.saturating_sub(2).max(1);
    lines.extend(state.steps.iter().take(shown).map(|step| {
        let name = sanitize(&step.name).to_string();
        let name: String = name.chars().take(28).collect();
        let (p50, p99) = median_and_p99(&step.response_us);
        let (rate, failed) = (show_request_rate(step.done_per_s.0), format_grouped(step.requests.failed));
        Line::from(format!("{name:<28} {rate:>14} {p50:>10} {p99:>10} {failed:>10}"))
    }));
    if state.steps.len() > shown {
        lines.push(Line::from(format!("and {} more steps", state.steps.len() - shown)));
    }
    lines
}

/// How well the generator works, users, connections and agents.
pub(super) fn generator(state: &LiveDoc, look: Look, height: u16) -> Vec<Line<'static>> {
    let latest = &state.latest;
    let lag = latest.lag_us.spread.as_ref().map_or_else(|| "-".to_owned(), |spread| micros(spread.p99));
    let busy = latest.busiest_thread.0 * 100.0;
    let mut spans = vec![Span::raw(format!("generator  lag p99 {lag}   "))];
    let text = format!("busiest thread {busy:.0} %   ");
    let full = busy >= wavetank_plan::constants::THREAD_FULL_SHARE * 100.0;
    spans.push(if full { Span::styled(text + "FULL   ", look.style(Color::Red)) } else { Span::raw(text) });
    if latest.users > 0 {
        spans.push(Span::raw(format!("users {}   ", format_grouped(latest.users))));
    }
    spans.push(Span::raw(format!("connections {}   ", format_grouped(latest.connections))));
    let mut lines = vec![Line::from(spans)];
    lines.extend(agents(state, look));
    lines.extend(hosts(state, if height < HIGH { 1 } else { HOSTS_MAX }));
    lines
}

/// The busiest hosts, if there are others than the run's own.
fn hosts(state: &LiveDoc, most: usize) -> Vec<Line<'static>> {
    if state.hosts.len() < 2 {
        return Vec::new();
    }
    let busy = |host: &LiveHost| host.cpu.map_or(0.0, |cpu| cpu.0);
    let mut hosts: Vec<&LiveHost> = state.hosts.iter().collect();
    hosts.sort_by(|one, other| busy(other).total_cmp(&busy(one)));
    let mut lines: Vec<Line<'static>> = hosts.iter().take(most).map(|host| host_line(host)).collect();
    if let Some(more) = hosts.len().checked_sub(most).filter(|more| *more > 0) {
        lines.push(Line::from(format!("           and {more} more, less busy")));
    }
    lines
}

fn host_line(host: &LiveHost) -> Line<'static> {
    let percent = |share: Option<Number>| match share {
        Some(share) => format!("{:.0} %", share.0 * 100.0),
        None => "unknown".to_owned(),
    };
    let hottest = host.cores.iter().copied().reduce(|one, other| if other.0 > one.0 { other } else { one });
    let mut parts = vec![format!("host       {}", sanitize(&host.name))];
    let busiest =
        hottest.map_or_else(String::new, |share| format!(" (busiest core {})", percent(Some(share))));
    parts.push(format!("CPU {}{busiest}", percent(host.cpu)));
    if let Some((input, output)) = host.in_bits_per_s.zip(host.out_bits_per_s) {
        parts.push(format!("in {}   out {}", show_link(input.0), show_link(output.0)));
    }
    parts.push(format!("TCP {}", format_grouped(host.tcp_sockets)));
    Line::from(parts.join("   "))
}

/// The agents of a fleet; `None` on a single host.
fn agents(state: &LiveDoc, look: Look) -> Option<Line<'static>> {
    let lost = state.agents.iter().filter(|agent| agent.state == "lost");
    let lost: Vec<String> = lost.map(|agent| sanitize(&agent.name).to_string()).collect();
    let mut spans = vec![Span::raw(format!("agents     {} ", state.agents.len() - lost.len()))];
    if !lost.is_empty() {
        spans.push(Span::styled(format!("LOST: {}", lost.join(", ")), look.style(Color::Red)));
    }
    (!state.agents.is_empty()).then(|| Line::from(spans))
}

/// The findings so far, one line each.
pub(super) fn findings(state: &LiveDoc, look: Look) -> Vec<Line<'static>> {
    let line = |finding: &wavetank_record::Finding| {
        Line::styled(format!("finding    {}", sanitize(&finding.message)), look.style(Color::Yellow))
    };
    state.findings.iter().map(line).collect()
}

fn median_and_p99(times: &Times) -> (String, String) {
    match &times.spread {
        Some(spread) => (micros(spread.p50), micros(spread.p99)),
        None => ("-".to_owned(), "-".to_owned()),
    }
}

fn micros(value: Number) -> String {
    Nanos(value.as_nanos() as i64).to_string()
}

fn seconds(value: Number) -> String {
    if value.0 < 120.0 { format!("{:.0} s", value.0) } else { Nanos((value.0 * 1e9) as i64).to_string() }
}

/// A value on an axis, in three digits.
fn amount(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.1} M", value / 1e6),
        value if value >= 1e4 => format!("{:.0} k", value / 1e3),
        value if value >= 100.0 => format!("{value:.0}"),
        value => format!("{value:.1}"),
    }
}
