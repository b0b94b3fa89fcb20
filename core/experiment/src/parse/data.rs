//! `data`.

use std::collections::BTreeSet;
use wavetank_units::Code;

use wavetank_grammar::{Entry, Node, NodeKind};

use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{DataContent, DataFile, DataSource, RowOrder, Value};

const ROWS: [(&str, RowOrder); 4] = [
    ("in_order", RowOrder::InOrder),
    ("random", RowOrder::Random),
    ("unique", RowOrder::Unique),
    ("per_user", RowOrder::PerUser),
];
/// Maximum number of columns, since they are looked up by name in every row.
const COLUMNS_MAX: usize = 1_000;
const SHAPE: &str = "accounts: {file: accounts.csv, row: unique}, or {rows: [{user: ann}, {user: bob}]}";

impl Parser<'_> {
    /// `data:`.
    pub(super) fn data(&mut self, node: &Node) -> Vec<DataSource> {
        if let Some(file) = node.scalar().map(|scalar| &scalar.text).filter(|text| text.contains('.')) {
            let hint = format!("data: {{rows: {{file: {file}}}}}, and ${{rows.COLUMN}} in steps");
            self.fail::<()>(
                Code::NotAMap,
                node.place,
                format!("data has named sources, not `{file}` alone"),
                hint,
            );
            return Vec::new();
        }
        let entries = self.entries(node, "data");
        entries.iter().filter_map(|entry| self.data_source(entry)).collect()
    }

    fn data_source(&mut self, entry: &Entry) -> Option<DataSource> {
        let name = self.user_defined_name(entry, "data")?;
        if name.value.contains('.') || ["count", "env", "secret"].contains(&name.value.as_str()) {
            let message = format!("`{}` cannot be distinguished from other names in ${{…}}", name.value);
            return self.fail(Code::BadName, name.place, message, "letters, digits and _: accounts");
        }
        let node = &entry.value;
        let in_rows = node.get("rows").is_some();
        if in_rows && node.get("file").is_some() {
            return self.fail(
                Code::DataSource,
                entry.place,
                "data has both file and rows",
                "keep one of the two",
            );
        }
        if !in_rows && node.get("file").is_none() {
            return self.fail(Code::DataSource, entry.place, "data needs file or rows", SHAPE);
        }
        let room = if in_rows { MapName::DataRows } else { MapName::DataFile };
        let mut keys = Keys::open(self, node, room)?;
        let row = keys
            .take("row")
            .and_then(|node| self.one_of(node, "way to take rows", &ROWS))
            .unwrap_or_default();
        let columns = keys.take("columns").map(|node| self.columns(node)).unwrap_or_default();
        let content = if in_rows {
            let rows = keys.take("rows").map(|node| self.rows(node, columns));
            rows.flatten()
        } else {
            let file = keys.take("file").and_then(|node| self.file_name(node));
            let separator = keys.take("separator").and_then(|node| self.separator(node));
            let encoding =
                keys.take("encoding").and_then(|node| self.text(node, "an encoding")).map(|at| at.value);
            file.map(|file| DataContent::File(DataFile { file, columns, separator, encoding }))
        };
        keys.finish();
        Some(DataSource { name: name.value, place: name.place, row, content: content? })
    }

    fn columns(&mut self, node: &Node) -> Vec<String> {
        let names = self.each(node, |reader, item| reader.name(item, "a column"));
        let mut seen = BTreeSet::new();
        for name in &names {
            if !seen.insert(name.value.as_str()) {
                let message = format!("the column `{}` is listed twice", name.value);
                self.fail::<()>(Code::ColumnDuplicate, name.place, message, "every column has its own name");
            }
        }
        names.into_iter().map(|name| name.value).collect()
    }

    fn separator(&mut self, node: &Node) -> Option<char> {
        let text = self.text(node, "a separator")?;
        let mut letters = text.value.chars();
        match (text.value.as_str(), letters.next(), letters.next()) {
            ("\\t" | "tab", ..) => Some('\t'),
            (_, Some(letter), None) if letter != '"' && letter != '\n' => Some(letter),
            _ => {
                let message = format!("`{}` is not a separator", text.value);
                self.fail(Code::BadSeparator, text.place, message, "one character: \";\", \"\\t\", \"|\"")
            }
        }
    }

    fn rows(&mut self, node: &Node, mut columns: Vec<String>) -> Option<DataContent> {
        let items = self.list(node, "rows");
        let mut rows = Vec::with_capacity(items.len());
        if let Some(NodeKind::Map(first)) = items.first().map(|item| &item.kind)
            && columns.is_empty()
        {
            columns = first.iter().map(|entry| entry.key.clone()).collect();
        }
        if columns.is_empty() {
            columns.push("value".to_owned());
        }
        if columns.len() > COLUMNS_MAX {
            let message = format!("{} columns; rows have at most {COLUMNS_MAX}", columns.len());
            return self.fail(Code::TooMany, node.place, message, "name only those that are used");
        }
        for item in items {
            rows.push(self.row(item, &columns)?);
        }
        if rows.is_empty() {
            return self.fail(Code::DataEmpty, node.place, "there are no rows", SHAPE);
        }
        Some(DataContent::Rows { columns, rows })
    }

    fn row(&mut self, item: &Node, columns: &[String]) -> Option<Vec<Value>> {
        let row = match &item.kind {
            NodeKind::Scalar(_) => vec![self.value(item)?],
            NodeKind::List(values) => {
                values.iter().map(|value| self.value(value)).collect::<Option<Vec<_>>>()?
            }
            NodeKind::Map(entries) => {
                let strange = entries.iter().find(|entry| !columns.contains(&entry.key));
                if let Some(strange) = strange {
                    let message = format!("the first row has no column `{}`", strange.key);
                    let hint = format!("every row has: {}", columns.join(", "));
                    return self.fail(Code::ColumnUnknown, strange.place, message, hint);
                }
                let mut row = Vec::with_capacity(columns.len());
                for column in columns {
                    let Some(value) = item.get(column) else { break };
                    row.push(self.value(value)?);
                }
                row
            }
        };
        if row.len() != columns.len() {
            let message =
                format!("this row has {} values, but there are {} columns", row.len(), columns.len());
            return self.fail(
                Code::RowLength,
                item.place,
                message,
                format!("give a value for each of: {}", columns.join(", ")),
            );
        }
        Some(row)
    }
}
