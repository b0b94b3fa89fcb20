//! Description, blame and hint of each error class.

use wavetank_measure::{DropReason, ErrorClass};
use wavetank_units::{Sentence, phrase, sentence, status_text};

use crate::facts::RuleInput;
use crate::format::count;
use crate::{Blame, Finding, FindingCode, tls};

/// The description, as the end of `every request failed: …`.
pub(crate) const fn description(class: ErrorClass) -> Sentence {
    match class {
        ErrorClass::Dns => phrase!("the name did not resolve"),
        ErrorClass::ConnectRefused => phrase!("connection refused"),
        ErrorClass::ConnectTimeout => phrase!("no answer to the connect in time"),
        ErrorClass::ConnectUnreachable => phrase!("no route to the target"),
        ErrorClass::NoSourceAddress => phrase!("no source address or port left on this host"),
        ErrorClass::NoFiles => phrase!("this host's limit of open files is reached"),
        ErrorClass::Tls => phrase!("the TLS handshake failed"),
        ErrorClass::Reset => phrase!("connection reset under an unanswered request"),
        ErrorClass::ClosedEarly => phrase!("connection closed before the response was complete"),
        ErrorClass::RequestTimeout => phrase!("no complete response in time"),
        ErrorClass::Protocol => phrase!("the response is not valid HTTP"),
        ErrorClass::Status => phrase!("unexpected response status"),
        ErrorClass::Login => phrase!("the target did not accept the credentials of a connection"),
        ErrorClass::Check => phrase!("a check on the response failed"),
        ErrorClass::BodyLimit => phrase!("the response was larger than allowed"),
        ErrorClass::Data => phrase!("the request could not be composed"),
        ErrorClass::Other => phrase!("an unclassified error"),
    }
}

/// Returns the description for a run, with counts that distinguish the halves of a class. TLS fails
/// in the handshake or after it, and the connect timeout covers the connect and the handshake.
pub(crate) fn description_for_run(case: &RuleInput<'_>, class: ErrorClass) -> Sentence {
    if let Some(text) = by_proxy(class, case.fault(class)) {
        return text;
    }
    if case.fault(class).is_some_and(|fault| fault.contains("between requests")) {
        return phrase!("the server ended a kept connection between requests");
    }
    let handshakes = case.facts.totals.handshakes();
    match class {
        ErrorClass::Status if proxy_asks(case) => PROXY_ASKS,
        ErrorClass::Tls if handshakes.failed == 0 && handshakes.count() > 0 => AFTER_HANDSHAKE,
        ErrorClass::Tls if handshakes.failed > 0 && handshakes.count() > 0 => phrase!("TLS failed"),
        // All that was not opened was connected, and ended in the handshake.
        ErrorClass::ConnectTimeout
            if handshakes.failed > 0 && handshakes.failed == case.facts.totals.conns.failed =>
        {
            HANDSHAKE_LATE
        }
        _ => description(class),
    }
}

/// A proxy answered requests to an http target with status 407.
const PROXY_ASKS: Sentence = phrase!("the proxy requires authentication");
const PROXY_PASSWORD: Sentence =
    phrase!("the proxy requires authentication: --proxy http://USER:PASSWORD@HOST:PORT, or @FILE with that");

/// Returns the description of a failure of `class` with the message `detail` that a forward proxy
/// caused, if one did.
pub(crate) fn by_proxy(class: ErrorClass, detail: Option<&Sentence>) -> Option<Sentence> {
    let detail = detail.filter(|detail| detail.contains("CONNECT"))?;
    Some(match class {
        _ if detail.contains("407") => PROXY_ASKS,
        ErrorClass::ConnectTimeout => phrase!("the proxy opened no tunnel in time"),
        _ => phrase!("the proxy opened no tunnel"),
    })
}

/// Whether most unexpected statuses are those of a proxy that asks for a password.
fn proxy_asks(case: &RuleInput<'_>) -> bool {
    let expected = &case.facts.plan.http.expect;
    let statuses = case.judged.status.0.iter().filter(|(status, _)| !expected.contains(*status));
    let most = statuses.max_by_key(|(_, n)| *n).map(|(status, _)| *status);
    case.facts.plan.http.proxy.is_some() && most == Some(407)
}

/// TLS failed within a response, or between two.
const AFTER_HANDSHAKE: Sentence = phrase!("TLS failed after its handshake");
/// The probe reports the same text.
const HANDSHAKE_LATE: Sentence = phrase!("connected, but the TLS handshake did not end in time");

