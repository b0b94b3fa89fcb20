//! The content of the bodies of `/bytes`.

use std::sync::LazyLock;

/// Length of [`filler`].
pub(crate) const FILLER_BYTES: usize = 256 * 1024;

/// Content of the bodies of `/bytes`: lines of readable text.
pub(crate) fn filler() -> &'static [u8] {
    static FILLER: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let letter = |at: usize| if at % 64 == 63 { b'\n' } else { b'0' + (at % 64 + at / 64 % 10) as u8 };
        (0..FILLER_BYTES).map(letter).collect()
    });
    &FILLER
}
