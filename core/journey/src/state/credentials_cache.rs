//! [`CredentialsCache`]: the answers to challenges that one user keeps.

use crate::auth::Digest;
use crate::compiled::Credentials;

/// A user's answers to challenges, one for each key. There are at most as many as the plan has
/// steps.
#[derive(Debug, Default)]
pub(crate) struct CredentialsCache(Vec<Login>);

#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) key: (usize, usize),
    /// The number of the session that created it.
    pub(crate) session: u64,
    /// Whether a request was accepted with it.
    pub(crate) worked: bool,
    pub(crate) digest: Digest,
}

impl CredentialsCache {
    pub(crate) fn find(&mut self, by: &Credentials, session: u64) -> Option<&mut Login> {
        let fits = |login: &&mut Login| login.key == by.key && !(by.varies && login.session != session);
        self.0.iter_mut().find(fits)
    }

    pub(crate) fn put(&mut self, by: &Credentials, session: u64, digest: Digest) {
        self.0.retain(|login| login.key != by.key);
        self.0.push(Login { key: by.key, session, worked: false, digest });
    }
}
