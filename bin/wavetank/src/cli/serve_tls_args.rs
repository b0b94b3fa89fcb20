//! [`ServeTlsArgs`]: TLS arguments of `wavetank serve`.

use std::path::PathBuf;

use clap::Args;
use wavetank_plan::tls_names::{chosen_ciphers, chosen_groups};
use wavetank_plan::{PemFile, TlsIdentity, TlsServerOptions, TlsVersions, check_certificates, load_identity};
use wavetank_units::{Code, UserError};

use super::files::InputFiles;
use super::value_parsers::{NameList, TLS_VERSIONS, parse_tls_names};

/// TLS settings of `wavetank serve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServeTls {
    /// The certificate and its key; `None`: a new pair is generated.
    pub(crate) identity: Option<TlsIdentity>,
    /// File that a generated certificate is written to.
    pub(crate) cert_out: Option<PathBuf>,
    /// Versions, groups, ciphers, ALPN, tickets and client CAs.
    pub(crate) options: TlsServerOptions,
}

/// TLS options of the server.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(next_help_heading = "TLS")]
pub(crate) struct ServeTlsArgs {
    /// Use TLS on all addresses, with a generated certificate unless one is given
    #[arg(long)]
    tls: bool,
    /// Certificate chain in PEM, the server's own first [default: a new one for localhost and the
    /// addresses]
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<String>,
    /// Private key in PEM, unless it is in the certificate file
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,
    /// Write the generated certificate to this file, for clients to trust: run --cacert FILE, curl
    /// --cacert FILE
    #[arg(long, value_name = "FILE")]
    tls_cert_out: Option<PathBuf>,
    /// Use only this TLS version [default: 1.3 or 1.2, as the client prefers]
    #[arg(long, value_name = "1.2|1.3", value_parser = TLS_VERSIONS)]
    tls_versions: Option<TlsVersions>,
    /// Key exchange groups, best first: X25519,secp256r1 [default: the library's choice]
    #[arg(long, value_name = "NAME,…", value_parser = parse_tls_names)]
    tls_groups: Option<NameList>,
    /// Cipher suites by TLS or OpenSSL names, best first [default: the library's choice]
    #[arg(long, value_name = "NAME,…", value_parser = parse_tls_names)]
    tls_ciphers: Option<NameList>,
    /// Require client certificates signed by these CAs (PEM)
    #[arg(long, value_name = "FILE")]
    tls_client_ca: Option<String>,
    /// Do not issue session tickets; every handshake is full
    #[arg(long)]
    tls_no_tickets: bool,
}

impl ServeTlsArgs {
    /// Checks the options and reads the named files; `None` without `--tls`.
    pub(super) fn read(&self) -> Result<Option<ServeTls>, UserError> {
        if !self.tls {
            return match self.first_given() {
                None => Ok(None),
                Some(option) => {
                    let message = format!("{option} needs --tls");
                    Err(UserError::usage(Code::Conflict, message, format!("serve --tls {option} …")))
                }
            };
        }
        let mut files = InputFiles::default();
        let mut pem = |option, name: &String| {
            files.pem(option, name).map(|bytes| PemFile { name: name.clone(), bytes })
        };
        let identity = match (&self.tls_cert, &self.tls_key) {
            (None, None) => None,
            (None, Some(_)) => {
                let hint = "--tls-cert FILE --tls-key FILE, or neither";
                return Err(UserError::usage(Code::Conflict, "--tls-key is given without --tls-cert", hint));
            }
            (Some(_), _) if self.tls_cert_out.is_some() => {
                let hint = "--tls-cert-out writes a generated certificate; with --tls-cert none is generated";
                return Err(UserError::usage(
                    Code::Conflict,
                    "--tls-cert and --tls-cert-out exclude each other",
                    hint,
                ));
            }
            (Some(cert), key) => {
                let cert = pem("--tls-cert", cert)?;
                let key = key.as_ref().map(|key| pem("--tls-key", key)).transpose()?;
                Some(load_identity(["--tls-cert", "--tls-key"], &cert, key.as_ref())?)
            }
        };
        let ca = self.tls_client_ca.as_ref().map(|name| pem("--tls-client-ca", name)).transpose()?;
        if let Some(ca) = &ca {
            let hint = "the CAs of client certificates, in PEM: --tls-client-ca ca.pem";
            check_certificates("--tls-client-ca", ca, hint)?;
        }
        let versions = self.tls_versions.unwrap_or(TlsVersions::Both);
        Ok(Some(ServeTls {
            identity,
            cert_out: self.tls_cert_out.clone(),
            options: TlsServerOptions {
                versions,
                groups: chosen_groups(self.tls_groups.as_deref().unwrap_or_default())?,
                ciphers: chosen_ciphers(
                    self.tls_ciphers.as_deref().unwrap_or_default(),
                    ("--tls-versions", versions),
                )?,
                // A client that offers nothing of this learns that in the handshake.
                alpn: ["h2", "http/1.1", "http/1.0"].map(str::to_owned).to_vec(),
                tickets: !self.tls_no_tickets,
                client_ca_pem: ca.map(|file| file.bytes),
            },
        }))
    }

    /// Returns the name of the first given option.
    fn first_given(&self) -> Option<&'static str> {
        // Destructured by name, so that a new option cannot be forgotten here.
        let Self {
            tls: _,
            tls_cert,
            tls_key,
            tls_cert_out,
            tls_versions,
            tls_groups,
            tls_ciphers,
            tls_client_ca,
            tls_no_tickets,
        } = self;
        let all = [
            ("--tls-cert", tls_cert.is_some()),
            ("--tls-key", tls_key.is_some()),
            ("--tls-cert-out", tls_cert_out.is_some()),
            ("--tls-versions", tls_versions.is_some()),
            ("--tls-groups", tls_groups.is_some()),
            ("--tls-ciphers", tls_ciphers.is_some()),
            ("--tls-client-ca", tls_client_ca.is_some()),
            ("--tls-no-tickets", *tls_no_tickets),
        ];
        all.into_iter().find_map(|(name, given)| given.then_some(name))
    }
}
