//! A process that is a bridge to an agent: this test program again.

use std::path::Path;
use std::process::Command;

use wavetank_link::bridge;

const FOLDER: &str = "WAVETANK_TEST_BRIDGE";
const PID_FILE: &str = "WAVETANK_TEST_BRIDGE_PID";

/// Returns the command of a bridge to the agent in `folder`, which writes its number into
/// `pid_file`.
pub(crate) fn bridge_command(folder: &Path, pid_file: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["--exact", "bridge_process::bridge_process", "--nocapture", "--test-threads=2"]);
    command.env(FOLDER, folder).env(PID_FILE, pid_file);
    command
}

/// Does nothing unless it was started by [`bridge_command`].
#[test]
fn bridge_process() {
    let (Some(folder), Some(pid_file)) = (std::env::var_os(FOLDER), std::env::var_os(PID_FILE)) else {
        return;
    };
    std::fs::write(pid_file, std::process::id().to_string()).expect("the file can be written");
    // What the test harness has written so far becomes a line of its own.
    println!();
    if let Err(error) = bridge(Path::new(&folder), std::io::stdin(), std::io::stdout()) {
        eprintln!("cannot reach the agent: {error}");
        std::process::exit(4);
    }
    std::process::exit(0);
}
