//! Groups, cipher suites and versions by their names.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs};
use rustls::{CipherSuite, NamedGroup, SupportedCipherSuite, SupportedProtocolVersion, version};
use wavetank_plan::TlsVersions;

use super::problem::TlsProblem;

/// Groups as TLS calls them, and what else people call them.
const GROUPS: [(NamedGroup, &str, &[&str]); 7] = [
    (NamedGroup::X25519, "X25519", &[]),
    (NamedGroup::secp256r1, "secp256r1", &["P-256", "prime256v1"]),
    (NamedGroup::secp384r1, "secp384r1", &["P-384"]),
    (NamedGroup::X25519MLKEM768, "X25519MLKEM768", &[]),
    (NamedGroup::secp256r1MLKEM768, "SecP256r1MLKEM768", &[]),
    (NamedGroup::MLKEM768, "MLKEM768", &[]),
    (NamedGroup::MLKEM1024, "MLKEM1024", &[]),
];

/// Cipher suites as TLS calls them, and as OpenSSL does where that differs.
const CIPHERS: [(CipherSuite, &str, &[&str]); 9] = [
    (CipherSuite::TLS13_AES_128_GCM_SHA256, "TLS_AES_128_GCM_SHA256", &["TLS13_AES_128_GCM_SHA256"]),
    (CipherSuite::TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384", &["TLS13_AES_256_GCM_SHA384"]),
    (
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        "TLS_CHACHA20_POLY1305_SHA256",
        &["TLS13_CHACHA20_POLY1305_SHA256"],
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        &["ECDHE-ECDSA-AES128-GCM-SHA256"],
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        &["ECDHE-ECDSA-AES256-GCM-SHA384"],
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        &["ECDHE-ECDSA-CHACHA20-POLY1305"],
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        &["ECDHE-RSA-AES128-GCM-SHA256"],
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        &["ECDHE-RSA-AES256-GCM-SHA384"],
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        &["ECDHE-RSA-CHACHA20-POLY1305"],
    ),
];

/// What is spoken: a provider of the groups and ciphers chosen, and the versions.
pub(super) struct Choices {
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) versions: Vec<&'static SupportedProtocolVersion>,
}

impl Choices {
    /// Empty lists are the library's choice: X25519, P-256, P-384, X25519MLKEM768, and all ciphers it has.
    pub(super) fn new(
        versions: TlsVersions,
        groups: &[String],
        ciphers: &[String],
    ) -> Result<Self, TlsProblem> {
        let mut provider = aws_lc_rs::default_provider();
        if !groups.is_empty() {
            provider.kx_groups = groups.iter().map(|name| group(name)).collect::<Result<_, _>>()?;
        }
        if !ciphers.is_empty() {
            provider.cipher_suites = ciphers.iter().map(|name| cipher(name)).collect::<Result<_, _>>()?;
        }
        let wanted: &[&'static SupportedProtocolVersion] = match versions {
            TlsVersions::Both => &[&version::TLS13, &version::TLS12],
            TlsVersions::Tls12 => &[&version::TLS12],
            TlsVersions::Tls13 => &[&version::TLS13],
        };
        // A version without a cipher of its own cannot come about: offering it would only mislead the peer.
        let has_cipher = |version: &&&'static SupportedProtocolVersion| {
            provider.cipher_suites.iter().any(|suite| suite.version().version == version.version)
        };
        let versions: Vec<_> = wanted.iter().filter(has_cipher).copied().collect();
        if versions.is_empty() {
            let hint = "ciphers of TLS 1.3 begin with TLS_AES or TLS_CHACHA20, those of 1.2 with TLS_ECDHE";
            return Err(TlsProblem::new("none of the ciphers belongs to the TLS version asked for", hint));
        }
        Ok(Self { provider: Arc::new(provider), versions })
    }
}

