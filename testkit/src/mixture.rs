//! [`Mixture`]: closed forms of response times, to compare measured percentiles with.

use std::time::Duration;

/// A distribution made of points and uniform stretches, each with its share of the whole.
#[derive(Clone, Debug, Default)]
pub struct Mixture {
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    share: f64,
    from: f64,
    to: f64,
}

impl Mixture {
    /// A target that always responds after `delay`.
    pub fn constant(delay: Duration) -> Self {
        Self::default().uniform(1.0, delay, delay)
    }

    /// `slow` for the share `slow_share`, `fast` for all others.
    pub fn bimodal(fast: Duration, slow: Duration, slow_share: f64) -> Self {
        Self::default().uniform(1.0 - slow_share, fast, fast).uniform(slow_share, slow, slow)
    }

    /// The open loop against a target that stops for `freeze` in a run of `run`: arrivals know
    /// nothing of the freeze, so the share `freeze / run` of them waits uniformly 0..`freeze`.
    pub fn freeze(base: Duration, freeze: Duration, run: Duration) -> Self {
        let share = freeze.as_secs_f64() / run.as_secs_f64();
        Self::default().uniform(1.0 - share, base, base).uniform(share, base, base + freeze)
    }

    /// Adds a part: `share` of all, evenly spread over `from`..`to`.
    #[must_use]
    pub fn uniform(mut self, share: f64, from: Duration, to: Duration) -> Self {
        self.parts.push(Part { share, from: from.as_secs_f64(), to: to.as_secs_f64() });
        self
    }

    /// The share of the whole at or below `value` seconds.
    fn below(&self, value: f64) -> f64 {
        let whole: f64 = self.parts.iter().map(|part| part.share).sum();
        let below: f64 = self.parts.iter().map(|part| part.share * part.below(value)).sum();
        below / whole
    }

    /// The value that the share `q` (0..1) does not exceed.
    pub fn quantile(&self, q: f64) -> Duration {
        let mut low = 0.0;
        let mut high = self.parts.iter().map(|part| part.to).fold(0.0, f64::max);
        // Sixty halvings are below a nanosecond for anything a test can last.
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            // A share summed from floats may miss `q` by its last bits.
            if self.below(middle) + 1e-12 >= q {
                high = middle;
            } else {
                low = middle;
            }
        }
        Duration::from_secs_f64(high)
    }

    /// The mean.
    pub fn mean(&self) -> Duration {
        let whole: f64 = self.parts.iter().map(|part| part.share).sum();
        let sum: f64 = self.parts.iter().map(|part| part.share * f64::midpoint(part.from, part.to)).sum();
        Duration::from_secs_f64(sum / whole)
    }
}

impl Part {
    fn below(&self, value: f64) -> f64 {
        if value >= self.to {
            1.0
        } else if value < self.from {
            0.0
        } else {
            (value - self.from) / (self.to - self.from)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mixture: &Mixture, q: f64, expected_ms: f64) {
        let found = mixture.quantile(q).as_secs_f64() * 1e3;
        assert!((found - expected_ms).abs() < 1e-3, "q {q}: {found} ms, expected {expected_ms} ms");
    }

    #[test]
    fn a_freeze_is_uniform_above_its_share() {
        let ms = Duration::from_millis;
        let freeze = Mixture::freeze(ms(1), ms(500), ms(5_000));
        check(&freeze, 0.50, 1.0);
        check(&freeze, 0.90, 1.0);
        check(&freeze, 0.95, 251.0);
        check(&freeze, 0.99, 451.0);
        check(&freeze, 1.0, 501.0);
        assert!((freeze.mean().as_secs_f64() - 0.026).abs() < 1e-9);
    }

    #[test]
    fn a_bimodal_delay_jumps_at_its_share() {
        let ms = Duration::from_millis;
        let two = Mixture::bimodal(ms(2), ms(40), 0.2);
        check(&two, 0.79, 2.0);
        check(&two, 0.80, 2.0);
        check(&two, 0.81, 40.0);
        check(&Mixture::constant(ms(7)), 0.01, 7.0);
    }
}
