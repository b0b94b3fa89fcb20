//! The names of TLS in the spellings people know, from OpenSSL's and curl's habits to the registries of TLS.

/// The groups' own names, and what else they are called.
const GROUPS: [(&str, &[&str]); 5] = [
    ("X25519", &["curve25519"]),
    ("secp256r1", &["P-256", "prime256v1"]),
    ("secp384r1", &["P-384"]),
    ("secp521r1", &["P-521"]),
    ("X25519MLKEM768", &["mlkem768x25519"]),
];

/// The cipher suites' own names, and OpenSSL's. Those of TLS 1.3 have one name everywhere.
const CIPHERS: [(&str, &str); 9] = [
    ("TLS_AES_128_GCM_SHA256", "TLS13_AES_128_GCM_SHA256"),
    ("TLS_AES_256_GCM_SHA384", "TLS13_AES_256_GCM_SHA384"),
    ("TLS_CHACHA20_POLY1305_SHA256", "TLS13_CHACHA20_POLY1305_SHA256"),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
    ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
    ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
    ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
];

/// A group by its own name (RFC 8446 §4.2.7); one that is not known stays as it is, for the library to judge.
pub(crate) fn group(word: &str) -> String {
    let same = |name: &str| name.eq_ignore_ascii_case(word);
    let known = GROUPS.iter().find(|(name, others)| same(name) || others.iter().any(|other| same(other)));
    known.map_or(word, |(name, _)| name).to_owned()
}

/// A cipher suite by its own name (RFC 8446 §B.4); one that is not known stays as it is.
pub(crate) fn cipher(word: &str) -> String {
    let same = |name: &str| name.eq_ignore_ascii_case(word);
    let known = CIPHERS.iter().find(|(name, other)| same(name) || same(other));
    known.map_or(word, |(name, _)| name).to_owned()
}

/// Whether a cipher suite belongs to TLS 1.3, by its name: there the key exchange is no part of the suite.
pub(crate) fn is_of_tls13(cipher: &str) -> bool {
    !cipher.contains("_WITH_")
}
