//! The agents of a fleet in lines of text.

use wavetank_record::{AgentDoc, Number, RunRecord};
use wavetank_units::quantity::{format_grouped, show_size};

use crate::fleet::{agent_lack, rebalanced, share, start};
use crate::format::seconds;
use crate::text_layout::{COLUMNS_MAX, TextLayout, cut, pad, pad_left, width};

/// Titles of the columns after the agent's name, with their widths.
const COLUMNS: [(&str, usize); 6] =
    [("share", 9), ("cores", 7), ("sent", 15), ("intervals", 11), ("CPU time", 11), ("memory", 11)];
/// Most agents with a line of their own.
const AGENTS_SHOWN: usize = 40;

/// Adds a line about the fleet, one for each agent, and what agents lack. Nothing on a single host.
pub(crate) fn add_fleet(page: &mut TextLayout, record: &RunRecord) {
    let Some(fleet) = &record.fleet else { return };
    let count = match fleet.agents.len() {
        1 => "1 agent".to_owned(),
        count => format!("{} agents", format_grouped(count as u64)),
    };
    let status = fleet.status.name().replace('_', " ");
    let parts: Vec<_> = [count, status, start(fleet), rebalanced(fleet)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    page.parts("fleet", &parts);
    let cells = |texts: [String; 6]| {
        let all = texts.iter().zip(COLUMNS);
        all.map(|(text, (_, columns))| pad_left(text, columns)).collect::<String>()
    };
    let titles = cells(COLUMNS.map(|(title, _)| title.to_owned()));
    let names = COLUMNS_MAX - width(&titles);
    page.line(&(pad("agents", names) + &titles));
    // Agents that lack something come first, so that none of them is left out for others.
    let (lacking, whole): (Vec<_>, Vec<_>) =
        fleet.agents.iter().partition(|agent| agent_lack(agent).is_some());
    let reported: Vec<_> = if fleet.agents.len() > AGENTS_SHOWN {
        lacking.into_iter().chain(whole).take(AGENTS_SHOWN).collect()
    } else {
        fleet.agents.iter().collect()
    };
    for agent in &reported {
        let name = cut(&format!("  {}", agent.name), names - 1);
        page.line(&(pad(&name, names) + &cells(row(agent))));
        if let Some(lack) = agent_lack(agent) {
            page.sentence("", &format!("missing of {}: {lack}", agent.name));
        }
        for refusal in &agent.refusals {
            page.sentence("", &format!("{} refused: {refusal}", agent.name));
        }
    }
    if fleet.agents.len() > reported.len() {
        let more = fleet.agents.len() - reported.len();
        page.sentence("", &format!("{more} more agents in `fleet` of --format json"));
    }
}

fn row(agent: &AgentDoc) -> [String; 6] {
    let some = |count: u64| if count == 0 { String::new() } else { format_grouped(count) };
    let cpu_s = agent.cpu_user_s.0 + agent.cpu_system_s.0;
    [
        share(agent),
        some(u64::from(agent.cores)),
        format_grouped(agent.sent),
        format_grouped(agent.intervals),
        if cpu_s > 0.0 { seconds(Number(cpu_s)) } else { String::new() },
        if agent.peak_rss_bytes > 0 { show_size(agent.peak_rss_bytes) } else { String::new() },
    ]
}
