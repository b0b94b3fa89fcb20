//! [`draw`]: a state on the screen. What matters most is on top: thresholds, three numbers, the
//! counters, then charts, steps, the generator, findings and messages.

use std::collections::VecDeque;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Wrap};
use wavetank_record::LiveDoc;

use super::history::History;
use super::screen_parts::{
    Look, charts, counters, errors, faint, findings, generator, numbers, search, steps, thresholds, title,
};

/// Lines of the charts at least.
const CHART_LINES_MIN: u16 = 6;
/// Steps that are shown at most; the others are counted.
const STEPS_MAX: u16 = 12;
/// Findings and messages that are shown at most.
const NEWS_MAX: usize = 4;

/// What is on the screen.
pub(super) struct Screen<'a> {
    pub(super) state: &'a LiveDoc,
    pub(super) history: &'a History,
    pub(super) messages: &'a VecDeque<String>,
    pub(super) colours: bool,
    pub(super) keys: &'static str,
}

/// Draws the screen for any size of the terminal. What has no room is left out from below.
pub(super) fn draw(frame: &mut Frame<'_>, screen: &Screen<'_>) {
    let look = Look { colours: screen.colours };
    let (state, width) = (screen.state, frame.area().width);
    let mut top = vec![title(state, width)];
    top.extend(search(state));
    top.extend([thresholds(state, look), Line::default(), numbers(state, look)]);
    top.extend(counters(state, look, width));
    top.push(errors(state, look));
    let news = news(screen, look, frame.area().height);
    let table = steps(state, usize::from(STEPS_MAX));
    let table_lines = u16::try_from(table.len()).unwrap_or(STEPS_MAX);
    let areas: [Rect; 5] = Layout::vertical([
        Constraint::Length(top.len() as u16),
        Constraint::Min(CHART_LINES_MIN),
        Constraint::Length(table_lines),
        Constraint::Length(news.len() as u16),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(Paragraph::new(Text::from(top)), areas[0]);
    charts(frame, areas[1], screen.history, look);
    frame.render_widget(Paragraph::new(Text::from(table)), areas[2]);
    frame.render_widget(Paragraph::new(Text::from(news)).wrap(Wrap { trim: false }), areas[3]);
    frame.render_widget(Paragraph::new(faint(screen.keys)), areas[4]);
}

/// The generator's health, findings so far, and the latest messages.
fn news<'a>(screen: &Screen<'a>, look: Look, height: u16) -> Vec<Line<'a>> {
    let mut lines = generator(screen.state, look, height);
    lines.extend(findings(screen.state, look).into_iter().take(NEWS_MAX));
    let skip = screen.messages.len().saturating_sub(NEWS_MAX);
    lines.extend(screen.messages.iter().skip(skip).map(|line| Line::from(line.as_str())));
    lines
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use wavetank_record::{
        Finding, LiveAgent, LiveHost, LiveInterval, LivePhase, LiveState, LiveStep, Number, Requests, Spread,
        Threshold, Times,
    };
    use wavetank_units::Sentence;

    use super::*;

    fn times(p50: f64, p99: f64) -> Times {
        let spread = Spread { p50: Number(p50), p99: Number(p99), ..Spread::default() };
        Times { count: 100, spread: Some(spread) }
    }

    fn host(cpu: f64) -> LiveHost {
        let (name, cores) = (format!("h{:.0}", cpu * 10.0), vec![Number(cpu), Number(0.0)]);
        LiveHost { name, cpu: Some(Number(cpu)), cores, ..LiveHost::default() }
    }

    fn state(at: f64) -> LiveDoc {
        let requests = Requests {
            offered: 12_000,
            sent: 11_990,
            done: 11_950,
            failed: 37,
            late: 5,
            dropped: 10,
            open: 3,
        };
        let step = |name: &str| LiveStep {
            name: name.to_owned(),
            requests,
            response_us: times(1_200.0, 9_000.0),
            done_per_s: Number(480.0),
            ..LiveStep::default()
        };
        LiveDoc {
            id: "3f81aa".to_owned(),
            name: "shop".to_owned(),
            target: "http://10.0.0.1:8080/".to_owned(),
            state: LiveState::Running,
            at_s: Number(at),
            ends_at_s: Some(Number(60.0)),
            phases: vec![LivePhase { name: "full".to_owned(), ..LivePhase::default() }],
            requests,
            errors: [("reset".to_owned(), 37)].into(),
            latest: LiveInterval {
                length_s: Number(1.0),
                offered_per_s: Number(1_000.0 + at),
                done_per_s: Number(990.0 + at),
                open: 3,
                response_us: times(1_500.0, 12_300.0),
                lag_us: times(3.0, 40.0),
                connections: 64,
                busiest_thread: Number(0.41),
                ..LiveInterval::default()
            },
            steps: vec![step("login"), step("a\u{1b}[2Jb")],
            thresholds: vec![
                Threshold { expr: "p99 < 10ms".to_owned(), ok: Some(false), ..Threshold::default() },
                Threshold { expr: "failed < 1%".to_owned(), ok: Some(true), ..Threshold::default() },
            ],
            findings: vec![Finding {
                message: Sentence::quoted("the target resets connections"),
                ..Finding::default()
            }],
            agents: vec![
                LiveAgent { name: "load1".to_owned(), state: "running".to_owned() },
                LiveAgent { name: "load2".to_owned(), state: "lost".to_owned() },
            ],
            hosts: [0.2, 0.9, 0.1, 0.3, 0.4].map(host).into(),
            modified: true,
            ..LiveDoc::default()
        }
    }

    /// Draws `seconds` states on a terminal of this size, and returns its text.
    fn drawn(width: u16, height: u16, seconds: u32) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
        let (mut history, messages) = (History::default(), VecDeque::from(["event deploy 4711".to_owned()]));
        for at in 1..=seconds {
            let state = state(f64::from(at));
            history.add(&state);
            let screen = Screen {
                state: &state,
                history: &history,
                messages: &messages,
                colours: true,
                keys: "Ctrl-C",
            };
            terminal.draw(|frame| draw(frame, &screen)).expect("memory can be drawn on");
        }
        terminal.backend().to_string()
    }

    #[test]
    fn what_matters_is_on_screens_of_both_sizes() {
        for (width, height) in [(80, 24), (160, 50)] {
            let text = drawn(width, height, 30);
            for part in [
                "shop · 3f81aa · http://10.0.0.1:8080/",
                "30 s of 60 s · running full",
                "1 pass, 1 FAIL: p99 < 10ms   load modified",
                "last second: done 1,020 req/s of 1,030 req/s   p99 12.3 ms   failed 0",
                "offered 12,000   sent 11,990   done 11,950",
                "failed 37   late 5   dropped 10   open 3",
                "errors  reset 37",
                "requests per second",
                "response time, ms",
                "login",
                "lag p99 40.0 µs",
                "agents     1 LOST: load2",
                "host       h9   CPU 90 % (busiest core 90 %)   TCP 0",
                if height < 40 { "and 4 more, less busy" } else { "and 1 more, less busy" },
                "finding    the target resets connections",
                "event deploy 4711",
                "Ctrl-C",
            ] {
                assert!(text.contains(part), "`{part}` at {width}x{height}:\n{text}");
            }
            assert!(!text.contains('\u{1b}'), "names from outside control nothing:\n{text}");
        }
    }

    #[test]
    fn any_size_and_any_state_can_be_drawn() {
        for (width, height) in [(1, 1), (20, 5), (80, 3), (500, 200)] {
            drawn(width, height, 3);
        }
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal in memory");
        let (state, messages) = (LiveDoc::default(), VecDeque::new());
        let history = History::default();
        let screen =
            Screen { state: &state, history: &history, messages: &messages, colours: false, keys: "Ctrl-C" };
        terminal.draw(|frame| draw(frame, &screen)).expect("memory can be drawn on");
        assert!(terminal.backend().to_string().contains("no load yet"));
    }
}
