//! [`Experiment::explicit_settings`]: the settings that the user chose.

use std::collections::BTreeSet;

use crate::model::Experiment;

impl Experiment {
    /// Returns the names of settings that the file or an option sets; all others have their
    /// defaults.
    pub fn explicit_settings(&self) -> BTreeSet<&'static str> {
        let http = &self.http;
        let all = [
            ("http.version", http.version.is_some()),
            ("http.timeout", http.timeout.is_some()),
            ("http.connect_timeout", http.connect_timeout.is_some()),
            ("http.keepalive", http.keepalive.is_some()),
            ("http.cookies", http.cookies.is_some()),
            ("http.expect", http.expect.is_some()),
            ("http.close", http.close.is_some()),
            ("http.pipeline", http.pipeline.is_some()),
            ("http.streams", http.streams.is_some()),
            ("http.requests_per_connection", http.requests_per_connection.is_some()),
            ("http.body_max", http.body_max.is_some()),
            ("sources", self.sources.is_some()),
            ("drain", self.drain.is_some()),
            ("seed", self.seed.is_some()),
            ("open_rate", self.open_rate.is_some()),
            ("late_tolerance", self.late_tolerance.is_some()),
            ("probe", self.probe.is_some()),
            ("truth", self.truth.is_some()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }
}
