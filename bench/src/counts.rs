//! Requests to a target for its own count.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Sends one request on a new connection and returns the body of the response.
pub(crate) fn get(address: SocketAddr, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address).context("cannot connect to the target")?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).context("a timeout")?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .context("the target")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).with_context(|| format!("no response to {path}"))?;
    let (head, body) =
        answer.split_once("\r\n\r\n").with_context(|| format!("no response head: {answer}"))?;
    if !head.starts_with("HTTP/1.1 200") {
        bail!("{path}: {}", head.lines().next().unwrap_or_default());
    }
    Ok(body.to_owned())
}

/// Does the same over TLS with curl, since this task runner has no TLS.
pub(crate) fn get_by_tls(address: SocketAddr, path: &str) -> Result<String> {
    let mut command = Command::new("curl");
    command.args(["--silent", "--insecure", "--fail", "--max-time", "10"]);
    let output = command.arg(format!("https://{address}{path}")).output().context("cannot start curl")?;
    if !output.status.success() {
        bail!("{path}: curl ended with {}", output.status);
    }
    String::from_utf8(output.stdout).context("not UTF-8")
}

/// Reads `requests` of `/truth`.
pub(crate) fn truth(body: &str) -> Result<u64> {
    let truth: Value = serde_json::from_str(body).with_context(|| format!("/truth: {body}"))?;
    truth["requests"].as_u64().context("/truth has no `requests`")
}

/// Reads `handshakes.resumed` of `/truth`.
pub(crate) fn truth_resumed(body: &str) -> Result<u64> {
    let truth: Value = serde_json::from_str(body).with_context(|| format!("/truth: {body}"))?;
    truth["handshakes"]["resumed"].as_u64().context("/truth has no `handshakes`")
}

/// Reads `messages.received` of `/truth`.
pub(crate) fn truth_messages(body: &str) -> Result<u64> {
    let truth: Value = serde_json::from_str(body).with_context(|| format!("/truth: {body}"))?;
    truth["messages"]["received"].as_u64().context("/truth has no `messages`")
}

/// Reads the third number of the third line of nginx's `stub_status`.
pub(crate) fn stub_status(body: &str) -> Result<u64> {
    let line = body.lines().nth(2).with_context(|| format!("stub_status: {body}"))?;
    line.split_whitespace().nth(2).context("stub_status")?.parse().context("stub_status")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
        let stub = "Active connections: 1 \nserver accepts handled requests\n 7 7 1042 \nReading: 0 Writing: 1 Waiting: 0 \n";
        assert_eq!(stub_status(stub).expect("has a count"), 1_042);
        let text = r#"{"requests":12,"handshakes":{"full":9,"resumed":3,"failed":0}}"#;
        assert_eq!(truth(text).expect("has a count"), 12);
        assert_eq!(truth_resumed(text).expect("has a count"), 3);
        assert!(stub_status("nothing").is_err() && truth("{}").is_err() && truth_resumed("{}").is_err());
    }
}
