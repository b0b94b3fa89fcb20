//! Bodies of requests: exactly one of `json`, `form`, `multipart`, `body`, `file`.

use wavetank_grammar::{Node, NodeKind};

use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{Body, PartContent};

const BODIES: [&str; 5] = ["json", "form", "multipart", "body", "file"];

impl Parser<'_> {
    /// The body among a request's keys.
    pub(super) fn body(&mut self, keys: &mut Keys<'_>, method: &str) -> Option<Body> {
        let given: Vec<_> = BODIES.iter().filter_map(|key| keys.entry(key)).collect();
        if let [first, second, ..] = given.as_slice() {
            let message = format!("a request has one body: `{}` and `{}`", first.key, second.key);
            return self.fail("body_second", second.place, message, "keep one of the two");
        }
        let entry = *given.first()?;
        if matches!(method, "GET" | "HEAD") {
            let hint = format!(
                "post: for a request with a body, query: for parameters in the URL ({method} has none)"
            );
            self.out.push(wavetank_grammar::Diagnostic::warning(
                "body_unusual",
                entry.place,
                format!("{method} with a body: most servers ignore it"),
                hint,
            ));
        }
        match entry.key.as_str() {
            "json" => self.value(&entry.value).map(Body::Json),
            "form" => self.named_values(&entry.value, "a form").map(Body::Form),
            "multipart" => self.multipart(&entry.value),
            "body" if entry.value.scalar().is_none() => {
                let hint = "json: sends a map or a list as JSON, form: as the fields of a form";
                self.fail("not_a_value", entry.value.place, "a body is text, and this is not", hint)
            }
            "body" => self.template(&entry.value, "a body").map(Body::Text),
            _ => self.file_name(&entry.value).map(Body::File),
        }
    }

    fn multipart(&mut self, node: &Node) -> Option<Body> {
        let entries = self.entries(node, "multipart");
        let parts = entries.iter().map(|entry| Some((entry.key.clone(), self.multipart_part(&entry.value)?)));
        parts.collect::<Vec<_>>().into_iter().collect::<Option<_>>().map(Body::Multipart)
    }

    fn multipart_part(&mut self, node: &Node) -> Option<PartContent> {
        let NodeKind::Map(_) = &node.kind else {
            return self.template(node, "a part").map(PartContent::Text);
        };
        let mut keys = Keys::open(self, node, MapName::MultipartFile)?;
        let file = keys.require(self, "file").and_then(|node| self.file_name(node));
        let name = keys.take("name").and_then(|node| self.template(node, "a name"));
        let content_type =
            keys.take("type").and_then(|node| self.text(node, "a content type")).map(|at| at.value);
        keys.finish();
        Some(PartContent::File { file: file?, name, content_type })
    }
}
