//! `wavetank.plan/1`: its golden.

use crate::support;

use std::collections::BTreeMap;

use support::golden;
use wavetank_capacity::forecast::{BoundedEstimate, ResourceNeed};
use wavetank_capacity::size::Setting;
use wavetank_record::{
    AmountDoc, CalibrationMarginDoc, CapDoc, FORECAST_SCHEMA, ForecastDoc, HoldingDoc, HoldingMemoryDoc,
    LackDoc, Number, OutlookDoc, PerSecondDoc, PhaseForecastDoc, ScenarioForecastDoc, SpanDoc,
    StepForecastDoc, TimelineDoc,
};

fn known(count: u64) -> AmountDoc {
    AmountDoc { least: count, expected: Some(count), most: Some(count) }
}

fn phase() -> PhaseForecastDoc {
    PhaseForecastDoc {
        name: "one".to_owned(),
        warmup: false,
        kind: "rate".to_owned(),
        load: "2/s at random (poisson)".to_owned(),
        start_s: Number(0.0),
        end_s: Some(Number(2.5)),
        sessions: BoundedEstimate::poisson(16.0).into(),
        arrivals: "poisson".to_owned(),
        cap: Some(CapDoc { sessions: 15_000, reached: "no".to_owned() }),
        requests: AmountDoc { least: 0, expected: None, most: None },
        requests_per_s_max: None,
        sessions_per_s_max: Some(Number(2.0)),
        level_max: 0,
        starts: 0,
        connections: known(16),
        connections_per_s_max: Some(Number(2.0)),
        opened_ahead: 0,
        opened_ahead_s: Number(0.0),
        max_open: 120,
        max_open_why: "rate × 1m00s, the longest a session may take".to_owned(),
        mix: vec![("buyer".to_owned(), 3), ("browser".to_owned(), 1)],
    }
}

fn holding() -> HoldingDoc {
    HoldingDoc {
        connections: 1_000,
        source_addresses: Some(10),
        ports_each: Some(100),
        opening_s: Number(2.0),
        opened_per_s_max: Some(Number(500.0)),
        requests_per_s_max: None,
        memory: vec![HoldingMemoryDoc {
            part: "client_kernel".to_owned(),
            each_bytes: 4_160,
            bytes: 4_160_000,
        }],
        rings: 3,
        threads: 2,
        next_limit: "memory".to_owned(),
        next_limit_connections: 2_000_000,
    }
}

fn span() -> SpanDoc {
    SpanDoc {
        from_s: Number(0.0),
        load_end_s: Some(Number(2.5)),
        end_s: Some(Number(2.5)),
        drain_s: Number(0.0),
    }
}

fn doc() -> ForecastDoc {
    ForecastDoc {
        schema: FORECAST_SCHEMA.to_owned(),
        name: "shop".to_owned(),
        file: "shop.yaml".to_owned(),
        version: "0.1.0".to_owned(),
        seed: 1,
        targets: vec!["http://127.0.0.1:8080/".to_owned()],
        summary: vec!["16 sessions expected (Poisson).".to_owned(), "Ends at 2.5s, sessions cut.".to_owned()],
        span: span(),
        sessions: BoundedEstimate::poisson(16.0).into(),
        requests: AmountDoc { least: 0, expected: None, most: None },
        scenarios: vec![ScenarioForecastDoc {
            name: "buyer".to_owned(),
            sessions: known(12),
            requests_each: AmountDoc { least: 1, expected: None, most: Some(4) },
            requests_around: known(1),
            think_us: known(2_000_000),
            pace_us: Some(Number(500.5)),
            connection: "user".to_owned(),
            steps: vec![StepForecastDoc {
                name: "buy".to_owned(),
                requests: known(12),
                request_bytes: Some(93),
            }],
        }],
        phases: vec![phase()],
        timeline: TimelineDoc {
            from_s: Number(0.0),
            every_s: Number(1.0),
            sessions_per_s: vec![Number(2.0), Number(2.0), Number(1.5)],
            requests_per_s: vec![Some(Number(6.0)), None, Some(Number(4.5))],
            users: vec![0, 10, 20],
            held: Vec::new(),
        },
        needs: vec![ResourceNeed {
            what: "source_ports",
            needed: 100_000,
            available: Some(28_232),
            unit: "count",
            why: "the kernel's choice of one source address".to_owned(),
        }],
        holding: Some(holding()),
        lacking: vec![LackDoc {
            code: "no_source_address".to_owned(),
            message: "100 k connections need more than the 28.2 k pairs".to_owned(),
            hint: "--source auto".to_owned(),
        }],
        conditions: vec![OutlookDoc {
            expr: "p99.9(buy) < 250ms".to_owned(),
            kind: "threshold".to_owned(),
            outlook: "undecided".to_owned(),
            why: "p99.9 needs about 10,000 samples; the plan sends 12".to_owned(),
            hint: "a lower percentile, or a longer run".to_owned(),
        }],
        settings: vec![Setting {
            name: "drain",
            value: "0s".to_owned(),
            given: true,
            why: "the longest timeout, 30s at least".to_owned(),
        }],
        constants: BTreeMap::from([("timeout".to_owned(), "60s".to_owned())]),
        notes: vec!["shop.example is not looked up".to_owned()],
        calibration: Some(standing()),
    }
}

fn standing() -> CalibrationMarginDoc {
    let number = |value: f64| Some(Number(value));
    CalibrationMarginDoc {
        state: "stale".to_owned(),
        why: "it is 31 days old".to_owned(),
        measured_at: "2026-11-21T19:00:00Z".to_owned(),
        basis: "measured".to_owned(),
        asked: PerSecondDoc { requests: None, connections: number(2.0), handshakes: number(0.0) },
        able: PerSecondDoc {
            requests: number(120_000.0),
            connections: number(20_000.5),
            handshakes: number(2_000.0),
        },
        share: number(0.001),
        hint: "wavetank calibrate measures what this host can do, in a minute".to_owned(),
    }
}

#[test]
fn the_object_is_as_described() {
    golden("forecast.json", &(doc().to_json() + "\n"));
}

/// Bounds are rounded outwards, so that they stay bounds.
#[test]
fn amounts_keep_their_bounds() {
    let doc = AmountDoc::from(BoundedEstimate { least: 1.5, mean: Some(2.5), most: Some(2.1) });
    assert_eq!(doc, AmountDoc { least: 1, expected: Some(3), most: Some(3) });
    assert!(AmountDoc::from(BoundedEstimate::exact(7.0)).is_exact() && !doc.is_exact());
    assert_eq!(
        AmountDoc::from(BoundedEstimate::between(4.0, None)),
        AmountDoc { least: 4, expected: None, most: None }
    );
}
