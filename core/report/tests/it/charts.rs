//! Every chart with plausible and with awful data: well-formed, inside its plot, without colours of
//! its own, small.
//!
//! The page with all of them is written to the target directory as `tmp/charts.html`, for a look by
//! eye.

use crate::gallery;

use std::collections::{HashMap, HashSet};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use gallery::{awful, page, plausible};

/// Elements that charts are made of; nothing that runs or loads.
const ELEMENTS: [&str; 19] = [
    "figure",
    "figcaption",
    "ul",
    "li",
    "svg",
    "title",
    "desc",
    "text",
    "line",
    "path",
    "rect",
    "circle",
    "clipPath",
    "pattern",
    "p",
    "g",
    "defs",
    "use",
    "span",
];
/// Attributes that would carry a colour, a script or an address.
const FORBIDDEN: [&str; 6] = ["style", "stroke", "href", "onload", "src", "color"];

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element.try_get_attribute(name).expect("attributes are well-formed")?;
    Some(String::from_utf8(found.value.into_owned()).expect("UTF-8"))
}

/// Reads a figure as XML and checks each element.
fn check(figure: &str, context: &str) {
    let mut reader = Reader::from_str(figure);
    let mut ids = HashSet::new();
    let mut plot: Option<String> = None;
    let mut depth = 0;
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{context}: {error}: {figure}")) {
            Event::Start(element) => {
                depth += 1;
                // The plot's own size, where paths are the data's.
                let size = attribute(&element, "viewBox").filter(|size| size.starts_with("0 0 1000 "));
                plot = size.or(plot);
                check_element(&element, &mut ids, plot.as_deref(), context);
            }
            Event::Empty(element) => check_element(&element, &mut ids, plot.as_deref(), context),
            Event::End(element) if element.name().as_ref() == b"svg" => {
                depth -= 1;
                plot = None;
            }
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "{context}");
    for word in ["NaN", "inf\"", "inf ", "script>", "#fff", "rgb("] {
        assert!(!figure.contains(word), "{context}: {word}");
    }
}

fn check_element(element: &BytesStart<'_>, ids: &mut HashSet<String>, plot: Option<&str>, context: &str) {
    let name = String::from_utf8(element.name().as_ref().to_vec()).expect("UTF-8");
    assert!(ELEMENTS.contains(&name.as_str()), "{context}: <{name}>");
    for forbidden in FORBIDDEN {
        assert!(attribute(element, forbidden).is_none(), "{context}: {forbidden} on <{name}>");
    }
    if let Some(id) = attribute(element, "id") {
        assert!(ids.insert(id.clone()), "{context}: {id} twice");
    }
    for place in ["x", "x1", "x2", "width"] {
        let Some(value) = attribute(element, place) else { continue };
        if let Some(share) = value.strip_suffix('%') {
            let share: f64 = share.parse().unwrap_or_else(|_| panic!("{context}: {place}={value}"));
            assert!((0.0..=100.001).contains(&share), "{context}: <{name} {place}={value}>");
        }
    }
    if let Some((path, size)) = attribute(element, "d").zip(plot) {
        check_path(&path, size, context);
    }
}

/// All corners of data are within the plot of size `0 0 WIDTH HEIGHT`.
fn check_path(path: &str, size: &str, context: &str) {
    let size: Vec<f64> = size.split(' ').map(|number| number.parse().expect("a number")).collect();
    let mut numbers = 0;
    for corner in path.split(['M', 'L']).filter(|corner| !corner.is_empty()) {
        // After a corner, a stair has horizontal places and heights only.
        for (step, text) in corner.split_inclusive(['H', 'V', 'h', 'z']).enumerate() {
            let text = text.trim_end_matches(['H', 'V', 'h', 'z']);
            let numbers_of: Vec<f64> = text.split(' ').filter_map(|number| number.parse().ok()).collect();
            numbers += numbers_of.len();
            if let (0, [x, y]) = (step, numbers_of.as_slice()) {
                let inside = (0.0..=size[2]).contains(x) && (0.0..=size[3]).contains(y);
                assert!(inside, "{context}: {x} {y} is outside of {size:?}: {path}");
            } else {
                let most = size[2].max(size[3]);
                assert!(numbers_of.iter().all(|number| (0.0..=most).contains(number)), "{context}: {path}");
            }
        }
    }
    assert!(numbers > 0, "{context}: no corner in {path}");
}

