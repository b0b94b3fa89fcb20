//! Messages from JSON and back, against descriptions written here.

mod reflection;

use wavetank_grpc::{Descriptors, MessageError, Method, RequestEncoding, fuzzing};

const SHOP: &str = r#"
syntax = "proto3";
package shop;
import "common/money.proto";
import "google/protobuf/timestamp.proto";
service Orders {
  rpc Place(Order) returns (Order);
  rpc Watch(Order) returns (stream Order);
  rpc Upload(stream Order) returns (Order);
}
service Carts { rpc Place(Order) returns (Order); }
message Order {
  string sku = 1;
  int64 total = 2;
  repeated Line lines = 3;
  map<string, Line> by_name = 4;
  common.Money price = 5;
  google.protobuf.Timestamp at = 6;
  bytes raw = 7;
}
message Line { string user_name = 1; bool gift = 2; }
"#;
const MONEY: &str = "syntax = \"proto3\"; package common; message Money { int32 cents = 1; }";

fn source(name: &str) -> Option<String> {
    match name {
        "shop.proto" => Some(SHOP.to_owned()),
        "common/money.proto" => Some(MONEY.to_owned()),
        _ => None,
    }
}

fn method(name: &str) -> Method {
    let descriptors = Descriptors::compile(&["shop.proto"], &source).expect("the files are valid");
    // What a plan carries is the same.
    Descriptors::decode(&descriptors.encode()).expect("a set").method(name).expect("a method")
}

/// Encodes `json` and decodes it again, plain and compressed.
fn check(name: &str, json: &str, expected: &str) {
    for encoding in [RequestEncoding::Identity, RequestEncoding::Gzip] {
        let (mut body, mut text) = (Vec::new(), Vec::new());
        method(name).encode(json.as_bytes(), encoding, &mut body).expect(json);
        method(name).decode_request(&body, &mut text).expect(json);
        let text = String::from_utf8(text).expect("JSON is text");
        let values = [text.as_str(), expected].map(serde_json::from_str::<serde_json::Value>);
        let [found, wanted] = values.map(|value| value.expect("is JSON"));
        assert_eq!(found, wanted, "{json}");
        for cut in 1..body.len().min(8) {
            let error = method(name).decode_request(&body[..body.len() - cut], &mut Vec::new());
            assert!(error.is_err(), "{json}: {cut} bytes less");
        }
    }
}

fn filled(more: &str) -> String {
    let all = r#"{"sku":"","total":0,"lines":[],"byName":{},"raw":""}"#;
    let mut value: serde_json::Value = serde_json::from_str(all).expect("is JSON");
    let more: serde_json::Value = serde_json::from_str(more).expect("is JSON");
    let (Some(value_map), Some(more)) = (value.as_object_mut(), more.as_object()) else { panic!("objects") };
    value_map.extend(more.clone());
    value.to_string()
}

