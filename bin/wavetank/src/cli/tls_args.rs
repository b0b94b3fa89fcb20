//! [`TlsArgs`]: the words of `wavetank run` about TLS, and what they mean.

use clap::Args;
use wavetank_plan::{PemFile, TlsOptions, TlsResume, TlsVersions, UserError};

use super::files::InputFiles;
use super::value_parsers::{parse_choice, parse_optional};

/// How TLS is spoken.
#[derive(Args, Debug)]
#[command(next_help_heading = "TLS, with an https URL")]
pub(super) struct TlsArgs {
    /// Take any certificate: nobody is proved to be who he says
    #[arg(long)]
    insecure: bool,
    /// Certificates to trust, in PEM [default: the host's own]
    #[arg(long, value_name = "FILE")]
    cacert: Option<String>,
    /// Our own certificate chain in PEM, where the target asks for one
    #[arg(long, value_name = "FILE")]
    cert: Option<String>,
    /// Its private key in PEM, if that is not in the same file; never written to any archive
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    /// Name in the handshake, which the certificate must be good for [default: the URL's host]
    #[arg(long, value_name = "NAME")]
    sni: Option<String>,
    /// The one version of TLS spoken [default: 1.3 or 1.2, as the target likes]
    #[arg(long, value_name = "1.2|1.3")]
    tls: Option<String>,
    /// Groups of the key exchange, best first: X25519,secp256r1 [default: the library's choice]
    #[arg(long, value_name = "NAME,…")]
    tls_groups: Option<String>,
    /// Cipher suites by their names in TLS (or OpenSSL's), best first [default: the library's choice]
    #[arg(long, value_name = "NAME,…")]
    tls_ciphers: Option<String>,
    /// Application protocols offered; none offers nothing [default: http/1.1]
    #[arg(long, value_name = "NAME,…|none")]
    alpn: Option<String>,
    /// Whose sessions a new connection resumes: nobody's, its user's, any of its load thread [default: never]
    #[arg(long, value_name = "never|user|shared")]
    tls_resume: Option<String>,
}

/// Reads every word, and the files they name.
pub(super) fn tls(words: &TlsArgs) -> Result<TlsOptions, UserError> {
    let mut files = InputFiles::default();
    let mut pem = |option, name: &Option<String>| {
        let read = |name: &String| files.pem(option, name).map(|bytes| PemFile { name: name.clone(), bytes });
        name.as_ref().map(read).transpose()
    };
    let resumes = [("never", TlsResume::Never), ("user", TlsResume::User), ("shared", TlsResume::Shared)];
    Ok(TlsOptions {
        insecure: words.insecure,
        ca: pem("--cacert", &words.cacert)?,
        cert: pem("--cert", &words.cert)?,
        key: pem("--key", &words.key)?,
        sni: words.sni.clone(),
        version: parse_optional("--tls", words.tls.as_ref(), version)?,
        groups: list("--tls-groups", words.tls_groups.as_ref(), &COMMA_OR_COLON)?,
        ciphers: list("--tls-ciphers", words.tls_ciphers.as_ref(), &COMMA_OR_COLON)?,
        alpn: match words.alpn.as_deref() {
            Some("none") => Some(Vec::new()),
            Some(_) => Some(list("--alpn", words.alpn.as_ref(), &[','])?),
            None => None,
        },
        resume: parse_optional("--tls-resume", words.tls_resume.as_ref(), |text| {
            parse_choice(text, &resumes, &[])
        })?,
    })
}

/// One version, by its number.
pub(super) fn version(text: &str) -> Result<TlsVersions, UserError> {
    let versions = [("1.3", TlsVersions::Tls13), ("1.2", TlsVersions::Tls12)];
    // As servers and other clients write it.
    let bare = text.trim_start_matches("TLSv").trim_start_matches("tlsv");
    if ["1", "1.0", "1.1"].contains(&bare) {
        let hint = "1.2 or 1.3; both when left out";
        return Err(UserError::usage("value_unknown", format!("`{text}` is broken and not spoken"), hint));
    }
    parse_choice(bare, &versions, &[])
}

/// curl, nginx and OpenSSL join groups and ciphers by colons, which stand in none of their names.
pub(super) const COMMA_OR_COLON: [char; 2] = [',', ':'];

/// Names joined by one of `joints`.
pub(super) fn list(option: &str, words: Option<&String>, joints: &[char]) -> Result<Vec<String>, UserError> {
    let Some(words) = words else { return Ok(Vec::new()) };
    let names: Vec<String> = words.split(joints).map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        let hint = "names joined by commas";
        return Err(UserError::usage("value_missing", format!("{option} `{words}`: a name is empty"), hint));
    }
    let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
    if let Some((_, name)) = twice {
        return Err(UserError::usage("conflict", format!("{option} names {name} twice"), "give it once"));
    }
    Ok(names)
}
