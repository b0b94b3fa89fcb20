//! JSON paths, walked and in the tree.

use proptest::prelude::*;
use serde_json::{Value, json};
use wavetank_journey::extract::{ExtractError, Extractor, ParseCache, json_items};
use wavetank_journey::value::{JsonType, Values};

use super::{all_of, answer, check, check_miss, check_refused};

const BODY: &str = r#" {"event": {"sku": "A1", "stock": 1000, "price": 1.50, "open": true, "none": null},
    "list": [ 1, "zwei", {"x": [ ] } , [3,4] ], "odd\nname": "\u00e4\ud83d\ude00\\\"\/", "": {"": 0}, "a.b": -1e3} "#;

#[test]
fn names_and_indices_are_walked_to() {
    check(BODY, "json $.event.sku", &[(JsonType::Text, "A1")]);
    check(BODY, "json $.event.stock", &[(JsonType::Number, "1000")]);
    check(BODY, "json $['event'][\"price\"]", &[(JsonType::Number, "1.50")]);
    check(BODY, "json $.event.open", &[(JsonType::Bool, "true")]);
    check(BODY, "json $.event.none", &[(JsonType::Null, "null")]);
    check(BODY, "json $.list[1]", &[(JsonType::Text, "zwei")]);
    check(BODY, "json $.list[2].x", &[(JsonType::Json, "[ ]")]);
    check(BODY, "json $.list[3]", &[(JsonType::Json, "[3,4]")]);
    check(BODY, "json $['']['']", &[(JsonType::Number, "0")]);
    check("{\"?$..\":[1]}", "json $['?$..'][-1]", &[(JsonType::Number, "1")]);
    check(BODY, "json $['a.b']", &[(JsonType::Number, "-1e3")]);
    check(BODY, "json $['odd\\nname']", &[(JsonType::Text, "ä😀\\\"/")]);
    check("{\"\\u0061b\":1}", "json $.ab", &[(JsonType::Number, "1")]);
    check("\"x\"", "json $", &[(JsonType::Text, "x")]);
    for missing in
        ["$.event.sku.x", "$.sku", "$.list[4]", "$.list.x", "$.event[0]", "$.list[2].x[0]", "$.event.sku[0]"]
    {
        check_miss(BODY, &format!("json {missing}"), ExtractError::NotFound);
    }
}

#[test]
fn a_byte_order_mark_is_left_out() {
    let marked = format!("\u{feff}{BODY}");
    check(&marked, "json $.event.sku", &[(JsonType::Text, "A1")]);
    check(&marked, "json $..sku", &[(JsonType::Text, "A1")]);
    check(&marked, "json $..stock", &[(JsonType::Number, "1000")]);
}

#[test]
fn the_last_of_two_equal_names_counts() {
    let body = "{\"a\": {\"b\": 1}, \"\\u0061\": {\"b\": 2, \"c\": [], \"b\": 3}, \"d\": 4}";
    check(body, "json $.a.b", &[(JsonType::Number, "3")]);
    check(body, "json $..d", &[(JsonType::Number, "4")]);
    check("[{\"a\":1,\"a\":null}, 2]", "json $[0].a", &[(JsonType::Null, "null")]);
    check("[{\"a\":1,\"a\":null}, 2]", "json $[0]['a', 'b']", &[(JsonType::Null, "null")]);
}

#[test]
fn long_whole_numbers_are_exact() {
    let body = "{\"a\": 9007199254740993, \"b\": [18446744073709551615]}";
    check(body, "json $.a", &[(JsonType::Number, "9007199254740993")]);
    check(body, "json $..a", &[(JsonType::Number, "9007199254740993")]);
    check(body, "json $.b[*]", &[(JsonType::Number, "18446744073709551615")]);
}

