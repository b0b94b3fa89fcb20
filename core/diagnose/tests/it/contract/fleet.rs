//! Agents of a fleet that lack data.

use crate::contract::case::{Run, run};
use wavetank_diagnose::{Blame, FindingCode, FleetGaps};
use wavetank_units::Sentence;

fn check(run: &Run, said: &str) {
    assert_eq!(run.said(), said);
}

#[test]
fn an_incomplete_fleet_makes_the_run_incomplete_and_names_its_agents() {
    let lack = |agents: u64, tolerated| {
        let names = ["load-3", "load-7", "d", "e", "f", "g"];
        let lacking = names.map(|name| (name.to_owned(), Sentence::quoted("lost at 12 s in main")));
        let lacking = lacking[..agents as usize].to_vec();
        run([]).around(move |around| {
            around.fleet = Some(FleetGaps { agents: 12, lacking: lacking.clone(), tolerated });
        })
    };
    check(&lack(0, false), "pass none 0");
    check(&lack(2, false), "incomplete none 4: lost");
    check(&lack(2, true), "pass none 0");
    check(&lack(2, false).asking(&["p99 < 4ms"]), "incomplete none 4: lost; p99 < 4ms");
    let diagnosis = lack(6, false).diagnosis();
    assert_eq!(diagnosis.headline, "data of 6 of 12 agents is missing");
    let [finding] = &diagnosis.findings[..] else { panic!("{:?}", diagnosis.findings) };
    assert_eq!(
        (finding.code, finding.blame, finding.decisive),
        (FindingCode::AgentsLost, Blame::Generator, true)
    );
    assert!(finding.evidence.starts_with("load-3: lost at 12 s in main · load-7: "), "{}", finding.evidence);
    assert!(finding.evidence.ends_with(" · and 1 more"), "{}", finding.evidence);
    let tolerated = lack(1, true).diagnosis();
    assert!(!tolerated.findings[0].decisive && tolerated.findings.len() == 1);
}
