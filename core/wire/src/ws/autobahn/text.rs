//! Group 6: UTF-8.

use super::super::Fault;
use super::{Case, TEXT, case, check_all, fragments, rest, text};

const GREEK: &[u8] = b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5";
const MIXED: &str = "Hello-µ@ßöäüàá-UTF-8!!";
/// A surrogate in the middle of text.
pub(super) const WRONG: &[u8] = b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited";
/// A number above U+10FFFF, which the second of its four bytes shows.
const TOO_HIGH: &[u8] = b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xf4\x90\x80\x80edited";

#[test]
fn fragments_and_characters() {
    let bytes = |number: &str, payload: &[u8]| case(number, fragments(TEXT, payload, 1));
    let rows = [
        case("6.1.1", [text("")]).text(""),
        case("6.1.2", [text("").more(), rest("").more(), rest("")]).text(""),
        case("6.1.3", [text("").more(), rest("middle frame payload").more(), rest("")])
            .text("middle frame payload"),
        case("6.2.1", [text(MIXED)]).text(MIXED),
        case("6.2.2", [text("Hello-µ@ßöä").more(), rest("üàá-UTF-8!!")]).text(MIXED),
        bytes("6.2.3", MIXED.as_bytes()).text(MIXED),
        bytes("6.2.4", GREEK).text(GREEK),
        case("6.3.1", [text(WRONG)]).fails(Fault::NotUtf8, 1007),
        bytes("6.3.2", WRONG).fails(Fault::NotUtf8, 1007),
    ];
    check_all(rows, 9);
}

/// The fault is found with the first byte that cannot be right, not at the end of the message.
#[test]
fn faults_are_found_early() {
    let frames = |number: &str, cut: usize, end: usize| {
        case(number, [text(&TOO_HIGH[..cut]).more(), rest(&TOO_HIGH[cut..end]).more()])
    };
    let chop = |number: &str, end: usize| case(number, [text(TOO_HIGH)]).without_last(TOO_HIGH.len() - end);
    let rows = [
        case("6.4.1 first", [text(&TOO_HIGH[..11]).more()]).waits(),
        frames("6.4.1", 11, 15).fails(Fault::NotUtf8, 1007),
        case("6.4.2 first", [text(&TOO_HIGH[..12]).more()]).waits(),
        frames("6.4.2", 12, 13).fails(Fault::NotUtf8, 1007),
        chop("6.4.3 first", 11).waits(),
        chop("6.4.3", 15).fails(Fault::NotUtf8, 1007),
        chop("6.4.4 first", 12).waits(),
        chop("6.4.4", 13).fails(Fault::NotUtf8, 1007),
    ];
    check_all(rows, 8);
}

/// Characters of two to six bytes without their last byte.
const UNFINISHED: [&[u8]; 10] = [
    b"\xc0",
    b"\xe0\x80",
    b"\xf0\x80\x80",
    b"\xf8\x80\x80\x80",
    b"\xfc\x80\x80\x80\x80",
    b"\xdf",
    b"\xef\xbf",
    b"\xf7\xbf\xbf",
    b"\xfb\xbf\xbf\xbf",
    b"\xfd\xbf\xbf\xbf\xbf",
];