#[test]
fn everything_else_is_asked_of_the_tree() {
    check(
        BODY,
        "json $.list[*]",
        &[
            (JsonType::Number, "1"),
            (JsonType::Text, "zwei"),
            (JsonType::Json, "{\"x\":[]}"),
            (JsonType::Json, "[3,4]"),
        ],
    );
    check(BODY, "json $.list[-1][1]", &[(JsonType::Number, "4")]);
    check(BODY, "json $..sku", &[(JsonType::Text, "A1")]);
    check(BODY, "json $.event['sku','open']", &[(JsonType::Text, "A1"), (JsonType::Bool, "true")]);
    check("[{\"a\":1,\"b\":2},{\"a\":3,\"b\":4}]", "json $[?@.a > 2].b", &[(JsonType::Number, "4")]);
    check_miss(BODY, "json $.list[9:]", ExtractError::NotFound);
    let long = "[{\"id\":9007199254740993,\"n9007199254740993\":1},{\"id\":9007199254740991,\"n\":2}]";
    check(long, "json $[?@.id == 9007199254740991].n", &[(JsonType::Number, "2")]);
    check(long, "json $[?@.id == 9007199254740991 || @.id < 1e-3].n", &[(JsonType::Number, "2")]);
    check(long, "json $[?@.n9007199254740993].id", &[(JsonType::Number, "9007199254740993")]);
    check(long, "json $[?@.n == 2 && '9007199254740993' != @.n].n", &[(JsonType::Number, "2")]);
}

