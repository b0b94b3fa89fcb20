//! `wavetank.try/1` is as described, and every text of it is reachable for hiding secrets.

use crate::support;

use support::golden;
use wavetank_record::{Number, TRY_SCHEMA, TryBody, TryDoc, TryEvent, TryMessage, TryWalk};

/// The texts that came from outside are all `secret`.
fn events() -> Vec<TryEvent> {
    let secret = || "secret".to_owned();
    let message = |coding: Option<&str>| TryMessage {
        line: secret(),
        headers: vec![secret(), secret()],
        trailers: coding.map(|_| secret()).into_iter().collect(),
        body: Some(TryBody { bytes: 6, coding: coding.map(str::to_owned), text: Some(secret()), cut: false }),
    };
    let address = || "127.0.0.1:8080".to_owned();
    let word = |word: &str| word.to_owned();
    vec![
        TryEvent::Set { variable: word("who"), values: vec![secret()], count: 1 },
        TryEvent::Step { name: secret() },
        TryEvent::Connected {
            address: address(),
            connect_us: Number(180.25),
            tls_us: Some(Number(1200.5)),
            tls: Some(word("TLSv1.3")),
        },
        TryEvent::Request { why: word("step"), address: address(), reused: false, message: message(None) },
        TryEvent::Answer {
            status: 200,
            ttfb_us: Number(130.0),
            service_us: Number(160.0),
            message: message(Some("gzip")),
        },
        TryEvent::NoAnswer {
            class: word("reset"),
            detail: secret(),
            address: Some(address()),
            seen: Some(secret()),
        },
        TryEvent::Cookie { name: word("id"), fate: word("kept") },
        TryEvent::Extract {
            variable: word("sku"),
            from: word("json $.sku"),
            values: vec![secret()],
            count: 1,
            missing: None,
        },
        TryEvent::Check { check: secret(), held: false, found: Some(secret()) },
        TryEvent::Count { name: word("sold"), counted: true },
        TryEvent::Failed { class: word("check"), detail: secret(), hint: word("look") },
        TryEvent::Done,
        TryEvent::Think { time_us: Number(2_000_000.0), waited: false },
        TryEvent::Rendezvous { name: word("doors") },
        TryEvent::Group { name: word("two"), time_us: Number(323.0) },
        TryEvent::Log { text: secret() },
        TryEvent::Ends { why: word("session") },
        TryEvent::If { condition: secret(), held: true },
        TryEvent::Enough { count: 100 },
        TryEvent::Endless,
    ]
}

#[test]
fn the_document_is_as_described() {
    let walk = TryWalk {
        part: "scenario".to_owned(),
        name: "buyer".to_owned(),
        sent: 1,
        done: 0,
        failed: 1,
        events: events(),
    };
    let doc = TryDoc {
        schema: TRY_SCHEMA.to_owned(),
        name: "shop".to_owned(),
        version: "0.1.0".to_owned(),
        ok: false,
        exit: 1,
        walks: vec![walk],
        notes: vec!["the run would end here".to_owned()],
    };
    let json = doc.to_json() + "\n";
    golden("try.json", &json);
}

#[test]
fn every_text_from_outside_is_reached() {
    for mut event in events() {
        event.for_each_text(&mut |text| *text = text.replace("secret", "***"));
        let json = serde_json::to_string(&event).expect("writes");
        assert!(!json.contains("secret"), "{json}");
    }
}
