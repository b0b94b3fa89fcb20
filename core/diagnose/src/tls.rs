//! Hints for TLS failures, found by their messages.

use wavetank_units::{Sentence, phrase};

/// Fragments of a failure's message, which must all occur, and its hint. The fragments come from
/// the messages of `wavetank-driver`; a test of the whole program checks that each failure has a
/// hint. The first match is used.
static CURES: [(&[&str], Sentence); 19] = [
    (
        &["issuer is unknown"],
        phrase!(
            "if you know who signed it: --cacert FILE with that certificate; to take any: --insecure; the target must \
         send its intermediate certificates"
        ),
    ),
    (
        &["(CA:TRUE)"],
        phrase!(
            "if it is the target's own: --cacert FILE with this certificate; to load it as it is: --insecure"
        ),
    ),
    (
        &["certificate", "not for"],
        phrase!(
            "put the name it is for into the URL and go to this host by --connect-to HOST:PORT, or give that name \
         with --sni NAME"
        ),
    ),
    (&["contains no names"], phrase!("a certificate with names in it (subjectAltName), or --insecure")),
    (
        &["is for another name"],
        phrase!("give the name it is for: --sni NAME, or the URL with --connect-to HOST:PORT"),
    ),
    (&["has expired"], phrase!("renew the target's certificate; to load it as it is: --insecure")),
    (&["not valid yet"], phrase!("look at the clocks of both hosts; to load it as it is: --insecure")),
    (
        &["plain HTTP"],
        phrase!("an http:// URL speaks without TLS; the port of TLS is another one, by habit 443 or 8443"),
    ),
    (
        &["version of TLS"],
        phrase!("leave --tls out to offer both 1.2 and 1.3; servers have a setting for theirs"),
    ),
    (&["cipher suite in common"], phrase!("leave --tls-ciphers out, or name one that the target has")),
    (&["key exchange group in common"], phrase!("leave --tls-groups out, or name one that the target has")),
    (&["a client certificate"], phrase!("--cert FILE --key FILE, of a certificate that the target trusts")),
    (
        &["issuer of our certificate"],
        phrase!("--cert with a certificate that the target trusts, the whole chain in its file"),
    ),
    (&["our certificate"], phrase!("--cert with a certificate that the target trusts and that is valid now")),
    (&["(SNI)"], phrase!("--sni NAME, or the name the target knows in the URL and --connect-to HOST:PORT")),
    (
        &["(ALPN)"],
        phrase!(
            "does the target speak only HTTP/2? --http 2; else --alpn with a protocol that it has, or --alpn none"
        ),
    ),
    (
        &["handshake_failure"],
        phrase!(
            "leave --tls, --tls-groups and --tls-ciphers out; or the target wants a certificate: --cert FILE --key FILE"
        ),
    ),
    (
        &["in the TLS handshake"],
        phrase!("does this port speak TLS? Check the target's own log for the reason"),
    ),
    (&["the certificate"], phrase!("another certificate at the target; to load it as it is: --insecure")),
];

/// Returns the hint for a TLS failure with this message. `None` where only the general hint of the
/// class applies.
pub(crate) fn hint_for(fault: &str) -> Option<Sentence> {
    let fits = |words: &&[&str]| words.iter().all(|word| fault.contains(word));
    CURES.iter().find(|(words, _)| fits(words)).map(|(_, cure)| cure.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fault: &str, expected: &str) {
        let found = hint_for(fault).unwrap_or_else(|| panic!("no cure for: {fault}"));
        assert!(found.contains(expected), "{fault}: {found}");
    }

    #[test]
    fn every_fault_finds_its_cure() {
        check("the certificate's issuer is unknown here: not signed by a trusted CA", "--cacert");
        check("the certificate is for b.example, not for a.example", "--sni");
        check("the certificate contains no names, so it is not valid for a", "subjectAltName");
        check(
            "the certificate is a CA's, not a server's (CA:TRUE): make it with ...",
            "with this certificate",
        );
        check("the certificate has expired", "renew");
        check("the certificate is not valid yet", "clocks");
        check("the certificate's signature is wrong", "another certificate");
        check("the peer does not speak TLS here: is this a port for plain HTTP?", "http://");
        check("no version of TLS in common", "--tls");
        check(
            "the peer ended TLS with the alert protocol_version: it does not support this version of TLS",
            "--tls",
        );
        check("no cipher suite in common", "--tls-ciphers");
        check("no key exchange group in common", "--tls-groups");
        check(
            "the peer ended TLS with the alert certificate_required: it requires a client certificate",
            "--cert",
        );
        check(
            "the peer ended TLS with the alert unknown_ca: it does not trust the issuer of our certificate",
            "chain",
        );
        check(
            "the peer ended TLS with the alert bad_certificate: it does not accept our certificate",
            "--cert",
        );
        check(
            "the peer ended TLS with the alert unrecognised_name: it does not know the requested name (SNI)",
            "--sni",
        );
        check("no application protocol (ALPN) in common", "--alpn");
        check(
            "the peer ended TLS with the alert handshake_failure: no common TLS parameters",
            "--tls-groups",
        );
        check("the peer closed the connection in the TLS handshake", "log");
        assert_eq!(hint_for("something new"), None);
    }
}
