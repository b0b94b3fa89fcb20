//! [`ColorRole`]: the colour role of an element in the style sheet.

/// Colour role of an element in the style sheet. A dash, a marker or a pattern always repeats the
/// same information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorRole {
    /// The next colour of the row of eight.
    #[default]
    Next,
    /// One of the row, so that the same thing has the same colour in several charts.
    Of(usize),
    /// Expected: responses of the 200s, a threshold that passed.
    Good,
    /// Notable: responses of the 300s and 400s.
    Warn,
    /// Unwanted: failures.
    Bad,
    /// Background: a plan, or data shown only for context.
    Muted,
}

/// Colours in the row.
const COLOURS: usize = 8;
/// Shapes of markers, each around (0, 0): circle, square, triangle, diamond, cross, bar, triangle
/// downwards, plus.
const MARKERS: [&str; 8] = [
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "M-3-3h6v6h-6z",
    "M0-4l4 7h-8z",
    "M0-4.5L4.5 0 0 4.5-4.5 0z",
    "M-3-3L3 3M-3 3L3-3",
    "M0-4.5v9",
    "M0 4l4-7h-8z",
    "M-4 0h8M0-4v8",
];

impl ColorRole {
    /// Classes of the `number`-th series or layer: colour, and dash or pattern.
    pub(super) fn classes(self, number: usize) -> String {
        let dash = number % COLOURS;
        match self {
            Self::Next => format!("s{dash} d{dash}"),
            Self::Of(colour) => format!("s{} d{dash}", colour % COLOURS),
            Self::Good => format!("good d{dash}"),
            Self::Warn => format!("warn d{dash}"),
            Self::Bad => format!("bad d{dash}"),
            Self::Muted => "muted dp".to_owned(),
        }
    }
}

/// Numbers the elements with these roles. Background elements take no number, so that the first
/// other element is drawn plainly.
pub(super) fn numbers(tones: impl Iterator<Item = ColorRole>) -> impl Iterator<Item = usize> {
    tones.scan(0, |next, tone| {
        let number = *next;
        *next += usize::from(tone != ColorRole::Muted);
        Some(number)
    })
}

/// The marker of the `number`-th series.
pub(super) fn marker(number: usize) -> &'static str {
    MARKERS[number % MARKERS.len()]
}
