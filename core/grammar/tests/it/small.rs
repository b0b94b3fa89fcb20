//! A grammar of two maps: what its table alone makes of a file, a schema and a page.

use serde_json::{Map, Value, json};
use wavetank_grammar::json_schema_values::pattern_or_variable;
use wavetank_grammar::{
    CustomKind, Diagnostics, ErrorHints, FormatSignature, Grammar, MapReader, MapSchema, Node, TreeReader,
    ValueKind, detect_format, key, markdown_docs, parse_yaml, render, required, schema, text_of,
};

/// A list of what to buy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shopping {
    List,
    Thing,
}

/// A price: `3 EUR`.
struct Price;

impl CustomKind for Price {
    fn takes(&self) -> &'static str {
        "a price"
    }

    fn shape(&self) -> Value {
        pattern_or_variable::<Shopping>(r"\d+ EUR")
    }
}

static LIST: MapSchema<Shopping> = MapSchema {
    name: "a list",
    title: "The list",
    about: "What to buy.",
    keys: &[
        required("shopping", ValueKind::Version, "Version of this grammar."),
        key("things", ValueKind::Map(&ValueKind::Is(Shopping::Thing)), "The things by their names."),
    ],
    verbs: &[],
};

static THING: MapSchema<Shopping> = MapSchema {
    name: "a thing",
    title: "Things",
    about: "One of them.",
    keys: &[
        required("price", ValueKind::Own(Price), "What it costs."),
        key("shop", ValueKind::Word(&["market", "1.1"]), "Where: market|1.1."),
        key("within", ValueKind::Duration, "How soon."),
    ],
    verbs: &["price"],
};

impl Grammar for Shopping {
    type Own = Price;

    const ALL: &'static [Self] = &[Self::List, Self::Thing];
    const FILE: Self = Self::List;
    const TITLE: &'static str = "Shopping, version 1";
    const ADVICE: ErrorHints = ErrorHints {
        a_file: "a list",
        empty: "begin with milk",
        documents: "one list a file",
        deep: "not so deep",
        map: "{price: 1 EUR}",
        line: "price: 1 EUR",
        alias: "name it once",
        merge: "write it out",
        long: "buy less",
    };
    const SYNONYMS: &'static [(&'static str, &'static str)] = &[("cost", "price: 3 EUR")];
    const VARIABLE: Option<&'static str> = Some("@.+");

    fn section(self) -> &'static MapSchema<Self> {
        match self {
            Self::List => &LIST,
            Self::Thing => &THING,
        }
    }

    fn definition(self) -> String {
        self.section().title.to_lowercase()
    }

    fn name_shape() -> Value {
        pattern_or_variable::<Self>("[a-z]+")
    }
}

#[derive(Default)]
struct Reader(Diagnostics);

impl TreeReader for Reader {
    fn out(&mut self) -> &mut Diagnostics {
        &mut self.0
    }
}

fn read(reader: &mut Reader, root: &Node) -> Option<()> {
    let mut list = MapReader::open(reader, root, Shopping::List)?;
    list.version(reader, "shopping");
    let things = list.take("things").map(|node| reader.entries(node, "things")).unwrap_or_default();
    for thing in things {
        let Some(mut keys) = MapReader::open(reader, &thing.value, Shopping::Thing) else { continue };
        keys.require(reader, "price").and_then(|node| reader.text(node, "a price"));
        keys.take("shop").and_then(|node| reader.one_of(node, "shop", &[("market", 1), ("1.1", 2)]));
        keys.take("within").and_then(|node| reader.duration_positive(node));
        keys.finish();
    }
    list.finish();
    Some(())
}

/// Panics unless exactly these diagnostics are reported for a file, each with its line, its column
/// and its hint.
#[track_caller]
fn check(text: &str, reported: &[&str]) {
    let advice = &Shopping::ADVICE;
    let (root, remarks) = parse_yaml(text_of(text.as_bytes(), advice).expect("is text"), advice);
    let mut reader = Reader::default();
    for remark in remarks {
        reader.0.push(remark);
    }
    let _ = root.and_then(|root| read(&mut reader, &root));
    let shown = |one: &&wavetank_grammar::Diagnostic| {
        let place = one.place.map(|place| format!("{}:{} ", place.line, place.column)).unwrap_or_default();
        format!("{place}{}: {}; {}", one.code, one.message, one.hint)
    };
    let found: Vec<String> = reader.0.sorted().iter().map(shown).collect();
    assert_eq!(found, reported, "{}", render(&reader.0, "list.yaml", text));
}

