//! [`TlsTarget`]: the TLS settings of a target.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// TLS settings of a target: version 1.3, one group, one cipher suite, and this certificate.
#[derive(Clone)]
pub(crate) struct TlsTarget {
    pub(crate) address: SocketAddr,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    /// Whether it issues tickets for session resumption.
    pub(crate) tickets: bool,
}

/// Makes a self-signed certificate on a P-256 key for 127.0.0.1 in `folder`. Returns its path and
/// the path of the key.
pub(crate) fn make_certificate(folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| folder.join(name));
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
    command.args(["-days", "30", "-subj", "/CN=localhost"]);
    command.args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
    // By default openssl makes the certificate of a certificate authority, which strict clients
    // reject from a server.
    command.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    command.arg("-keyout").arg(&key).arg("-out").arg(&certificate);
    let output = command.stdin(Stdio::null()).output().context("cannot start openssl")?;
    if !output.status.success() {
        bail!("openssl req: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok((certificate, key))
}
