//! [`TlsArgs`]: TLS options of clients, for `run`, `search`, `check`, `plan` and `try`.

use clap::Args;
use wavetank_plan::{PemFile, TlsOptions, TlsResume, TlsVersions};
use wavetank_units::UserError;

use super::choice::Choice;
use super::files::InputFiles;
use super::value_parsers::{NameList, TLS_VERSIONS, parse_names, parse_tls_names};

/// `--tls-resume`.
const RESUMPTIONS: Choice<TlsResume> =
    Choice::new(&[("never", TlsResume::Never), ("user", TlsResume::User), ("shared", TlsResume::Shared)]);

/// TLS options of the client.
#[derive(Args, Debug)]
#[command(next_help_heading = "TLS (https, wss, sses, grpcs and tls URLs)")]
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
    #[arg(long, value_name = "1.2|1.3", value_parser = TLS_VERSIONS)]
    tls: Option<TlsVersions>,
    /// Key exchange groups, best first: X25519,secp256r1 [default: the library's choice]
    #[arg(long, value_name = "NAME,…", value_parser = parse_tls_names)]
    tls_groups: Option<NameList>,
    /// Cipher suites by TLS or OpenSSL names, best first [default: the library's choice]
    #[arg(long, value_name = "NAME,…", value_parser = parse_tls_names)]
    tls_ciphers: Option<NameList>,
    /// ALPN protocols to offer, or `none` [default: http/1.1]
    #[arg(long, value_name = "NAME,…|none", value_parser = protocols)]
    alpn: Option<NameList>,
    /// TLS session resumption: never, per user, or shared by a load thread [default: never]
    #[arg(long, value_parser = RESUMPTIONS)]
    tls_resume: Option<TlsResume>,
}

impl TlsArgs {
    /// Adds options, and the files of `--cacert`, `--cert` and `--key`, that are not given.
    pub(super) fn add(&mut self, insecure: bool, [ca, cert, key]: [Option<String>; 3]) {
        self.insecure |= insecure;
        self.cacert = self.cacert.take().or(ca);
        self.cert = self.cert.take().or(cert);
        self.key = self.key.take().or(key);
    }

    /// Returns all options, with the named files read.
    pub(super) fn read(self) -> Result<TlsOptions, UserError> {
        let mut files = InputFiles::default();
        let mut pem = |option, name: Option<String>| {
            let read = |name: String| Ok(PemFile { bytes: files.pem(option, &name)?, name });
            name.map(read).transpose()
        };
        Ok(TlsOptions {
            insecure: self.insecure,
            ca: pem("--cacert", self.cacert)?,
            cert: pem("--cert", self.cert)?,
            key: pem("--key", self.key)?,
            sni: self.sni,
            version: self.tls,
            groups: self.tls_groups.unwrap_or_default(),
            ciphers: self.tls_ciphers.unwrap_or_default(),
            alpn: self.alpn,
            resume: self.tls_resume,
        })
    }
}

/// Parses `--alpn`.
fn protocols(text: &str) -> Result<NameList, UserError> {
    if text == "none" { Ok(NameList::new()) } else { parse_names(text) }
}
