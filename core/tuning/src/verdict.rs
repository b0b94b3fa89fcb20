//! [`Verdict`]: what is wrong with a setting; [`Severity`]: how much it matters.

/// What is wrong with a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::VariantArray)]
pub enum Verdict {
    /// It does damage.
    Harmful,
    /// No kernel or server has a setting of this name.
    Misspelt,
    /// The kernel or the server refuses the value.
    Rejected,
    /// The value is in another unit than the author assumed.
    WrongUnit,
    /// The line is not in the syntax of its file.
    Syntax,
    /// Current versions have no such setting any more.
    Obsolete,
    /// A limit cuts the value off without an error.
    Capped,
    /// The idea is right and the value is absurd.
    TooLarge,
    /// It does not do what it is usually set for.
    NoEffect,
    /// The value is lower than the default.
    Lowers,
    /// A later line sets the same again.
    Repeated,
    /// It contradicts another setting.
    Conflict,
    /// It sets the default.
    Default,
    /// It is reasonable.
    Keep,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It does damage, or is not in effect at all.
    Error,
    /// It misses its purpose.
    Warning,
    /// It is fine; shown on request.
    Note,
}

impl Verdict {
    /// All of them.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns the code of a [`Finding`](crate::Finding), as `wavetank explain` knows it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Harmful => "setting_harmful",
            Self::Misspelt => "setting_unknown",
            Self::Rejected => "setting_rejected",
            Self::WrongUnit => "setting_unit",
            Self::Syntax => "setting_syntax",
            Self::Obsolete => "setting_obsolete",
            Self::Capped => "setting_capped",
            Self::TooLarge => "setting_too_large",
            Self::NoEffect => "setting_no_effect",
            Self::Lowers => "setting_lowers",
            Self::Repeated => "setting_repeated",
            Self::Conflict => "setting_conflict",
            Self::Default => "setting_default",
            Self::Keep => "setting_fine",
        }
    }

    /// Returns how much it matters.
    pub const fn severity(self) -> Severity {
        match self {
            Self::Harmful | Self::Misspelt | Self::Rejected | Self::WrongUnit | Self::Syntax => {
                Severity::Error
            }
            Self::Default | Self::Keep => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

impl Severity {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}
