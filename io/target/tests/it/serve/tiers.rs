//! The tiers: what they answer, and that they hold the capacity that is stated of them.

use std::thread;

use wavetank_driver::Clock;
use wavetank_plan::EngineChoice;
use wavetank_target::ServeOptions;
use wavetank_testkit::{expect_time, retry_timing};
use wavetank_units::Nanos;

use crate::serve::client::{Client, engines, get, serve};

fn on(engine: EngineChoice, threads: u32) -> ServeOptions {
    ServeOptions { threads: Some(threads), engine, ..ServeOptions::default() }
}

#[test]
fn each_does_work_of_its_kind() {
    for engine in engines() {
        let (server, at) = serve(on(engine, 2));
        let mut client = Client::connect(at);
        for query in ["", "?work=1ms", "?workers=2&work=100us&queue=10"] {
            for (tier, field, value) in
                [("simple", "checksum", None), ("query", "rows", Some(20)), ("transaction", "transfer", None)]
            {
                let said = client.get(&format!("/tier/{tier}{query}"));
                assert_eq!((said.status, said.field("cache-control")), (200, Some("no-store")), "{said:?}");
                let json: serde_json::Value = serde_json::from_slice(&said.body).expect("JSON");
                assert_eq!(json["tier"], tier);
                assert!(!json[field].is_null() && value.is_none_or(|value| json[field] == value), "{json}");
            }
        }
        let truth = server.truth();
        assert_eq!(
            (truth.paths["/tier/query"], truth.statuses[&200]),
            (3, 9),
            "queries do not distinguish paths"
        );
    }
}

#[test]
fn capacities_that_make_no_sense_are_reported() {
    let (_server, at) = serve(on(EngineChoice::Epoll, 1));
    let mut client = Client::connect(at);
    for query in ["workers=0&work=1ms", "workers=2", "work=x", "work=1ms&x=1"] {
        let said = client.get(&format!("/tier/query?{query}"));
        assert_eq!((said.status, said.body.contains(&b'=')), (400, true), "{query}: {said:?}");
    }
    assert_eq!(client.get("/tier/other").status, 404);
    for workers in 1..=64 {
        assert_eq!(client.get(&format!("/tier/simple?work=1us&workers={workers}")).status, 200);
    }
    assert_eq!(client.get("/tier/simple?work=1us&workers=65").status, 400, "there is an end to them");
    assert_eq!(client.get("/tier/simple?work=1us&workers=7").status, 200);
}

/// A request that finds the queue full gets `Retry-After`.
#[test]
fn a_full_queue_refuses() {
    let (server, at) = serve(on(EngineChoice::Epoll, 1));
    let mut client = Client::connect(at);
    // In one receive: one is served, two wait, two are too many.
    client.send(get("/tier/simple?work=300ms&queue=2").repeat(5));
    let said: Vec<_> = (0..5).map(|_| client.answer()).collect();
    let statuses: Vec<_> = said.iter().map(|one| one.status).collect();
    assert_eq!(statuses, [200, 200, 200, 503, 503]);
    assert_eq!(said[3].field("retry-after"), Some("1"));
    assert_eq!(server.truth().statuses[&503], 2);
}

/// 400 requests of 10 ms for 4 workers take a second, from whichever thread they come.
#[test]
fn a_stated_capacity_is_shared_by_all_threads() {
    const CLIENTS: usize = 16;
    for engine in engines() {
        retry_timing(|| {
            let (server, at) = serve(on(engine, 4));
            let clock = Clock::starting_now();
            thread::scope(|scope| {
                for _ in 0..CLIENTS {
                    scope.spawn(|| {
                        let mut client = Client::connect(at);
                        for _ in 0..400 / CLIENTS {
                            assert_eq!(client.get("/tier/transaction?workers=4&work=10ms").status, 200);
                        }
                    });
                }
            });
            // Never faster than stated; slower only where this machine does not come to it.
            let took = clock.now();
            assert!(took >= Nanos::SECOND, "400 in {took}");
            assert_eq!(server.truth().paths["/tier/transaction"], 400);
            expect_time(took < Nanos::from_millis(2_500), || format!("400 in {took}"))
        });
    }
}
