//! [`Table`]: rows of values below headings in the terms of each format.

use super::page_text::PageText;
use super::value::Value;

/// Where the terminal shows a column, on which not all of them have room.
#[derive(Clone, Copy)]
pub(crate) enum Terminal {
    /// Nowhere.
    Nowhere,
    /// Below this heading, in this number of columns of the terminal.
    Column(&'static str, usize),
    /// In brackets after the name of the row.
    AfterName,
}

/// The headings of a column, and how it is shown.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    /// The heading in Markdown; empty for a column that Markdown does not have.
    pub(crate) plain: &'static str,
    /// The heading on a page.
    pub(crate) page: PageText,
    pub(crate) terminal: Terminal,
    /// Whether the column has numbers.
    pub(crate) is_number: bool,
    /// Whether the column is left out if all its counts are zero.
    unless_zero: bool,
    /// On a page, the columns from this one on are another table with this title.
    pub(crate) begins: Option<PageText>,
}

/// A column of a table of `T`: its headings, and its value for one of them.
pub(crate) struct Column<T> {
    head: Head,
    value: fn(&T) -> Value,
}

impl<T> Column<T> {
    /// A column of text with its heading in Markdown and on a page.
    pub(crate) const fn text(plain: &'static str, page: PageText, value: fn(&T) -> Value) -> Self {
        let terminal = Terminal::Nowhere;
        let head = Head { plain, page, terminal, is_number: false, unless_zero: false, begins: None };
        Self { head, value }
    }

    /// A column of numbers with its heading in Markdown and on a page.
    pub(crate) const fn number(plain: &'static str, page: PageText, value: fn(&T) -> Value) -> Self {
        let mut column = Self::text(plain, page, value);
        column.head.is_number = true;
        column
    }

    /// The same column, also on a terminal, below `heading` and `columns` wide.
    pub(crate) const fn narrow(mut self, heading: &'static str, columns: usize) -> Self {
        self.head.terminal = Terminal::Column(heading, columns);
        self
    }

    /// The same column, on a terminal in brackets after the name.
    pub(crate) const fn after_name(mut self) -> Self {
        self.head.terminal = Terminal::AfterName;
        self
    }

    /// The same column, left out if nothing of the kind happened.
    pub(crate) const fn unless_zero(mut self) -> Self {
        self.head.unless_zero = true;
        self
    }

    /// The same column, with which another table called `title` begins on a page.
    pub(crate) const fn begins(mut self, title: PageText) -> Self {
        self.head.begins = Some(title);
        self
    }
}

/// A row: a value for each column.
pub(crate) struct Row {
    pub(crate) values: Vec<Value>,
    /// Whether a terminal leaves it out.
    pub(crate) is_wide_only: bool,
    /// Sentences that a terminal shows below the row.
    pub(crate) below: Vec<String>,
}

/// A table. The first column names its rows. A column without any content is left out.
#[derive(Default)]
pub(crate) struct Table {
    /// The name of the table, next to the headings of a terminal.
    pub(crate) label: &'static str,
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Row>,
    /// Width of the names on a terminal, if they are labels as in other lines.
    pub(crate) label_columns: Option<usize>,
    /// Most rows on a terminal, and the field of the JSON format that has all of them.
    pub(crate) terminal_rows: (usize, &'static str),
}

impl Table {
    /// A table with a row for each of `items`.
    pub(crate) fn new<'a, T: 'a>(
        label: &'static str,
        columns: &[Column<T>],
        items: impl IntoIterator<Item = &'a T>,
    ) -> Self {
        let values = |item: &T| columns.iter().map(|column| (column.value)(item)).collect();
        let row = |item| Row { values: values(item), is_wide_only: false, below: Vec::new() };
        let rows: Vec<Row> = items.into_iter().map(row).collect();
        let heads: Vec<Head> = columns.iter().map(|column| column.head).collect();
        let is_zero = |place: usize| rows.iter().all(|row: &Row| row.values[place].is_zero());
        let zeros: Vec<usize> =
            (0..heads.len()).filter(|place| heads[*place].unless_zero && is_zero(*place)).collect();
        let table = Self { label, heads, rows, label_columns: None, terminal_rows: (usize::MAX, "") };
        zeros.into_iter().fold(table, Self::without)
    }

    /// The same table with nothing in the column at `place`.
    pub(crate) fn without(mut self, place: usize) -> Self {
        self.rows.iter_mut().for_each(|row| row.values[place] = Value::Nothing);
        self
    }

    /// The same table; without rows unless `is_shown`.
    pub(crate) fn if_any(mut self, is_shown: bool) -> Self {
        self.rows.truncate(if is_shown { usize::MAX } else { 0 });
        self
    }

    /// The same table with at most `rows` rows on a terminal, which then refers to `field` of the
    /// JSON format.
    pub(crate) const fn terminal_rows(mut self, rows: usize, field: &'static str) -> Self {
        self.terminal_rows = (rows, field);
        self
    }
}

#[cfg(test)]
mod tests {
    use wavetank_record::RunRecord;

