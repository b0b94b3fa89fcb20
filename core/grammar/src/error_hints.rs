//! [`ErrorHints`]: what to do about mistakes that have nothing to do with keys, where it depends on the kind of file.

/// Words of one kind of file.
#[derive(Clone, Copy, Debug)]
pub struct ErrorHints {
    /// What such a file is: "an experiment".
    pub a_file: &'static str,
    /// Where an empty file comes to something.
    pub empty: &'static str,
    /// Of a second document behind `---`.
    pub documents: &'static str,
    /// Of maps and lists too deep inside each other.
    pub deep: &'static str,
    /// A map in one line, as an example.
    pub map: &'static str,
    /// A line of a map, as an example.
    pub line: &'static str,
    /// How something is said once for several, in place of an anchor that repeats itself.
    pub alias: &'static str,
    /// How something is said once for several, in place of the key `<<`.
    pub merge: &'static str,
    /// Where that belongs which makes a file too long.
    pub long: &'static str,
}
