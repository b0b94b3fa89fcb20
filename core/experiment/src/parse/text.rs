//! Single values with text that is fixed before the run. `${VAR}` and `${env:X}` are filled in
//! here.

use wavetank_grammar::{Diagnostics, Span};
use wavetank_units::{Code, did_you_mean};

use super::{Parser, TreeReader};

impl TreeReader for Parser<'_> {
    fn out(&mut self) -> &mut Diagnostics {
        &mut self.out
    }

    /// Fills in `${…}`.
    fn fixed(&mut self, text: &str, place: Span) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let escaped = rest[..at].ends_with('$');
            out.push_str(&rest[..at]);
            rest = &rest[at + 2..];
            if escaped {
                out.push('{');
                continue;
            }
            let Some(end) = rest.find('}') else { return self.unclosed(place) };
            let filled = self.fill(rest[..end].trim(), place)?;
            out.push_str(&filled);
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        Some(out)
    }
}

impl Parser<'_> {
    /// Reports `${` without its `}`.
    pub(crate) fn unclosed<T>(&mut self, place: Span) -> Option<T> {
        self.fail(
            Code::TemplateUnclosed,
            place,
            "`${` is not closed",
            "${NAME}; for the characters themselves: $${",
        )
    }

    fn fill(&mut self, name: &str, place: Span) -> Option<String> {
        if let Some(variable) = name.strip_prefix("env:") {
            return self.environment(variable, place);
        }
        if let Some(node) = self.vars.get(name) {
            let Some(scalar) = node.scalar() else {
                let message = format!("`${{{name}}}` is {}, but a single value is required", node.what());
                return self.fail(
                    Code::NotAValue,
                    place,
                    message,
                    "a list or map is used whole, by each: or json:",
                );
            };
            self.spend_text(scalar.text.len(), place)?;
            if scalar.text.contains("${secret:") {
                return self.secret_here(name, place);
            }
            return Some(scalar.text.clone());
        }
        if name.starts_with("secret:") {
            return self.secret_here(name, place);
        }
        if super::is_identifier(name) && !matches!(name, "user" | "session") && !name.contains('.') {
            return self.unknown_variable(name, place);
        }
        let message =
            format!("`${{{name}}}` is known only when a request is made, but this is fixed before the run");
        self.fail(Code::TemplateNotFixed, place, message, "use a variable of vars:, or ${env:NAME}")
    }

    fn secret_here(&mut self, name: &str, place: Span) -> Option<String> {
        let message = format!("`${{{name}}}` is a secret, but this value is stored with the run");
        self.fail(
            Code::SecretMisplaced,
            place,
            message,
            "secrets are allowed in headers, auth, query and bodies of requests",
        )
    }

    /// Returns a variable of the environment, or reports that it is missing.
    pub(crate) fn environment(&mut self, variable: &str, place: Span) -> Option<String> {
        let found = (self.env)(variable);
        self.spend_text(found.as_ref().map_or(0, String::len), place)?;
        if found.is_none() {
            let message = format!("the environment has no variable {variable}");
            let hint = format!("export {variable}=…, or write the value under vars:");
            return self.fail(Code::EnvUnknown, place, message, hint);
        }
        found
    }

    /// Reports an unknown name.
    pub(crate) fn unknown_variable<T>(&mut self, name: &str, place: Span) -> Option<T> {
        // Mistakes beyond the maximum number need no advice.
        let looked_at = if self.advice_is_wasted() { 0 } else { usize::MAX };
        let known = self.vars.names().take(looked_at);
        let hint = match did_you_mean(name, known) {
            Some(near) => format!("did you mean ${{{near}}}?"),
            None => format!("vars: {{{name}: VALUE}}, or --set {name}=VALUE"),
        };
        self.fail(Code::VariableUnknown, place, format!("no variable `{name}`"), hint)
    }
}
