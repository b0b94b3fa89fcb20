//! The fuzz targets on samples of what they read, and on mutations of them.

use proptest::prelude::*;
use wavetank_shop::fuzzing;

type Target = fn(&[u8]);

const SAMPLES: &[(Target, &[&[u8]])] = &[
    (
        fuzzing::bodies,
        &[
            b"user=ann&password=secret-ann",
            b"password=%C3%A4+%26%00&user=b%ff",
            b"{\"stock\": 1000, \"opens_in\": \"60s\"}",
            b"{\"stock\": \"1k\", \"opens_in\": null}",
            b"{\"stock\": 1e3, \"opens_in\": \"0.5ms\"}",
            b"{\"sku\": \"P0001\", \"user\": \"ann\"}",
            b"{\"user\": \"\\u00e4\\ud83d\\ude00\\n\", \"sku\": \"\\\"\"}",
            b"{\"sku\": {\"sku\": [[[]]]}, \"sku\": \"\", \"user\": 1}",
        ],
    ),
    (
        fuzzing::cookie,
        &[
            b"session=YW5u.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA; a=b",
            b"a=b;session=.;; session=x.y.z",
            // A real one: of the user `ann`, sealed with the key that the target has.
            b"session=YW5u.uG9uC5AtQROGTqFkpPZHMGoYKIuoxxJBDu6Yc5I_q_s",
        ],
    ),
    (
        fuzzing::tier,
        &[
            b"workers=4&work=30ms&queue=1k",
            b"work=1h",
            b"workers=%31&work=1%75s",
            b"queue=0&workers=10000&work=1us",
        ],
    ),
];

#[test]
fn the_samples_are_survived() {
    for (target, samples) in SAMPLES {
        samples.iter().for_each(|sample| target(sample));
        target(b"");
    }
}

proptest! {
    #[test]
    fn mutated_samples_are_survived(
        edits in prop::collection::vec((any::<u16>(), any::<u8>(), 0..4_u8), 1..6), noise: Vec<u8>, other: u16,
    ) {
        for (target, samples) in SAMPLES {
            for (at, sample) in samples.iter().enumerate() {
                let other = samples[(at + usize::from(other)) % samples.len()];
                target(&mutated(sample, &edits, &noise, other));
            }
            target(&noise);
        }
    }
}

/// A sample with bytes changed, added or removed, or with the end of another sample.
fn mutated(sample: &[u8], edits: &[(u16, u8, u8)], noise: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for &(at, byte, how) in edits {
        let at = usize::from(at) % (bytes.len() + 1);
        match how {
            0 if at < bytes.len() => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 => {
                let end = (at + usize::from(byte % 8)).min(bytes.len());
                bytes.splice(at..end, noise.iter().take(8).copied());
            }
            _ => {
                bytes.truncate(at);
                bytes.extend_from_slice(&other[at.min(other.len())..]);
            }
        }
    }
    bytes
}
