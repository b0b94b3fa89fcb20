//! [`NetNs`]: a network of one's own, for tests that must see every packet or none.

use crate::program::Program;
use crate::skip::skip;

/// A network namespace with only loopback, made by `unshare`. It exists as long as a program runs
/// in it.
#[derive(Clone, Copy, Debug)]
pub struct NetNs;

impl NetNs {
    /// Whether this process may make one; if not, `test` is recorded as skipped.
    pub fn available(test: &str) -> bool {
        let Some(unshare) = Program::foreign("unshare") else {
            skip(test, "`unshare` is not installed");
            return false;
        };
        let outcome = unshare.args(["--net", "--mount", "true"]).run();
        if outcome.exit != Some(0) {
            skip(test, "network and mount namespaces need root");
        }
        outcome.exit == Some(0)
    }

    /// Runs `script` by `sh` inside a fresh namespace, with the program's path as `$0`.
    pub fn shell(program: &str, script: &str) -> Program {
        let shell = Program::foreign("unshare").expect("asked for after `available`");
        shell.args(["--net", "--mount", "sh", "-ec", script, program])
    }

    /// Runs `script` with `sh` in a mount namespace of its own but in the host's network, with the
    /// program's path as `$0`.
    pub fn mounts(program: &str, script: &str) -> Program {
        let shell = Program::foreign("unshare").expect("asked for after `available`");
        shell.args(["--mount", "sh", "-ec", script, program])
    }
}
