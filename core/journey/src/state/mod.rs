//! The data of a session: it changes with every request. Nothing here evaluates a template.

mod credentials_cache;
mod follow_up_state;
mod identity;
mod pending_page;
mod session;

pub(crate) use credentials_cache::Login;
pub(crate) use follow_up_state::FollowUpState;
pub use identity::Identity;
pub(crate) use pending_page::PendingPage;
pub use pending_page::RESOURCE_BYTES_MAX;
pub use session::Session;