/// Returns the blame that the errno proves. A connect without an answer proves nothing unless there
/// is no network between.
pub(crate) const fn blame(class: ErrorClass, same_host: bool) -> Blame {
    match class {
        ErrorClass::NoSourceAddress | ErrorClass::NoFiles => Blame::Generator,
        ErrorClass::ConnectUnreachable => Blame::Network,
        ErrorClass::ConnectTimeout if same_host => Blame::Target,
        ErrorClass::ConnectRefused
        | ErrorClass::Tls
        | ErrorClass::Reset
        | ErrorClass::ClosedEarly
        | ErrorClass::RequestTimeout
        | ErrorClass::Protocol
        | ErrorClass::Status
        | ErrorClass::Login
        | ErrorClass::Check
        | ErrorClass::BodyLimit => Blame::Target,
        ErrorClass::Dns | ErrorClass::ConnectTimeout | ErrorClass::Data | ErrorClass::Other => Blame::Unknown,
    }
}

/// Returns the blame for failures of `class` in a run. A proxy is part of the network.
pub(crate) fn blame_for_run(case: &RuleInput<'_>, class: ErrorClass) -> Blame {
    let proxy = by_proxy(class, case.fault(class)).is_some();
    if proxy || (class == ErrorClass::Status && proxy_asks(case)) {
        return Blame::Network;
    }
    blame(class, case.same_host)
}

/// Returns the hint for a failure of `class` with the message `detail`, if there is one.
pub fn hint_for(class: ErrorClass, detail: Option<&str>) -> Sentence {
    match (class, detail) {
        (_, Some(detail)) if detail.contains("CONNECT") => proxy_hint(class, detail),
        (ErrorClass::ClosedEarly | ErrorClass::Reset, Some(detail))
            if detail.contains("between requests") =>
        {
            phrase!(
                "requests that may not be sent twice fail with it: let the server announce it (Connection: close), keep connections longer, or use --no-keepalive"
            )
        }
        (ErrorClass::Status, Some(detail)) if PROXY_ASKS == detail => PROXY_PASSWORD,
        (ErrorClass::Status, Some(detail)) if detail.contains("redirects did not end") => {
            phrase!("does the server redirect in a circle? If not: a higher `follow`")
        }
        (ErrorClass::Status, Some(detail)) if detail.contains("the challenge") => challenge_hint(detail),
        (ErrorClass::Tls, Some(detail)) if AFTER_HANDSHAKE == detail => {
            phrase!("check the log of the target or of a balancer: TLS failed within a response")
        }
        (ErrorClass::Tls, Some(detail)) => tls::hint_for(detail).unwrap_or_else(|| hint(class)),
        (ErrorClass::ConnectTimeout, Some(detail)) if detail.contains("TLS handshake") => {
            phrase!(
                "does this port speak TLS? If it does, it is slow at it: --connect-timeout covers connect and handshake"
            )
        }
        (ErrorClass::Protocol, Some(detail)) => protocol_hint(detail).unwrap_or_else(|| hint(class)),
        _ => hint(class),
    }
}

/// Returns the hint for a response that is not valid, with the message `detail`.
fn protocol_hint(detail: &str) -> Option<Sentence> {
    let known = [
        ("speaks TLS", phrase!("this port speaks TLS: https:// instead of http://")),
        (
            "the redirect does not lead to an http address",
            phrase!("only http:// and https:// are followed: leave `follow` out"),
        ),
        ("speaks HTTP/2", phrase!("use HTTP/2: --http 2, or `version: 2` under http: in an experiment file")),
        (
            "agree on HTTP/2",
            phrase!("leave --http 2 or `version: 2` out: the server offers another version of HTTP"),
        ),
        (
            "body is damaged",
            phrase!("compare with `curl --compressed`; a proxy or the server changed or cut the body"),
        ),
        (
            "Content-Encoding names",
            phrase!("the server names a coding that its body does not have: check its settings"),
        ),
    ];
    known.into_iter().find(|(text, _)| detail.contains(text)).map(|(_, hint)| hint)
}

/// Returns the hint for a challenge that was not answered, with the message `detail`.
fn challenge_hint(detail: &str) -> Sentence {
    if detail.contains("refused the credentials") {
        return phrase!("check the user and the password of `auth: digest`");
    }
    if detail.contains("asks for Basic") {
        return phrase!("auth: basic USER:PASSWORD");
    }
    phrase!(
        "`auth: digest` answers Digest with MD5, SHA-256 or SHA-512-256 and qop auth: does the server offer that?"
    )
}

/// Returns the hint for a tunnel that a proxy did not open, with the message `detail`.
fn proxy_hint(class: ErrorClass, detail: &str) -> Sentence {
    match class {
        _ if detail.contains("407") => PROXY_PASSWORD,
        ErrorClass::ConnectRefused => {
            phrase!("the proxy's own log says why: may it connect to that host and port?")
        }
        ErrorClass::ConnectTimeout => {
            phrase!(
                "is it an HTTP proxy? If it is, the target behind it may be slow: --connect-timeout covers both"
            )
        }
        ErrorClass::Protocol => {
            phrase!("is it an HTTP proxy on that port? `--once` shows its answer as it is")
        }
        _ => phrase!("the proxy's own log: does it open tunnels (CONNECT), and to that port?"),
    }
}

