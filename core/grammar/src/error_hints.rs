//! [`ErrorHints`]: hints for mistakes that have nothing to do with keys, where they depend on the
//! kind of file.

/// The hint texts of one kind of file.
#[derive(Clone, Copy, Debug)]
pub struct ErrorHints {
    /// The kind of file: "an experiment".
    pub a_file: &'static str,
    /// How to fill an empty file.
    pub empty: &'static str,
    /// Hint for a second document after `---`.
    pub documents: &'static str,
    /// Hint for maps and lists that are nested too deeply.
    pub deep: &'static str,
    /// A map in one line, as an example.
    pub map: &'static str,
    /// A line of a map, as an example.
    pub line: &'static str,
    /// How to give a value once for several places, instead of an anchor that repeats itself.
    pub alias: &'static str,
    /// How to give a value once for several places, instead of the key `<<`.
    pub merge: &'static str,
    /// Where to put the data that makes a file too long.
    pub long: &'static str,
}
