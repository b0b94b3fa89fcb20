//! Rows of data.

use wavetank_grammar::{key, required};

use super::CustomKind::Value;
use super::{Key, Kind, Section};

const ROW: Key = key(
    "row",
    Kind::Word(&["in_order", "random", "unique", "per_user"]),
    "Which row a session uses: in_order (default; restarts at the end), random, unique (each once \
     in the whole run), per_user (each user keeps its own).",
);

/// Rows in a file.
pub(crate) static DATA_FILE: Section = Section {
    name: "data",
    title: "Data in a file",
    about: "CSV with a header line, or JSON lines (.jsonl). A byte-order mark is ignored.",
    keys: &[
        required("file", Kind::File, "The file's name, relative to the experiment's folder."),
        ROW,
        key("columns", Kind::OneOrList(&Kind::Name), "Column names for a file without a header line."),
        key("separator", Kind::Text, "Column separator, one character; default \",\"."),
        key("encoding", Kind::Text, "Text encoding, for example latin1; default utf-8."),
    ],
    verbs: &[],
};

/// Rows in the experiment itself.
pub(crate) static DATA_ROWS: Section = Section {
    name: "data",
    title: "Data in the experiment",
    about: "Rows in the experiment file: maps from column to value, or lists together with columns.",
    keys: &[
        required(
            "rows",
            Kind::List(&Kind::Either(&[
                Kind::Map(&Kind::Own(Value)),
                Kind::List(&Kind::Own(Value)),
                Kind::Text,
            ])),
            "The rows.",
        ),
        ROW,
        key("columns", Kind::OneOrList(&Kind::Name), "Column names, if rows are lists."),
    ],
    verbs: &[],
};
