//! [`Figure`]: a chart under construction.

use std::fmt::Write as _;

use super::color::{ColorRole, marker};
use super::frame::Frame;
use super::labels::{Anchor, Label, WIDTHS, cut};
use super::scale::Scale;
use super::strings::ChartStrings;
use super::svg::{escape, id, num, percent};

/// Units across a nested, stretched drawing.
pub(super) const ACROSS: f64 = 1_000.0;
/// Factor by which an axis extends at least beyond a limit, so that the limit line is not drawn on
/// the axis end.
pub(super) const LIMIT_ROOM: f64 = 1.08;
/// Pixels for a label of the vertical axis, including the gap to the next label.
const NAME_ROOM: usize = 25;
/// The least height of a plot, in pixels.
const HEIGHT_MIN: u32 = 60;
/// Most entries of a key. The names of the others are in the table next to the chart.
const KEY_MAX: usize = 24;

/// A chart under construction: title, key, description and drawing.
pub(super) struct Figure<'a> {
    frame: Frame<'a>,
    id: String,
    key: String,
    keys: usize,
    said: Vec<String>,
    body: String,
    /// Additional CSS classes of the plot.
    wide: &'static str,
    /// Whether there are two rows of labels above the plot.
    tall: bool,
}

impl<'a> Figure<'a> {
    pub(super) fn new(frame: Frame<'a>) -> Self {
        Self {
            frame: Frame { height: frame.height.clamp(HEIGHT_MIN, 10_000), ..frame },
            id: id(frame.id),
            key: String::new(),
            keys: 0,
            said: Vec::new(),
            body: String::new(),
            wide: "",
            tall: false,
        }
    }

    /// The same figure with other margins, given as classes of the style sheet. `wide` has no room
    /// for labels on the left, `named` has room for the name of the horizontal axis.
    pub(super) fn wide(self, wide: &'static str) -> Self {
        Self { wide, ..self }
    }

    /// Room for a second row of labels above the plot.
    pub(super) fn make_room_above(&mut self) {
        self.tall = true;
    }

