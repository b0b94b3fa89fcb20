//! The work for each request of a journey allocates nothing once its buffers have grown. This is
//! the only test here, since the counter covers the whole process.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use wavetank_journey::cookies::{CookieOutcome, Jar, Site};
use wavetank_journey::extract::{Extractor, ParseCache, ResponseView};
use wavetank_journey::value::Values;
use wavetank_journey::{auth, body};
use wavetank_units::Nanos;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Runs `work` twice, so that buffers grow, and then counts.
fn check(what: &str, mut work: impl FnMut()) {
    work();
    work();
    let region = Region::new(ALLOCATOR);
    (0..10).for_each(|_| work());
    let stats = region.change();
    assert_eq!(stats.allocations + stats.reallocations, 0, "{what}: {stats:?}");
}

#[test]
fn the_steady_state_allocates_nothing() {
    let site = Site { host: "a.org", path: "/x", secure: false };
    let fields = b"Location: /a\r\nSet-Cookie: sid=1234; path=/\r\n\r\n";
    let text = br#"{"event": {"list": [1, 2, {"sku": "A1", "odd": "\u00e4\n"}]}, "n": 1.5}"#;
    let answer = ResponseView { status: 200, time: Nanos::SECOND, size: 9, fields, body: text, jar: None };
    let (mut reading, mut finds) = (ParseCache::default(), Values::default());
    for from in [
        "json $.event.list[2].sku",
        "json $.event.list[2].odd",
        "json $.n",
        "regex /\"sku\": \"(\\w+)\"/",
        "regex /[0-9.]+/",
        "header location",
        "cookie sid",
        "status",
        "time",
        "body",
    ] {
        let extractor = Extractor::parse(from).expect("is right");
        check(from, || {
            finds.clear();
            reading.clear();
            extractor.first(&answer, &mut reading, &mut finds).expect("is there");
        });
    }
    let (mut jar, mut out, mut turn) = (Jar::default(), Vec::new(), 0_u8);
    check("a renewed cookie", || {
        turn += 1;
        out.clear();
        assert_eq!(jar.store(&[b's', b'=', b'a' + turn], &site, 0), CookieOutcome::Kept);
        assert!(jar.render(&site, 0, &mut out));
    });
    check("escapes and functions", || {
        out.clear();
        body::form_text(&mut out, b"a b&\xc3\xa4");
        body::json_text(&mut out, b"\"x\"\n");
        body::path_text(&mut out, b"a/b");
        auth::base64_text(&mut out, b"abcd");
        auth::hmac_sha256_hex(&mut out, b"k", b"x");
        auth::uuid_v4(&mut out, [1, 2]);
    });
}
