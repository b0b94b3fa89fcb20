//! Cookies of a request with more than one message.

use wavetank_plan::{Check, CheckSubject, Op, Operand, Quantity, Step, Test};

use super::{DONE, Walker, get};

#[test]
fn cookies_of_the_way_are_kept_and_can_be_asked_for() {
    let equals = Check {
        text: "cookie id = 7".to_owned(),
        subject: CheckSubject::Answer("cookie id".to_owned()),
        test: Test::Compare(Op::Equal, vec![Operand::Number(7.0.into(), Quantity::Bare)]),
    };
    let mut walker = Walker::new(Step { follow: 1, checks: vec![equals], ..get("/a/b") });
    walker.send();
    walker.leads(302, "Location: /a/c\r\nSet-Cookie: id=7\r\nSet-Cookie: x=1; Path=/other\r\n", "");
    assert!(String::from_utf8_lossy(&walker.sent).contains("\r\nCookie: id=7\r\n"));
    assert_eq!(walker.answer(200, "", b""), DONE, "the jar has it");
    assert!(walker.send().contains("\r\nCookie: id=7\r\n"));
}

#[test]
fn own_cookies_and_kept_ones_are_in_one_field() {
    let mut own = Step { follow: 2, ..get("/a") };
    own.request
        .headers
        .extend([("cookie", "a=1"), ("Cookie", "b=2")].map(|(name, value)| (name.into(), value.into())));
    let mut walker = Walker::new(own);
    let cookies = |sent: &[u8]| {
        let sent = String::from_utf8_lossy(sent).into_owned();
        let lines = sent.lines().filter(|line| line.to_ascii_lowercase().starts_with("cookie:"));
        lines.map(|line| line[8..].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(cookies(walker.send().as_bytes()), ["a=1; b=2"]);
    walker.leads(302, "Location: /b\r\nSet-Cookie: id=7; Path=/\r\n", "");
    assert_eq!(cookies(&walker.sent), ["a=1; b=2; id=7"]);
    walker.leads(302, "Location: /c\r\nSet-Cookie: id=8; Path=/\r\n", "");
    assert_eq!(cookies(&walker.sent), ["a=1; b=2; id=8"]);
    assert_eq!(cookies(walker.send().as_bytes()), ["a=1; b=2; id=8"]);
    walker.leads(302, "Location: http://static.org/\r\nSet-Cookie: id=9; Path=/\r\n", "");
    assert_eq!(cookies(&walker.sent), [""; 0], "neither goes to another site");
}

#[test]
fn kept_cookies_are_not_taken_for_own_ones() {
    let mut walker = Walker::new(Step { follow: 1, ..get("/a") });
    for value in ["7", "8", "9"] {
        walker.send();
        walker.leads(302, &format!("Location: /b\r\nSet-Cookie: id={value}; Path=/\r\n"), "");
        let sent = String::from_utf8_lossy(&walker.sent).into_owned();
        assert!(sent.contains(&format!("\r\nCookie: id={value}\r\n")), "{sent}");
    }
}
