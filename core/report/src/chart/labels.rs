//! Labels that never overlap, however wide the page is.
//!
//! A label has a level: 0 is shown always, 1 and 2 only where the plot is at least [`WIDTHS`] wide, which the
//! style sheet asks with container queries. Labels that fit at a width fit at any greater one, since they are placed by
//! shares of it; so it is enough to try each level at its least width.

/// The least width of a plot, in pixels, at which labels of each level are shown. The style sheet's queries are these
/// plus the margins.
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
    /// From which of [`WIDTHS`] on it is shown.
    pub(super) level: usize,
}

/// Pixels that `text` takes at most in a chart's 12-pixel letters.
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

/// Where a label stands at a width: centred on its place.
fn extent(at: f64, text: &str, width: f64) -> (f64, f64) {
    let half = text_width(text) / 2.0;
    (at * width - half, at * width + half)
}

fn clash(one: (f64, &str), other: (f64, &str), width: f64) -> bool {
    let (one, other) = (extent(one.0, one.1, width), extent(other.0, other.1, width));
    one.0 < other.1 + GAP && other.0 < one.1 + GAP
}

/// Whether a label stays within the plot and its margins.
fn is_inside(at: f64, text: &str, width: f64) -> bool {
    let (from, until) = extent(at, text, width);
    from >= -MARGINS.0 && until <= width + MARGINS.1
}

/// As many of `wanted` as fit, the first ones before the others. Those that fit nowhere are left out.
pub(super) fn fit(wanted: Vec<(f64, String)>) -> Vec<Label> {
    let mut placed: Vec<Label> = Vec::new();
    let mut left = wanted;
    for (level, width) in WIDTHS.into_iter().enumerate() {
        let mut unplaced = Vec::new();
        for (at, text) in left {
            let clashes = placed.iter().any(|other| clash((at, &text), (other.at, &other.text), width));
            if clashes || !is_inside(at, &text, width) {
                unplaced.push((at, text));
            } else {
                placed.push(Label { at, text, level });
            }
        }
        left = unplaced;
    }
    placed
}

/// Ticks at regular steps: `ticks` tells those of a step, coarse steps come first in `steps`. Each level shows the finest step
/// whose ticks all fit and that keeps the ticks of the level before.
pub(super) fn fit_steps<S: Copy>(
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
            let ticks = ticks(step);
            let fits =
                ticks.windows(2).all(|two| !clash((two[0].0, &two[0].1), (two[1].0, &two[1].1), width));
            fits.then_some((step, ticks))
        });
        let Some((step, ticks)) = fitting else { continue };
        coarser = Some(step);
        for (at, text) in ticks {
            if !placed.iter().any(|label| (label.at - at).abs() < 1e-9) {
                placed.push(Label { at, text, level });
            }
        }
    }
    placed.sort_by(|one, other| one.at.total_cmp(&other.at));
    placed
}

#[cfg(test)]
pub(super) fn check_no_overlap(labels: &[Label], context: &str) {
    for (level, width) in WIDTHS.into_iter().enumerate() {
        // From this level's least width up to the next one's, and far beyond for the last.
        let until = WIDTHS.get(level + 1).copied().unwrap_or(3_000.0);
        for width in [width, f64::midpoint(width, until), until - 1.0] {
            let shown: Vec<&Label> = labels.iter().filter(|label| label.level <= level).collect();
            for (number, one) in shown.iter().enumerate() {
                assert!(is_inside(one.at, &one.text, width), "{context}: {one:?} reaches out at {width}");
                for other in &shown[number + 1..] {
                    let (a, b) = (extent(one.at, &one.text, width), extent(other.at, &other.text, width));
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
        let labels = fit(wanted);
        check_no_overlap(&labels, "phases");
        let shown = |level| labels.iter().filter(|label| label.level <= level).count();
        assert!(shown(0) >= 2 && shown(0) < shown(1) && shown(1) < shown(2), "{labels:?}");
        assert_eq!(labels[0].text, "phase 0", "the first wanted is the first placed");
    }

    #[test]
    fn labels_stay_within_the_margins() {
        let long = "a phase with a rather long name";
        let labels = fit(vec![(1.0, long.to_owned()), (0.0, "start".to_owned()), (0.95, "end".to_owned())]);
        check_no_overlap(&labels, "edges");
        assert_eq!(labels.iter().map(|label| label.text.as_str()).collect::<Vec<_>>(), ["start", "end"]);
    }

    #[test]
    fn texts_are_cut_to_their_room() {
        assert_eq!(cut("short", 100.0), "short");
        let long = cut(&"日本".repeat(40), 100.0);
        assert!(long.ends_with('…') && text_width(&long) <= 100.0, "{long}");
    }
}