    use super::super::model::{Fact, Section};
    use super::super::page_text::PageText::{Absent, Own};
    use super::super::{add_section, markdown, page_section};
    use super::*;
    use crate::html::{HtmlSource, Language, PageContext};
    use crate::text_layout::TextLayout;

    struct Shop {
        name: &'static str,
        kind: &'static str,
        open: u64,
        robbed: u64,
    }

    type Col = Column<Shop>;

    const COLUMNS: [Col; 6] = [
        Col::text("shop", Own(["Shop", "商店"]), |shop| Value::Name(shop.name.to_owned())),
        Col::text("kind", Own(["Kind", "种类"]), |shop| Value::Name(shop.kind.to_owned())).after_name(),
        Col::number("open", Own(["Open", "营业"]), |shop| Value::Count(shop.open)).narrow("doors", 9),
        Col::number("robbed", Own(["Robbed", "被盗"]), |shop| Value::Count(shop.robbed)).unless_zero(),
        Col::number("", Own(["Only here", "仅此"]), |shop| Value::known(shop.open))
            .begins(Own(["More", "更多"])),
        Col::text("why", Absent, |_| Value::stored(["it was *closed*".to_owned()])),
    ];

    const SHOPS: [Shop; 3] = [
        Shop { name: "ba|ker", kind: "small", open: 1_200, robbed: 0 },
        Shop { name: "smith", kind: "", open: 0, robbed: 3 },
        Shop { name: "tailor", kind: "large", open: 7, robbed: 0 },
    ];

    fn section(shops: &[Shop]) -> Section {
        let mut table = Table::new("shops", &COLUMNS, shops).terminal_rows(2, "shops");
        table.rows[0].below.push("it moves".to_owned());
        let fact = Fact::named("streets", Own(["Streets", "街道"]), Value::Count(2));
        Section {
            label: "town",
            id: "town",
            title: Own(["Town", "城镇"]),
            facts: vec![Fact::plain("old".to_owned()), fact],
            terminal_notes: vec![("bells", vec!["two".to_owned()])],
            ..Section::of_table("Town", table)
        }
    }

    fn page(section: &Section, language: Language) -> String {
        let record = RunRecord::default();
        let source = HtmlSource::of_record(&record);
        let drawn = page_section(section, &PageContext::new(source, language), &maud::Markup::default());
        drawn.expect("it is not empty").render().into_string()
    }

    #[test]
    fn a_terminal_has_the_narrow_columns() {
        let mut layout = TextLayout::default();
        add_section(&mut layout, &section(&SHOPS));
        let (names, gap) = (91, " ".repeat(11));
        let expected = [
            "town       old · streets 2".to_owned(),
            format!("{:names$}{:>9}", "shops", "doors"),
            format!("{:names$}{:>9}", "  ba|ker (small)", "1,200"),
            format!("{gap}it moves"),
            format!("{:names$}{:>9}", "  smith", "0"),
            format!("{gap}1 more shops in `shops` of --format json"),
            "bells      two".to_owned(),
        ];
        assert_eq!(layout.into_text().lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn markdown_has_the_columns_with_a_plain_heading() {
        let expected = "old · streets 2\n\n\
                        | shop | kind | open | robbed | why |\n\
                        | --- | --- | ---: | ---: | --- |\n\
                        | `ba`&#124;`ker` | `small` | 1,200 | 0 | it was \\*closed\\* |\n\
                        | `smith` |  | 0 | 3 | it was \\*closed\\* |\n\
                        | `tailor` | `large` | 7 | 0 | it was \\*closed\\* |\n";
        assert_eq!(markdown(&section(&SHOPS)), expected);
        assert!(!markdown(&section(&SHOPS[..1])).contains("robbed"), "no shop was robbed");
    }

    #[test]
    fn a_page_has_its_columns_in_its_language() {
        let check = |language, present: &[&str], absent: &[&str]| {
            let page = page(&section(&SHOPS), language);
            assert!(present.iter().all(|text| page.contains(text)), "{present:?}: {page}");
            assert!(!absent.iter().any(|text| page.contains(text)), "{absent:?}: {page}");
        };
        let english = ["<dt>Streets</dt><dd>2</dd>", "Robbed", "<h3>More</h3>", "<td class=\"n\">1,200</td>"];
        check(Language::English, &english, &["closed", "old", "doors"]);
        check(Language::Chinese, &["街道", "被盗", "<h3>更多</h3>"], &["Robbed", "More"]);
        // The second table repeats the names, and has nothing for a count that is not known.
        let both = page(&section(&SHOPS), Language::English);
        assert_eq!(both.matches("<bdi>smith</bdi>").count(), 2, "{both}");
        assert!(both.contains("<bdi>smith</bdi></th><td class=\"n\"></td>"), "{both}");
    }
}
