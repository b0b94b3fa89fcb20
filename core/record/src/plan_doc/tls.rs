//! [`TlsYaml`]: TLS settings in `plan.yaml`. Certificates are stored as fingerprints; private keys
//! are not stored.

use serde::{Deserialize, Serialize};
use wavetank_plan::{TlsIdentity, TlsPlan, TlsResume, TlsVersions, pem};

use super::hash::sha256_hex;
use super::names::{name_of, one_of};
use crate::DecodeError;

const RESUMES: [(&str, TlsResume); 3] =
    [("never", TlsResume::Never), ("user", TlsResume::User), ("shared", TlsResume::Shared)];
const VERSIONS: [(&str, TlsVersions); 3] =
    [("1.2 to 1.3", TlsVersions::Both), ("1.2", TlsVersions::Tls12), ("1.3", TlsVersions::Tls13)];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TlsYaml {
    verify: bool,
    /// SHA-256 of each certificate's DER.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ca: Option<Vec<String>>,
    /// The same of our own chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cert: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sni: Option<String>,
    resume: String,
    version: String,
    groups: Vec<String>,
    ciphers: Vec<String>,
    alpn: Vec<String>,
}

impl TlsYaml {
    pub(crate) fn new(tls: &TlsPlan) -> Self {
        let TlsPlan { verify, ca_pem, client, sni, resume, versions, groups, ciphers, alpn } = tls;
        Self {
            verify: *verify,
            ca: ca_pem.as_deref().map(fingerprints),
            cert: client.as_ref().map(|client| fingerprints(&client.chain_pem)),
            sni: sni.clone(),
            resume: name_of(*resume, &RESUMES).to_owned(),
            version: name_of(*versions, &VERSIONS).to_owned(),
            groups: groups.clone(),
            ciphers: ciphers.clone(),
            alpn: alpn.clone(),
        }
    }

    /// Returns the settings, with empty certificates and key.
    pub(crate) fn read(&self) -> Result<TlsPlan, DecodeError> {
        let empty = |_: &Vec<String>| TlsIdentity { chain_pem: Vec::new(), key_pem: Vec::new() };
        Ok(TlsPlan {
            verify: self.verify,
            ca_pem: self.ca.as_ref().map(|_| Vec::new()),
            client: self.cert.as_ref().map(empty),
            sni: self.sni.clone(),
            resume: one_of(&self.resume, &RESUMES)?,
            versions: one_of(&self.version, &VERSIONS)?,
            groups: self.groups.clone(),
            ciphers: self.ciphers.clone(),
            alpn: self.alpn.clone(),
        })
    }
}

fn fingerprints(pem: &[u8]) -> Vec<String> {
    // A plan is made of certificates that could be read.
    pem::certificates(pem).unwrap_or_default().iter().map(|der| sha256_hex(der)).collect()
}
