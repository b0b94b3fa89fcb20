//! [`ChartStrings`]: the charts' own texts, in each language.

/// The charts' own texts, in one language. Numbers and names are passed as text.
#[derive(Clone, Copy, Debug)]
pub struct ChartStrings {
    /// Shown if there is nothing to draw.
    pub no_data: &'static str,
    /// The chart's extent: from, until.
    pub span: fn(&str, &str) -> String,
    /// Describes a series: name, first, minimum, its instant, maximum, its instant, last. The text
    /// names no trend, because few series have one.
    pub course: fn(&str, [&str; 6]) -> String,
    /// A series that never changes: name, value.
    pub throughout: fn(&str, &str) -> String,
    /// A series without data.
    pub nothing: fn(&str) -> String,
    /// Events: a list of `label instant`.
    pub marked: fn(&str) -> String,
    /// A shaded stretch: label, from, until.
    pub shaded: fn(&str, &str, &str) -> String,
    /// A total of a layer: name, its share of all.
    pub share: fn(&str, &str) -> String,
    /// The highest of all layers together: value, when.
    pub most: fn(&str, &str) -> String,
    /// Percentiles of a curve: name, `50 % 1.2 ms, 99 % 8 ms`, how many.
    pub percentiles: fn(&str, &str, &str) -> String,
    /// The greatest of all values.
    pub max: &'static str,
    /// Why a part of a line is faint.
    pub faint: &'static str,
    /// A heat map: the fastest, the slowest, the greatest count of a cell, when, where.
    pub heat: fn([&str; 5]) -> String,
    /// Describes the scale of the heat map: the greatest count of a cell, and the factor between
    /// shades if they rise by factors.
    pub per_cell: fn(&str, Option<&str>) -> String,
    /// A point with an interval: name or place, value, low, high.
    pub between: fn(&str, &str, &str, &str) -> String,
    /// The end of a sentence.
    pub stop: &'static str,
    /// Between a sentence and the next.
    pub sentence_gap: &'static str,
    /// Between the parts of a list.
    pub comma: &'static str,
    /// Between a name and its description.
    pub colon: &'static str,
}

impl ChartStrings {
    /// English.
    pub const EN: Self = Self {
        no_data: "no data",
        span: |from, until| format!("From {from} to {until}."),
        course: |name, [first, least, when_least, most, when_most, last]| {
            format!(
                "{name}: first {first}, lowest {least} at {when_least}, highest {most} at {when_most}, last {last}."
            )
        },
        throughout: |name, value| format!("{name}: {value} throughout."),
        nothing: |name| format!("{name}: no data."),
        marked: |list| format!("Marked: {list}."),
        shaded: |label, from, until| format!("Shaded: {label}, {from} to {until}."),
        share: |name, share| format!("{name}: {share} of the total."),
        most: |value, when| format!("Total at most {value}, at {when}."),
        percentiles: |name, list, count| format!("{name}, {count} values: {list}."),
        max: "max",
        faint: "Dotted where fewer than 10 values are above.",
        heat: |[fastest, slowest, most, when, place]| {
            format!("From {fastest} to {slowest}; the fullest cell has {most}, at {when} around {place}.")
        },
        per_cell: |most, factor| match factor {
            Some(factor) => {
                format!("1 … {most} requests in a cell, each shade {factor} times the one before")
            }
            None => format!("1 … {most} requests in a cell"),
        },
        between: |name, value, low, high| format!("{name}: {value}, between {low} and {high}."),
        stop: ".",
        sentence_gap: " ",
        comma: ", ",
        colon: ": ",
    };

    /// Chinese.
    pub const ZH: Self = Self {
        no_data: "无数据",
        span: |from, until| format!("从 {from} 到 {until}。"),
        course: |name, [first, least, when_least, most, when_most, last]| {
            format!(
                "{name}：首值 {first}，最低 {least}（{when_least}），最高 {most}（{when_most}），末值 {last}。"
            )
        },
        throughout: |name, value| format!("{name}：始终为 {value}。"),
        nothing: |name| format!("{name}：无数据。"),
        marked: |list| format!("标记：{list}。"),
        shaded: |label, from, until| format!("阴影：{label}，{from} 到 {until}。"),
        share: |name, share| format!("{name}：占全部的 {share}。"),
        most: |value, when| format!("合计最高 {value}（{when}）。"),
        percentiles: |name, list, count| format!("{name}，共 {count} 个值：{list}。"),
        max: "最大",
        faint: "点线：高于此处的样本不足 10 个。",
        heat: |[fastest, slowest, most, when, place]| {
            format!("从 {fastest} 到 {slowest}；最密的格有 {most} 个，在 {when}，约 {place}。")
        },
        per_cell: |most, factor| match factor {
            Some(factor) => format!("每格 1 … {most} 个请求，每级色阶为前一级的 {factor} 倍"),
            None => format!("每格 1 … {most} 个请求"),
        },
        between: |name, value, low, high| format!("{name}：{value}，介于 {low} 与 {high} 之间。"),
        stop: "。",
        sentence_gap: "",
        comma: "，",
        colon: "：",
    };
}
