//! The names of TLS, in the spellings of OpenSSL, curl and nginx, and in those of the TLS
//! registries.
//!
//! It is the only table of names: client, server, options and reports use it.

use wavetank_units::{Code, UserError, did_you_mean};

use crate::TlsVersions;

/// A TLS name with its aliases.
struct NameAliases {
    /// Its name in TLS.
    own: &'static str,
    others: &'static [&'static str],
}

const fn name(own: &'static str, others: &'static [&'static str]) -> NameAliases {
    NameAliases { own, others }
}

/// Groups of the key exchange (RFC 8446 §4.2.7; draft-ietf-tls-ecdhe-mlkem).
const GROUPS: [NameAliases; 7] = [
    name("X25519", &["curve25519"]),
    name("secp256r1", &["P-256", "prime256v1"]),
    name("secp384r1", &["P-384"]),
    name("X25519MLKEM768", &["mlkem768x25519"]),
    name("SecP256r1MLKEM768", &["mlkem768p256"]),
    name("MLKEM768", &[]),
    name("MLKEM1024", &[]),
];

/// Cipher suites, with OpenSSL's names where those differ (RFC 8446 §B.4, RFC 5289, RFC 7905).
const CIPHERS: [NameAliases; 9] = [
    name("TLS_AES_128_GCM_SHA256", &["TLS13_AES_128_GCM_SHA256"]),
    name("TLS_AES_256_GCM_SHA384", &["TLS13_AES_256_GCM_SHA384"]),
    name("TLS_CHACHA20_POLY1305_SHA256", &["TLS13_CHACHA20_POLY1305_SHA256"]),
    name("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", &["ECDHE-ECDSA-AES128-GCM-SHA256"]),
    name("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", &["ECDHE-ECDSA-AES256-GCM-SHA384"]),
    name("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", &["ECDHE-ECDSA-CHACHA20-POLY1305"]),
    name("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", &["ECDHE-RSA-AES128-GCM-SHA256"]),
    name("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", &["ECDHE-RSA-AES256-GCM-SHA384"]),
    name("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", &["ECDHE-RSA-CHACHA20-POLY1305"]),
];

/// The groups there are, by their names in TLS.
pub fn groups() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().map(|name| name.own)
}

/// The cipher suites there are, by their names in TLS.
pub fn ciphers() -> impl Iterator<Item = &'static str> {
    CIPHERS.iter().map(|name| name.own)
}

/// The name in TLS of a group in any spelling.
pub fn group(word: &str) -> Option<&'static str> {
    find(&GROUPS, word)
}

/// The name in TLS of a cipher suite in any spelling.
pub fn cipher(word: &str) -> Option<&'static str> {
    find(&CIPHERS, word)
}

/// Returns the groups of `--tls-groups`, by their names in TLS. Fails on unknown and on duplicate
/// groups.
pub fn chosen_groups(words: &[String]) -> Result<Vec<String>, UserError> {
    chosen("--tls-groups", "key exchange group", &GROUPS, words)
}

/// Returns the ciphers of `--tls-ciphers`, by their names in TLS. Fails on unknown and duplicate
/// ciphers, and on a suite that would never be used because its TLS version is not enabled.
/// `versions` is the value of the version option.
pub fn chosen_ciphers(
    words: &[String],
    (version_option, versions): (&str, TlsVersions),
) -> Result<Vec<String>, UserError> {
    let ciphers = chosen("--tls-ciphers", "cipher", &CIPHERS, words)?;
    let unused = |cipher: &&String| match versions {
        TlsVersions::Both => false,
        TlsVersions::Tls12 => is_of_tls13(cipher),
        TlsVersions::Tls13 => !is_of_tls13(cipher),
    };
    let Some(cipher) = ciphers.iter().find(unused) else { return Ok(ciphers) };
    let (spoken, other) = if versions == TlsVersions::Tls12 { ("1.2", "1.3") } else { ("1.3", "1.2") };
    let message =
        format!("--tls-ciphers {cipher} belongs to TLS {other}, and {version_option} {spoken} excludes it");
    let hint = format!("leave {version_option} out, or {version_option} {other}");
    Err(UserError::usage(Code::Conflict, message, hint))
}

