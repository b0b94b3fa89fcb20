//! What happened, as a person reads it.

use std::fmt::Write;

use wavetank_record::{Number, TryBody, TryEvent, TryMessage};
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_size};

/// Returns the title of a walk.
pub(crate) fn walk_title(part: &str, name: &str) -> String {
    match (part, name) {
        ("scenario", "") => "the session".to_owned(),
        ("scenario", name) => format!("scenario {name}"),
        (part, _) => format!("{part}, once per run"),
    }
}

/// One event, as whole lines.
pub(crate) fn event_text(event: &TryEvent) -> String {
    match event {
        TryEvent::Step { name } => format!("\n{name}\n"),
        TryEvent::Connected { address, connect_us, tls_us, tls } => {
            let mut line = row("connect", &format!("{address} in {}", time(*connect_us)));
            if let (Some(tls), Some(tls_us)) = (tls, tls_us) {
                line.push_str(&row("tls", &format!("{tls} in {}", time(*tls_us))));
            }
            line
        }
        TryEvent::Request { why, address, message, .. } => {
            let why = match why.as_str() {
                "retry" => "the connection had been closed: sent again",
                "challenge" => "the server requires authentication: sent again",
                "redirect" => "a redirect is followed",
                "resource" => "the page embeds this",
                _ => "",
            };
            let before =
                if why.is_empty() { String::new() } else { row("then", &format!("{why}, to {address}")) };
            before + &message_text(message, "> ")
        }
        TryEvent::Answer { ttfb_us, service_us, message, .. } => {
            let times = format!("first byte after {}, complete after {}", time(*ttfb_us), time(*service_us));
            message_text(message, "< ") + &row("time", &times)
        }
        TryEvent::NoAnswer { detail, address, seen, .. } => {
            let who = address.as_ref().map_or_else(String::new, |address| format!(" from {address}"));
            let seen = seen.as_ref().map_or_else(String::new, |seen| format!("  < {seen}\n"));
            seen + &row("no answer", &format!("{}{who}", harmless(detail)))
        }
        TryEvent::Cookie { name, fate } => row("cookie", &format!("{} {fate}", harmless(name))),
        TryEvent::Extract { variable, from, values, count, missing } => {
            let found = missing.clone().unwrap_or_else(|| values_text(values, *count));
            row("extract", &format!("{variable} = {found}   ({from})"))
        }
        TryEvent::Check { check, held: true, .. } => row("check", &format!("passed  {check}")),
        TryEvent::Check { check, found, .. } => {
            let found = harmless(found.as_deref().unwrap_or("nothing"));
            row("check", &format!("FAILED  {check}: found {found}"))
        }
        TryEvent::Count { name, counted } => {
            row("count", &format!("{name} {}", if *counted { "+ 1" } else { "unchanged" }))
        }
        TryEvent::Done => row("done", "as expected"),
        TryEvent::Failed { class, detail, hint } => {
            let detail = harmless(detail);
            row("FAILED", &format!("{class}: {detail}")) + &row("hint:", hint)
        }
        event => between_steps(event),
    }
}

/// Describes an event outside of any step.
fn between_steps(event: &TryEvent) -> String {
    let line = match event {
        TryEvent::Set { variable, values, count } => {
            format!("set        {variable} = {}", values_text(values, *count))
        }
        TryEvent::Think { time_us, waited } => {
            let why = if *waited { "" } else { " (left out; --think waits)" };
            format!("think      {}{why}", time(*time_us))
        }
        TryEvent::Rendezvous { name } => format!("rendezvous {name}: no users to wait for"),
        TryEvent::Group { name, time_us } => format!("group      {name} took {}", time(*time_us)),
        TryEvent::Log { text } => format!("log        {}", harmless(text)),
        TryEvent::If { condition, held } => {
            format!("if         {}: {}", harmless(condition), if *held { "yes" } else { "no" })
        }
        TryEvent::Endless => "endless    a loop without requests: the rest is left out".to_owned(),
        TryEvent::Enough { count } => {
            let count = format_grouped(*count);
            format!("enough     {count} requests: the rest is left out (--requests N for more)")
        }
        TryEvent::Ends { why } => {
            let why = match why.as_str() {
                "session" => "end: session",
                "run" => "the run would end here",
                "failure" => "a failure ends it",
                _ => "interrupted",
            };
            format!("ends       {why}")
        }
        // All others are a step's.
        _ => return String::new(),
    };
    format!("{line}\n")
}

