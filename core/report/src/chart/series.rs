//! [`Series`]: one line of a chart over time.

use wavetank_units::Nanos;

use super::color::ColorRole;
use super::downsample::value;

/// An instant on the run clock and its value in the chart's unit. `None` means unknown, which is
/// drawn as a gap and never as a zero. Values that are not finite count as gaps.
pub type Point = (Nanos, Option<f64>);

/// How points are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineStyle {
    /// Straight lines from point to point.
    #[default]
    Line,
    /// The same; a point is sampled at the end of its column, like a gauge.
    AtEnds,
    /// A value applies until the next point, the last one until the chart's end: a plan.
    Step,
}

/// One line of a chart over time.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Name in the key.
    pub name: String,
    /// In order of time.
    pub points: Vec<Point>,
    /// The same points with gaps at uncertain values, such as a percentile with fewer than ten
    /// values above it. The line is dotted there. `None` means that all are certain.
    pub sure: Option<Vec<Point>>,
    /// How points are joined.
    pub form: LineStyle,
    /// Its colour.
    pub tone: ColorRole,
}

impl Series {
    /// A line.
    pub fn line(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { name: name.into(), points, ..Self::default() }
    }

    /// The planned values: a faint step line.
    pub fn plan(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { form: LineStyle::Step, tone: ColorRole::Muted, ..Self::line(name, points) }
    }

    /// The same in another colour.
    #[must_use]
    pub fn with_color(self, tone: ColorRole) -> Self {
        Self { tone, ..self }
    }

    /// The same, in which only the values of `sure` are certain; both have the same instants.
    #[must_use]
    pub fn with_certain(self, sure: Vec<Point>) -> Self {
        Self { sure: Some(sure).filter(|sure| *sure != self.points), ..self }
    }

    /// Whether the value of the point with this number is uncertain.
    pub(super) fn is_uncertain(&self, number: usize) -> bool {
        let known = |points: &[Point]| points.get(number).is_some_and(|point| value(point).is_some());
        self.sure.as_deref().is_some_and(|sure| known(&self.points) && !known(sure))
    }

    /// Whether all of its values are uncertain.
    pub(super) fn is_all_uncertain(&self) -> bool {
        self.sure.as_ref().is_some_and(|sure| sure.iter().all(|point| value(point).is_none()))
    }
}
