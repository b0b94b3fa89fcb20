//! [`Function`]: the names of the core library (XPath 1.0 §4).

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Last,
    Position,
    Count,
    LocalName,
    Name,
    String,
    Concat,
    StartsWith,
    Contains,
    SubstringBefore,
    SubstringAfter,
    Substring,
    StringLength,
    NormalizeSpace,
    Translate,
    Boolean,
    Not,
    True,
    False,
    Number,
    Sum,
    Floor,
    Ceiling,
    Round,
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "last" => Self::Last,
            "position" => Self::Position,
            "count" => Self::Count,
            "local-name" => Self::LocalName,
            "name" => Self::Name,
            "string" => Self::String,
            "concat" => Self::Concat,
            "starts-with" => Self::StartsWith,
            "contains" => Self::Contains,
            "substring-before" => Self::SubstringBefore,
            "substring-after" => Self::SubstringAfter,
            "substring" => Self::Substring,
            "string-length" => Self::StringLength,
            "normalize-space" => Self::NormalizeSpace,
            "translate" => Self::Translate,
            "boolean" => Self::Boolean,
            "not" => Self::Not,
            "true" => Self::True,
            "false" => Self::False,
            "number" => Self::Number,
            "sum" => Self::Sum,
            "floor" => Self::Floor,
            "ceiling" => Self::Ceiling,
            "round" => Self::Round,
            _ => return None,
        })
    }

    /// Whether the function takes this many arguments.
    pub(super) fn takes(self, count: usize) -> bool {
        match self {
            Self::Last | Self::Position | Self::True | Self::False => count == 0,
            Self::LocalName
            | Self::Name
            | Self::String
            | Self::StringLength
            | Self::NormalizeSpace
            | Self::Number => count <= 1,
            Self::Concat => count >= 2,
            Self::StartsWith | Self::Contains | Self::SubstringBefore | Self::SubstringAfter => count == 2,
            Self::Substring => (2..=3).contains(&count),
            Self::Translate => count == 3,
            Self::Count
            | Self::Boolean
            | Self::Not
            | Self::Sum
            | Self::Floor
            | Self::Ceiling
            | Self::Round => count == 1,
        }
    }
}
