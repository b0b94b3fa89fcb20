//! The agents of a fleet: what each of them did, and what it lacks.

use wavetank_record::{AgentDoc, FleetDoc, FleetStatusDoc, Number};
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_share};

use super::model::{Fact, Section};
use super::page_text::PageText::{self, Own};
use super::table::{Column, Row, Table};
use super::value::Value;
use crate::fleet::agent_lack;
use crate::format::time;

/// Most agents with a line of their own on a terminal.
const AGENTS_SHOWN: usize = 40;

const TITLE: PageText = Own(["Fleet", "发压集群"]);
const LEAD: PageText = Own([
    "Each agent sent its share of the load from its own host. All numbers of this report are those of all agents \
     together. An agent with missing data is named, with exactly what is missing.",
    "每个代理从各自的主机发出其负载份额。本报告的所有数字均为全部代理之和。数据有缺失的代理会列出，并注明缺失的内容。",
]);
const SKEW: PageText = Own(["First requests of agents apart by", "各代理首个请求的最大时差"]);
const UNCERTAINTY: PageText =
    Own(["Uncertainty of the start, by their clocks", "起始时刻的不确定度（由时钟得出）"]);
const REBALANCED: PageText =
    Own(["The other agents sent all load from this phase on", "自该阶段起由其余代理发送全部负载"]);

type Col = Column<AgentDoc>;

const COLUMNS: [Col; 11] = [
    Col::text("agent", Own(["Agent", "代理"]), |agent| Value::Name(agent.name.clone())),
    Col::text("missing", Own(["Missing", "缺失"]), |agent| {
        Value::stored(agent_lack(agent).map(String::from).into_iter().chain(agent.refusals.iter().cloned()))
    }),
    Col::number("share", Own(["Share of the load", "负载份额"]), |agent| Value::Number(share(agent)))
        .narrow("share", 9),
    Col::number("weight", Own(["Weight", "权重"]), |agent| Value::known(agent.weight)),
    Col::number("cores", Own(["Cores", "CPU 核数"]), |agent| Value::known(agent.cores.into()))
        .narrow("cores", 7),
    Col::number("sent", Own(["Sent", "已发请求"]), |agent| Value::Count(agent.sent)).narrow("sent", 15),
    Col::number("intervals", Own(["Intervals", "时段数"]), |agent| Value::Count(agent.intervals))
        .narrow("intervals", 11),
    Col::number("first request at", Own(["First request at", "首个请求时刻"]), |agent| {
        Value::number(agent.first_sent_ns.map(|at| Nanos(at).to_string()))
    }),
    Col::number("clock ±", Own(["Clock ±", "时钟误差 ±"]), |agent| {
        Value::time(agent.clock_uncertainty_us)
    }),
    Col::number("CPU time", Own(["CPU time", "CPU 时间"]), |agent| {
        let cpu_s = agent.cpu_user_s.0 + agent.cpu_system_s.0;
        Value::seconds(Some(Number(cpu_s)).filter(|_| cpu_s > 0.0))
    })
    .narrow("CPU time", 11),
    Col::number("memory peak", Own(["Memory, peak", "内存峰值"]), |agent| match agent.peak_rss_bytes {
        0 => Value::Nothing,
        bytes => Value::size(bytes),
    })
    .narrow("memory", 11),
];

/// The fleet of a run.
pub(crate) fn fleet(fleet: &FleetDoc) -> Section {
    let mut table = Table::new("agents", &COLUMNS, &fleet.agents).terminal_rows(AGENTS_SHOWN, "fleet");
    for (row, agent) in table.rows.iter_mut().zip(&fleet.agents) {
        let lack = agent_lack(agent).map(|lack| format!("missing of {}: {lack}", agent.name));
        let refused = agent.refusals.iter().map(|refusal| format!("{} refused: {refusal}", agent.name));
        row.below = lack.into_iter().chain(refused).collect();
    }
    // Agents that lack something come first, so that none of them is left out for others.
    if fleet.agents.len() > AGENTS_SHOWN {
        table.rows.sort_by_key(|row: &Row| row.below.is_empty());
    }
    let section = Section::of_table("Fleet", table);
    Section { label: "fleet", id: "fleet", title: TITLE, lead: LEAD, facts: facts(fleet), ..section }
}

fn facts(fleet: &FleetDoc) -> Vec<Fact> {
    let count = match fleet.agents.len() {
        1 => "1 agent".to_owned(),
        count => format!("{} agents", format_grouped(count as u64)),
    };
    let status = fleet.status.name();
    let rebalanced = match fleet.rebalanced.as_slice() {
        [] => String::new(),
        phases => format!("the other agents sent all load from {} on", phases.join(" and from ")),
    };
    let by_clock = Some(fleet.start_uncertainty_us).filter(|us| us.0 > 0.0);
    vec![
        Fact::plain(count),
        Fact {
            plain: status.replace('_', " "),
            term: Own(["Status", "状态"]),
            value: Value::Term(status, status_text(fleet.status)),
        },
        Fact { plain: start(fleet), term: SKEW, value: Value::time(fleet.start_skew_us) },
        Fact::on_page(UNCERTAINTY, Value::time(by_clock)),
        Fact { plain: rebalanced, term: REBALANCED, value: Value::Name(fleet.rebalanced.join(", ")) },
    ]
}

/// The part of the load that was an agent's.
fn share(agent: &AgentDoc) -> String {
    let (_, width, of) = agent.share;
    show_share(width as f64 / of.max(1) as f64)
}

/// Most that agents started apart, measured or by their clocks; empty if nothing is known.
fn start(fleet: &FleetDoc) -> String {
    let uncertainty = fleet.start_uncertainty_us;
    match fleet.start_skew_us {
        Some(skew) if uncertainty.0 > 0.0 => {
            format!("started within {} ± {}", time(skew), time(uncertainty))
        }
        Some(skew) => format!("started within {}", time(skew)),
        None if uncertainty.0 > 0.0 => format!("started within {}, by their clocks", time(uncertainty)),
        None => String::new(),
    }
}

const fn status_text(status: FleetStatusDoc) -> PageText {
    Own(match status {
        FleetStatusDoc::Complete => ["complete", "完整"],
        FleetStatusDoc::Tolerated => {
            ["agents are missing, within the tolerated share", "有代理缺失，在容许范围内"]
        }
        FleetStatusDoc::Incomplete => ["incomplete", "不完整"],
        FleetStatusDoc::Aborted => ["aborted, because an agent was lost", "因失去代理而中止"],
        FleetStatusDoc::NotStarted => ["never started", "从未开始"],
    })
}