/// Returns whether a cipher suite belongs to TLS 1.3. Its name shows this, because the key exchange
/// is not part of such a suite.
fn is_of_tls13(cipher: &str) -> bool {
    !cipher.contains("_WITH_")
}

fn chosen(
    option: &str,
    what: &str,
    table: &[NameAliases],
    words: &[String],
) -> Result<Vec<String>, UserError> {
    let mut names: Vec<&'static str> = Vec::with_capacity(words.len());
    for word in words {
        let found = find(table, word).ok_or_else(|| unknown(option, what, table, word))?;
        if let Some(before) = names.iter().position(|name| *name == found) {
            let same = &words[before];
            let also = if same == word { String::new() } else { format!(", as `{same}` and as `{word}`") };
            let message = format!("{option} names {found} twice{also}");
            return Err(UserError::usage(Code::Conflict, message, "give it once"));
        }
        names.push(found);
    }
    Ok(names.into_iter().map(str::to_owned).collect())
}

fn find(table: &[NameAliases], word: &str) -> Option<&'static str> {
    let same = |name: &str| name.eq_ignore_ascii_case(word);
    let known = table.iter().find(|name| same(name.own) || name.others.iter().any(|other| same(other)));
    known.map(|name| name.own)
}

fn unknown(option: &str, what: &str, table: &[NameAliases], word: &str) -> UserError {
    let all = table.iter().flat_map(|name| std::iter::once(&name.own).chain(name.others));
    let near =
        did_you_mean(word, all.copied()).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
    let own: Vec<&str> = table.iter().map(|name| name.own).collect();
    let message = format!("{option}: there is no TLS {what} `{word}`");
    UserError::usage(Code::ValueUnknown, message, format!("{near}there is: {}", own.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: Result<Vec<String>, UserError>, expected: Result<&[&str], &str>) {
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err(said)) => {
                assert!(error.to_string().contains(said), "`{said}` is missing: {error}");
                assert!(error.message.starts_with("--tls-"), "{error}");
            }
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn every_spelling_leads_to_the_name_in_tls() {
        let groups = |list: &[&str]| chosen_groups(&words(list));
        check(groups(&["curve25519", "p-256", "SECP384R1"]), Ok(&["X25519", "secp256r1", "secp384r1"]));
        check(groups(&["mlkem768x25519"]), Ok(&["X25519MLKEM768"]));
        check(groups(&[]), Ok(&[]));
        check(groups(&["P-521"]), Err("there is no TLS key exchange group `P-521`"));
        check(groups(&["prime256v2"]), Err("did you mean prime256v1? there is: X25519, secp256r1"));
        check(
            groups(&["P-256", "X25519", "secp256r1"]),
            Err("secp256r1 twice, as `P-256` and as `secp256r1`"),
        );
        check(groups(&["x25519", "x25519"]), Err("names X25519 twice\n"));
    }

    #[test]
    fn ciphers_belong_to_a_version_that_is_spoken() {
        use TlsVersions::{Both, Tls12, Tls13};
        let ciphers = |versions, list: &[&str]| chosen_ciphers(&words(list), ("--tls", versions));
        let both = ["ECDHE-RSA-AES128-GCM-SHA256", "tls_aes_128_gcm_sha256"];
        check(ciphers(Both, &both), Ok(&["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"]));
        check(ciphers(Tls12, &both), Err("belongs to TLS 1.3, and --tls 1.2 excludes it"));
        check(ciphers(Tls13, &both), Err("or --tls 1.2"));
        check(ciphers(Both, &["RC4-MD5"]), Err("there is no TLS cipher `RC4-MD5`"));
    }
}