#[test]
fn messages_survive() {
    check("shop.Orders/Place", "", &filled("{}"));
    check(
        "Orders/Place",
        r#"{"sku":"pen","total":"9007199254740993"}"#,
        &filled(r#"{"sku":"pen","total":9007199254740993}"#),
    );
    let lines = r#"{"lines":[{"user_name":"a","gift":true},{}],"price":{"cents":5}}"#;
    let expected =
        r#"{"lines":[{"userName":"a","gift":true},{"userName":"","gift":false}],"price":{"cents":5}}"#;
    check("shop.Orders/Watch", lines, &filled(expected));
    let at = r#"{"at":"2026-01-02T03:04:05Z","raw":"AAE=","by_name":{"x":{"gift":true}}}"#;
    let expected = r#"{"at":"2026-01-02T03:04:05Z","raw":"AAE=","byName":{"x":{"userName":"","gift":true}}}"#;
    check("/shop.Orders.Place", at, &filled(expected));
    let numbers = r#"{"sku":7,"lines":[{"user_name":true}],"by_name":{"a":{"user_name":1.5}}}"#;
    let expected = r#"{"sku":"7","lines":[{"userName":"true","gift":false}],"byName":{"a":{"userName":"1.5","gift":false}}}"#;
    check("Watch", numbers, &filled(expected));
    let two = format!("[{},{}]", filled(r#"{"sku":"a"}"#), filled(r#"{"sku":"b"}"#));
    check("Upload", r#"[{"sku":"a"},{"sku":"b"}]"#, &two);
}

#[test]
fn streams_of_responses_are_lists() {
    let mut body = Vec::new();
    for json in ["{}", r#"{"sku":"b"}"#] {
        method("Watch").encode(json.as_bytes(), RequestEncoding::Identity, &mut body).expect("fits");
    }
    let mut text = Vec::new();
    assert_eq!(method("Watch").decode(&body, &mut text), Ok(2));
    assert!(text.starts_with(b"[{") && text.ends_with(b"}]"), "{}", text.escape_ascii());
    let several = method("shop.Orders/Place").decode(&body, &mut Vec::new()).expect_err("two messages");
    assert!(several.to_string().contains("2 messages"), "{several}");
    assert_eq!(method("shop.Orders/Place").decode(b"", &mut Vec::new()), Ok(0));
}

#[test]
fn unknown_names_have_suggestions() {
    let check = |name: &str, message: &str, hint: &str| {
        let descriptors = Descriptors::compile(&["shop.proto"], &source).expect("valid");
        let error = descriptors.method(name).expect_err(name);
        assert!(error.message.contains(message), "{error}");
        assert!(error.hint.contains(hint), "{error}");
    };
    check("shop.Orders/Plaec", "no service has a method", "did you mean shop.Orders/Place?");
    check("Place", "several services", "shop.Orders/Place, shop.Carts/Place");
    let check = |json: &str, message: &str, hint: &str| {
        let value = serde_json::from_str(json).expect("is JSON");
        let error = method("Watch").check_names(&value).expect_err(json);
        assert!(error.message.contains(message) && error.hint.contains(hint), "{error}");
    };
    check(r#"{"skku":1}"#, "the message shop.Order has no field `skku`", "did you mean sku?");
    check(r#"{"lines":[{},{"gft":1}]}"#, "shop.Line has no field `gft`", "did you mean gift?");
    check(r#"{"by_name":{"any":{"x":1}}}"#, "shop.Line has no field `x`", "user_name, gift");
    let fits = r#"{"byName":{"gft":{"userName":1}},"at":{"x":1}}"#;
    assert_eq!(method("Watch").check_names(&serde_json::from_str(fits).expect("JSON")), Ok(()));
}

#[test]
fn bad_messages_and_files_are_errors() {
    let check = |json: &str, why: &str| {
        let error = method("Watch").encode(json.as_bytes(), RequestEncoding::Identity, &mut Vec::new());
        let error = error.expect_err(json).to_string();
        assert!(error.contains(why) && !error.contains('\n'), "{error}");
    };
    check("{", "EOF");
    check(r#"{"total":"x"}"#, "invalid");
    check(r#"{"lines":{}}"#, "expected");
    check("{} {}", "trailing");
    let check = |text: &'static str, why: &str| {
        let source = |name: &str| (name == "a.proto").then(|| text.to_owned());
        let error = Descriptors::compile(&["a.proto"], &source).expect_err(text);
        assert!(error.message.contains(why) && !error.message.contains('\n'), "{error}");
    };
    check("syntax = \"proto3\";\nmessage A { strin a = 1; }", "a.proto:2:");
    check("syntax = \"proto3\";\nimport \"b.proto\";", "b.proto");
    check("message", "a.proto: expected");
    assert!(Descriptors::decode(b"\xff\xff").is_err());
}

/// What little can become is limited: all messages of a body together, and their JSON.
#[test]
fn bombs_end_at_the_limit() {
    let mut bomb = Vec::new();
    // A field of bytes with a MiB of zeros, and of text that is six times as long in JSON.
    let message = |field: u8, byte: u8| {
        let mut bytes = vec![field << 3 | 2, 0x80, 0x80, 0x40];
        bytes.resize(4 + (1 << 20), byte);
        bytes
    };
    let mut append = |frames: usize, gzip: bool, message: &[u8]| {
        bomb.clear();
        for _ in 0..frames {
            let write = |out: &mut Vec<u8>| {
                out.extend_from_slice(message);
                Ok::<(), ()>(())
            };
            wavetank_grpc::push_frame(&mut bomb, gzip, write).expect("it fits");
        }
        let mut json = Vec::new();
        (method("Watch").decode(&bomb, &mut json), bomb.len(), json.len())
    };
    let (decoded, _, length) = append(15, true, &message(7, 0));
    assert_eq!(decoded, Ok(15));
    assert!(length > 15 << 20, "{length} bytes");
    let (decoded, length, _) = append(16, true, &message(7, 0));
    assert_eq!(decoded, Err(MessageError::TooLarge), "16 messages of a MiB and some bytes");
    assert!(length < 200_000, "{length} bytes");
    let (decoded, _, json) = append(11, false, &message(1, 1));
    assert_eq!(decoded, Err(MessageError::TooLarge));
    assert!((60 << 20..=64 << 20).contains(&json), "{json} bytes");
}

/// Bodies with any byte changed, or with any end missing, are read or refused.
#[test]
fn damaged_bodies_do_no_harm() {
    let message = b"\x0a\x01a\x12\x02\x00\xff\x1a\x03\x01\x80\x02\x22\x05\x0a\x01k\x12\x00\x2a\x02\x30\x01\x41\x00\x00\x00\x00\x00\x00\xf0\x3f";
    let mut body = Vec::new();
    for gzip in [false, true] {
        let write = |out: &mut Vec<u8>| {
            out.extend_from_slice(message);
            Ok::<(), ()>(())
        };
        wavetank_grpc::push_frame(&mut body, gzip, write).expect("it fits");
    }
    fuzzing::messages(&body);
    for place in 0..body.len() {
        fuzzing::messages(&body[..place]);
        for change in 1..=255 {
            let mut damaged = body.clone();
            damaged[place] ^= change;
            fuzzing::messages(&damaged);
        }
    }
}
