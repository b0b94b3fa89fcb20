//! Bodies with content codings.

use std::io::Write;

use wavetank_journey::content::Coding::{Deflate, Gzip};
use wavetank_journey::content::ContentFault::{Broken, Checksum, NotCoded, TooLarge, Truncated};
use wavetank_plan::{Check, CheckSubject, Op, Operand, Quantity, Step, Test};

use super::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("writing to a vector cannot fail");
    encoder.finish().expect("writing to a vector cannot fail")
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("writing to a vector cannot fail");
    encoder.finish().expect("writing to a vector cannot fail")
}

#[test]
fn bodies_are_looked_into_without_their_coding() {
    let equals = Check {
        text: "json $.a = 1".to_owned(),
        subject: CheckSubject::Answer("json $.a".to_owned()),
        test: Test::Compare(Op::Equal, vec![Operand::Number(1.0.into(), Quantity::Bare)]),
    };
    let mut walker = Walker::new(Step { checks: vec![equals], ..get("/") });
    let mut check = |coding: &str, body: &[u8], expected: Result<(), Rejection>| {
        walker.send();
        let became = walker.answer(200, &format!("Content-Encoding: {coding}\r\n"), body);
        assert_eq!(became, Err((200, expected)), "{coding}");
    };
    let stray = |stray| Err(Rejection::Stray(stray));
    let body = gzip(b"{\"a\": 1}");
    let flipped = |at: usize| {
        let mut body = body.clone();
        body[at] ^= 0xff;
        body
    };
    check("gzip", &body, Ok(()));
    check("identity", b"{\"a\": 1}", Ok(()));
    check("gzip", b"{\"a\": 1, \"and\": \"more\"}", stray(FollowUpError::Content(Gzip, NotCoded)));
    check("gzip", &flipped(20), stray(FollowUpError::Content(Gzip, Checksum)));
    check("gzip", &flipped(10), stray(FollowUpError::Content(Gzip, Broken)));
    check("gzip, deflate", &body, stray(FollowUpError::Content(Deflate, Broken)));
    check("gzip", &body[..body.len() - 9], stray(FollowUpError::Content(Gzip, Truncated)));
    check("deflate, gzip", &gzip(&deflate(b"{\"a\": 1}")), Ok(()));
    check("gzip, identity\r\nContent-Encoding: deflate", &deflate(&body), Ok(()));
    check("gzip, compress", &body, stray(FollowUpError::UnknownCoding("gzip, compress".to_owned())));
    check("compress", &body, stray(FollowUpError::UnknownCoding("compress".to_owned())));
    check("gzip", &gzip(&vec![b' '; 100 << 20]), stray(FollowUpError::Content(Gzip, TooLarge)));
    check("gzip", &body, Ok(()));
    // No part of the step looks inside the body, so its coding does not matter.
    let mut blind = Walker::new(get("/"));
    blind.send();
    assert_eq!(blind.answer(200, "Content-Encoding: gzip\r\n", b"no gzip"), DONE);
}
