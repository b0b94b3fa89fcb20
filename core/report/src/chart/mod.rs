//! Charts as inline SVG: pure functions from numbers to text, without scripts.
//!
//! **Width.** A chart is drawn once and read at 380 and at 1600 pixels. The outer `<svg>` has no
//! `viewBox`: it *is* the plot area, as wide as its container and of a fixed height, so text keeps
//! its size. Parts that must stretch with the width are in a nested `<svg>`, which is stretched
//! horizontally only (strokes do not scale). Labels and markers are placed by percentages. Labels
//! that fit only on wide pages have a class; container queries of [`CHART_CSS`] show them there,
//! see `labels.rs`.
//!
//! **Colour.** The SVG contains no colours: classes of [`CHART_CSS`] name variables for light, dark
//! and paper. Series also differ by dash and marker, layers by pattern.
//!
//! **Long series** are thinned to at most 600 points, the minimum and maximum of each column of
//! points, so a peak is never hidden (`downsample.rs`). Layers and heat maps merge columns beyond
//! 300. Layers keep the greatest value of each layer; heat maps add up their counts.
//!
//! **Names** may come from outside: all texts are escaped, and control characters are replaced.

mod color;
mod describe;
mod downsample;
mod figure;
mod forest;
mod frame;
mod heat_cells;
mod heat_map;
mod labels;
mod lines;
mod markers;
mod path;
mod percentile_chart;
mod row_texts;
mod scale;
mod series;
mod slices;
mod spark;
mod stacked_area;
mod strings;
mod svg;
mod timeline;
mod tooltips;
mod unit;
mod xy_chart;

pub use color::ColorRole;
pub use forest::{ForestPlot, Polarity, Ratio};
pub use frame::Frame;
pub use heat_map::{HeatColumn, HeatMap};
pub use lines::LineChart;
pub use percentile_chart::{PercentileChart, SpectrumCurve};
pub use series::{LineStyle, Point, Series};
pub use spark::spark;
pub use stacked_area::{Layer, StackedArea};
pub use strings::ChartStrings;
pub use timeline::{Mark, Shade, Timeline};
pub use unit::Unit;
pub use xy_chart::{CurvePoint, CurveSeries, ReferenceValue, XAxis, XyChart};

/// The style sheet that all charts need, once in a page's `<style>`. It has light, dark
/// (`prefers-color-scheme`, on screens only) and paper colours. A page changes colours by setting
/// the `--chart-…` variables on `:root` after it.
pub const CHART_CSS: &str = include_str!("chart.css");
