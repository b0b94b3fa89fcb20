//! [`tls_client`]: our side of TLS, made before anything is sent.

use std::sync::Arc;

use wavetank_driver::TlsClient;
use wavetank_plan::Plan;
use wavetank_units::{Code, UserError};

/// Returns the TLS client for the targets of `plan`, shared by probe and load threads; `None` if no
/// target uses TLS. Fails on settings that allow no handshake.
pub fn tls_client(plan: &Plan) -> Result<Option<Arc<TlsClient>>, UserError> {
    let Some(tls) = &plan.tls else { return Ok(None) };
    let client = TlsClient::each(tls, &plan.server_names(), &plan.server_tls())
        .map_err(|problem| UserError::usage(Code::BadTls, problem.what, problem.hint))?;
    Ok(Some(Arc::new(client)))
}
