//! Groups, cipher suites and versions, selected by name.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs};
use rustls::{CipherSuite, NamedGroup, SupportedCipherSuite, SupportedProtocolVersion, version};
use wavetank_plan::{TlsVersions, tls_names};

use super::problem::TlsProblem;

/// The cryptography of a configuration: a provider with the chosen groups and ciphers, and the
/// versions.
pub(super) struct CryptoConfig {
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) versions: Vec<&'static SupportedProtocolVersion>,
}

impl CryptoConfig {
    /// Empty lists mean the library's choice: X25519, P-256, P-384, X25519MLKEM768, and all ciphers
    /// it has.
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
        // A version for which no cipher or no group is selected can never be agreed on. Offering it
        // would only mislead the peer.
        let is_possible = |version: &&&'static SupportedProtocolVersion| {
            let version = version.version;
            provider.cipher_suites.iter().any(|suite| suite.version().version == version)
                && provider.kx_groups.iter().any(|group| group.usable_for_version(version))
        };
        let versions: Vec<_> = wanted.iter().filter(is_possible).copied().collect();
        if versions.is_empty() {
            let hint = "ciphers of TLS 1.3 start with TLS_AES or TLS_CHACHA20, those of 1.2 with TLS_ECDHE; groups \
                        with MLKEM require 1.3";
            return Err(TlsProblem::new(
                "the requested TLS versions, ciphers and groups do not go together",
                hint,
            ));
        }
        Ok(Self { provider: Arc::new(provider), versions })
    }
}

fn group(name: &str) -> Result<&'static dyn SupportedKxGroup, TlsProblem> {
    let wanted = tls_names::group(name);
    let named = |group: &&&'static dyn SupportedKxGroup| Some(group_name(group.name())) == wanted;
    let found = aws_lc_rs::ALL_KX_GROUPS.iter().find(named);
    found.copied().ok_or_else(|| unknown("key exchange group", name, tls_names::groups()))
}

fn cipher(name: &str) -> Result<SupportedCipherSuite, TlsProblem> {
    let wanted = tls_names::cipher(name);
    let named = |suite: &&SupportedCipherSuite| Some(cipher_name(suite.suite())) == wanted;
    let found = aws_lc_rs::ALL_CIPHER_SUITES.iter().find(named);
    found.copied().ok_or_else(|| unknown("cipher", name, tls_names::ciphers()))
}

fn unknown(what: &str, name: &str, known: impl Iterator<Item = &'static str>) -> TlsProblem {
    let known: Vec<&str> = known.collect();
    TlsProblem::new(format!("there is no TLS {what} `{name}`"), format!("there is: {}", known.join(", ")))
}

/// Returns the name of a group in TLS. The library's own name for it is one of its spellings.
pub(super) fn group_name(group: NamedGroup) -> &'static str {
    group.as_str().and_then(tls_names::group).unwrap_or("?")
}

/// Returns the name of a cipher suite in TLS. The library's own name for it is one of its
/// spellings.
pub(super) fn cipher_name(cipher: CipherSuite) -> &'static str {
    cipher.as_str().and_then(tls_names::cipher).unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_what_the_library_has() {
        let groups: Vec<_> = aws_lc_rs::ALL_KX_GROUPS.iter().map(|group| group_name(group.name())).collect();
        assert_eq!(groups.len(), tls_names::groups().count());
        for name in tls_names::groups() {
            assert!(groups.contains(&name), "{name}: {groups:?}");
            assert_eq!(group_name(group(&name.to_lowercase()).expect("known").name()), name);
        }
        let suites = aws_lc_rs::ALL_CIPHER_SUITES;
        let ciphers: Vec<_> = suites.iter().map(|suite| cipher_name(suite.suite())).collect();
        assert_eq!(ciphers.len(), tls_names::ciphers().count());
        for name in tls_names::ciphers() {
            assert!(ciphers.contains(&name), "{name}: {ciphers:?}");
            assert_eq!(cipher_name(cipher(&name.to_lowercase()).expect("known").suite()), name);
        }
    }

    #[track_caller]
    fn check(versions: TlsVersions, groups: &[&str], ciphers: &[&str], expected: Result<&[u8], &str>) {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let found = CryptoConfig::new(versions, &owned(groups), &owned(ciphers));
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
        check(Tls13, &[], &["ECDHE-RSA-AES128-GCM-SHA256"], Err("do not go together"));
        check(Both, &["MLKEM768"], &[], Ok(&[3]));
        check(Tls12, &["X25519MLKEM768"], &[], Err("do not go together"));
        check(Both, &["P-521"], &[], Err("`P-521`"));
        check(Both, &[], &["RC4"], Err("`RC4`"));
    }
}
