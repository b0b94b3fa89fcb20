//! Pseudo-random numbers that are the same every time.

/// A generator of numbers from a seed.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d)
    }

    /// From 0 to below 1.
    pub(crate) fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An exponential variate of mean 1.
    pub(crate) fn wait(&mut self) -> f64 {
        -(1.0 - self.share()).ln()
    }

    /// A value of any size and sign, sometimes missing or not a number.
    pub(crate) fn any(&mut self) -> Option<f64> {
        match (self.share() * 12.0) as u32 {
            0 => None,
            1 => Some(f64::NAN),
            2 => Some(f64::INFINITY),
            3 => Some(0.0),
            4 => Some(-self.share() * 1e3),
            5 => Some(f64::MAX * (self.share() - 0.5)),
            6 => Some(f64::MIN_POSITIVE),
            _ => Some(10_f64.powf(self.share() * 24.0 - 6.0)),
        }
    }
}