#[test]
fn what_is_no_json_is_said() {
    for body in [
        "",
        "<html>",
        "{\"a\"",
        "{\"a\" 1}",
        "{\"b\":1 \"a\":2}",
        "{\"b\":[1},\"a\":2}",
        "{\"a\":01}",
        "{\"a\":tru}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\n\"}",
        "{\"a\":-}",
        "{\"a\":1.}",
        "{\"a\":1e}",
        "{\"b\":}",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{\"a\":1,\"b\"",
        "{\"a\":1}}",
        "{\"a\":1}\n{\"a\":2}",
    ] {
        check_miss(body, "json $.a", ExtractError::NotJson);
        check_miss(body, "json $..a", ExtractError::NotJson);
    }
    for body in ["[1", "[1,", "[1,]", "[1] 2", "[1, 2}", "[1 2]"] {
        check_miss(body, "json $[0]", ExtractError::NotJson);
        check_miss(body, "json $[-1]", ExtractError::NotJson);
    }
    check_miss("1 2", "json $", ExtractError::NotJson);
    let deep = format!("{{\"b\":{}1{},\"a\":1}}", "[".repeat(200), "]".repeat(200));
    check_miss(&deep, "json $.a", ExtractError::NotJson);
    check_miss(&"[".repeat(1_000_000), "json $.a", ExtractError::NotJson);
    check_miss(&format!("{{\"b\":{}", "[".repeat(1_000_000)), "json $.a", ExtractError::NotJson);
}

#[test]
fn paths_that_are_none_or_cost_too_much_are_refused() {
    check_refused(
        "json event.sku",
        "extract_json",
        "`event.sku` is not a JSON path",
        "start the path with `$`",
    );
    check_refused("json $.event-1", "extract_json", "is not a JSON path", "$['event-1']");
    check_refused("json $.a[", "extract_json", "is not a JSON path", "RFC 9535");
    check_refused("json $..a..b..c", "extract_json", "many times", "two `..`");
    check_refused("json $[?@..a]", "extract_json", "many times", "filter");
    check_refused("json $[?$.a == @.b]", "extract_json", "many times", "filter");
    for number in
        ["9007199254740993", "-9007199254740993", "9007199254740992.0", "1e17", "18446744073709551615"]
    {
        check_refused(&format!("json $[?@.id == {number}]"), "extract_json", "exactly", "in `check`");
    }
    check_refused(
        &format!("json $[?{}@.a{}]", "(".repeat(50), ")".repeat(50)),
        "extract_json",
        "too deep",
        "more direct",
    );
    check_refused(&format!("json ${}", ".a".repeat(600)), "extract_json", "too long", "more direct");
}

#[test]
fn a_list_that_is_a_value_is_taken_apart() {
    let check = |text: &str, count_max, expected: Result<&[&str], ExtractError>| {
        let mut finds = Values::default();
        let found = json_items(text.as_bytes(), count_max, &mut finds).map(|count| {
            assert_eq!(count, finds.len());
            finds.iter().map(|found| String::from_utf8_lossy(found.text).into_owned()).collect::<Vec<_>>()
        });
        assert_eq!(
            found,
            expected.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect()),
            "{text}"
        );
    };
    check("[]", 9, Ok(&[]));
    check(" [ 1 , \"a\\n\", [2, 3],{} ]", 9, Ok(&["1", "a\n", "[2, 3]", "{}"]));
    check("[1,2,3]", 2, Ok(&["1", "2"]));
    check("[1,]", 9, Err(ExtractError::NotJson));
    check("{}", 9, Err(ExtractError::NotJson));
    check("[1", 9, Err(ExtractError::NotJson));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Halves and eighths: the tree's numbers are not exact to the last bit.
        any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        let name = prop_oneof!["[ab]", any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// A path to somewhere in `value`, led by `steps`, and what is there.
fn descend<'v>(value: &'v Value, steps: &[usize]) -> (Vec<Value>, &'v Value) {
    let (mut path, mut at) = (Vec::new(), value);
    for step in steps {
        let (name, below) = match at {
            Value::Array(items) if !items.is_empty() => {
                (json!(step % items.len()), &items[step % items.len()])
            }
            Value::Object(map) if !map.is_empty() => {
                let (name, below) = map.iter().nth(step % map.len()).expect("is inside");
                (json!(name), below)
            }
            _ => break,
        };
        path.push(name);
        at = below;
    }
    (path, at)
}

proptest! {
    /// The walk and the library find the same, however the document is laid out.
    #[test]
    fn the_walk_agrees_with_the_tree(value in any_json(), steps in prop::collection::vec(0..9_usize, 0..5), pretty: bool, wrong in 0..4_u8) {
        let (mut path, expected) = descend(&value, &steps);
        if wrong == 0 {
            path.push(json!("a"));
        }
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.expect("is JSON");
        let segments: Vec<String> = path.iter().map(|step| match step {
            Value::String(name) => format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'")),
            step => step.to_string(),
        }).collect();
        let simple: String = segments.iter().map(|segment| format!("[{segment}]")).collect::<Vec<_>>().concat();
        let Ok(walked) = Extractor::parse(&format!("json ${simple}")) else { return Ok(()) };
        let mut finds = Values::default();
        let found = walked.first(&answer(b"", text.as_bytes()), &mut ParseCache::default(), &mut finds);
        // The same path, made general by a union with itself at its last step: the tree answers.
        let general = match segments.last() {
            Some(last) => {
                let before = &simple[..simple.len() - last.len() - 2];
                all_of(&format!("json ${before}[{last},{last}]"), &answer(b"", text.as_bytes()))
            }
            None => Ok(vec![]),
        };
        match (found, finds.first()) {
            (Ok(()), Some(first)) => {
                let as_value = |kind, text: &str| if kind == JsonType::Text { json!(text) } else { serde_json::from_str(text).expect("is JSON") };
                let found: Value = as_value(first.kind, std::str::from_utf8(first.text).expect("is text"));
                if wrong != 0 {
                    prop_assert_eq!(&found, expected);
                }
                if let Ok(general) = general && let Some((kind, text)) = general.first() {
                    prop_assert_eq!(first.kind, *kind);
                    prop_assert_eq!(found, as_value(*kind, text));
                }
            }
            (Err(miss), _) => {
                prop_assert_eq!(miss, ExtractError::NotFound);
                prop_assert_eq!(wrong, 0);
                prop_assert_eq!(general, Err(ExtractError::NotFound));
            }
            (Ok(()), None) => prop_assert!(false, "a match is reported but missing"),
        }
    }
}
