//! Plain-language messages for TLS errors.

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

/// Returns `error` as one line.
pub(super) fn error_text(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(problem) => certificate(problem),
        Error::AlertReceived(alert) => alert_received(*alert),
        Error::PeerIncompatible(problem) => incompatible(problem),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the peer does not speak TLS here: is this a port for plain HTTP?".to_owned()
        }
        Error::InvalidMessage(problem) => format!("the peer sent a malformed TLS message ({problem:?})"),
        Error::NoCertificatesPresented => "the peer sent no certificate".to_owned(),
        Error::UnsupportedNameType => "a certificate cannot contain the peer's name".to_owned(),
        Error::DecryptError => "a TLS record could not be decrypted: it was damaged or forged".to_owned(),
        Error::PeerSentOversizedRecord => "the peer sent a TLS record larger than allowed".to_owned(),
        Error::NoApplicationProtocol => "no application protocol (ALPN) in common".to_owned(),
        Error::PeerMisbehaved(problem) => format!("the peer violated the TLS protocol ({problem:?})"),
        Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => {
            "the peer sent an unexpected TLS message".to_owned()
        }
        Error::EncryptError => "a TLS record could not be encrypted".to_owned(),
        other => other.to_string(),
    }
}

fn certificate(problem: &CertificateError) -> String {
    match problem {
        CertificateError::UnknownIssuer => {
            "the certificate's issuer is unknown here: not signed by a trusted CA"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "the certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the certificate is not valid yet"
        }
        CertificateError::NotValidForName => "the certificate is for another name",
        CertificateError::NotValidForNameContext { expected, presented } => {
            return other_name(&expected.to_str(), presented);
        }
        CertificateError::Revoked => "the certificate has been revoked",
        CertificateError::BadSignature => "the certificate's signature is wrong",
        CertificateError::BadEncoding => "the certificate is malformed",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the certificate is not valid for this side of TLS"
        }
        // `openssl req -x509` makes such certificates by default.
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "the certificate is a CA's, not a server's (CA:TRUE): make it with basicConstraints=CA:FALSE"
        }
        other => return format!("the certificate is not accepted ({other:?})"),
    }
    .to_owned()
}

/// Maximum number of names in a message: certificates of large sites have pages of them.
const NAMES_MAX: usize = 4;

fn other_name(expected: &str, presented: &[String]) -> String {
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
        0 => format!("the certificate contains no names, so it is not valid for {expected}"),
        _ => format!("the certificate is for {}, not for {expected}", names.join(", ")),
    }
}

fn alert_received(alert: AlertDescription) -> String {
    let why = match alert {
        AlertDescription::HandshakeFailure => "no common TLS parameters, or a certificate is required",
        AlertDescription::ProtocolVersion => "it does not support this version of TLS",
        AlertDescription::UnrecognisedName => "it does not know the requested name (SNI)",
        AlertDescription::CertificateRequired => "it requires a client certificate",
        AlertDescription::UnknownCA => "it does not trust the issuer of our certificate",
        AlertDescription::BadCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnsupportedCertificate => "it does not accept our certificate",
        AlertDescription::CertificateExpired => "it considers our certificate expired",
        AlertDescription::NoApplicationProtocol => "no application protocol (ALPN) in common",
        AlertDescription::InsufficientSecurity => "it requires stronger ciphers",
        AlertDescription::InternalError => "it has an internal problem",
        AlertDescription::DecryptError => "it could not check a signature or decrypt a message",
        _ => "",
    };
    let name = alert_name(alert);
    if why.is_empty() {
        format!("the peer ended TLS with the alert {name}")
    } else {
        format!("the peer ended TLS with the alert {name}: {why}")
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

fn incompatible(problem: &PeerIncompatible) -> String {
    match problem {
        PeerIncompatible::NoCipherSuitesInCommon => "no cipher suite in common",
        PeerIncompatible::NoKxGroupsInCommon => "no key exchange group in common",
        PeerIncompatible::NoSignatureSchemesInCommon
        | PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon => "no signature scheme in common",
        PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::SupportedVersionsExtensionRequired
        | PeerIncompatible::Tls12NotOffered
        | PeerIncompatible::Tls12NotOfferedOrEnabled => "no version of TLS in common",
        other => return format!("the peer lacks a required feature ({other:?})"),
    }
    .to_owned()
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
