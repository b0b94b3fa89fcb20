//! The journey in Locust: users of its faster client in one process.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::claims::ReportedResult;
use crate::contestant::Contestant;
use crate::journey_session::{STEPS, WANTED};
use crate::server::Server;
use crate::session::Session;

/// Returns the command for `users` users for `seconds`, against `server`. A single user that is
/// idle shows the cost of starting.
pub(crate) fn party(
    session: &Session,
    program: &Path,
    server: &Server,
    (users, seconds): (usize, u32),
) -> Result<Contestant> {
    let file = session.folder.path().join(if users == 1 { "idle.py" } else { "locustfile.py" });
    std::fs::write(&file, if users == 1 { idle() } else { journey() }).context("locustfile.py")?;
    let url = server.url();
    let line = format!(
        "{} --headless -u {users} -r {users} -t {seconds}s --host {} -f {} --only-summary --json --loglevel ERROR",
        program.display(),
        url.trim_end_matches('/'),
        file.display()
    );
    Ok(Contestant::peer("locust", &line, |used| claim(&used.stdout)))
}

fn journey() -> String {
    format!(
        "from locust import FastHttpUser, task\n\n\nclass Shopper(FastHttpUser):\n    @task\n    def journey(self):\n        \
         with self.client.get(\"/shop/1\", catch_response=True) as answer:\n            \
         if \"{WANTED}\" not in answer.text:\n                answer.failure(\"another page\")\n        \
         for number in range(2, {}):\n            self.client.get(f\"/shop/{{number}}\")\n",
        STEPS + 1
    )
}

/// Returns users that each send `per_second` requests, or fewer if responses take longer.
pub(crate) fn steady_users(per_second: u64) -> String {
    format!(
        "from locust import FastHttpUser, constant_throughput, task\n\n\nclass Steady(FastHttpUser):\n    \
         wait_time = constant_throughput({per_second})\n\n    @task\n    def get(self):\n        \
         self.client.get(\"/\")\n"
    )
}

/// A user that only waits.
fn idle() -> String {
    "from locust import FastHttpUser, constant, task\n\n\nclass Idle(FastHttpUser):\n    wait_time = constant(60)\n\n    \
     @task\n    def nothing(self):\n        pass\n"
        .to_owned()
}

/// Reads a list of request names, with `num_requests` and `num_failures` of each. Locust does not
/// report requests in flight at the end.
pub(crate) fn claim(stdout: &str) -> Result<ReportedResult> {
    let from = stdout.find("[\n").context("locust printed no JSON")?;
    let mut values = serde_json::Deserializer::from_str(&stdout[from..]).into_iter::<Value>();
    let list = values.next().context("locust printed no JSON")?.context("locust's JSON")?;
    let sum = |name: &str| {
        let entries = list.as_array().into_iter().flatten();
        entries.filter_map(|entry| entry[name].as_u64()).sum::<u64>()
    };
    let (done, failed) = (sum("num_requests"), sum("num_failures"));
    if failed > 0 {
        bail!("locust had {failed} failures");
    }
    Ok(ReportedResult { done, sent: done, exact: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_added_up() {
        let text = "\n[\n{\"num_requests\": 7, \"num_failures\": 0}, {\"num_requests\": 5, \"num_failures\": 0}]\nType\n";
        assert_eq!(claim(text).ok(), Some(ReportedResult { done: 12, sent: 12, exact: false }));
        assert!(claim("[\n{\"num_requests\": 7, \"num_failures\": 1}]").is_err());
        assert!(claim("nothing").is_err());
    }
}
