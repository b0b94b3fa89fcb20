//! The stateless functions of templates. Each appends to a buffer.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::hash::push_hex;

/// Appends `base64(x)` (RFC 4648 §4, with padding).
pub fn base64_text(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).expect("four letters for each three bytes");
    out.truncate(start + written);
}

/// Appends the value of `Authorization` for `basic` (RFC 7617). A `:` in the user's name cannot be
/// sent, because servers read everything after the first one as the password.
pub fn basic(out: &mut Vec<u8>, user: &[u8], password: &[u8]) {
    out.extend_from_slice(b"Basic ");
    base64_text(out, &[user, b":", password].concat());
}

/// Appends the value of `Authorization` for `bearer` (RFC 6750).
pub fn bearer(out: &mut Vec<u8>, token: &[u8]) {
    out.extend_from_slice(b"Bearer ");
    crate::body::header_text(out, token);
}

/// Returns the HMAC with SHA-256 (RFC 2104).
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length of key is one");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// Appends `hmac_sha256(k,x)` in the form of templates: 64 lower-case hexadecimal digits.
pub fn hmac_sha256_hex(out: &mut Vec<u8>, key: &[u8], message: &[u8]) {
    push_hex(out, &hmac_sha256(key, message));
}

/// Appends `uuid()`: version 4 (RFC 9562 §5.4) from two random 64-bit numbers.
pub fn uuid_v4(out: &mut Vec<u8>, random: [u64; 2]) {
    let high = random[0] & !0xf000 | 0x4000;
    let low = random[1] & !(0b11 << 62) | 0b10 << 62;
    let [high, low] = [high.to_be_bytes(), low.to_be_bytes()];
    for (at, group) in [&high[..4], &high[4..6], &high[6..], &low[..2], &low[2..]].iter().enumerate() {
        if at > 0 {
            out.push(b'-');
        }
        push_hex(out, group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut Vec<u8>), expected: &str) {
        let mut out = b"x".to_vec();
        write(&mut out);
        assert_eq!(String::from_utf8(out).expect("is text"), format!("x{expected}"));
    }

    #[test]
    fn the_published_answers_come_out() {
        // RFC 7617 §2, RFC 4648 §10, RFC 4231 §4.3.
        check(|out| basic(out, b"Aladdin", b"open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        for (text, expected) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            check(|out| base64_text(out, text.as_bytes()), expected);
        }
        check(
            |out| hmac_sha256_hex(out, b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(|out| bearer(out, b"a.b\r\nX: y"), "Bearer a.b  X: y");
    }

    #[test]
    fn a_uuid_has_its_version_and_variant() {
        check(|out| uuid_v4(out, [0, 0]), "00000000-0000-4000-8000-000000000000");
        check(|out| uuid_v4(out, [u64::MAX, u64::MAX]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        check(
            |out| uuid_v4(out, [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]),
            "01234567-89ab-4def-bedc-ba9876543210",
        );
    }
}