#[test]
fn keys_are_read_by_the_table() {
    check("shopping: 1\nthings: {milk: {price: 1 EUR, shop: market, within: 10m}}\n", &[]);
    check(
        "shopping: 2\nthing: {}\n",
        &[
            "1:11 version_unknown: version `2` of the grammar is unknown; shopping: 1",
            "2:1 key_unknown: a list has no key `thing`; did you mean things?",
        ],
    );
    check(
        "things:\n  milk: {cost: 1, things: 1, <<: 2, colour: red, shop: home, within: \"10:30\"}\n",
        &[
            "1:1 key_missing: a list needs `shopping`; shopping: 1 as the first line",
            "2:10 key_unknown: a thing has no key `cost`; here it is called price: 3 EUR",
            "2:10 key_missing: a thing needs `price`; price: … What it costs.",
            "2:19 key_unknown: a thing has no key `things`; `things` belongs to a list",
            "2:30 key_unknown: a thing has no key `<<`; write it out",
            "2:37 key_unknown: a thing has no key `colour`; a thing has: price, shop, within",
            "2:56 word_unknown: `home` is not a valid shop; one of: market, 1.1",
            "2:70 unit_missing: `10:30`: a duration needs units; 10m30s?",
        ],
    );
    check(
        "things: {milk: {price: 1 EUR\n",
        &["1:16 yaml_brackets: the brackets do not match, or a comma is missing; close each { and [, and \
             separate entries with commas: {price: 1 EUR}"],
    );
    check("", &["file_empty: the file is empty; begin with milk"]);
    check(
        "- 1\n",
        &["1:3 not_a_map: a list must be a map of keys, not a list; use keys such as shopping:, things:"],
    );
}

#[test]
fn files_of_others_are_known_by_their_keys() {
    const KNOWN: [FormatSignature; 2] = [(&["a", "b"], "an alphabet", "go on"), (&["a"], "a letter", "stop")];
    let reported = |text: &str| {
        let (root, _) = parse_yaml(text, &Shopping::ADVICE);
        detect_format(&root.expect("a tree"), &KNOWN, &Shopping::ADVICE).map(|reported| reported.message)
    };
    assert_eq!(reported("b: 1\na: 1\n").as_deref(), Some("this is an alphabet, not a list"));
    assert_eq!(reported("a: 1\n").as_deref(), Some("this is a letter, not a list"));
    assert_eq!(reported("b: 1\n"), None);
}

#[test]
fn schema_and_page_are_made_of_the_table() {
    let made: Value = serde_json::from_str(&schema::<Shopping>(Map::new())).expect("is JSON");
    assert_eq!((&made["title"], &made["required"]), (&json!("Shopping, version 1"), &json!(["shopping"])));
    let things = json!({
        "type": ["object", "string"], "pattern": "^@.+$", "description": "The things by their names.",
        "additionalProperties": {"$ref": "#/$defs/things"},
    });
    assert_eq!(made["properties"]["things"], things);
    let thing = &made["$defs"]["things"];
    assert_eq!(thing["oneOf"], json!([{"required": ["price"]}]));
    assert_eq!(thing["properties"]["price"]["pattern"], r"^\d+ EUR$|@.+");
    assert_eq!(thing["properties"]["shop"]["enum"], json!(["market", "1.1", 1.1]));

    let mut written = String::new();
    markdown_docs::section(&mut written, &THING);
    let expected = "\n## Things\n\nOne of them.\n\n| key | takes | |\n|---|---|---|\n\
                    | `price` | a price | What it costs. Required. |\n\
                    | `shop` | `market`, `1.1` | Where: market\\|1.1. |\n\
                    | `within` | a duration | How soon. |\n";
    assert_eq!(written, expected);
}