/// Returns the hint for a failure with the message `fault`, if there is one. `text` is the
/// description that follows from the run's counts.
pub(crate) fn best_hint(class: ErrorClass, fault: Option<&Sentence>, text: &Sentence) -> Sentence {
    let cured = fault.filter(|fault| class != ErrorClass::Tls || tls::hint_for(fault).is_some());
    hint_for(class, Some(cured.unwrap_or(text)))
}

/// Returns the general hint of a class.
const fn hint(class: ErrorClass) -> Sentence {
    match class {
        ErrorClass::Dns => phrase!("check the name and the resolver, or give the address with --connect-to"),
        ErrorClass::ConnectRefused => {
            phrase!("nothing listens there: is the server up, and is the port right?")
        }
        ErrorClass::ConnectTimeout => {
            phrase!("a firewall, a wrong address, or a listen queue that is full; --connect-timeout")
        }
        ErrorClass::ConnectUnreachable => {
            phrase!("check the address, the routes and the firewall's answer (ip route get ADDRESS)")
        }
        ErrorClass::NoSourceAddress => {
            phrase!(
                "more source addresses (--source auto), keep-alive, or a wider net.ipv4.ip_local_port_range"
            )
        }
        ErrorClass::NoFiles => {
            phrase!("raise the file limit (ulimit -n, LimitNOFILE), or fewer connections (-c)")
        }
        ErrorClass::Tls => phrase!("does this port speak TLS, and is its certificate valid for the name?"),
        ErrorClass::Reset => phrase!("look for crashes, full queues and timeouts in the server's own log"),
        ErrorClass::ClosedEarly => {
            phrase!(
                "the server closed the connection within a response: check its log and its timeouts; if it never responds, does the port speak TLS (https://) or HTTP/2 (--http 2)?"
            )
        }
        ErrorClass::RequestTimeout => {
            phrase!("raise --timeout if such answers are right, else the server is stuck or overloaded")
        }
        ErrorClass::Protocol => {
            phrase!("is it HTTP on that port? `--once`, or `wavetank try FILE`, shows one answer as it is")
        }
        ErrorClass::Status => {
            phrase!(
                "if these answers are right: --expect-status; `--once`, or `wavetank try FILE`, shows one"
            )
        }
        ErrorClass::Login => {
            phrase!("give credentials (-H 'Authorization: …', or http.headers), or check the ones given")
        }
        ErrorClass::Check => phrase!("`wavetank try FILE` shows an answer, and what each check found in it"),
        ErrorClass::BodyLimit => phrase!("request less data, or raise the limit"),
        ErrorClass::Data => phrase!("check the variables and data of the experiment"),
        ErrorClass::Other => phrase!("samples.jsonl in the archive has the first failures"),
    }
}

/// Returns why requests were never sent, with a hint.
pub(crate) const fn drop_hint(reason: DropReason) -> Sentence {
    match reason {
        DropReason::MaxOpen => phrase!("too many requests were open simultaneously; --max-open allows more"),
        DropReason::NoSourceAddress => hint(ErrorClass::NoSourceAddress),
        DropReason::NoFiles => hint(ErrorClass::NoFiles),
        DropReason::NoMemory => phrase!("less load on this host, or more memory for it"),
        DropReason::Behind => {
            phrase!("a lower rate, more load threads (--threads), or nothing else on these CPUs")
        }
    }
}

/// Returns the responses with an unexpected status, such as `503: 240`.
pub(crate) fn unexpected_statuses(case: &RuleInput<'_>) -> Vec<Sentence> {
    let expected = &case.facts.plan.http.expect;
    let statuses = case.judged.status.0.iter().filter(|(status, _)| !expected.contains(*status));
    statuses.map(|(status, n)| sentence!("{}: {}", status_text(*status), count(*n))).collect()
}

/// Returns the finding for a run in which every request failed in one way. `detail` is the message
/// of the first failure.
pub(crate) fn all_failed(
    class: ErrorClass,
    case: &RuleInput<'_>,
    evidence: Sentence,
    detail: Option<&Sentence>,
) -> Finding {
    let text = description_for_run(case, class);
    // The statuses themselves are the best evidence.
    let statuses = if class == ErrorClass::Status { unexpected_statuses(case) } else { Vec::new() };
    // What was wrong with the response is not in the description.
    let fault = detail.filter(|_| class == ErrorClass::Protocol).cloned();
    let evidence = Sentence::join(std::iter::once(evidence).chain(statuses).chain(fault), " · ");
    Finding {
        fix: Vec::new(),
        code: FindingCode::Class(class),
        blame: blame_for_run(case, class),
        decisive: true,
        message: sentence!("every request failed: {text}"),
        evidence,
        hint: best_hint(class, detail, &text),
    }
}
