//! [`open_broker`]: a broker, with the key and the certificate for it.

use std::path::Path;

use wavetank_nats::{Broker, NatsKey};
use wavetank_units::{Code, UserError};

/// Variable with a seed, in place of a file.
const SEED: &str = "WAVETANK_NATS_SEED";

/// The broker at `url` for a fleet. The seed is in the environment or in the file `seed`. `ca` is
/// the file with the certificate that signed the broker's.
///
/// # Errors
/// A wrong URL, and files that are missing, not private or without what they need. No text has the
/// seed.
pub(super) fn open_broker(
    url: &str,
    fleet: &str,
    (seed, ca): (Option<&Path>, &Path),
) -> Result<Broker, UserError> {
    let key = match (std::env::var(SEED), seed) {
        (Ok(text), _) => NatsKey::parse(&text),
        (Err(_), Some(file)) => NatsKey::read(file),
        (Err(_), None) => {
            let message = "no seed for the broker is named";
            return Err(bad_broker(&message, "--nats-seed FILE, or WAVETANK_NATS_SEED in the environment"));
        }
    };
    let key = key.map_err(|error| {
        bad_broker(&error, "make files with `wavetank fleet broker init`, and keep seeds at mode 0600")
    })?;
    Broker::new(url, fleet, key, ca)
        .map_err(|error| bad_broker(&error, "use the ca.pem of `wavetank fleet broker init`"))
}

fn bad_broker(error: &dyn std::fmt::Display, hint: &str) -> UserError {
    UserError::usage(Code::BadBroker, error.to_string(), hint)
}
