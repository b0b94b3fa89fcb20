//! Options for keys of every `tls:` of the file, such as `--insecure` and `--cacert`.

use wavetank_grammar::Spanned;
use wavetank_plan::{PemFile, TlsOptions};

use crate::model::{Experiment, TlsSettings};
use crate::placeless::without_span;

impl Experiment {
    /// Applies the TLS options to the file's own; files keep the names by which they were read.
    pub(super) fn amend_tls(&mut self, options: &TlsOptions) {
        if options.given_flags().is_empty() {
            return;
        }
        let common = self.http.tls.get_or_insert_default();
        amended(common, options);
        self.targets
            .iter_mut()
            .filter_map(|target| target.tls.as_mut())
            .for_each(|own| amended(own, options));
    }
}

fn amended(own: &mut TlsSettings, options: &TlsOptions) {
    // Taken apart by name, so that a new option cannot be forgotten here.
    let TlsOptions { insecure, ca, cert, key, sni, version, groups, ciphers, alpn, resume } = options;
    let name = |file: &Option<PemFile>| -> Option<Spanned<String>> {
        file.as_ref().map(|file| without_span(file.name.clone()))
    };
    if *insecure {
        own.verify = Some(false);
        // Without verification the trusted certificates have no effect.
        own.ca = None;
    }
    if ca.is_some() {
        (own.ca, own.verify) = (name(ca), None);
    }
    if cert.is_some() {
        // The old key does not belong to the new certificate.
        (own.cert, own.key) = (name(cert), None);
    }
    own.key = name(key).or(own.key.take());
    own.sni = sni.clone().or(own.sni.take());
    own.version = version.or(own.version);
    own.resume = resume.or(own.resume);
    own.alpn = alpn.clone().or(own.alpn.take());
    for (own, given) in [(&mut own.groups, groups), (&mut own.ciphers, ciphers)] {
        if !given.is_empty() {
            own.clone_from(given);
        }
    }
}
