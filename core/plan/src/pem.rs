//! What is in a PEM text (RFC 7468): certificates, a private key, or something else.

use std::fmt;

use rustls_pki_types::pem::{Error, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Why a PEM text is of no use; nothing of the text stands in its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PemFault {
    /// There is nothing at all.
    Empty,
    /// No section begins anywhere.
    NoPem,
    /// There are sections, but not of the kind that was looked for.
    Missing,
    /// A section has no end.
    Truncated,
    /// A section cannot be decoded.
    Garbled,
    /// The key can be read only with a password.
    Encrypted,
}

impl fmt::Display for PemFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::NoPem => "it is no PEM, which begins with a line `-----BEGIN …-----`",
            Self::Missing => "there is none in it",
            Self::Truncated => "it breaks off: a line `-----BEGIN …-----` has no `-----END …-----`",
            Self::Garbled => "what stands between BEGIN and END is no base64",
            Self::Encrypted => "the key in it is encrypted",
        })
    }
}

/// The certificates in `pem` in their order, each as DER; at least one.
pub fn certificates(pem: &[u8]) -> Result<Vec<Vec<u8>>, PemFault> {
    let read: Vec<Vec<u8>> = CertificateDer::pem_slice_iter(pem)
        .map(|one| one.map(|der| der.as_ref().to_vec()))
        .collect::<Result<_, _>>()
        .map_err(|error| of_error(&error))?;
    if read.is_empty() { Err(nothing(pem)) } else { Ok(read) }
}

/// The first private key in `pem`: PKCS#8, PKCS#1 or SEC1, without a password.
pub fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, PemFault> {
    // RFC 1421's way, and PKCS#8's.
    let signs = ["Proc-Type: 4,ENCRYPTED", "-----BEGIN ENCRYPTED PRIVATE KEY-----"];
    if signs.iter().any(|sign| contains(pem, sign)) {
        return Err(PemFault::Encrypted);
    }
    match PrivateKeyDer::pem_slice_iter(pem).next() {
        Some(Ok(key)) => Ok(key),
        Some(Err(error)) => Err(of_error(&error)),
        None => Err(nothing(pem)),
    }
}

fn of_error(error: &Error) -> PemFault {
    match error {
        Error::MissingSectionEnd { .. } => PemFault::Truncated,
        Error::Base64Decode(_) => PemFault::Garbled,
        _ => PemFault::NoPem,
    }
}

fn nothing(pem: &[u8]) -> PemFault {
    if pem.is_empty() {
        PemFault::Empty
    } else if contains(pem, "-----BEGIN ") {
        PemFault::Missing
    } else {
        PemFault::NoPem
    }
}

fn contains(pem: &[u8], text: &str) -> bool {
    pem.windows(text.len()).any(|window| window == text.as_bytes())
}
