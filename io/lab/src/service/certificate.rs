//! [`certificate`]: a certificate for a host of the lab, made at its start.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, SanType};
use wavetank_topology::Host;
use wavetank_units::UserError;

use crate::response::system;

/// Writes a certificate for the host's name, its addresses and its virtual ones into `folder`. The
/// files are `server.crt`, `server.key` and, for programs that need both in one file, `server.pem`.
/// Clients trust it by `--cacert …/server.crt`.
pub(super) fn certificate(host: &Host, folder: &Path) -> Result<(), UserError> {
    let (certificate, key) = made(host).map_err(|error| system("cannot create a certificate", &error))?;
    let files = [
        ("server.crt", certificate.clone(), 0o644),
        ("server.key", key.clone(), 0o600),
        ("server.pem", certificate + &key, 0o600),
    ];
    for (name, text, mode) in files {
        let path = folder.join(name);
        let mut options = fs::OpenOptions::new();
        let opened = options.write(true).create(true).truncate(true).mode(mode).open(&path);
        opened
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| system(&format!("{} cannot be written", path.display()), &error))?;
    }
    Ok(())
}

fn made(host: &Host) -> Result<(String, String), rcgen::Error> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let mut params = CertificateParams::default();
    let own = host.interfaces.iter().flat_map(|interface| &interface.addresses).map(|(address, _)| *address);
    let shared = host.virtual_addresses.iter().map(|one| one.address);
    for address in own.chain(shared) {
        params.subject_alt_names.push(SanType::IpAddress(address));
    }
    let names = host.virtual_addresses.iter().filter_map(|one| one.name.as_deref());
    for name in std::iter::once(host.name.as_str()).chain(names) {
        params.subject_alt_names.push(SanType::DnsName(name.try_into()?));
    }
    params.distinguished_name.push(DnType::CommonName, host.name.as_str());
    Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
}
