//! [`Judge`]: thresholds and stop conditions, second by second.
