//! The agents of a fleet: what each of them did, and what it lacks.

use maud::html;
use wavetank_record::{AgentDoc, FleetStatusDoc, Number};
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_size};

use super::Section;
use super::language::Language;
use super::page_context::PageContext;
use super::table::{Cell, Table, facts};
use crate::fleet::{agent_lack, share};
use crate::format::{seconds, time};

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let fleet = sheet.record().fleet.as_ref()?;
    let words = FleetStrings::for_language(sheet.language());
    let heads = [
        (words.agent, false),
        (words.missing, false),
        (words.share, true),
        (words.weight, true),
        (words.cores, true),
        (words.sent, true),
        (words.intervals, true),
        (words.first_sent, true),
        (words.clock, true),
        (words.cpu, true),
        (words.memory, true),
    ];
    let mut table = Table::new(words.title, &heads);
    for agent in &fleet.agents {
        table.row(row(sheet, agent));
    }
    let skew = fleet.start_skew_us.map(time).unwrap_or_default();
    let by_clock = fleet.start_uncertainty_us;
    let by_clock = if by_clock.0 > 0.0 { time(by_clock) } else { String::new() };
    let about = vec![
        (words.status, html! { (words.status_word(fleet.status)) }),
        (words.skew, html! { (skew) }),
        (words.uncertainty, html! { (by_clock) }),
        (words.rebalanced, html! { (fleet.rebalanced.join(", ")) }),
    ];
    let body = html! { (facts(about)) (table.render(sheet)) };
    Section::new("fleet", words.title, words.lead, body)
}

fn row(sheet: &PageContext, agent: &AgentDoc) -> Vec<Cell> {
    let some = |count: u64| Cell::Number(if count == 0 { String::new() } else { format_grouped(count) });
    let cpu_s = agent.cpu_user_s.0 + agent.cpu_system_s.0;
    let memory = agent.peak_rss_bytes;
    let sentences: Vec<_> = agent_lack(agent).into_iter().chain(agent.refusals.iter().cloned()).collect();
    let missing = html! { @for sentence in &sentences { div { (sheet.stored(sentence)) } } };
    vec![
        Cell::Name(agent.name.clone()),
        Cell::Any(missing),
        Cell::Number(share(agent)),
        some(agent.weight),
        some(u64::from(agent.cores)),
        Cell::Number(format_grouped(agent.sent)),
        Cell::Number(format_grouped(agent.intervals)),
        Cell::Number(agent.first_sent_ns.map(|at| Nanos(at).to_string()).unwrap_or_default()),
        Cell::Number(agent.clock_uncertainty_us.map(time).unwrap_or_default()),
        Cell::Number(if cpu_s > 0.0 { seconds(Number(cpu_s)) } else { String::new() }),
        Cell::Number(if memory > 0 { show_size(memory) } else { String::new() }),
    ]
}

/// The texts of the section, in each of its languages.
struct FleetStrings {
    title: &'static str,
    lead: &'static str,
    agent: &'static str,
    missing: &'static str,
    share: &'static str,
    weight: &'static str,
    cores: &'static str,
    sent: &'static str,
    intervals: &'static str,
    first_sent: &'static str,
    clock: &'static str,
    cpu: &'static str,
    memory: &'static str,
    status: &'static str,
    skew: &'static str,
    uncertainty: &'static str,
    rebalanced: &'static str,
    /// In the order of [`FleetStatusDoc`].
    statuses: [&'static str; 5],
}

const EN: FleetStrings = FleetStrings {
    title: "Fleet",
    lead: "Each agent sent its share of the load from its own host. All numbers of this report are those of all agents \
           together. An agent with missing data is named, with exactly what is missing.",
    agent: "Agent",
    missing: "Missing",
    share: "Share of the load",
    weight: "Weight",
    cores: "Cores",
    sent: "Sent",
    intervals: "Intervals",
    first_sent: "First request at",
    clock: "Clock ±",
    cpu: "CPU time",
    memory: "Memory, peak",
    status: "Status",
    skew: "First requests of agents apart by",
    uncertainty: "Uncertainty of the start, by their clocks",
    rebalanced: "The other agents sent all load from this phase on",
    statuses: [
        "complete",
        "agents are missing, within the tolerated share",
        "incomplete",
        "aborted, because an agent was lost",
        "never started",
    ],
};

const ZH: FleetStrings = FleetStrings {
    title: "发压集群",
    lead: "每个代理从各自的主机发出其负载份额。本报告的所有数字均为全部代理之和。数据有缺失的代理会列出，并注明缺失的内容。",
    agent: "代理",
    missing: "缺失",
    share: "负载份额",
    weight: "权重",
    cores: "CPU 核数",
    sent: "已发请求",
    intervals: "时段数",
    first_sent: "首个请求时刻",
    clock: "时钟误差 ±",
    cpu: "CPU 时间",
    memory: "内存峰值",
    status: "状态",
    skew: "各代理首个请求的最大时差",
    uncertainty: "起始时刻的不确定度（由时钟得出）",
    rebalanced: "自该阶段起由其余代理发送全部负载",
    statuses: ["完整", "有代理缺失，在容许范围内", "不完整", "因失去代理而中止", "从未开始"],
};

impl FleetStrings {
    const fn for_language(language: Language) -> &'static Self {
        match language {
            Language::English => &EN,
            Language::Chinese => &ZH,
        }
    }

    const fn status_word(&self, status: FleetStatusDoc) -> &'static str {
        self.statuses[status as usize]
    }
}
