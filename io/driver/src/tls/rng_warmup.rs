//! [`seed`]: pays the one-time cost of the library's random generator before any measurement.

use rustls::crypto::CryptoProvider;

/// Draws from the generator of `provider` on this thread. Each thread has a generator, which
/// gathers entropy on the first draw and computes for tens of milliseconds. Otherwise the first
/// handshake would include that time, as if the peer had taken it.
pub(super) fn seed(provider: &CryptoProvider) {
    // Without entropy the handshakes fail as well, and those failures are reported.
    let _ = provider.secure_random.fill(&mut [0; 32]);
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use rustls::crypto::{GetRandomFailed, SecureRandom, aws_lc_rs};
    use rustls::server::ResolvesServerCertUsingSni;
    use rustls::{ClientConfig, RootCertStore, ServerConfig};

    use super::*;
    use crate::{Clock, Driver as _, DriverConfig, Epoll, Tls, TlsClient, TlsServer};

    thread_local! {
        static DRAWS: Cell<usize> = const { Cell::new(0) };
    }

    #[derive(Debug)]
    struct Counting;

    impl SecureRandom for Counting {
        fn fill(&self, _: &mut [u8]) -> Result<(), GetRandomFailed> {
            DRAWS.set(DRAWS.get() + 1);
            Ok(())
        }
    }

    /// Checks a driver with a provider that counts the draws.
    fn check(client: bool, server: bool) {
        let provider = Arc::new(CryptoProvider { secure_random: &Counting, ..aws_lc_rs::default_provider() });
        let client = client.then(|| {
            let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
            let builder = builder.with_safe_default_protocol_versions().expect("versions with ciphers");
            let config = builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
            Arc::new(TlsClient::from_config(config))
        });
        let server = server.then(|| {
            let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
            let builder = builder.with_safe_default_protocol_versions().expect("versions with ciphers");
            let none = Arc::new(ResolvesServerCertUsingSni::new());
            Arc::new(TlsServer::from_config(builder.with_no_client_auth().with_cert_resolver(none)))
        });
        let driver = Epoll::new(&DriverConfig::small(Clock::starting_now())).expect("a driver");
        let spoken = client.is_some() || server.is_some();
        DRAWS.set(0);
        let driver = Tls::wrap(driver, client, server);
        assert_eq!(DRAWS.get() > 0, spoken, "drawn when the driver is made, and only for TLS");
        drop(driver);
    }

    #[test]
    fn the_generator_is_ready_before_any_connection() {
        check(true, false);
        check(false, true);
        check(false, false);
    }
}
