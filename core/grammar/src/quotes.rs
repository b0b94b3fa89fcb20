//! Scanning text outside quotes.

/// Returns the characters of `text` outside quotes, with their places.
pub fn unquoted_chars(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut quote = None;
    text.char_indices().filter(move |(_, letter)| {
        if quote == Some(*letter) {
            quote = None;
            return false;
        }
        if quote.is_none() && matches!(letter, '"' | '\'') {
            quote = Some(*letter);
        }
        quote.is_none()
    })
}
