//! Labels that never overlap, however wide the page is.
//!
//! A label has a level. Level 0 is always shown; levels 1 and 2 are shown only if the plot is at
//! least [`WIDTHS`] wide, which the style sheet checks with container queries. Labels are placed by
//! shares of the width, so labels that fit at one width fit at any greater width. It is therefore
//! enough to try each level at its minimum width.

/// Minimum width of a plot, in pixels, at which labels of each level are shown. The style sheet's
/// queries are these widths plus the margins.
pub(super) const WIDTHS: [f64; 3] = [200.0, 510.0, 890.0];
/// Pixels between two labels.
const GAP: f64 = 10.0;
/// Pixels left and right of a plot that labels may reach into: its margins.
const MARGINS: (f64, f64) = (64.0, 26.0);

/// One label at a place across the plot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    /// 0 to 1 across the plot.
    pub(super) at: f64,
    pub(super) text: String,
    /// Part of the label that is at its place.
    pub(super) anchor: Anchor,
    /// Index into [`WIDTHS`] from which the label is shown.
    pub(super) level: usize,
}

/// Part of a label that is at its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Anchor {
    /// It is centred.
    #[default]
    Middle,
    /// It begins there.
    Start,
    /// It ends there.
    End,
}

impl Label {
    /// A label that stays within the plot, centred between two places. A label that would reach
    /// beyond an end of the narrowest plot starts at the first place or ends at the last one.
    pub(super) fn within(from: f64, until: f64, text: String) -> Self {
        let at = f64::midpoint(from, until);
        let half = text_width(&text) / 2.0 / WIDTHS[0];
        let (at, anchor) = match at {
            at if at < half => (from, Anchor::Start),
            at if at > 1.0 - half => (until, Anchor::End),
            at => (at, Anchor::Middle),
        };
        Self { at, text, anchor, level: 0 }
    }

    /// Whether both are one text in one place.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.at - other.at).abs() < 1e-9 && self.text == other.text
    }

    /// Start and end of the label in pixels, in a plot of this width.
    fn extent(&self, width: f64) -> (f64, f64) {
        let (place, wide) = (self.at * width, text_width(&self.text));
        let from = match self.anchor {
            Anchor::Middle => place - wide / 2.0,
            Anchor::Start => place,
            Anchor::End => place - wide,
        };
        (from, from + wide)
    }

    fn clashes(&self, other: &Self, width: f64) -> bool {
        let (one, other) = (self.extent(width), other.extent(width));
        one.0 < other.1 + GAP && other.0 < one.1 + GAP
    }

    /// Whether it stays within the plot and its margins.
    fn is_inside(&self, width: f64) -> bool {
        let (from, until) = self.extent(width);
        from >= -MARGINS.0 && until <= width + MARGINS.1
    }
}

impl From<(f64, String)> for Label {
    fn from((at, text): (f64, String)) -> Self {
        Self { at, text, anchor: Anchor::Middle, level: 0 }
    }
}

/// Upper bound for the pixels that `text` takes in a chart's 12-pixel font.
pub(super) fn text_width(text: &str) -> f64 {
    let of = |letter: char| match letter {
        '.' | ',' | ':' | 'i' | 'l' | 'I' | '\'' | '|' => 4.2,
        'm' | 'M' | 'W' | 'w' | '%' | '@' => 11.0,
        ' ' => 3.8,
        letter if letter.is_ascii() => 7.2,
        letter if (letter as u32) < 0x1100 => 8.4,
        _ => 13.0,
    };
    text.chars().map(of).sum()
}

/// `text` cut to at most `room` pixels, the end replaced by `…`.
pub(super) fn cut(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = text_width("…");
    for letter in text.chars() {
        taken += text_width(letter.encode_utf8(&mut [0; 4]));
        if taken > room {
            break;
        }
        out.push(letter);
    }
    out.push('…');
    out
}

/// Places the labels of `wanted` that fit, with priority to the first ones. Labels that fit nowhere
/// are left out.
pub(super) fn place_labels(wanted: Vec<impl Into<Label>>) -> Vec<Label> {
    let mut placed: Vec<Label> = Vec::new();
    let mut left: Vec<Label> = wanted.into_iter().map(Into::into).collect();
    for (level, width) in WIDTHS.into_iter().enumerate() {
        let mut unplaced = Vec::new();
        for label in left {
            if placed.iter().any(|other| label.clashes(other, width)) || !label.is_inside(width) {
                unplaced.push(label);
            } else {
                placed.push(Label { level, ..label });
            }
        }
        left = unplaced;
    }
    placed
}

