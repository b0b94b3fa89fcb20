//! `wavetank.calibration/1`: its golden, and reading back.

use crate::support;

use support::golden;
use wavetank_record::{
    CalibratedHostDoc, CalibrationDoc, CalibrationTargetDoc, CalibrationsDoc, CountedDoc, FigureDoc,
    HeldMemoryDoc, LagDoc, Number,
};

fn figure(rounds: [f64; 3], cpu_us: f64) -> FigureDoc {
    FigureDoc {
        unit: "per_s".to_owned(),
        measured: Number(rounds[1]),
        least: Number(rounds[0]),
        most: Number(rounds[2]),
        rounds: rounds.map(Number).to_vec(),
        cpu_us_each: Number(cpu_us),
        alone: Number(2e6 / cpu_us),
        busiest_thread: Number(0.99),
        failed: 0,
        against: "own".to_owned(),
    }
}

fn doc() -> CalibrationsDoc {
    CalibrationsDoc::new(vec![CalibrationDoc {
        version: "0.1.0".to_owned(),
        measured_at: "2026-11-21T19:00:00Z".to_owned(),
        measured_at_s: 1_795_287_600,
        took_s: Number(58.5),
        host: CalibratedHostDoc {
            hostname: "load01".to_owned(),
            cpus: 2,
            cpu_model: "Example 7713".to_owned(),
            kernel: "6.18.44".to_owned(),
        },
        engine: "uring".to_owned(),
        target: CalibrationTargetDoc {
            kind: "own".to_owned(),
            url: String::new(),
            layout: "shared".to_owned(),
            load_cpus: vec![0, 1],
            target_cpus: vec![0, 1],
        },
        users: 50,
        requests: figure([118_000.0, 120_000.0, 121_500.0], 8.0),
        connections: figure([18_000.0, 20_000.0, 20_500.0], 50.0),
        handshakes_full: figure([1_900.0, 2_000.0, 2_100.0], 400.0),
        handshakes_resumed: figure([3_900.0, 4_000.0, 4_100.0], 250.0),
        memory: Some(HeldMemoryDoc {
            from: 5_000,
            connections: 20_000,
            user_bytes: Number(340.5),
            kernel_bytes: Some(Number(4_100.0)),
        }),
        open_per_s: Number(95_000.5),
        lag: vec![LagDoc {
            share: Number(0.5),
            offered_per_s: Number(60_000.0),
            done_per_s: Number(59_990.5),
            late: Number(0.001),
            dropped: Number(0.0),
            p50_us: Number(1.5),
            p99_us: Number(80.25),
            p99_9_us: Number(1_200.0),
            p99_least_us: Number(70.0),
            p99_most_us: Number(95.0),
        }],
        counted: CountedDoc { sent: 1_234_567, target: 1_234_567 },
        steal: Number(0.01),
        others_cpus: Number(0.05),
        notes: vec!["load and target had the same 2 CPUs".to_owned()],
    }])
}

#[test]
fn the_document_is_as_described() {
    let json = doc().to_json() + "\n";
    golden("calibration.json", &json);
    assert_eq!(CalibrationsDoc::from_json(&json), Ok(doc()));
}

#[test]
fn what_is_no_such_document_is_refused() {
    for text in ["", "{", "[]", "{\"schema\":\"wavetank.run/1\",\"calibrations\":[]}", "{\"schema\":\"x\"}"] {
        assert!(CalibrationsDoc::from_json(text).is_err(), "{text}");
    }
    let later = "{\"schema\":\"wavetank.calibration/1\",\"calibrations\":[],\"later\":1}";
    assert_eq!(CalibrationsDoc::from_json(later), Ok(CalibrationsDoc::new(Vec::new())));
}
