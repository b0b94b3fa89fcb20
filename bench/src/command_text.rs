//! [`shown`]: a command as text.

/// Formats a command as a user would type it.
pub(crate) fn shown(words: &[String]) -> String {
    let quoted = words.iter().map(|word| if word.contains(' ') { format!("'{word}'") } else { word.clone() });
    quoted.collect::<Vec<_>>().join(" ")
}
