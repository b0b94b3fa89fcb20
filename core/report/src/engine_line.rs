//! [`engine_line`]: the driver of a load, in a line.

use wavetank_plan::{EngineChoice, Unsupported};
use wavetank_record::engine_name;

/// The engine in a line, with cause and cure where it is not the best one.
pub fn engine_line(engine: EngineChoice, why: Option<&Unsupported>) -> String {
    let name = engine_name(engine);
    match why {
        Some(Unsupported { cause, cure }) => format!("engine     {name}: {cause}: {cure}"),
        None => format!("engine     {name}"),
    }
}
