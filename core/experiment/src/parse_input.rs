//! [`ParseInput`]: what reading a file needs from outside.

use wavetank_plan::RunOptions;

/// The input of [`read`]. It includes everything that is needed from outside the file.
pub struct ParseInput<'a> {
    /// The file's name, which helps to recognise files of other tools.
    pub name: &'a str,
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// `--set NAME=VALUE`, in order; the last one of a name takes effect.
    pub set: &'a [(String, String)],
    /// Returns a variable of the environment.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Returns whether a secret of that name exists. Its value is resolved when a request is sent.
    pub has_secret: &'a dyn Fn(&str) -> bool,
    /// Options of the command line, which override values of the file.
    pub options: &'a RunOptions,
}
