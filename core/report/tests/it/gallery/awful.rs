//! Charts of the worst possible data.

use wavetank_measure::Histogram;
use wavetank_report::chart::{
    ChartStrings, CurvePoint, CurveSeries, ForestPlot, Frame, HeatColumn, HeatMap, Layer, LineChart, Mark,
    PercentileChart, Polarity, Ratio, ReferenceValue, Series, SpectrumCurve, StackedArea, Timeline, Unit,
    XAxis, XyChart, spark,
};
use wavetank_units::Nanos;

use super::noise::Noise;

/// A name that tries to escape from its place.
pub(crate) const HOSTILE: &str =
    "</title></svg><script>alert(1)</script>\" onload='x' & \u{202e}日本語 \u{7}";

const ZH: &ChartStrings = &ChartStrings::ZH;

const UNITS: [Unit; 7] =
    [Unit::Time, Unit::Rate, Unit::Count, Unit::Share, Unit::Bytes, Unit::BitRate, Unit::Plain];

fn instant(noise: &mut Noise) -> Nanos {
    Nanos(((noise.share() - 0.2) * 10_f64.powf(noise.share() * 19.0)) as i64)
}

fn timeline(noise: &mut Noise) -> Timeline {
    let (one, other) = (instant(noise), instant(noise));
    let mark = |noise: &mut Noise| Mark { at: instant(noise), label: HOSTILE.to_owned() };
    Timeline {
        marks: (0..100).map(|_| mark(noise)).collect(),
        ..Timeline::new(one.min(other), one.max(other))
    }
}

fn histogram(noise: &mut Noise) -> Histogram {
    let mut values = Histogram::default();
    for _ in 0..(noise.share() * 50.0) as u32 {
        values.record_n(10_f64.powf(noise.share() * 20.0) as u64, 1 + (noise.share() * 1e12) as u64);
    }
    values
}

/// All charts with the data that `seed` generates.
pub(crate) fn figures(seed: u64) -> Vec<String> {
    let mut noise = Noise::new(seed);
    let unit = UNITS[seed as usize % UNITS.len()];
    let id = |kind: &str| format!("{kind}-{seed}");
    let few = (noise.share() * 12.0) as usize;
    let many = (noise.share() * 2_000.0) as usize;
    let times = timeline(&mut noise);
    let histograms: Vec<Histogram> = (0..few).map(|_| histogram(&mut noise)).collect();
    vec![
        lines(&id("lines"), unit, &times, few, many, &mut noise),
        stacks(&id("stacks"), unit, &times, few, many, &mut noise),
        HeatMap {
            frame: Frame::new(&id("heat"), HOSTILE, ZH),
            timeline: times,
            columns: (0..)
                .zip(&histograms)
                .map(|(n, values)| HeatColumn {
                    from: Nanos::from_secs(n * 7),
                    len: Nanos::SECOND,
                    values,
                    dropped: 0,
                    offered: values.count(),
                })
                .collect(),
        }
        .draw(),
        PercentileChart {
            frame: Frame::new(&id("spectrum"), HOSTILE, ZH),
            curves: histograms.iter().map(|values| SpectrumCurve::new(HOSTILE, values)).collect(),
            limits: vec![(HOSTILE.to_owned(), noise.any().unwrap_or(0.0))],
        }
        .draw(),
        curve(&id("curve"), unit, few, &mut noise),
        forest(&id("forest"), few, &mut noise),
        spark(&(0..many).map(|_| noise.any()).collect::<Vec<_>>(), HOSTILE),
    ]
}

fn lines(id: &str, unit: Unit, times: &Timeline, few: usize, many: usize, noise: &mut Noise) -> String {
    let mut points = || (0..many).map(|_| (instant(noise), noise.any())).collect::<Vec<_>>();
    let mut series = |n: usize| {
        if n.is_multiple_of(3) { Series::plan(HOSTILE, points()) } else { Series::line(HOSTILE, points()) }
    };
    let series = (0..few).map(&mut series).collect();
    let limits = vec![(HOSTILE.to_owned(), 1e5)];
    LineChart { frame: Frame::new(id, HOSTILE, ZH), timeline: times.clone(), unit, series, limits }.draw()
}

fn stacks(id: &str, unit: Unit, times: &Timeline, few: usize, many: usize, noise: &mut Noise) -> String {
    let mut layer = |_| Layer::new(HOSTILE, (0..many).map(|_| noise.any().unwrap_or(0.0)).collect());
    StackedArea {
        frame: Frame::new(id, HOSTILE, ZH),
        timeline: times.clone(),
        unit,
        layers: (0..few).map(&mut layer).collect(),
        columns: (0..many as i64).map(|n| Nanos::from_secs(n * n)).collect(),
        len: Nanos::from_secs(30),
    }
    .draw()
}

fn curve(id: &str, unit: Unit, few: usize, noise: &mut Noise) -> String {
    let mut value = || noise.any().unwrap_or(0.0);
    let points =
        (0..few * 3).map(|_| CurvePoint { x: value(), y: value(), between: Some((value(), value())) });
    let points = points.collect();
    let line = (0..few).map(|_| (value(), value())).collect();
    XyChart {
        frame: Frame::new(id, HOSTILE, ZH),
        x_name: HOSTILE,
        x: unit,
        x_reported: None,
        y: unit,
        across: [XAxis::Log, XAxis::FromZero, XAxis::Close(value(), value())][few % 3],
        series: vec![CurveSeries { name: HOSTILE.to_owned(), points, line, ..CurveSeries::default() }],
        marked: Some(ReferenceValue {
            name: HOSTILE.to_owned(),
            key: HOSTILE.to_owned(),
            ends: [value(), value(), value()],
        }),
        limits: vec![(HOSTILE.to_owned(), value())],
    }
    .draw()
}

fn forest(id: &str, few: usize, noise: &mut Noise) -> String {
    let mut value = || noise.any().unwrap_or(0.0);
    let rows = (0..few).map(|_| Ratio {
        name: HOSTILE.to_owned(),
        text: HOSTILE.to_owned(),
        ends: [value(), value(), value()],
        meaning: Polarity::None,
        limit: Some(value()),
    });
    ForestPlot {
        frame: Frame::new(id, HOSTILE, ZH),
        rows: rows.collect(),
        key: vec![(Polarity::None, HOSTILE.to_owned())],
        limit_key: HOSTILE.to_owned(),
    }
    .draw()
}
