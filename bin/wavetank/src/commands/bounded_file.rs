//! [`read_bounded`]: reads a file that people write, such as a lab or an inventory.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use wavetank_units::quantity::show_size;

use wavetank_store::os_error_text;

/// Maximum size in bytes. The parsers have limits of their own, none above this, and report them
/// with a position.
const FILE_MAX: u64 = 8 << 20;

/// Returns a file's bytes, or the reason why it cannot be read.
pub(super) fn read_bounded(path: &Path) -> Result<Vec<u8>, String> {
    let why = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => os_error_text(&error),
    };
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes)).map_err(why)?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(format!("it is larger than {}", show_size(FILE_MAX)));
    }
    Ok(bytes)
}
