//! `wavetank.net/1`: its golden, and reading back.

use crate::support;

use support::golden;
use wavetank_record::{
    ConnectDoc, ManySenderDoc, ManyToOneDoc, MtuDoc, NET_SCHEMA, NetDoc, NetFailureDoc, NetFindingDoc,
    NetLatencyDoc, NetLinkDoc, NetPairDoc, NetSettingsDoc, Number, RequestResponseDoc, SizePointDoc,
    SizesDoc, TcpThroughputDoc, UdpDoc,
};

fn latency() -> NetLatencyDoc {
    NetLatencyDoc {
        count: 3,
        min: Number(20.0),
        mean: Number(24.5),
        p50: Number(22.0),
        p90: Number(30.0),
        p99: Number(30.0),
        p999: Number(30.0),
        max: Number(31.0),
        buckets: vec![(Number(22.5), 2), (Number(31.5), 1)],
    }
}

fn tcp() -> TcpThroughputDoc {
    TcpThroughputDoc {
        direction: "forward".to_owned(),
        both: false,
        streams: 1,
        bits_per_s: Number(941_000_000.0),
        bytes: 117_625_000,
        duration_s: Number(1.0),
        intervals: vec![Number(940e6), Number(942e6)],
        interval_s: Number(0.5),
        each: vec![Number(941e6)],
        retransmits: Some(2),
        sender_cpu_s: Number(0.125),
        receiver_cpu_s: Number(0.25),
    }
}

fn pair() -> NetPairDoc {
    NetPairDoc {
        from: "load1".to_owned(),
        to: "lb1".to_owned(),
        address: "10.30.0.2:7077".to_owned(),
        server_version: "0.1.0".to_owned(),
        links: vec![NetLinkDoc {
            host: "load1".to_owned(),
            interface: "eth0".to_owned(),
            bits_per_s: Some(Number(1e9)),
        }],
        failures: vec![NetFailureDoc {
            test: "udp".to_owned(),
            code: "net_udp_filtered".to_owned(),
            message: "UDP to 10.30.0.2:7077, port 7077, is not answered, and TCP is".to_owned(),
            hint: "permit UDP".to_owned(),
        }],
        tcp: vec![tcp()],
        rr: Some(RequestResponseDoc {
            per_s: Number(40_816.0),
            duration_s: Number(1.0),
            round_trip_us: latency(),
        }),
        connect: Some(ConnectDoc {
            per_s: Number(20_000.0),
            threads: 4,
            duration_s: Number(1.0),
            failed: 0,
            connect_us: latency(),
        }),
        sizes: Some(SizesDoc {
            points: vec![SizePointDoc {
                bytes: 1,
                latency_us: Number(12.0),
                bits_per_s: Number(666_666.5),
                count: 500,
            }],
            max_bits_per_s: Number(940e6),
            half_bytes: Some(Number(1_400.5)),
        }),
        udp: vec![UdpDoc {
            direction: "reverse".to_owned(),
            mode: "rate".to_owned(),
            bytes: 1_400,
            target_bits_per_s: Some(Number(10e6)),
            sent: 1_000,
            received: 990,
            loss: Number(0.01),
            duplicates: 1,
            reordered: 2,
            sent_per_s: Number(892.0),
            received_per_s: Number(883.0),
            bits_per_s: Number(9.9e6),
            jitter_us: Number(4.5),
        }],
        mtu: Some(MtuDoc {
            forward: Some(1_500),
            reverse: Some(1_400),
            kernel: Some(1_500),
            black_holes: vec!["reverse".to_owned()],
            probes: 40,
        }),
    }
}

fn doc() -> NetDoc {
    NetDoc {
        schema: NET_SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        name: "shop".to_owned(),
        id: "5ea6c4".to_owned(),
        command: "wavetank net --lab shop".to_owned(),
        started_at: "2026-11-21T19:00:00Z".to_owned(),
        took_s: Number(12.5),
        settings: NetSettingsDoc {
            tests: vec!["tcp".to_owned(), "rr".to_owned()],
            streams: vec![1, 4],
            duration_s: Number(3.0),
            udp_bits_per_s: Number(10e6),
            link_bits_per_s: Some(Number(1e9)),
        },
        pairs: vec![pair()],
        many_to_one: Some(ManyToOneDoc {
            to: "lb1".to_owned(),
            senders: vec![ManySenderDoc {
                from: "load1".to_owned(),
                alone_bits_per_s: Some(Number(941e6)),
                together_bits_per_s: None,
                failure: "it ended".to_owned(),
            }],
            bits_per_s: Number(0.0),
            best_alone_bits_per_s: Number(941e6),
        }),
        findings: vec![NetFindingDoc {
            code: "net_mtu_black_hole".to_owned(),
            message: "from lb1 to load1, packets over 1400 bytes vanish".to_owned(),
            hint: "set the MTU".to_owned(),
        }],
        notes: vec!["a note".to_owned()],
    }
}

#[test]
fn the_golden_is_in_step() {
    golden("net.json", &(doc().to_json() + "\n"));
}

#[test]
fn what_is_written_is_read_back() {
    assert_eq!(NetDoc::from_json(&doc().to_json()), Ok(doc()));
    let empty = NetDoc { schema: NET_SCHEMA.to_owned(), ..NetDoc::default() };
    assert_eq!(NetDoc::from_json(&empty.to_json()), Ok(empty.clone()));
    let other = NetDoc { schema: "wavetank.net/2".to_owned(), ..empty };
    assert!(NetDoc::from_json(&other.to_json()).is_err());
    assert!(NetDoc::from_json("{}").is_err());
}
