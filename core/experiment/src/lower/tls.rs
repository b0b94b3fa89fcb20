//! TLS settings as a [`TlsPlan`], or one clear refusal.

use rustls_pki_types::DnsName;

use wavetank_plan::tls_names::{chosen_ciphers, chosen_groups};
use wavetank_plan::{
    HttpVersion, SettingNames, TargetUrl, TlsOptions, TlsPlan, check_certificates, load_identity, pem,
};
use wavetank_units::{Code, UserError};

/// The default ALPN offers (RFC 7301 and RFC 9113 §3.2).
const ALPN: &str = "http/1.1";
const ALPN_HTTP2: &str = "h2";
const ALPN_HTTP3: &str = "h3";
/// Longest protocol name (RFC 7301 §3.1).
const ALPN_BYTES_MAX: usize = 255;

/// Returns the TLS settings for `url`; `None` for a URL without TLS.
///
/// # Errors
/// Options that contradict each other or the URL, and files that are not PEM.
pub(super) fn tls_plan(
    tls: &TlsOptions,
    url: &TargetUrl,
    version: HttpVersion,
    names: SettingNames,
) -> Result<Option<TlsPlan>, UserError> {
    check_tls_options(tls, url)?;
    if !url.tls {
        return Ok(None);
    }
    let versions = tls.version.unwrap_or_default();
    let groups = chosen_groups(&tls.groups)?;
    let ciphers = chosen_ciphers(&tls.ciphers, ("--tls", versions))?;
    if let Some(sni) = &tls.sni {
        check_sni(sni)?;
    }
    if let Some(file) = &tls.ca {
        let hint = format!("the certificates to trust, in PEM: {}", names.trusted_certificates("ca.pem"));
        check_certificates("--cacert", file, &hint)?;
    }
    Ok(Some(TlsPlan {
        verify: !tls.insecure,
        ca_pem: tls.ca.as_ref().map(|file| file.bytes.clone()),
        client: tls
            .cert
            .as_ref()
            .map(|cert| load_identity(["--cert", "--key"], cert, tls.key.as_ref()))
            .transpose()?,
        sni: tls.sni.clone(),
        resume: tls.resume.unwrap_or_default(),
        versions,
        groups,
        ciphers,
        alpn: alpn(tls, version)?,
    }))
}

/// Checks options that contradict each other or the URL: one without TLS takes no option of TLS.
///
/// # Errors
/// The first contradiction.
pub(crate) fn check_tls_options(tls: &TlsOptions, url: &TargetUrl) -> Result<(), UserError> {
    if url.tls {
        return contradictions(tls);
    }
    let Some(first) = tls.given_flags().first().copied() else { return Ok(()) };
    let secure = TargetUrl { tls: true, ..url.clone() };
    // The port of `http` is of no use to `https`.
    let secure = if url.port == 80 { TargetUrl { port: 443, ..secure } } else { secure };
    let message = format!("{first} means nothing without TLS, and {} does not use TLS", url.url());
    Err(UserError::usage(
        Code::Conflict,
        message,
        format!("with TLS: {}; or leave {first} out", secure.url()),
    ))
}

fn contradictions(tls: &TlsOptions) -> Result<(), UserError> {
    let conflict = |message: &str, hint: &str| Err(UserError::usage(Code::Conflict, message, hint));
    if tls.insecure && tls.ca.is_some() {
        let hint = "--cacert sets the trusted CA, --insecure skips verification; keep one";
        return conflict("--insecure and --cacert exclude each other", hint);
    }
    if tls.key.is_some() && tls.cert.is_none() {
        return conflict("--key means nothing without --cert", "--cert FILE --key FILE");
    }
    if let (Some(cert), Some(_)) = (&tls.cert, &tls.key)
        && pem::private_key(&cert.bytes).is_ok()
    {
        let message = format!("--cert {} holds a private key, and --key names another", cert.name);
        return conflict(&message, "leave --key out, or take the key out of the certificate's file");
    }
    Ok(())
}

/// A host's name: addresses are never sent in the handshake (RFC 6066 §3).
fn check_sni(sni: &str) -> Result<(), UserError> {
    let bad = |why: &str, hint: &str| {
        Err(UserError::usage(Code::BadSni, format!("--sni `{sni}` {why}"), hint.to_owned()))
    };
    if sni.parse::<std::net::IpAddr>().is_ok() {
        return bad("is an address, and a handshake only contains names", "put the address into the URL");
    }
    // A dot at the end is for name servers, and no part of the name.
    if DnsName::try_from(sni.strip_suffix('.').unwrap_or(sni)).is_err() {
        return bad("is not a host name", "a name alone, without port: --sni shop.example");
    }
    Ok(())
}

/// Returns the offered protocols: never one that this run does not use.
fn alpn(tls: &TlsOptions, version: HttpVersion) -> Result<Vec<String>, UserError> {
    if version.has_streams() {
        let own = if version == HttpVersion::Http3 { ALPN_HTTP3 } else { ALPN_HTTP2 };
        return match &tls.alpn {
            Some(words) if *words != [own] => {
                let message = format!(
                    "the ALPN offer of this version of HTTP is {own} alone, and alpn names other protocols"
                );
                Err(UserError::usage(Code::Conflict, message, "leave alpn out, or use HTTP/1.1"))
            }
            _ => Ok(vec![own.to_owned()]),
        };
    }
    let Some(words) = &tls.alpn else { return Ok(vec![ALPN.to_owned()]) };
    if words.iter().any(|word| word == ALPN_HTTP2) {
        let message = format!("--alpn {}: the target could choose HTTP/2", words.join(","));
        return Err(UserError::usage(
            Code::Conflict,
            message,
            "--http 2 offers h2; the default is --alpn http/1.1",
        ));
    }
    if words.iter().any(|word| word == ALPN_HTTP3) {
        return Err(UserError::usage(
            Code::Conflict,
            format!("--alpn {}: HTTP/3 is over QUIC, and this run uses TCP", words.join(",")),
            "--http 3 uses QUIC and offers h3; the default is --alpn http/1.1",
        ));
    }
    if words.len() > 1 && words.iter().any(|word| word == "none") {
        let message = format!("--alpn {}: none cannot be combined with protocols", words.join(","));
        return Err(UserError::usage(
            Code::Conflict,
            message,
            "--alpn none to offer nothing, or leave none out",
        ));
    }
    let bad = |word: &&String| {
        word.is_empty() || word.len() > ALPN_BYTES_MAX || word.bytes().any(|b| !b.is_ascii_graphic())
    };
    if let Some(word) = words.iter().find(bad) {
        let hint = "--alpn http/1.1, or --alpn none to offer nothing";
        return Err(UserError::usage(Code::BadAlpn, format!("--alpn `{word}` is not a protocol name"), hint));
    }
    Ok(words.clone())
}
