//! [`TargetProcess`]: the server that is loaded, seen from the process that loads it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;
use wavetank_plan::{TargetUrl, UrlProtocol};
use wavetank_record::engine_name;
use wavetank_runner::{CalibrationTarget, TargetCounts};
use wavetank_units::{Code, UserError};

use wavetank_store::os_error_text;

/// A line of it is far shorter.
const LINE_MAX: u64 = 4_096;

/// A server in a process of its own. It ends when this is dropped, or when this process ends in any
/// way.
pub(crate) struct TargetProcess {
    child: Child,
    /// `None`: it is being ended.
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    plain: SocketAddr,
    tls: SocketAddr,
}

impl TargetProcess {
    /// Start it on `cpus`. When this returns, it serves.
    pub(crate) fn start(cpus: &[u32], engine: wavetank_plan::EngineChoice) -> Result<Self, UserError> {
        let list = cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let program = std::env::current_exe().map_err(|error| none(&os_error_text(&error)))?;
        let mut child = Command::new(program)
            .args(["calibrate", "--as-target", &list, "--engine", engine_name(engine)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| none(&os_error_text(&error)))?;
        let asks = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().ok_or_else(|| none("it has no output"))?);
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut own = Self { child, asks, answers, plain: nowhere, tls: nowhere };
        let reported = own.answer()?;
        let address = |name: &str| reported[name].as_str().and_then(|text| text.parse().ok());
        (own.plain, own.tls) = address("plain").zip(address("tls")).ok_or_else(|| none("it has ended"))?;
        Ok(own)
    }

    fn answer(&mut self) -> Result<Value, UserError> {
        let mut line = String::new();
        loop {
            match self.answers.by_ref().take(LINE_MAX).read_line(&mut line) {
                // A signal that both processes got.
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(none(&os_error_text(&error))),
                Ok(_) => break,
            }
        }
        serde_json::from_str(&line).map_err(|_| none("it has ended"))
    }
}

impl CalibrationTarget for TargetProcess {
    fn url(&self) -> TargetUrl {
        url(self.plain, false)
    }

    fn tls_url(&self) -> TargetUrl {
        url(self.tls, true)
    }

    fn counts(&mut self) -> Result<TargetCounts, UserError> {
        let asked = self.asks.as_mut().map(|asks| asks.write_all(b"\n").and_then(|()| asks.flush()));
        match asked {
            Some(Ok(())) => {}
            _ => return Err(none("it has ended")),
        }
        let reported = self.answer()?;
        let count = |name: &str| reported[name].as_u64().unwrap_or(0);
        Ok(TargetCounts {
            requests: count("requests"),
            open: count("open"),
            cpu_s: reported["cpu_s"].as_f64().unwrap_or(0.0),
        })
    }
}

impl Drop for TargetProcess {
    fn drop(&mut self) {
        // Its input ends, and so does it.
        drop(self.asks.take());
        let _ = self.child.wait();
    }
}

fn url(address: SocketAddr, tls: bool) -> TargetUrl {
    TargetUrl {
        host: address.ip().to_string(),
        port: address.port(),
        path: "/".to_owned(),
        tls,
        protocol: UrlProtocol::Http,
    }
}

fn none(why: &str) -> UserError {
    let message = format!("the built-in server failed: {why}");
    UserError::refused(
        Code::NoOwnTarget,
        message,
        "check `ulimit -a`, or use --target URL for a server on another host",
    )
}
