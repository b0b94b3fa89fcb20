//! A client that asks for descriptions, against answers made from descriptions.

use wavetank_grpc::{Descriptors, Reflection, ReflectionAnswers, fuzzing};
use wavetank_units::UserError;

use crate::source;

const UNIMPLEMENTED: u16 = 12;

fn answers() -> ReflectionAnswers {
    let descriptors = Descriptors::compile(&["shop.proto"], &source).expect("the files are valid");
    ReflectionAnswers::new(&descriptors.encode()).expect("a set")
}

/// Asks until nothing is missing. `answer` returns the status and the body for a path and a body.
fn converse(mut answer: impl FnMut(&str, &[u8]) -> (u16, Vec<u8>)) -> Result<(Vec<u8>, u32), UserError> {
    let (mut asks, mut rounds) = (Reflection::new(), 0);
    while let Some((path, body)) = asks.next_request() {
        let (status, body) = answer(&path, &body);
        asks.read_response(status, &body)?;
        rounds += 1;
        assert!(rounds < 10, "a conversation without an end");
    }
    Ok((asks.into_descriptors()?, rounds))
}

#[test]
fn a_service_and_all_that_it_imports_arrive() {
    let answers = answers();
    let mut paths = Vec::new();
    let result = converse(|path, body| {
        paths.push(path.to_owned());
        let mut out = Vec::new();
        answers.answer(body, &mut out).expect("valid questions");
        (0, out)
    });
    let (set, rounds) = result.expect("a server that answers");
    // The services; their file; what it imports.
    assert_eq!(rounds, 3);
    assert!(paths.iter().all(|path| path == "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"));
    let method = Descriptors::decode(&set).expect("a set").method("shop.Orders/Place").expect("a method");
    assert_eq!(method.full_name(), "shop.Orders/Place");
}

#[test]
fn the_older_version_is_asked_second() {
    let (answers, mut asked) = (answers(), Vec::new());
    let result = converse(|path, body| {
        asked.push(path.contains(".v1alpha."));
        let mut out = Vec::new();
        if !path.contains(".v1alpha.") {
            return (UNIMPLEMENTED, out);
        }
        answers.answer(body, &mut out).expect("valid questions");
        (0, out)
    });
    result.expect("a server that answers");
    assert_eq!(asked, [false, true, true, true]);
}

#[test]
fn what_a_server_does_not_do_is_named() {
    let check = |status: u16, body: &'static [u8], expected: &str| {
        let error = converse(|_, _| (status, body.to_vec())).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(UNIMPLEMENTED, b"", "does not support reflection");
    check(7, b"", "status 7");
    check(0, b"", "0 of 1 questions");
    check(0, b"\0\0\0", "not valid");
    check(0, b"\0\0\0\0\x01\xff", "not valid");
    // An answer without any service, and one with an error.
    check(0, b"\0\0\0\0\x02\x32\0", "names no services");
    check(0, b"\0\0\0\0\x08\x3a\x06\x08\x05\x12\x02no", "no (status 5)");
}

/// A name is asked for once, even if the server never describes it.
#[test]
fn a_server_that_describes_nothing_has_an_end() {
    let mut rounds = 0;
    let error = converse(|_, _| {
        rounds += 1;
        // The services a and b, then errors.
        let services: &[u8] = b"\0\0\0\0\x0c\x32\x0a\x0a\x03\x0a\x01a\x0a\x03\x0a\x01b";
        let error: &[u8] = b"\0\0\0\0\x04\x3a\x02\x08\x05";
        (0, if rounds == 1 { services.to_vec() } else { error.repeat(2) })
    });
    assert!(error.is_err());
    assert_eq!(rounds, 2);
}

/// Answers with any byte changed, or with any end missing, are read or refused.
#[test]
fn damaged_answers_do_no_harm() {
    let mut whole = Vec::new();
    let answers = answers();
    let result = converse(|_, body| {
        let mut out = Vec::new();
        answers.answer(body, &mut out).expect("valid questions");
        let length = u16::try_from(out.len()).expect("a short answer").to_be_bytes();
        whole.extend_from_slice(&[0, length[0], length[1]]);
        whole.extend_from_slice(&out);
        (0, out)
    });
    result.expect("a server that answers");
    fuzzing::reflection(&whole);
    for place in 0..whole.len() {
        fuzzing::reflection(&whole[..place]);
        for change in [1, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[place] ^= change;
            fuzzing::reflection(&damaged);
        }
    }
}

#[test]
fn files_of_another_syntax_are_refused() {
    // A file with the name `a` and this syntax.
    let set = b"\x0a\x0d\x0a\x01a\x62\x08editions";
    let error = Descriptors::decode(set).expect_err("not supported").to_string();
    assert!(error.contains("a has the syntax editions"), "{error}");
}
