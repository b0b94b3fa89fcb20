//! The agents of a fleet: in text, in Markdown and on a page.

use crate::common;
use crate::support;

use common::{Second, plan};
use support::golden;
use support::measured::{bare, record_of};
use wavetank_measure::Ledger;
use wavetank_record::{
    AgentDoc, AgentEndDoc, AgentLossDoc, EnvironmentDoc, FleetDoc, FleetStatusDoc, Number, RunRecord,
};
use wavetank_report::{Language, html, lacking_agents, markdown, text};

fn agent(name: &str, first: u64) -> AgentDoc {
    AgentDoc {
        name: name.to_owned(),
        share: (first, 4, 12),
        weight: 4,
        cores: 8,
        sent: 3_334,
        intervals: 10,
        first_sent_ns: Some(1_200_000),
        clock_uncertainty_us: Some(Number(140.0)),
        cpu_user_s: Number(1.5),
        cpu_system_s: Number(2.5),
        peak_rss_bytes: 48_000_000,
        ..AgentDoc::default()
    }
}

fn fleet() -> FleetDoc {
    let loss = AgentLossDoc { at_ns: 7_250_000_000, phase: Some("main".to_owned()), last_interval: Some(4) };
    let lost = AgentDoc {
        intervals: 5,
        end: AgentEndDoc::Lost,
        losses: vec![loss],
        first_sent_ns: None,
        ..agent("load-2", 4)
    };
    let gone =
        AgentDoc { unstored: 2, refusals: vec!["its clock is <too> late".to_owned()], ..agent("load-3", 8) };
    FleetDoc {
        status: FleetStatusDoc::Incomplete,
        rebalanced: Vec::new(),
        start_skew_us: None,
        start_uncertainty_us: Number(420.0),
        agents: vec![agent("load-1", 0), lost, gone],
    }
}

fn record() -> RunRecord {
    let plan = plan(10);
    let mut book = Ledger::new(&plan);
    for second in 0..10 {
        let _ = book.add(&Second::at(second).done(1_000, 1).seal());
    }
    let mut record = record_of(&plan, &book, &EnvironmentDoc::default(), &[]);
    record.fleet = Some(fleet());
    record
}

#[test]
fn each_agent_has_a_row_and_lost_ones_are_marked() {
    let record = record();
    let (plain, marked) = (text(&record), markdown(&record));
    golden("fleet.txt", &plain);
    golden("fleet.md", &marked);
    for line in plain.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let lacking = lacking_agents(&fleet());
    let names: Vec<_> = lacking.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["load-2", "load-3"]);
}

#[test]
fn a_page_has_a_section_about_the_fleet_in_both_languages() {
    let record = record();
    let page = html(bare(&record), Language::English);
    assert!(page.contains("no interval after number 4") && page.contains("&lt;too&gt;"), "{page}");
    let chinese = html(bare(&record), Language::Chinese);
    assert!(chinese.contains("发压集群") && chinese.contains("第 4 个时段之后没有数据"), "{chinese}");
    let mut single = record;
    single.fleet = None;
    for page in [html(bare(&single), Language::English), text(&single), markdown(&single)] {
        assert!(!page.contains("load-2") && !page.contains("Fleet"), "{page}");
    }
}

#[test]
fn a_large_fleet_is_cut_but_no_gap_is_hidden() {
    let mut record = record();
    let mut fleet = fleet();
    let last = fleet.agents.remove(1);
    fleet.agents.extend((10..300).map(|number| agent(&format!("load-{number}"), 0)));
    fleet.agents.push(last);
    record.fleet = Some(fleet);
    let text = text(&record);
    assert!(text.contains("missing of load-2: lost at 7.25 s in main"), "{text}");
    assert!(text.contains("253 more agents in `fleet` of --format json"), "{text}");
}

#[test]
fn the_record_comes_back() {
    let record = record();
    let json = record.to_json();
    assert_eq!(RunRecord::from_json(&json).expect("it was written by us"), record);
    assert!(json.contains("\"status\":\"incomplete\"") && json.contains("\"end\":\"lost\""));
}