/// Returns the sequences of groups 6.5 to 6.23.
fn sequences() -> Vec<Vec<Vec<u8>>> {
    let list = |rows: &[&[u8]]| rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>();
    let mut continuations: Vec<Vec<u8>> =
        [1, 1, 2, 3, 4, 5, 6].into_iter().map(|length| b"\x80\xbf".repeat(3)[..length].to_vec()).collect();
    continuations[1] = vec![0xbf];
    continuations.push((0x80..0xbf).collect());
    let starts = [(0xc0, 0xdf), (0xe0, 0xef), (0xf0, 0xf7), (0xf8, 0xfb), (0xfc, 0xfd)]
        .map(|(first, last)| (first..last).flat_map(|start: u8| [start, b' ']).collect());
    let mut no_characters = vec!["\u{fffe}".into(), "\u{ffff}".into()];
    for plane in 1..=16 {
        for low in [0xfffe, 0xffff] {
            no_characters.push(char::from_u32(plane << 16 | low).expect("a number").to_string().into());
        }
    }
    let high: [&[u8]; 4] = [b"\xed\xa0\x80", b"\xed\xad\xbf", b"\xed\xae\x80", b"\xed\xaf\xbf"];
    let low: [&[u8]; 2] = [b"\xed\xb0\x80", b"\xed\xbf\xbf"];
    let single = [&high[..], &[low[0], b"\xed\xbe\x80", low[1]]].concat();
    let paired = high.iter().flat_map(|high| low.map(|low| [*high, low].concat())).collect();
    let boundaries: [&[u8]; 5] =
        [b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xef\xbf\xbd", b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80"];
    let correct: [&[u8]; 5] = [
        b"hello$world",
        "hello¢world".as_bytes(),
        "hello€world".as_bytes(),
        "hello𤭢world".as_bytes(),
        GREEK,
    ];
    vec![
        list(&correct),
        (1..=GREEK.len()).map(|length| GREEK[..length].to_vec()).collect(),
        list(&[b"\x00", b"\xc2\x80", b"\xe0\xa0\x80", b"\xf0\x90\x80\x80"]),
        list(&[b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80"]),
        list(&[b"\x7f", b"\xdf\xbf", b"\xef\xbf\xbf", b"\xf4\x8f\xbf\xbf"]),
        list(&[b"\xf7\xbf\xbf\xbf", b"\xfb\xbf\xbf\xbf\xbf", b"\xfd\xbf\xbf\xbf\xbf\xbf"]),
        list(&boundaries),
        continuations,
        starts.to_vec(),
        list(&UNFINISHED),
        vec![UNFINISHED.concat()],
        list(&[b"\xfe", b"\xff", b"\xfe\xfe\xff\xff"]),
        list(&[b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xf8\x80\x80\x80\xaf"])
            .into_iter()
            .chain([b"\xfc\x80\x80\x80\x80\xaf".to_vec()])
            .collect(),
        list(&[b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf", b"\xf8\x87\xbf\xbf\xbf"])
            .into_iter()
            .chain([b"\xfc\x83\xbf\xbf\xbf\xbf".to_vec()])
            .collect(),
        list(&[b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xf8\x80\x80\x80\x80"])
            .into_iter()
            .chain([b"\xfc\x80\x80\x80\x80\x80".to_vec()])
            .collect(),
        list(&single),
        paired,
        no_characters,
        ["\u{fff9}", "\u{fffa}", "\u{fffb}", "\u{fffc}", "\u{fffd}", "\u{fffe}", "\u{ffff}"]
            .map(|special| special.as_bytes().to_vec())
            .to_vec(),
    ]
}

/// Which of the sequences of a group are right, as the suite has it.
fn is_right(group: usize, number: usize) -> bool {
    match group {
        5 | 7 | 9 | 22 | 23 => true,
        6 => matches!(number, 2 | 5 | 7 | 9 | 11),
        11 => number < 5,
        _ => false,
    }
}

/// Each sequence is a message of one frame, and one with a frame for each byte.
#[test]
fn sequences_of_bytes() {
    let mut rows: Vec<Case> = Vec::new();
    for (group, sequences) in (5..).zip(sequences()) {
        for (number, bytes) in (1..).zip(sequences) {
            let whole = case(format!("6.{group}.{number}"), [text(&bytes)]);
            let cut = case(format!("6.{group}.{number}"), fragments(TEXT, &bytes, 1));
            for row in [whole, cut] {
                let is_right = is_right(group, number);
                rows.push(if is_right { row.text(&bytes) } else { row.fails(Fault::NotUtf8, 1007) });
            }
        }
    }
    check_all(rows, 132);
}
