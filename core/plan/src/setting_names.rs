//! [`SettingNames`]: how errors name a setting, as an option or as a key of a file.

use crate::IpFamily;

/// The place where a user changes settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SettingNames {
    /// Options of the command line.
    Options,
    #[default]
    /// Keys of an experiment file. Options without a key (`--threads`, `--engine`) keep their
    /// names.
    Keys,
}

impl SettingNames {
    /// Returns the setting of source addresses.
    pub const fn sources(self) -> &'static str {
        match self {
            Self::Options => "--source",
            Self::Keys => "sources",
        }
    }

    /// Returns the setting that uses all addresses of an interface as sources.
    pub const fn source_auto(self) -> &'static str {
        match self {
            Self::Options => "--source auto",
            Self::Keys => "sources: auto",
        }
    }

    /// Returns the setting that uses the sources in `network`.
    pub fn source_network(self, network: &str) -> String {
        match self {
            Self::Options => format!("--source {network}"),
            Self::Keys => format!("sources: [{network}]"),
        }
    }

    /// Returns the setting that selects a family of addresses.
    pub const fn family(self, family: IpFamily) -> &'static str {
        match (self, family) {
            (Self::Options, IpFamily::V4) => "--ip 4",
            (Self::Options, IpFamily::V6) => "--ip 6",
            (Self::Keys, IpFamily::V4) => "http: {ip: 4}",
            (Self::Keys, IpFamily::V6) => "http: {ip: 6}",
        }
    }

    /// Returns the setting of trusted certificates in `file`.
    pub fn trusted_certificates(self, file: &str) -> String {
        match self {
            Self::Options => format!("--cacert {file}"),
            Self::Keys => format!("tls: {{ca: {file}}}"),
        }
    }
}
