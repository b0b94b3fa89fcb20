//! Plain-language messages for TLS errors.

use wavetank_units::{Sentence, phrase, sentence};

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

/// Returns `error` as one line.
pub(super) fn error_text(error: &Error) -> Sentence {
    match error {
        Error::InvalidCertificate(problem) => certificate(problem),
        Error::AlertReceived(alert) => alert_received(*alert),
        Error::PeerIncompatible(problem) => incompatible(problem),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            phrase!("the peer does not speak TLS here: is this a port for plain HTTP?")
        }
        Error::InvalidMessage(problem) => sentence!("the peer sent a malformed TLS message ({problem:?})"),
        Error::NoCertificatesPresented => phrase!("the peer sent no certificate"),
        Error::UnsupportedNameType => phrase!("a certificate cannot contain the peer's name"),
        Error::DecryptError => phrase!("a TLS record could not be decrypted: it was damaged or forged"),
        Error::PeerSentOversizedRecord => phrase!("the peer sent a TLS record larger than allowed"),
        Error::NoApplicationProtocol => phrase!("no application protocol (ALPN) in common"),
        Error::PeerMisbehaved(problem) => sentence!("the peer violated the TLS protocol ({problem:?})"),
        Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => {
            phrase!("the peer sent an unexpected TLS message")
        }
        Error::EncryptError => phrase!("a TLS record could not be encrypted"),
        other => sentence!("{other}"),
    }
}

fn certificate(problem: &CertificateError) -> Sentence {
    match problem {
        CertificateError::UnknownIssuer => {
            phrase!("the certificate's issuer is unknown here: not signed by a trusted CA")
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            phrase!("the certificate has expired")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            phrase!("the certificate is not valid yet")
        }
        CertificateError::NotValidForName => phrase!("the certificate is for another name"),
        CertificateError::NotValidForNameContext { expected, presented } => {
            other_name(&expected.to_str(), presented)
        }
        CertificateError::Revoked => phrase!("the certificate has been revoked"),
        CertificateError::BadSignature => phrase!("the certificate's signature is wrong"),
        CertificateError::BadEncoding => phrase!("the certificate is malformed"),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            phrase!("the certificate is not valid for this side of TLS")
        }
        // `openssl req -x509` makes such certificates by default.
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            phrase!(
                "the certificate is a CA's, not a server's (CA:TRUE): make it with basicConstraints=CA:FALSE"
            )
        }
        other => sentence!("the certificate is not accepted ({other:?})"),
    }
}

/// Maximum number of names in a message: certificates of large sites have pages of them.
const NAMES_MAX: usize = 4;

fn other_name(expected: &str, presented: &[String]) -> Sentence {
    // webpki formats them as DnsName("a.example"), IpAddress(127.0.0.1).
    let plain = |name: &String| {
        let inner = name.split_once('(').map_or(name.as_str(), |(_, inner)| inner.trim_end_matches(')'));
        inner.trim_matches('"').to_owned()
    };
    let mut names: Vec<String> = presented.iter().take(NAMES_MAX).map(plain).collect();
    if presented.len() > NAMES_MAX {
        names.push("…".to_owned());
    }
    match names.len() {
        0 => sentence!("the certificate contains no names, so it is not valid for {expected}"),
        _ => sentence!("the certificate is for {}, not for {expected}", names.join(", ")),
    }
}

fn alert_received(alert: AlertDescription) -> Sentence {
    let why = match alert {
        AlertDescription::HandshakeFailure => {
            phrase!("no common TLS parameters, or a certificate is required")
        }
        AlertDescription::ProtocolVersion => phrase!("it does not support this version of TLS"),
        AlertDescription::UnrecognisedName => phrase!("it does not know the requested name (SNI)"),
        AlertDescription::CertificateRequired => phrase!("it requires a client certificate"),
        AlertDescription::UnknownCA => phrase!("it does not trust the issuer of our certificate"),
        AlertDescription::BadCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnsupportedCertificate => phrase!("it does not accept our certificate"),
        AlertDescription::CertificateExpired => phrase!("it considers our certificate expired"),
        AlertDescription::NoApplicationProtocol => phrase!("no application protocol (ALPN) in common"),
        AlertDescription::InsufficientSecurity => phrase!("it requires stronger ciphers"),
        AlertDescription::InternalError => phrase!("it has an internal problem"),
        AlertDescription::DecryptError => phrase!("it could not check a signature or decrypt a message"),
        _ => Sentence::empty(),
    };
    let name = alert_name(alert);
    if why.is_empty() {
        sentence!("the peer ended TLS with the alert {name}")
    } else {
        sentence!("the peer ended TLS with the alert {name}: {why}")
    }
}

/// Returns the name as the RFCs write it: `HandshakeFailure` → `handshake_failure`.
fn alert_name(alert: AlertDescription) -> String {
    let debug = format!("{alert:?}");
    let mut name = String::with_capacity(debug.len() + 4);
    let mut after_lower = false;
    for c in debug.chars() {
        if c.is_ascii_uppercase() && after_lower {
            name.push('_');
        }
        after_lower = c.is_ascii_lowercase();
        name.push(c.to_ascii_lowercase());
    }
    name
}

fn incompatible(problem: &PeerIncompatible) -> Sentence {
    match problem {
        PeerIncompatible::NoCipherSuitesInCommon => phrase!("no cipher suite in common"),
        PeerIncompatible::NoKxGroupsInCommon => phrase!("no key exchange group in common"),
        PeerIncompatible::NoSignatureSchemesInCommon
        | PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon => {
            phrase!("no signature scheme in common")
        }
        PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::SupportedVersionsExtensionRequired
        | PeerIncompatible::Tls12NotOffered
        | PeerIncompatible::Tls12NotOfferedOrEnabled => phrase!("no version of TLS in common"),
        other => sentence!("the peer lacks a required feature ({other:?})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: impl Into<Error>, expected: &str) {
        let words = error_text(&error.into());
        assert!(words.contains(expected), "{words}");
        assert!(!words.contains('\n'));
    }

    #[test]
    fn faults_are_shown_as_text() {
        check(CertificateError::UnknownIssuer, "issuer is unknown");
        check(CertificateError::Expired, "has expired");
        let name = CertificateError::NotValidForNameContext {
            expected: "a.example".try_into().expect("a name"),
            presented: vec!["DnsName(\"b.example\")".to_owned(), "IpAddress(127.0.0.1)".to_owned()],
        };
        check(name, "is for b.example, 127.0.0.1, not for a.example");
        let many = vec!["DnsName(\"b.example\")".to_owned(); 9];
        assert!(other_name("a", &many).contains("b.example, …, not"));
        check(Error::AlertReceived(AlertDescription::HandshakeFailure), "alert handshake_failure: ");
        check(Error::AlertReceived(AlertDescription::UnknownCA), "alert unknown_ca: ");
        check(Error::AlertReceived(AlertDescription::RecordOverflow), "alert record_overflow");
        check(PeerIncompatible::NoCipherSuitesInCommon, "no cipher suite");
        check(PeerIncompatible::Tls12NotOffered, "no version");
        check(InvalidMessage::InvalidContentType, "plain HTTP");
    }
}
