//! The fuzz targets on samples of what they read, and on mutations of them.

use proptest::prelude::*;
use wavetank_journey::fuzzing;

type Target = fn(&[u8]);

const SAMPLES: &[(Target, &[&[u8]])] = &[
    (
        fuzzing::answer,
        &[
            b"\x00{\"a\": {\"b\": [1, \"x\\u00e4\", {\"a\": true}]}}",
            b"\x01{\"z\": [[], {}], \"a\": {\"b\": [1, 2, -1.5e3]}}",
            b"\x03[{\"a\": [null]}, {\"a\": \"a\"}]",
            b"\x05[{\"a\": 1}, {\"a\": 2}]",
            b"\x06<p><a href=x>y</a><a>z",
            b"\x07<a class='b c'><c d='e'></a>",
            b"\x09<?xml version='1.0'?><r><a>1</a><a b='c'/>&lt;<![CDATA[x]]><!-- c --></r>",
            b"\x0a<!DOCTYPE r [<!ENTITY e 'x'>]><r>&e;<a b='c'>&#65;</a></r>",
            b"\x0b<html><body><a>2</a><a>3",
            b"\x0caaab aac a",
            b"\x0ea: 1\r\nA:2\r\n\r\n",
            b"\x0fset-cookie: a=b; path=/\r\nSet-Cookie: a=c\r\n\r\n",
        ],
    ),
    (
        fuzzing::coding,
        &[
            b"\x04\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0",
            b"\x05\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15",
            b"\x05\xcb\x48\xcd\xc9\xc9\x07\0",
            b"\x06\x0b\x02\x80hello\x03",
            b"\x07\x28\xb5\x2f\xfd\x04\x58\x29\0\0hello\x9d\x1b\xc8\x26",
        ],
    ),
    (
        fuzzing::headers,
        &[
            b"a=b; domain=a.org; path=/x; max-age=9; secure\nc=\"d\"; expires=Wed, 09 Jun 2021 10:18:14 GMT\na=; max-age=0",
            b"Digest realm=\"a\", nonce=\"b\", qop=\"auth\", algorithm=SHA-256-sess, opaque=\"\\\"\"\nBasic realm=x",
        ],
    ),
    (
        fuzzing::rows,
        &[
            b"\x00\xef\xbb\xbfa,b\n1,\"x\ny\"\n3,4\n",
            b"\x01{\"a\": 1, \"b\": [2]}\n{\"b\": null, \"a\": \"x\"}\n",
            b"\x04a\0,\0b\0\n\x001\0,\x002\0",
        ],
    ),
    (
        fuzzing::page,
        &[b"<base href=/x/><img src=a><link rel=icon href=b><script src='//c/d'></script><img srcset='e 2x'><iframe src=f>"],
    ),
    (
        fuzzing::course,
        &[
            b"\x02Location: //b.org:81/q\r\n\r\n\xff\x04Location: /r\r\nSet-Cookie: a=b\r\n\r\n\xff\x00A: b\r\n\r\nx",
            b"\x06WWW-Authenticate: Digest realm=a, nonce=b, qop=auth, stale=true\r\n\r\n\xff\x00\xff\x05Location: http://b.org:81/\r\n",
            b"\x00Content-Type: text/html\r\n\r\n<img src=a><img src=//b.org:81/c><img src=http://c.org/>\xff\x00\xff\x02Location: /e\r\n\xff\x00",
            b"\x00Content-Type: text/html\r\n\r\n<img src=a><img src=//b.org:81/c>\xff\x02Location: //b.org:81/d\r\n\xff\x00\xff\x00",
            b"\x03Location: http://127.0.0.1:81/\r\nSet-Cookie: c=d; domain=b.org; path=/\r\n\xff\x01Location: http://a.org/\r\n",
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
            target(&noise);
            for sample in *samples {
                let mut bytes = sample.to_vec();
                for (at, byte, edit) in &edits {
                    let at = usize::from(*at) % (bytes.len() + 1);
                    match edit {
                        0 => bytes.truncate(at.max(1)),
                        1 => bytes.insert(at, *byte),
                        2 => {
                            let piece = samples[usize::from(other) % samples.len()];
                            bytes.splice(at..at, piece[usize::from(*byte) % piece.len()..].iter().copied());
                        }
                        _ if at < bytes.len() => bytes[at] = *byte,
                        _ => {}
                    }
                }
                target(&bytes);
            }
        }
    }
}
