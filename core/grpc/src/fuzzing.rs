//! Fuzz targets as plain functions, for stable Rust and cargo-fuzz alike.

use std::sync::LazyLock;

use crate::{Descriptors, Method, Reflection};

/// Reads `data` as the answers of a server to reflection: rounds of one byte for the status, two
/// for the length, and the body.
pub fn reflection(data: &[u8]) {
    let (mut asks, mut rest) = (Reflection::new(), data);
    while let Some((&[status, high, low], bytes)) = rest.split_first_chunk()
        && let Some((path, question)) = asks.next_request()
    {
        assert!(path.starts_with("/grpc.reflection.") && !question.is_empty(), "{path}");
        let (body, behind) = bytes.split_at(usize::from(u16::from_be_bytes([high, low])).min(bytes.len()));
        rest = behind;
        if asks.read_response(u16::from(status), body).is_err() {
            return;
        }
    }
    if let Ok(set) = asks.into_descriptors() {
        // Whatever a server describes is valid or an error.
        let _ = Descriptors::decode(&set);
    }
}

/// A message with fields of every form.
const FORMS: &str = r#"
syntax = "proto3";
package forms;
service Forms { rpc One(Form) returns (Form); rpc Many(Form) returns (stream Form); }
message Form {
  string text = 1;
  bytes raw = 2;
  repeated sint64 numbers = 3;
  map<string, Form> by_name = 4;
  repeated Form children = 5;
  Kind kind = 6;
  oneof choice { double real = 7; fixed32 fixed = 8; }
}
enum Kind { NONE = 0; SOME = 1; }
"#;

static METHODS: LazyLock<[Method; 2]> = LazyLock::new(|| {
    let source = |name: &str| (name == "forms.proto").then(|| FORMS.to_owned());
    let descriptors = Descriptors::compile(&["forms.proto"], &source).expect("the file is valid");
    ["One", "Many"].map(|name| descriptors.method(name).expect("it is in the file"))
});

/// Reads `data` as the body of a response. What can be read is JSON.
pub fn messages(data: &[u8]) {
    for method in &*METHODS {
        let (mut whole, mut first) = (Vec::new(), Vec::new());
        let is_read = method.decode(data, &mut whole).is_ok_and(|count| count > 0);
        if is_read {
            let _: serde_json::Value = serde_json::from_slice(&whole).expect("it is JSON");
        }
        if method.decode_message(data, &mut first).is_ok() && !first.is_empty() {
            let _: serde_json::Value = serde_json::from_slice(&first).expect("it is JSON");
        }
    }
}
