//! `wavetank run URL --once`: one request and its response, with all timings.

use std::fmt::Write;
use std::sync::Arc;

use wavetank_diagnose::hint_for;
use wavetank_driver::{Alpn, Clock, Signals, TlsClient, WallClock};
use wavetank_engine::{Handshake, Probe, ProbeAnswer, ProbeFailure};
use wavetank_plan::Plan;
use wavetank_plan::redact::is_secret_header;
use wavetank_runner::{Host, certificate_lines, hint_for_unexpected_answer, host_error};
use wavetank_units::{Code, ExitCode, Nanos, UserError, address_text};

use crate::output;

/// Sends the request and prints everything. Exit 0 if the response has an expected status, else 1.
pub(crate) fn once(plan: &Plan, host: &Host, tls: Option<Arc<TlsClient>>) -> Result<u8, UserError> {
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    match Probe::new(plan, Clock::starting_now(), host.found.features, host.source_ports(), tls)
        .run(&|| signals.received() > 0)
    {
        Ok(answer) => {
            output::print_sent(&answer_text(plan, &answer))?;
            let done = plan.http.expect.contains(answer.status);
            Ok(if done { ExitCode::Pass } else { ExitCode::Fail } as u8)
        }
        Err(_) if signals.received() > 0 => Ok(ExitCode::Signal as u8),
        Err(failure) => Err(no_answer(&failure)),
    }
}

/// Returns the error for a missing response: one line, followed by the bytes received.
fn no_answer(failure: &ProbeFailure) -> UserError {
    let message = format!(
        "{}: {} after {}{}",
        address_text(failure.address),
        failure.detail,
        failure.waited,
        seen(failure)
    );
    let hint = hint_for(failure.class, Some(&failure.detail));
    UserError { exit: ExitCode::Fail, ..UserError::usage(Code::NoAnswer, message, hint) }
}

/// Returns the first bytes received, if any, with control characters escaped.
fn seen(failure: &ProbeFailure) -> String {
    let mut text = String::new();
    for line in failure.seen.split_inclusive(|&byte| byte == b'\n') {
        let _ = write!(text, "\n< {}", line.escape_ascii());
    }
    text
}

fn answer_text(plan: &Plan, answer: &ProbeAnswer) -> String {
    let mut text = String::new();
    let request = &plan.scenarios[0].steps[0].request;
    let _ =
        writeln!(text, "connect    {} in {}", address_text(answer.address), answer.connected - answer.begun);
    if let Some(tunnelled) = answer.tunnelled {
        let to = plan.tunnel_to(&plan.targets[0]).unwrap_or_default();
        let _ = writeln!(text, "tunnel     to {to} in {}", tunnelled - answer.connected);
    }
    if let Some(tls) = &answer.tls {
        add_tls(&mut text, plan, answer, tls);
    }
    for line in head_lines(&answer.request) {
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let secret = request.secret_headers.contains(&name) || is_secret_header(&name);
        let shown = match line.split_once(':') {
            Some((name, _)) if secret => format!("{name}: ***"),
            _ => line,
        };
        let _ = writeln!(text, "> {shown}");
    }
    if !request.body.is_empty() {
        let _ = writeln!(text, "> ({} bytes of body)", request.body.as_fixed().map_or(0, <[u8]>::len));
    }
    for line in head_lines(&answer.head) {
        let _ = writeln!(text, "< {line}");
    }
    let since = |instant: Nanos| instant - answer.begun;
    let _ = writeln!(
        text,
        "instants   begun 0 · connected {}{}{} · sent {} · first byte {} · complete {}",
        since(answer.connected),
        answer.tunnelled.map(|at| format!(" · tunnelled {}", since(at))).unwrap_or_default(),
        answer.tls.as_ref().map(|tls| format!(" · secured {}", since(tls.secured))).unwrap_or_default(),
        since(answer.sent),
        since(answer.first_byte),
        since(answer.complete)
    );
    let _ = writeln!(
        text,
        "times      response {} = wait {} + service {} · first byte after {} · transfer {}",
        since(answer.complete),
        since(answer.sent),
        answer.complete - answer.sent,
        answer.first_byte - answer.sent,
        answer.complete - answer.first_byte
    );
    let _ = writeln!(text, "body       {} bytes", answer.body_bytes);
    text.push_str(&String::from_utf8_lossy(&answer.body));
    if !answer.body.is_empty() && !answer.body.ends_with(b"\n") {
        text.push('\n');
    }
    if answer.body_bytes > answer.body.len() as u64 {
        let _ = writeln!(text, "({} more bytes)", answer.body_bytes - answer.body.len() as u64);
    }
    if let Some(cure) = hint_for_unexpected_answer(plan, answer) {
        let _ = writeln!(text, "hint: {cure}");
    }
    text
}

/// Adds the negotiated TLS parameters and the target's certificate.
fn add_tls(text: &mut String, plan: &Plan, answer: &ProbeAnswer, tls: &Handshake) {
    let agreed = &tls.agreed;
    let mut parts = vec![agreed.version, agreed.cipher];
    parts.extend(agreed.group);
    parts.extend(agreed.alpn.as_ref().map(Alpn::as_str));
    let _ = writeln!(
        text,
        "tls        {} in {}",
        parts.join(" · "),
        tls.secured - answer.tunnelled.unwrap_or(answer.connected)
    );
    let own = tls.certificates.first().map_or(&[][..], Vec::as_slice);
    for line in certificate_lines(own, WallClock::unix_ns()) {
        let _ = writeln!(text, "{line}");
    }
    let verify = plan.tls.as_ref().is_some_and(|tls| tls.verify);
    let chain = tls.certificates.len();
    let checked = if verify { "verified for this name" } else { "not checked (--insecure)" };
    let _ = writeln!(
        text,
        "  chain    {chain} {}, {checked}",
        if chain == 1 { "certificate" } else { "certificates" }
    );
}

/// Returns the lines of a head without the final blank line.
fn head_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.split("\r\n").take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}
