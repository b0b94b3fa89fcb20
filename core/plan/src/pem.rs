//! The content of a PEM text (RFC 7468): certificates, a private key, or something else.

use std::fmt;

use rustls_pki_types::pem::{Error, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Why a PEM text cannot be used. The message contains nothing of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PemFault {
    /// There is nothing at all.
    Empty,
    /// There is no start of a section.
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
            Self::NoPem => "it is not PEM, which starts with a line `-----BEGIN …-----`",
            Self::Missing => "there is none in it",
            Self::Truncated => "it is incomplete: a line `-----BEGIN …-----` has no `-----END …-----`",
            Self::Garbled => "the text between BEGIN and END is not base64",
            Self::Encrypted => "the key in it is encrypted",
        })
    }
}

/// The certificates in `pem` in their order, each as DER; at least one.
pub fn certificates(pem: &[u8]) -> Result<Vec<Vec<u8>>, PemFault> {
    let pem = without_mark(pem);
    let read: Vec<Vec<u8>> = CertificateDer::pem_slice_iter(pem)
        .map(|one| one.map(|der| der.as_ref().to_vec()))
        .collect::<Result<_, _>>()
        .map_err(|error| of_error(&error))?;
    if read.is_empty() { Err(nothing(pem)) } else { Ok(read) }
}

/// The first private key in `pem`: PKCS#8, PKCS#1 or SEC1, without a password.
pub fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, PemFault> {
    let pem = without_mark(pem);
    // The forms of RFC 1421 and of PKCS#8.
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

/// Returns the text without the byte-order mark that some editors write.
fn without_mark(pem: &[u8]) -> &[u8] {
    pem.strip_prefix(b"\xef\xbb\xbf").unwrap_or(pem)
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
