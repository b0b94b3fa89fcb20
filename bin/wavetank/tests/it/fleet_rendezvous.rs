//! Users of several hosts that wait for each other, with real agents.

use wavetank_testkit::Script;

use crate::fleet_hosts::{check, target, with_hosts};

const ROUNDS: u64 = 3;

/// Twelve users of three hosts meet three times.
const FILE: &str = "\
wavetank: 1
name: doors
target: TARGET
scenarios:
  buyer:
    phases: [{name: rush, users: 12, for: 60s, sessions: 36}]
    steps:
      - {get: /look, name: look}
      - {rendezvous: doors, wait: 40s}
      - {post: /buy, name: buy}
phases: [{name: background, rate: 20/s, for: 1s}]
";

#[test]
fn users_of_all_hosts_go_simultaneously() {
    with_hosts("users_of_all_hosts_go_simultaneously", 3, |hosts| {
        let target = target(Script::constant(std::time::Duration::from_millis(1)));
        let text = FILE.replace("TARGET", target.url("").trim_end_matches('/'));
        let text = text.replace("scenarios:\n", "scenarios:\n  crowd: {weight: 1, steps: [{get: /}]}\n");
        let file = hosts.place.write("doors.yaml", text);
        let result = check(&hosts.outcome(&file, "", &target), &target, 0);
        assert_eq!(result.count("sessions.done"), 12 * ROUNDS + 20, "{result}");
        let places = result.at("rendezvous").as_array().expect("a list");
        let [place] = places.as_slice() else { panic!("there is one rendezvous: {result}") };
        let meetings = place["meetings"].as_array().expect("a list");
        assert_eq!(meetings.len() as u64, ROUNDS, "{result}");
        for meeting in meetings {
            assert_eq!((&meeting["of"], &meeting["present"]), (&12.into(), &12.into()), "{result}");
        }
    });
}
