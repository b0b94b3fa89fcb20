//! [`ServeTlsArgs`]: TLS arguments of `wavetank serve`.

use std::path::PathBuf;

use clap::Args;
use wavetank_plan::tls_names::{chosen_ciphers, chosen_groups};
use wavetank_plan::{PemFile, TlsServerOptions, TlsVersions, UserError, check_certificates, load_identity};

use super::args::ServeTls;
use super::files::InputFiles;
use super::tls_args::{COMMA_OR_COLON, list, version};
use super::value_parsers::parse_optional;

/// TLS options of the server.
#[derive(Args, Debug)]
#[command(next_help_heading = "TLS")]
pub(super) struct ServeTlsArgs {
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
    #[arg(long, value_name = "1.2|1.3")]
    tls_versions: Option<String>,
    /// Key exchange groups, best first: X25519,secp256r1 [default: the library's choice]
    #[arg(long, value_name = "NAME,…")]
    tls_groups: Option<String>,
    /// Cipher suites by TLS or OpenSSL names, best first [default: the library's choice]
    #[arg(long, value_name = "NAME,…")]
    tls_ciphers: Option<String>,
    /// Require client certificates signed by these CAs (PEM)
    #[arg(long, value_name = "FILE")]
    tls_client_ca: Option<String>,
    /// Do not issue session tickets; every handshake is full
    #[arg(long)]
    tls_no_tickets: bool,
}

/// Converts all arguments and reads the named files; `None` without `--tls`.
pub(super) fn serve_tls(words: &ServeTlsArgs) -> Result<Option<ServeTls>, UserError> {
    if !words.tls {
        return match given(words) {
            None => Ok(None),
            Some(option) => {
                let message = format!("{option} needs --tls");
                Err(UserError::usage("conflict", message, format!("serve --tls {option} …")))
            }
        };
    }
    let mut files = InputFiles::default();
    let mut pem =
        |option, name: &String| files.pem(option, name).map(|bytes| PemFile { name: name.clone(), bytes });
    let identity = match (&words.tls_cert, &words.tls_key) {
        (None, None) => None,
        (None, Some(_)) => {
            let hint = "--tls-cert FILE --tls-key FILE, or neither";
            return Err(UserError::usage("conflict", "--tls-key is given without --tls-cert", hint));
        }
        (Some(_), _) if words.tls_cert_out.is_some() => {
            let hint = "--tls-cert-out writes a generated certificate; with --tls-cert none is generated";
            return Err(UserError::usage(
                "conflict",
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
    let ca = words.tls_client_ca.as_ref().map(|name| pem("--tls-client-ca", name)).transpose()?;
    if let Some(ca) = &ca {
        let hint = "the CAs of client certificates, in PEM: --tls-client-ca ca.pem";
        check_certificates("--tls-client-ca", ca, hint)?;
    }
    let versions =
        parse_optional("--tls-versions", words.tls_versions.as_ref(), version)?.unwrap_or(TlsVersions::Both);
    let ciphers = list("--tls-ciphers", words.tls_ciphers.as_ref(), &COMMA_OR_COLON)?;
    Ok(Some(ServeTls {
        identity,
        cert_out: words.tls_cert_out.clone(),
        options: TlsServerOptions {
            versions,
            groups: chosen_groups(&list("--tls-groups", words.tls_groups.as_ref(), &COMMA_OR_COLON)?)?,
            ciphers: chosen_ciphers(&ciphers, ("--tls-versions", versions))?,
            // A client that only accepts HTTP/2 learns in the handshake that it is not served.
            alpn: vec!["http/1.1".to_owned(), "http/1.0".to_owned()],
            tickets: !words.tls_no_tickets,
            client_ca_pem: ca.map(|file| file.bytes),
        },
    }))
}

/// Returns the name of the first given option.
fn given(words: &ServeTlsArgs) -> Option<&'static str> {
    // Destructured by name, so that a new option cannot be forgotten here.
    let ServeTlsArgs {
        tls: _,
        tls_cert,
        tls_key,
        tls_cert_out,
        tls_versions,
        tls_groups,
        tls_ciphers,
        tls_client_ca,
        tls_no_tickets,
    } = words;
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