fn group(name: &str) -> Result<&'static dyn SupportedKxGroup, TlsProblem> {
    let wanted = find(&GROUPS, name).ok_or_else(|| unknown("key exchange group", name, &GROUPS))?;
    let found = aws_lc_rs::ALL_KX_GROUPS.iter().find(|group| group.name() == wanted);
    Ok(*found.expect("the table names what the library has"))
}

fn cipher(name: &str) -> Result<SupportedCipherSuite, TlsProblem> {
    let wanted = find(&CIPHERS, name).ok_or_else(|| unknown("cipher", name, &CIPHERS))?;
    let found = aws_lc_rs::ALL_CIPHER_SUITES.iter().find(|suite| suite.suite() == wanted);
    Ok(*found.expect("the table names what the library has"))
}

fn find<T: Copy>(table: &[(T, &str, &[&str])], name: &str) -> Option<T> {
    let named = |(_, known, others): &&(T, &str, &[&str])| {
        known.eq_ignore_ascii_case(name) || others.iter().any(|other| other.eq_ignore_ascii_case(name))
    };
    table.iter().find(named).map(|&(value, ..)| value)
}

fn unknown<T>(what: &str, name: &str, table: &[(T, &str, &[&str])]) -> TlsProblem {
    let known: Vec<&str> = table.iter().map(|(_, known, _)| *known).collect();
    TlsProblem::new(format!("there is no TLS {what} `{name}`"), format!("there is: {}", known.join(", ")))
}

/// The name of a group in TLS.
pub(super) fn group_name(group: NamedGroup) -> &'static str {
    GROUPS.iter().find(|(known, ..)| *known == group).map_or("?", |(_, name, _)| name)
}

/// The name of a cipher suite in TLS.
pub(super) fn cipher_name(cipher: CipherSuite) -> &'static str {
    CIPHERS.iter().find(|(known, ..)| *known == cipher).map_or("?", |(_, name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_what_it_names() {
        for (value, name, others) in GROUPS {
            for name in [&[name], others].concat() {
                assert_eq!(group(&name.to_lowercase()).expect("known").name(), value);
            }
            assert_eq!(group_name(value), name);
        }
        for (value, name, others) in CIPHERS {
            for name in [&[name], others].concat() {
                assert_eq!(cipher(&name.to_lowercase()).expect("known").suite(), value);
            }
            assert_eq!(cipher_name(value), name);
        }
        // Nothing the library has is missing here.
        assert_eq!(aws_lc_rs::ALL_KX_GROUPS.len(), GROUPS.len());
        assert_eq!(aws_lc_rs::ALL_CIPHER_SUITES.len(), CIPHERS.len());
    }

    #[track_caller]
    fn check(versions: TlsVersions, groups: &[&str], ciphers: &[&str], expected: Result<&[u8], &str>) {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let found = Choices::new(versions, &owned(groups), &owned(ciphers));
        match (found, expected) {
            (Ok(found), Ok(minor)) => {
                let spoken: Vec<u8> =
                    found.versions.iter().map(|one| u16::from(one.version) as u8 - 1).collect();
                assert_eq!(spoken, minor);
            }
            (Err(problem), Err(words)) => {
                assert!(problem.what.contains(words), "{problem}");
                assert!(!problem.hint.is_empty());
            }
            (found, _) => panic!("{:?}", found.map(|found| found.versions)),
        }
    }

    #[test]
    fn versions_without_a_cipher_are_not_spoken() {
        use TlsVersions::{Both, Tls12, Tls13};
        check(Both, &[], &[], Ok(&[3, 2]));
        check(Tls12, &["P-256"], &[], Ok(&[2]));
        check(Both, &[], &["TLS_AES_128_GCM_SHA256"], Ok(&[3]));
        check(Both, &[], &["ECDHE-RSA-AES128-GCM-SHA256"], Ok(&[2]));
        check(Tls13, &[], &["ECDHE-RSA-AES128-GCM-SHA256"], Err("none of the ciphers"));
        check(Both, &["P-521"], &[], Err("`P-521`"));
        check(Both, &[], &["RC4"], Err("`RC4`"));
    }
}
