//! Bodies of requests: exactly one of `json`, `xml`, `form`, `multipart`, `body`, `file`.

use wavetank_grammar::{Node, NodeKind};
use wavetank_units::Code;

use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{Body, PartContent, SoapCall, SoapVersion};

const BODIES: [&str; 6] = ["json", "xml", "form", "multipart", "body", "file"];

const SOAP_VERSIONS: [(&str, SoapVersion); 2] = [("1.1", SoapVersion::V1_1), ("1.2", SoapVersion::V1_2)];

impl Parser<'_> {
    /// The body among a request's keys.
    pub(super) fn body(&mut self, keys: &mut Keys<'_>, method: &str) -> Option<Body> {
        let call = keys.entry("soap");
        let given: Vec<_> = BODIES.iter().filter_map(|key| keys.entry(key)).collect();
        if let [first, second, ..] = given.as_slice() {
            let message = format!("a request has one body: `{}` and `{}`", first.key, second.key);
            return self.fail(Code::BodySecond, second.place, message, "keep one of the two");
        }
        let is_xml = given.first().is_some_and(|entry| entry.key == "xml");
        if let Some(call) = call.filter(|_| !is_xml) {
            let message = "a SOAP call has its envelope under xml, and this has none";
            let hint = "put the envelope under xml: as text";
            return self.fail(Code::SoapWithoutXml, call.place, message, hint);
        }
        let entry = *given.first()?;
        if matches!(method, "GET" | "HEAD") {
            let hint = format!(
                "post: for a request with a body, query: for parameters in the URL ({method} has none)"
            );
            self.out.push(wavetank_grammar::Diagnostic::warning(
                Code::BodyUnusual,
                entry.place,
                format!("{method} with a body: most servers ignore it"),
                hint,
            ));
        }
        match entry.key.as_str() {
            "json" => self.value(&entry.value).map(Body::Json),
            "xml" => self.xml(&entry.value, call.map(|call| &call.value)),
            "form" => self.named_values(&entry.value, "a form").map(Body::Form),
            "multipart" => self.multipart(&entry.value),
            "body" if entry.value.scalar().is_none() => {
                let hint = "json: sends a map or a list as JSON, form: as the fields of a form";
                self.fail(Code::NotAValue, entry.value.place, "a body is text, and this is not", hint)
            }
            "body" => self.template(&entry.value, "a body").map(Body::Text),
            _ => self.file_name(&entry.value).map(Body::File),
        }
    }

    fn xml(&mut self, node: &Node, call: Option<&Node>) -> Option<Body> {
        let call = call.map(|node| self.soap_call(node));
        if node.scalar().is_none() {
            let hint = "xml: <name>${value}</name>, or xml: | and the document in the lines below";
            return self.fail(Code::NotAValue, node.place, "a document is text, and this is not", hint);
        }
        let text = self.template(node, "a document");
        match call {
            Some(call) => text.zip(call).map(|(text, call)| Body::Xml(text, Some(call))),
            None => text.map(|text| Body::Xml(text, None)),
        }
    }

    fn soap_call(&mut self, node: &Node) -> Option<SoapCall> {
        let NodeKind::Map(_) = &node.kind else {
            let action = self.template(node, "an action")?;
            return Some(SoapCall { action, version: SoapVersion::V1_1 });
        };
        let mut keys = Keys::open(self, node, MapName::SoapCall)?;
        let action = keys.require(self, "action").and_then(|node| self.template(node, "an action"));
        let version = keys.take("version").map(|node| self.one_of(node, "version of SOAP", &SOAP_VERSIONS));
        keys.finish();
        Some(SoapCall { action: action?, version: version.unwrap_or(Some(SoapVersion::V1_1))? })
    }

    fn multipart(&mut self, node: &Node) -> Option<Body> {
        let entries = self.entries(node, "multipart");
        let parts = entries.iter().map(|entry| Some((entry.key.clone(), self.multipart_part(&entry.value)?)));
        parts.collect::<Vec<_>>().into_iter().collect::<Option<_>>().map(Body::Multipart)
    }

    fn multipart_part(&mut self, node: &Node) -> Option<PartContent> {
        let NodeKind::Map(_) = &node.kind else {
            let text = self.template(node, "a part")?;
            return Some(PartContent::Text { text, name: None, content_type: None });
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
