//! `http: {proxy: URL}`.

use wavetank_grammar::{Diagnostic, Node, Spanned};
use wavetank_plan::ProxyUrl;
use wavetank_units::Code;

use super::http::user_and_password;
use super::{Parser, TreeReader as _};
use crate::model::{Part, Proxy};

/// The form of a proxy with a user and password.
const USER_HINT: &str = "proxy: http://USER:${secret:PASSWORD}@HOST:PORT";

impl Parser<'_> {
    /// Reads the URL of a proxy. The user part may contain secrets; the rest is fixed before the
    /// run.
    pub(super) fn proxy(&mut self, node: &Node) -> Option<Proxy> {
        let scalar = self.scalar(node, "a proxy's URL")?;
        let (written, plain) = ProxyUrl::split_user(&scalar.text);
        let plain = self.fixed(&plain, node.place)?;
        let url = match ProxyUrl::parse(&plain) {
            Ok(url) => Spanned::new(url, node.place),
            Err(error) => {
                self.out.push(Diagnostic::from_error(error, node.place));
                return None;
            }
        };
        let Some(written) = written else { return Some(Proxy { url, user: None }) };
        let Some((user, password)) = user_and_password(written) else {
            let message = "a proxy needs a user and a password separated by a colon";
            return self.fail(Code::BadProxy, node.place, message, USER_HINT);
        };
        let user = self.template_text(user, node.place)?;
        let password = self.template_text(password, node.place)?;
        if password.as_fixed().is_some_and(|password| !password.is_empty()) {
            let message = "the file contains a password";
            self.out.push(Diagnostic::warning(Code::PasswordWritten, node.place, message, USER_HINT));
        }
        let unknown_yet = |part: &Part| !matches!(part, Part::Text(_) | Part::Variable(_) | Part::Secret(_));
        if user.parts.iter().chain(&password.parts).any(unknown_yet) {
            let message = "proxy credentials are fixed before the run";
            return self.fail(Code::TemplateNotFixed, node.place, message, USER_HINT);
        }
        Some(Proxy { url, user: Some((user, password)) })
    }
}
