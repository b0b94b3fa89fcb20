//! Certificates made for these tests: a CA, certificates that it signs, and untrusted ones.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use wavetank_testkit::TestDir;

/// Writes a CA and all certificates that the tests need into one folder: `ca.pem`, `other.pem` (a
/// CA that signed none of them), and for each name below `NAME.pem` and `NAME.key`.
pub(crate) fn write_all(place: &TestDir) {
    let (ca_params, ca_key) = ca("Test CA");
    let ca_pem = ca_params.self_signed(&ca_key).expect("a CA").pem();
    place.write("ca.pem", &ca_pem);
    let (other_params, other_key) = ca("Other CA");
    place.write("other.pem", other_params.self_signed(&other_key).expect("a CA").pem());
    let issuer = Issuer::new(ca_params, ca_key);
    let signed = |name: &str, params: CertificateParams| {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &issuer).expect("a certificate");
        place.write(&format!("{name}.pem"), certificate.pem());
        place.write(&format!("{name}.key"), key.serialize_pem());
        place.write(&format!("{name}.both.pem"), certificate.pem() + &key.serialize_pem());
    };
    let names = ["shop.example", "localhost", "127.0.0.1"];
    signed("good", params(&names, "shop.example"));
    let mut expired = params(&names, "shop.example");
    (expired.not_before, expired.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
    signed("expired", expired);
    let mut client = params(&[], "load client");
    client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    signed("client", client);
}

fn ca(name: &str) -> (CertificateParams, KeyPair) {
    let mut params = params(&[], name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    (params, KeyPair::generate().expect("a key"))
}

fn params(names: &[&str], common: &str) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("good names");
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common);
    params
}