#[test]
fn a_page_of_all_charts_to_look_at() {
    let figures = plausible::figures();
    for (number, figure) in figures.iter().enumerate() {
        check(figure, &format!("plausible figure {number}"));
        assert!(figure.len() < 60_000, "figure {number} has {} bytes", figure.len());
    }
    let awful = awful::figures(7).concat() + &awful::figures(12).concat();
    let page = page(&[figures.concat(), awful]);
    assert!(page.len() < 2_000_000, "{}", page.len());
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("charts.html");
    std::fs::write(file, page).expect("the target directory can be written");
}

#[test]
fn awful_data_stays_in_its_chart() {
    for seed in 0..40 {
        for (number, figure) in awful::figures(seed).iter().enumerate() {
            check(figure, &format!("seed {seed}, figure {number}"));
            assert!(figure.len() < 300_000, "seed {seed}, figure {number} has {} bytes", figure.len());
        }
    }
}

/// Colours of a theme by the names of their variables, from a `:root{…}` of the sheet.
fn theme(css: &str) -> HashMap<&str, [f64; 3]> {
    let root = css.split_once(":root{").and_then(|(_, rest)| rest.split_once('}')).expect("a :root").0;
    let channel = |hex: &str| f64::from(u8::from_str_radix(hex, 16).expect("two hexadecimal digits"));
    let colour = |hex: &str| match hex.len() {
        3 => [0, 1, 2].map(|at| channel(&hex[at..=at].repeat(2))),
        6 => [0, 2, 4].map(|at| channel(&hex[at..at + 2])),
        _ => panic!("#{hex}"),
    };
    root.split(';')
        .filter_map(|line| line.trim().split_once(":#"))
        .map(|(name, hex)| (name.trim_start_matches("--chart-"), colour(hex)))
        .collect()
}

/// Relative luminance and contrast as WCAG 2.2 defines them.
fn luminance(colour: [f64; 3]) -> f64 {
    let linear = |channel: f64| {
        let share = channel / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn check_theme(css: &str, palest: f64, context: &str) {
    let theme = theme(css);
    let paper = theme["paper"];
    for text in ["ink", "soft"] {
        assert!(contrast(theme[text], paper) >= 4.5, "{context}: {text} {}", contrast(theme[text], paper));
    }
    let row: Vec<String> = (0..8).map(|n| n.to_string()).collect();
    for line in row.iter().map(String::as_str).chain(["good", "warn", "bad", "muted", "axis", "p0", "p1"]) {
        assert!(contrast(theme[line], paper) >= 3.0, "{context}: {line} {}", contrast(theme[line], paper));
    }
    let heat: Vec<f64> = (0..8).map(|n| contrast(theme[format!("h{n}").as_str()], paper)).collect();
    assert!(heat[0] >= palest, "{context}: one request is seen, too: {heat:?}");
    assert!(
        heat.windows(2).all(|two| two[1] > two[0] * 1.3),
        "{context}: each shade has more contrast: {heat:?}"
    );
}

#[test]
fn colours_stand_out_in_both_themes() {
    let css = wavetank_report::chart::CHART_CSS;
    let (light, dark) = css.split_once("@media screen and (prefers-color-scheme:dark)").expect("two themes");
    check_theme(light, 1.4, "light");
    check_theme(dark, 1.6, "dark");
}

#[test]
fn the_style_sheet_has_both_themes_and_paper() {
    let css = wavetank_report::chart::CHART_CSS;
    for part in ["@media screen and (prefers-color-scheme:dark)", "@media print", "@container"] {
        assert!(css.contains(part), "{part}");
    }
    assert!(!css.contains("url(") && !css.contains("@import"), "nothing is loaded");
}
