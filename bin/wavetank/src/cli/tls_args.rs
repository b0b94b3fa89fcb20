//! [`TlsArgs`]: TLS arguments of `wavetank run`.

use clap::Args;
use wavetank_plan::{PemFile, TlsOptions, TlsResume, TlsVersions, UserError};

use super::files::InputFiles;
use super::value_parsers::{parse_choice, parse_optional};

/// TLS options of the client.
#[derive(Args, Debug)]
#[command(next_help_heading = "TLS, with an https URL")]
pub(super) struct TlsArgs {
    /// Accept any certificate; the server's identity is not verified
    #[arg(long)]
    insecure: bool,
    /// CA certificates to trust, in PEM [default: the host's own]
    #[arg(long, value_name = "FILE")]
    cacert: Option<String>,
    /// Client certificate chain in PEM, sent if the target requests one
    #[arg(long, value_name = "FILE")]
    cert: Option<String>,
    /// Private key in PEM, unless it is in the certificate file; never stored in an archive
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    /// Server name (SNI), which the certificate must match [default: the URL's host]
    #[arg(long, value_name = "NAME")]
    sni: Option<String>,
    /// Use only this TLS version [default: 1.3 or 1.2, as the target prefers]
    #[arg(long, value_name = "1.2|1.3")]
    tls: Option<String>,
    /// Key exchange groups, best first: X25519,secp256r1 [default: the library's choice]
    #[arg(long, value_name = "NAME,…")]
    tls_groups: Option<String>,
    /// Cipher suites by TLS or OpenSSL names, best first [default: the library's choice]
    #[arg(long, value_name = "NAME,…")]
    tls_ciphers: Option<String>,
    /// ALPN protocols to offer, or `none` [default: http/1.1]
    #[arg(long, value_name = "NAME,…|none")]
    alpn: Option<String>,
    /// TLS session resumption: never, per user, or shared by a load thread [default: never]
    #[arg(long, value_name = "never|user|shared")]
    tls_resume: Option<String>,
}

impl TlsArgs {
    /// Adds options, and the files of `--cacert`, `--cert` and `--key`, that are not given.
    pub(super) fn add(&mut self, insecure: bool, [ca, cert, key]: [Option<String>; 3]) {
        self.insecure |= insecure;
        self.cacert = self.cacert.take().or(ca);
        self.cert = self.cert.take().or(cert);
        self.key = self.key.take().or(key);
    }
}

/// Converts all arguments and reads the named files.
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

/// Parses a single TLS version.
pub(super) fn version(text: &str) -> Result<TlsVersions, UserError> {
    let versions = [("1.3", TlsVersions::Tls13), ("1.2", TlsVersions::Tls12)];
    // Servers and other clients write this prefix.
    let bare = text.trim_start_matches("TLSv").trim_start_matches("tlsv");
    if ["1", "1.0", "1.1"].contains(&bare) {
        let hint = "1.2 or 1.3; both when left out";
        return Err(UserError::usage(
            "value_unknown",
            format!("`{text}` is insecure and not supported"),
            hint,
        ));
    }
    parse_choice(bare, &versions, &[])
}

/// curl, nginx and OpenSSL join groups and ciphers by colons, which no name contains.
pub(super) const COMMA_OR_COLON: [char; 2] = [',', ':'];

/// Splits names at any of `joints`.
pub(super) fn list(option: &str, text: Option<&String>, joints: &[char]) -> Result<Vec<String>, UserError> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let names: Vec<String> = text.split(joints).map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        let hint = "names joined by commas";
        return Err(UserError::usage("value_missing", format!("{option} `{text}`: a name is empty"), hint));
    }
    let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
    if let Some((_, name)) = twice {
        return Err(UserError::usage("conflict", format!("{option} names {name} twice"), "give it once"));
    }
    Ok(names)
}
