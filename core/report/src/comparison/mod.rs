//! Two sides of runs beside each other, in words and tables. Pure functions of the stored comparison.

mod headline;
mod junit;
mod markdown;
mod text;
mod values;

pub use junit::comparison_junit;
pub use markdown::comparison_markdown;
pub use text::comparison_text;
