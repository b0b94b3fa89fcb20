//! Lines of the fleet: what is read encodes and reads back the same, and the machines take it without a panic.
#![no_main]

use wavetank_fleet::wire::{
    decode_agent, decode_controller, decode_record, encode_agent, encode_controller, encode_record,
};
use wavetank_fleet::{Agent, AgentId, AgentSetup, Controller, RunId, RunSetup};
use wavetank_units::Nanos;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut now = Nanos::ZERO;
    let mut agent = Agent::new(AgentSetup::local("0.1.0"), now);
    let setup = RunSetup { run: RunId(1), ..RunSetup::new(4, "0.1.0", "hash") };
    let mut controller = Controller::new(setup, now);
    for line in data.split(|&byte| byte == b'\n') {
        now = now.after(Nanos::from_millis(700));
        if let Ok(frame) = decode_controller(line) {
            let again = encode_controller(&frame.message, frame.plan.as_deref());
            assert!(decode_controller(again.as_bytes()).as_ref() == Ok(&frame), "not read back as it was written");
            agent.handle_message(frame.message, now);
        }
        if let Ok(frame) = decode_agent(line) {
            let again = encode_agent(&frame.message, frame.interval.as_deref()).expect("it was JSON");
            assert!(decode_agent(again.as_bytes()).as_ref() == Ok(&frame), "not read back as it was written");
            controller.handle_message(AgentId(0), frame.message, now);
        }
        if let Ok(record) = decode_record(line) {
            assert!(decode_record(encode_record(&record).as_bytes()) == Ok(record), "not read back as it was written");
        }
        agent.handle_timeout(now);
        controller.handle_timeout(now);
        while agent.poll().is_some() || controller.poll().is_some() {}
    }
});