/// Returns ticks at regular steps. `ticks` lists the ticks of a step; `steps` has coarse steps
/// first. Each level shows the finest step with ticks that all fit and that keeps the ticks of the
/// level before.
pub(super) fn fit_ticks<S: Copy>(
    steps: &[S],
    divides: impl Fn(S, S) -> bool,
    ticks: impl Fn(S) -> Vec<(f64, String)>,
) -> Vec<Label> {
    let mut placed: Vec<Label> = Vec::new();
    let mut coarser: Option<S> = None;
    for (level, width) in WIDTHS.into_iter().enumerate() {
        let fitting = steps.iter().rev().copied().find_map(|step| {
            if coarser.is_some_and(|coarser| !divides(step, coarser)) {
                return None;
            }
            let ticks: Vec<Label> = ticks(step).into_iter().map(Into::into).collect();
            let fits = ticks.windows(2).all(|two| !two[0].clashes(&two[1], width));
            fits.then_some((step, ticks))
        });
        let Some((step, ticks)) = fitting else { continue };
        coarser = Some(step);
        for tick in ticks {
            if !placed.iter().any(|label| (label.at - tick.at).abs() < 1e-9) {
                placed.push(Label { level, ..tick });
            }
        }
    }
    placed.sort_by(|one, other| one.at.total_cmp(&other.at));
    placed
}

#[cfg(test)]
pub(super) fn check_no_overlap(labels: &[Label], context: &str) {
    for (level, width) in WIDTHS.into_iter().enumerate() {
        // From this level's minimum width up to the next one's, and far beyond for the last.
        let until = WIDTHS.get(level + 1).copied().unwrap_or(3_000.0);
        for width in [width, f64::midpoint(width, until), until - 1.0] {
            let shown: Vec<&Label> = labels.iter().filter(|label| label.level <= level).collect();
            for (number, one) in shown.iter().enumerate() {
                assert!(one.is_inside(width), "{context}: {one:?} reaches out at {width}");
                for other in &shown[number + 1..] {
                    let (a, b) = (one.extent(width), other.extent(width));
                    assert!(a.0 >= b.1 || b.0 >= a.1, "{context}: {one:?} and {other:?} overlap at {width}");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_do_not_fit_wait_for_a_wider_page() {
        let wanted: Vec<_> = (0..15).map(|i| (f64::from(i) / 14.0, format!("phase {i}"))).collect();
        let labels = place_labels(wanted);
        check_no_overlap(&labels, "phases");
        let shown = |level| labels.iter().filter(|label| label.level <= level).count();
        assert!(shown(0) >= 2 && shown(0) < shown(1) && shown(1) < shown(2), "{labels:?}");
        assert_eq!(labels[0].text, "phase 0", "the first wanted is the first placed");
    }

    #[test]
    fn labels_stay_within_the_margins() {
        let long = "a phase with a rather long name";
        let labels =
            place_labels(vec![(1.0, long.to_owned()), (0.0, "start".to_owned()), (0.95, "end".to_owned())]);
        check_no_overlap(&labels, "edges");
        assert_eq!(labels.iter().map(|label| label.text.as_str()).collect::<Vec<_>>(), ["start", "end"]);
    }

    #[test]
    fn captions_stay_within_the_plot() {
        let check = |from: f64, until: f64, expected: Anchor| {
            let label = Label::within(from, until, "warm-up".to_owned());
            assert_eq!(label.anchor, expected, "{from} to {until}");
            for width in WIDTHS {
                let (from, until) = label.extent(width);
                assert!(0.0 <= from && until <= width, "{label:?} reaches out at {width}");
            }
        };
        check(0.0, 0.05, Anchor::Start);
        check(0.3, 0.5, Anchor::Middle);
        check(0.97, 1.0, Anchor::End);
    }

    #[test]
    fn texts_are_cut_to_their_room() {
        assert_eq!(cut("short", 100.0), "short");
        let long = cut(&"日本".repeat(40), 100.0);
        assert!(long.ends_with('…') && text_width(&long) <= 100.0, "{long}");
    }
}
