//! [`load_identity`] and [`check_certificates`]: checks of files that options name. Errors contain
//! the option and the file.

use wavetank_units::{Code, UserError};

use crate::pem::{self, PemFault};
use crate::{PemFile, TlsIdentity};

/// Returns the certificate with its key, from the key's own file or from the certificate's file.
/// `options` are the names of the two options, such as `--cert` and `--key`.
///
/// # Errors
/// One of them is not in its file, or the key is encrypted.
pub fn load_identity(
    options: [&str; 2],
    cert: &PemFile,
    key: Option<&PemFile>,
) -> Result<TlsIdentity, UserError> {
    let [of_cert, of_key] = options;
    check_certificates(of_cert, cert, "a certificate chain in PEM, our own first")?;
    let (option, file) = key.map_or((of_cert, cert), |key| (of_key, key));
    let bad = |fault, hint| Err(bad_pem(option, file, fault, "no private key", hint));
    match pem::private_key(&file.bytes) {
        Ok(_) => Ok(TlsIdentity { chain_pem: cert.bytes.clone(), key_pem: file.bytes.clone() }),
        Err(PemFault::Missing) if key.is_none() => {
            let message = format!("{of_cert} {} holds no private key, and {of_key} is not given", cert.name);
            Err(UserError::usage(Code::Conflict, message, format!("{of_cert} {} {of_key} FILE", cert.name)))
        }
        Err(fault @ PemFault::Encrypted) => {
            bad(fault, "a key without a password: openssl pkey -in KEY -out PLAIN")
        }
        Err(fault) => bad(fault, "the private key in PEM: PKCS#8, PKCS#1 or SEC1"),
    }
}

/// Fails unless there are certificates in `file`, which `option` names.
pub fn check_certificates(option: &str, file: &PemFile, hint: &str) -> Result<(), UserError> {
    pem::certificates(&file.bytes).map_err(|fault| bad_pem(option, file, fault, "no certificate", hint))?;
    Ok(())
}

fn bad_pem(option: &str, file: &PemFile, fault: PemFault, missing: &str, hint: &str) -> UserError {
    let why = match fault {
        PemFault::Missing => format!("there is {missing} in it"),
        fault => fault.to_string(),
    };
    UserError::usage(Code::BadPem, format!("{option} {}: {why}", file.name), hint)
}
