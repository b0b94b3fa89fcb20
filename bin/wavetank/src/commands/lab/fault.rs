//! `wavetank lab fault HOST FAULT`.

use rustix::event::{Timespec, poll};
use wavetank_driver::{Clock, Signals};
use wavetank_lab::{Client, LabFolder};
use wavetank_runner::{host_error, revert_action, start_action};
use wavetank_topology::{HostAction, parse_fault};
use wavetank_units::{ExitCode, Nanos, UserError};

use crate::cli::FaultCommand;
use crate::output;

/// Time between two checks for signals. A signal may arrive just before the wait, which then does
/// not end early.
const LOOK_AROUND: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Starts or reverts a fault. With a duration, waits for it and reverts the fault then or at a
/// signal. Exit 0.
pub(super) fn fault(folder: &LabFolder, host: &str, what: &FaultCommand) -> Result<u8, UserError> {
    let lab = folder.order()?.lab;
    let mut client = Client::connect(folder)?;
    match what {
        FaultCommand::End(id) => {
            revert_action(&mut client, host, *id)?;
            output::print(&format!("fault {id} of {host} is reverted\n"))?;
        }
        FaultCommand::Begin(words, lasts) => {
            let fault = parse_fault(words, &lab, host)?;
            let shown = format!("{host}: {fault}");
            let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
            let id = start_action(&mut client, host, &HostAction::Fault(fault), lasts.is_none())?;
            match lasts {
                None => {
                    let back = format!("wavetank lab fault {host} undo {id}");
                    output::print(&format!("{shown}, until `{back}`\n"))?;
                }
                Some(lasts) => {
                    output::print(&format!("{shown}, for {lasts}\n"))?;
                    wait(*lasts, signals);
                    revert_action(&mut client, host, id)?;
                    output::print(&format!("{shown} is reverted\n"))?;
                }
            }
        }
    }
    Ok(ExitCode::Pass as u8)
}

/// Waits for `length`, or until a signal.
fn wait(length: Nanos, signals: Signals) {
    let clock = Clock::starting_now();
    while clock.now() < length && signals.received() == 0 {
        let left = Nanos(length.0 - clock.now().0).0.clamp(1, LOOK_AROUND.tv_nsec);
        // A signal ends the wait early; the loop checks for it next.
        let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: left }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_takes_as_long_as_it_should() {
        let signals = Signals::listen().expect("signals can be counted");
        let clock = Clock::starting_now();
        wait(Nanos::from_millis(60), signals);
        assert!(clock.now() >= Nanos::from_millis(60));
    }
}