    /// The beginning of names inside the figure.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn labels(&self) -> &'a ChartStrings {
        self.frame.words
    }

    /// Pixels of the plot from top to bottom.
    pub(super) fn height(&self) -> u32 {
        self.frame.height
    }

    /// The pixel of a place on the vertical axis.
    pub(super) fn y(&self, at: f64) -> f64 {
        f64::from(self.frame.height) * (1.0 - at)
    }

    /// Adds a sentence for readers who cannot see the chart.
    pub(super) fn add_description(&mut self, sentence: String) {
        self.said.push(sentence);
    }

    /// Adds drawing code unchanged; texts in it must be escaped already.
    pub(super) fn push(&mut self, svg: &str) {
        self.body.push_str(svg);
    }

    /// A text at a horizontal place, `y` pixels below the top.
    pub(super) fn text(&mut self, class: &str, label: &Label, y: f64) {
        let anchor = match label.anchor {
            Anchor::Middle => "",
            Anchor::Start => " start",
            Anchor::End => " end",
        };
        let level = level(label.level);
        let (x, y, text) = (percent(label.at), num(y), escape(&label.text));
        self.push(&format!("<text class=\"{class}{anchor}{level}\" x=\"{x}\" y=\"{y}\">{text}</text>"));
    }

    /// A tick and its text below the plot.
    pub(super) fn tick(&mut self, label: &Label) {
        let (x, height) = (percent(label.at), self.height());
        let (level_class, below) = (level(label.level), height + 5);
        self.push(&format!(
            "<line class=\"tick{level_class}\" x1=\"{x}\" x2=\"{x}\" y1=\"{height}\" y2=\"{below}\"/>"
        ));
        self.text("x", label, f64::from(height) + 18.0);
    }

    /// Horizontal lines at the ticks of the vertical axis, with their texts on the left.
    pub(super) fn grid(&mut self, scale: &Scale) {
        // The names of the steps are all that distinguishes the ticks of a logarithmic axis.
        let most = if scale.log { self.height() as usize / NAME_ROOM } else { self.ticks_upwards() };
        for (at, text) in scale.ticks(most) {
            let y = num(self.y(at));
            let base = if at == 0.0 { " base" } else { "" };
            self.push(&format!(
                "<line class=\"grid{base}\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/><text class=\"y\" x=\"-8\" y=\"{y}\" \
                 dy=\".35em\">{}</text>",
                escape(&text)
            ));
        }
    }

    /// Draws limits across the plot, each with its name in the key. A name in the plot would hide
    /// the values that cross the limit.
    pub(super) fn limits(&mut self, limits: &[(String, f64)], scale: &Scale) {
        for (number, (name, value)) in limits.iter().filter(|(_, value)| value.is_finite()).enumerate() {
            let y = num(self.y(scale.position(*value)));
            // The first limit has its own dashes; the tooltips distinguish the others.
            let class = if number == 0 { "limit" } else { "limit more" };
            self.push(&format!(
                "<line class=\"{class}\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"><title>{}</title></line>",
                escape(name)
            ));
            self.key_item(&cut(name, WIDTHS[0]), &format!("<path class=\"{class}\" d=\"M0 6h30\"/>"), 30);
        }
    }

    /// Number of labels that the vertical axis has room for.
    pub(super) fn ticks_upwards(&self) -> usize {
        (self.height() as usize / 45).clamp(2, 8)
    }

    /// A drawing that is stretched horizontally: [`ACROSS`] units wide, pixels vertically.
    pub(super) fn stretched(&mut self, class: &str, draw: impl FnOnce(&mut Self)) {
        let height = self.height();
        self.push(&format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {ACROSS} {height}\" preserveAspectRatio=\"none\" width=\"100%\" \
             height=\"{height}\">"
        ));
        draw(self);
        self.push("</svg>");
    }

    /// The marker of the `number`-th series at a horizontal place and a pixel below the top.
    pub(super) fn marker(&mut self, number: usize, tone: ColorRole, at: f64, y: f64) {
        let (x, y) = (percent(at), num(y));
        let (classes, shape) = (tone.classes(number), marker(number));
        self.push(&format!("<svg x=\"{x}\" y=\"{y}\"><path class=\"m {classes}\" d=\"{shape}\"/></svg>"));
    }

    /// A filled marker with the tooltip `title`.
    pub(super) fn point(&mut self, number: usize, tone: ColorRole, at: f64, y: f64, title: &str) {
        let (x, y, title) = (percent(at), num(y), escape(title));
        let (classes, shape) = (tone.classes(number), marker(number));
        self.push(&format!(
            "<svg x=\"{x}\" y=\"{y}\"><path class=\"m {classes}\" d=\"{shape}\"/><circle class=\"hit\" \
             r=\"9\"><title>{title}</title></circle></svg>"
        ));
    }

    /// Adds a series to the key: its line, dotted if all of it is, and its marker. A plan has no
    /// marker.
    pub(super) fn key_line(&mut self, name: &str, number: usize, tone: ColorRole, dotted: bool) {
        let classes = tone.classes(number);
        let dots = if dotted { " faint" } else { "" };
        let marker = match tone {
            ColorRole::Muted => String::new(),
            _ => format!(
                "<path class=\"m {classes}\" d=\"{}\" transform=\"translate(15 6)\"/>",
                marker(number)
            ),
        };
        self.key_item(name, &format!("<path class=\"l {classes}{dots}\" d=\"M0 6h30\"/>{marker}"), 30);
    }

    /// Explains dotted lines in the key.
    pub(super) fn add_uncertain_key(&mut self) {
        self.key_item(self.labels().faint, "<path class=\"l muted faint\" d=\"M0 6h30\"/>", 30);
    }

    /// Adds an entry to the key: a drawing `width` pixels wide and 12 high.
    pub(super) fn key_item(&mut self, name: &str, drawing: &str, width: u32) {
        self.keys += 1;
        if self.keys > KEY_MAX {
            return;
        }
        let _ = write!(
            self.key,
            "<li><svg width=\"{width}\" height=\"12\" aria-hidden=\"true\">{drawing}</svg>{}</li>",
            escape(name)
        );
    }

    /// Writes a text where there is nothing to draw.
    pub(super) fn no_data(&mut self) {
        let words = self.labels();
        let y = num(f64::from(self.height()) / 2.0);
        self.push(&format!("<text class=\"none\" x=\"50%\" y=\"{y}\">{}</text>", escape(words.no_data)));
        self.add_description(format!("{}{}", words.no_data, words.stop));
    }

    /// The whole figure.
    pub(super) fn finish(self) -> String {
        let Self { frame, id, key, keys, said, body, wide, tall } = self;
        let tall = if tall { " tall" } else { "" };
        let wide = if wide.is_empty() { String::new() } else { format!(" {wide}") };
        let (title, height) = (escape(frame.title), frame.height);
        let said = escape(&said.join(frame.words.sentence_gap));
        let more = if keys > KEY_MAX { format!("<li>+{}</li>", keys - KEY_MAX) } else { String::new() };
        let key = if key.is_empty() { key } else { format!("<ul class=\"chart-key\">{key}{more}</ul>") };
        format!(
            "<figure class=\"chart\" id=\"{id}\"><figcaption>{title}</figcaption>{key}<svg class=\"plot{wide}{tall}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{title}</title>\
             <desc id=\"{id}-d\">{said}</desc>{body}</svg></figure>"
        )
    }
}

/// The class of a label's level.
pub(super) fn level(level: usize) -> &'static str {
    ["", " n1", " n2"][level.min(2)]
}
