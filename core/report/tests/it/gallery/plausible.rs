//! An hour and a minute of load as a report would draw them.

use wavetank_measure::Histogram;
use wavetank_report::chart::{
    ChartStrings, ColorRole, CurvePoint, CurveSeries, ForestPlot, Frame, HeatColumn, HeatMap, Layer,
    LineChart, Mark, PercentileChart, Polarity, Ratio, ReferenceValue, Series, Shade, SpectrumCurve,
    StackedArea, Timeline, Unit, XAxis, XyChart, spark,
};
use wavetank_units::Nanos;

use super::noise::Noise;

const EN: &ChartStrings = &ChartStrings::EN;

fn timeline(seconds: i64) -> Timeline {
    let part = |share: f64| Nanos::from_secs((seconds as f64 * share) as i64);
    let mark = |at: f64, label: &str| Mark { at: part(at), label: label.to_owned() };
    let shade = |from: f64, until: f64, label: &str| Shade {
        from: part(from),
        until: part(until),
        label: label.to_owned(),
    };
    Timeline {
        marks: vec![
            mark(0.08, "ramp"),
            mark(0.3, "plateau"),
            mark(0.7, "spike"),
            mark(0.72, "plateau again"),
        ],
        shades: vec![shade(0.0, 0.08, "warm-up"), shade(0.95, 1.0, "drain")],
        ..Timeline::new(Nanos::ZERO, Nanos::from_secs(seconds))
    }
}

/// Planned load at `share` of a run, from 0 to 1.
fn wanted(share: f64) -> f64 {
    match share {
        s if s < 0.08 => 0.1,
        s if s < 0.3 => 0.1 + 0.7 * (s - 0.08) / 0.22,
        s if (0.7..0.72).contains(&s) => 1.0,
        s if s > 0.95 => 0.0,
        _ => 0.8,
    }
}

/// Columns of response and service times.
fn columns(seconds: i64, len: i64, noise: &mut Noise) -> Vec<(Histogram, Histogram)> {
    let of = |number: i64| {
        let share = number as f64 * len as f64 / seconds as f64;
        let (mut response, mut service) = (Histogram::default(), Histogram::default());
        let queue = if (0.7..0.78).contains(&share) { 40e6 * (0.78 - share) / 0.08 } else { 0.0 };
        for _ in 0..(400.0 * wanted(share)) as u32 {
            let slow = if noise.share() < 0.01 { 20e6 * noise.wait() } else { 0.0 };
            let own = 1.2e6 + 0.8e6 * noise.wait() + slow;
            service.record(own as u64);
            response.record((own + queue * noise.share()) as u64);
        }
        (response, service)
    };
    (0..seconds / len).map(of).collect()
}

fn rates(seconds: i64, len: i64, noise: &mut Noise) -> Vec<Series> {
    let share = |at: i64| at as f64 / seconds as f64;
    let plan = (0..seconds / len).map(|n| (Nanos::from_secs(n * len), Some(1e4 * wanted(share(n * len)))));
    let plan: Vec<_> = plan.collect();
    let done = plan.iter().map(|(at, rate)| {
        let gone = (0.5..0.53).contains(&share(at.0 / 1_000_000_000));
        (*at, rate.map(|rate| rate * (0.97 + 0.05 * noise.share())).filter(|_| !gone))
    });
    let done: Vec<_> = done.collect();
    let failed = done.iter().map(|(at, rate)| (*at, rate.map(|rate| rate * 0.05 * noise.share())));
    let failed = failed.collect();
    vec![
        Series::plan("plan", plan),
        Series::line("done", done),
        Series::line("failed", failed).with_color(ColorRole::Bad),
    ]
}

fn over_time(seconds: i64, len: i64, name: &str, noise: &mut Noise) -> Vec<String> {
    let columns = columns(seconds, len, noise);
    let begin = |n: usize| Nanos::from_secs(n as i64 * len);
    let line = |q: f64, of: fn(&(Histogram, Histogram)) -> &Histogram| {
        let value = |(n, column)| (begin(n), of(column).percentile(q).map(|value| value as f64));
        columns.iter().enumerate().map(value).collect::<Vec<_>>()
    };
    let frame = |id: &'static str, title: &'static str| (format!("{id}-{name}"), title);
    let (rate_id, rate_title) = frame("rate", "Rate and the plan's rate");
    let (times_id, times_title) = frame("times", "Response and service time");
    let (heat_id, heat_title) = frame("heat", "Response time over time");
    let mut rate = LineChart {
        frame: Frame::new(&rate_id, rate_title, EN),
        timeline: timeline(seconds),
        unit: Unit::Rate,
        series: rates(seconds, len, noise),
        limits: Vec::new(),
    };
    let figures = rate.draw();
    rate = LineChart {
        frame: Frame::new(&times_id, times_title, EN),
        unit: Unit::Time,
        series: vec![
            Series::line("response p50", line(50.0, |column| &column.0)),
            Series::line("response p99", line(99.0, |column| &column.0)),
            Series::line("service p50", line(50.0, |column| &column.1)),
            Series::line("service p99", line(99.0, |column| &column.1)),
        ],
        limits: vec![("p99 < 60 ms".to_owned(), 60e6)],
        ..rate
    };
    let heat = HeatMap {
        frame: Frame::new(&heat_id, heat_title, EN).high(240),
        timeline: timeline(seconds),
        columns: columns
            .iter()
            .enumerate()
            .map(|(n, (values, _))| HeatColumn {
                from: begin(n),
                len: Nanos::from_secs(len),
                values,
                dropped: 0,
                offered: values.count(),
            })
            .collect(),
    };
    vec![figures, rate.draw(), heat.draw(), stack(seconds, len, name, noise)]
}

