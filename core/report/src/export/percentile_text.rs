//! [`percentile_text`]: a histogram as `HdrHistogram`'s percentile distribution.

use wavetank_measure::Histogram;

/// Lines for each halving of the distance to 100 %, as `HdrHistogram`'s own tools print by default.
const TICKS_PER_HALF: u32 = 5;
/// The unit of the values: milliseconds, as those tools print nanoseconds.
const NS_PER_MS: f64 = 1e6;
/// The layout as the footer gives it: octaves, and sub-buckets of each.
const BUCKETS: u32 = 35;
/// As above.
const SUB_BUCKETS: u32 = 256;

/// Formats `histogram` as `HdrHistogram`'s `outputPercentileDistribution` prints it and its
/// plotters read it (`.hgrm`). The columns are value in ms, percentile from 0 to 1, number of
/// values that are no larger, and 1/(1 − percentile).
///
/// Values are the highest of their bucket. Mean and deviation in the footer are computed from the
/// middles of buckets, as those tools do it; they are within 0.8 % of the exact ones in `run.json`.
///
/// Source: `org.HdrHistogram` 2.2, `AbstractHistogram.outputPercentileDistribution` and
/// `PercentileIterator`.
pub fn percentile_text(histogram: &Histogram) -> String {
    let mut text =
        format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let (count, mut seen, mut level) = (histogram.count(), 0, 0.0_f64);
    for (bucket, n) in histogram.iter() {
        seen += n;
        let value = Histogram::highest_equivalent(bucket) as f64 / NS_PER_MS;
        let reached = 100.0 * seen as f64 / count as f64;
        // A bucket that contains several levels has a line for each of them. The last bucket has
        // one for the first level and one for all.
        while reached >= level && level < 100.0 {
            let share = level / 100.0;
            add_line(&mut text, &format!("{value:12.3} {share:2.12} {seen:10} {:14.2}", 1.0 / (1.0 - share)));
            level += 100.0 / ticks(level);
            if seen == count {
                break;
            }
        }
        if seen == count {
            add_line(&mut text, &format!("{value:12.3} {:2.12} {seen:10}", 1.0));
        }
    }
    let [mean, deviation] = mean_and_deviation(histogram).map(|ns| ns / NS_PER_MS);
    let max = histogram.iter().last().map_or(0, |(bucket, _)| Histogram::highest_equivalent(bucket));
    let max = max as f64 / NS_PER_MS;
    add_line(&mut text, &format!("#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]"));
    add_line(&mut text, &format!("#[Max     = {max:12.3}, Total count    = {count:12}]"));
    add_line(&mut text, &format!("#[Buckets = {BUCKETS:12}, SubBuckets     = {SUB_BUCKETS:12}]"));
    text
}

fn add_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Number of levels from 0 to 100 % if all had the same distance as at `level`. Each half of the
/// remaining share has the same number of levels.
fn ticks(level: f64) -> f64 {
    let halvings = ((100.0 / (100.0 - level)).ln() / 2.0_f64.ln()).trunc();
    f64::from(TICKS_PER_HALF) * (halvings + 1.0).exp2()
}

/// Mean and deviation in ns, with every value taken as the middle of its bucket.
fn mean_and_deviation(histogram: &Histogram) -> [f64; 2] {
    if histogram.is_empty() {
        return [0.0; 2];
    }
    let count = histogram.count() as f64;
    let middle = |bucket: usize| {
        let (low, high) = (Histogram::lowest_equivalent(bucket), Histogram::highest_equivalent(bucket));
        (low + (high - low).div_ceil(2)) as f64
    };
    let mean = histogram.iter().map(|(bucket, n)| middle(bucket) * n as f64).sum::<f64>() / count;
    let squares = histogram.iter().map(|(bucket, n)| (middle(bucket) - mean).powi(2) * n as f64);
    [mean, (squares.sum::<f64>() / count).sqrt()]
}
