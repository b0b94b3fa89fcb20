//! [`TlsTarget`]: what a target that speaks TLS is told.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// How a target speaks TLS: version 1.3, one group and one cipher suite, this certificate.
#[derive(Clone)]
pub(super) struct TlsTarget {
    pub(super) address: SocketAddr,
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
    /// Whether it hands out tickets that sessions are resumed with.
    pub(super) tickets: bool,
}

/// Makes a self-signed certificate on a P-256 key for 127.0.0.1 in `folder`: its file and the key's.
pub(super) fn make_certificate(folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| folder.join(name));
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
    command.args(["-days", "30", "-subj", "/CN=localhost"]);
    command.args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
    // openssl's own default is a certificate authority, which strict clients take from no server.
    command.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    command.arg("-keyout").arg(&key).arg("-out").arg(&certificate);
    let output = command.stdin(Stdio::null()).output().context("openssl cannot be started")?;
    if !output.status.success() {
        bail!("openssl req: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok((certificate, key))
}