fn row(name: &str, text: &str) -> String {
    format!("  {name:<10} {text}\n")
}

fn message_text(message: &TryMessage, mark: &str) -> String {
    let mut out = String::new();
    for line in std::iter::once(&message.line).chain(&message.headers).chain(&message.trailers) {
        writeln!(out, "  {mark}{}", harmless(line)).expect("text takes everything");
    }
    if let Some(body) = &message.body {
        body_text(body, mark, &mut out);
    }
    out
}

/// Bytes of a body that a terminal shows at most.
const SHOWN_BYTES_MAX: usize = 2_048;

fn body_text(body: &TryBody, mark: &str, out: &mut String) {
    let mark = mark.trim_end();
    writeln!(out, "  {mark}").expect("text takes everything");
    let shown = body.text.as_ref().map(|text| &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)]);
    for line in shown.iter().flat_map(|text| text.lines()) {
        writeln!(out, "  {mark} {}", harmless(line)).expect("text takes everything");
    }
    let coding = body.coding.as_ref().map_or_else(String::new, |coding| format!(", {}", harmless(coding)));
    let size = show_size(body.bytes);
    let note = match body {
        TryBody { text: None, .. } => format!("(body of {size}{coding}, no text)"),
        TryBody { text: Some(text), cut, .. } if *cut || text.len() > SHOWN_BYTES_MAX => {
            format!("(the beginning of {size}{coding})")
        }
        TryBody { coding: Some(_), .. } => format!("(decoded from {size}{coding})"),
        _ => return,
    };
    writeln!(out, "  {mark} {note}").expect("text takes everything");
}

fn values_text(values: &[String], count: usize) -> String {
    let shown: Vec<String> = values.iter().map(|value| format!("\"{}\"", harmless(value))).collect();
    match count {
        0 => "nothing".to_owned(),
        1 => shown.concat(),
        _ if count > shown.len() => format!("{count} values: {}, …", shown.join(", ")),
        _ => format!("{count} values: {}", shown.join(", ")),
    }
}

fn time(us: Number) -> Nanos {
    Nanos(us.as_nanos() as i64)
}

/// Without what a terminal would take for a command.
fn harmless(text: &str) -> String {
    let odd = |c: char| c.is_control() && c != '\t';
    if !text.contains(odd) {
        return text.to_owned();
    }
    text.chars().map(|c| if odd(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown() {
        let odd = || "a\u{1b}[2Jb\r\u{9b}".to_owned();
        let message = || TryMessage {
            line: odd(),
            trailers: Vec::new(),
            headers: vec![odd()],
            body: Some(TryBody {
                bytes: 9,
                coding: Some(odd()),
                text: Some(format!("{}\n\tx", odd())),
                cut: true,
            }),
        };
        let word = |word: &str| word.to_owned();
        let (address, why) = (word("127.0.0.1:80"), word("redirect"));
        let (ttfb_us, service_us) = (Number(1.0), Number(2.0));
        for event in [
            TryEvent::Request { why, address, reused: true, message: message() },
            TryEvent::Answer { status: 200, ttfb_us, service_us, message: message() },
            TryEvent::NoAnswer { class: word("tls"), detail: odd(), address: None, seen: None },
            TryEvent::Cookie { name: odd(), fate: word("kept") },
            TryEvent::Set { variable: word("v"), values: vec![odd()], count: 3 },
            TryEvent::Check { check: word("status = 200"), held: false, found: Some(odd()) },
            TryEvent::Failed { class: word("check"), detail: odd(), hint: word("look") },
            TryEvent::If { condition: odd(), held: true },
            TryEvent::Log { text: odd() },
        ] {
            let text = event_text(&event);
            assert!(text.contains('b') && text.ends_with('\n'), "{text:?}");
            assert!(!text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')), "{text:?}");
        }
    }

    #[test]
    fn lists_are_reported_by_their_first_values() {
        let check = |values: &[&str], count: usize, expected: &str| {
            let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            assert_eq!(values_text(&values, count), expected);
        };
        check(&[], 0, "nothing");
        check(&["a"], 1, "\"a\"");
        check(&["a", "b"], 2, "2 values: \"a\", \"b\"");
        check(&["a", "b"], 30, "30 values: \"a\", \"b\", …");
    }
}