fn stack(seconds: i64, len: i64, name: &str, noise: &mut Noise) -> String {
    let count = seconds / len;
    let mut layer = |name: &str, tone: ColorRole, scale: f64| {
        let value = |n: i64| scale * wanted(n as f64 / count as f64) * (0.9 + 0.2 * noise.share());
        Layer::new(name, (0..count).map(value).collect()).toned(tone)
    };
    StackedArea {
        frame: Frame::new(&format!("status-{name}"), "Statuses", EN),
        timeline: timeline(seconds),
        unit: Unit::Rate,
        columns: (0..count).map(|n| Nanos::from_secs(n * len)).collect(),
        len: Nanos::from_secs(len),
        layers: vec![
            layer("200", ColorRole::Good, 6e3),
            layer("302", ColorRole::Of(0), 1.5e3),
            layer("404", ColorRole::Warn, 700.0),
            layer("503", ColorRole::Bad, 900.0),
            layer("timeout", ColorRole::Next, 400.0),
            layer("reset", ColorRole::Next, 300.0),
        ],
    }
    .draw()
}

fn spectrum(noise: &mut Noise) -> String {
    let (mut response, mut service) = (Histogram::default(), Histogram::default());
    for _ in 0..200_000 {
        let own =
            1.2e6 + 0.8e6 * noise.wait() + if noise.share() < 0.004 { 60e6 * noise.wait() } else { 0.0 };
        service.record(own as u64);
        response.record((own + if noise.share() < 0.05 { 9e6 * noise.wait() } else { 0.0 }) as u64);
    }
    PercentileChart {
        frame: Frame::new("spectrum", "Percentiles", EN).high(240),
        curves: vec![SpectrumCurve::new("response", &response), SpectrumCurve::new("service", &service)],
        limits: vec![("p99 < 50 ms".to_owned(), 50e6)],
    }
    .draw()
}

fn knee(noise: &mut Noise) -> String {
    let points: Vec<CurvePoint> = (1..=12)
        .map(|n| {
            let x = f64::from(n) * 800.0;
            let y = 4e6 / (1.0 - (x / 10_000.0).min(0.98)) * (0.95 + 0.1 * noise.share());
            CurvePoint { x, y, between: Some((y * 0.9, y * 1.13)) }
        })
        .collect();
    let line = points.iter().map(|point| (point.x, point.y)).collect();
    XyChart {
        frame: Frame::new("knee", "Response time against load", EN).high(240),
        x_name: "offered load",
        x: Unit::Rate,
        x_reported: None,
        y: Unit::Time,
        across: XAxis::FromZero,
        series: vec![CurveSeries { name: "p99".to_owned(), points, line, tone: ColorRole::Next }],
        marked: Some(ReferenceValue {
            name: "highest rate that holds".to_owned(),
            key: "highest rate that holds, and its interval".to_owned(),
            ends: [8_700.0, 9_050.0, 9_300.0],
        }),
        limits: vec![("p99 < 50 ms".to_owned(), 50e6)],
    }
    .draw()
}

fn ratios() -> String {
    let row = |name: &str, text: &str, ends: [f64; 3], meaning: Polarity| Ratio {
        name: name.to_owned(),
        text: text.to_owned(),
        ends,
        meaning,
        limit: Some(if name.contains("per second") { 0.9 } else { 1.1 }),
    };
    ForestPlot {
        frame: Frame::new("ratios", "B and A", EN),
        rows: vec![
            row(
                "requests done per second",
                "no difference shown (−0.4 % to +0.6 %)",
                [0.996, 1.001, 1.006],
                Polarity::None,
            ),
            row("response p50", "−8.2 % (−10.9 % to −5.6 %)", [0.891, 0.918, 0.944], Polarity::Better),
            row("response p99", "+5.0 % (+2.4 % to +7.7 %)", [1.024, 1.05, 1.077], Polarity::Worse),
            row("connections opened", "+21 % (+19 % to +23 %)", [1.19, 1.21, 1.23], Polarity::Undecided),
        ],
        key: vec![
            (Polarity::Better, "better".to_owned()),
            (Polarity::Worse, "worse".to_owned()),
            (Polarity::Undecided, "undecided".to_owned()),
            (Polarity::None, "no difference shown".to_owned()),
        ],
        limit_key: "10 % worse".to_owned(),
    }
    .draw()
}

/// The charts of a minute, of an hour, and those without a time axis.
pub(crate) fn figures() -> Vec<String> {
    let mut noise = Noise::new(1);
    let mut figures = over_time(60, 1, "minute", &mut noise);
    figures.extend([spectrum(&mut noise), knee(&mut noise), ratios()]);
    figures.extend(over_time(3_600, 10, "hour", &mut noise));
    let small: Vec<Option<f64>> = (0..200).map(|n| Some(5.0 + f64::from(n % 40) * noise.share())).collect();
    figures.push(format!("<p>p99 {} over time</p>", spark(&small, "p99 over time")));
    figures
}
