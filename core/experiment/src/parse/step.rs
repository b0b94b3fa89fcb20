//! Steps: exactly one verb, and the keys that belong to it.

use wavetank_grammar::{Entry, Node, NodeKind, suggest_key};
use wavetank_units::{Code, did_you_mean};

use super::{Keys, Parser, TreeReader as _};
use crate::grammar::{FORMS, MapName, StepForm};
use crate::model::{Choice, EndScope, ForEachItems, Step, Value, Verb};

/// Namespaces of protocols that this version does not support yet.
const LATER: [&str; 5] = ["mqtt", "pg", "mysql", "ldap", "xmpp"];

impl Parser<'_> {
    /// Reads a list of steps.
    pub(crate) fn steps(&mut self, node: &Node) -> Vec<Step> {
        if let NodeKind::Map(entries) = &node.kind {
            let hint = match entries.first() {
                Some(entry) => format!("each step begins with a dash: - {}: …", entry.key),
                None => "each step begins with a dash: - get: /".to_owned(),
            };
            self.fail::<()>(Code::NotAList, node.place, "steps are a list, but this is a map of keys", hint);
            return Vec::new();
        }
        let items = self.list(node, "steps");
        items.iter().filter_map(|item| self.step(item)).collect()
    }

    fn step(&mut self, node: &Node) -> Option<Step> {
        let NodeKind::Map(entries) = &node.kind else {
            let hint = match node.scalar().and_then(|scalar| scalar.text.split_once(' ')) {
                Some((verb, rest)) => {
                    format!("- {}: {}", verb.to_ascii_lowercase().trim_end_matches(':'), rest.trim())
                }
                None => "- get: /path".to_owned(),
            };
            return self.fail(
                Code::StepShape,
                node.place,
                format!("a step is a map, but this is {}", node.what()),
                hint,
            );
        };
        let verbs: Vec<(&Entry, &'static StepForm)> =
            entries.iter().filter_map(|entry| Some((entry, form_of(&entry.key)?))).collect();
        let (verb, form) = match verbs.as_slice() {
            [] => return self.no_verb(entries, node),
            [only] => *only,
            [first, second, ..] => {
                let message = format!("a step has one verb: `{}` and `{}`", first.0.key, second.0.key);
                let hint = format!("write two steps: - {}: … and - {}: …", first.0.key, second.0.key);
                return self.fail(Code::VerbSecond, second.0.place, message, hint);
            }
        };
        let known = form.verbs.iter().filter(|key| key.name == verb.key).chain(form.keys);
        let mut keys = Keys::open_as(self, node, format!("`{}`", verb.key), known)?;
        let verb_key = form.verbs.iter().find(|key| key.name == verb.key).map_or("", |key| key.name);
        keys.entry(verb_key);
        if verb.value.is_null() {
            // Already reported.
            return None;
        }
        // The form that waits has a verb for each protocol.
        let name = if form.name == "wait" { verb_key } else { form.name };
        let read = self.verb(name, verb, &mut keys);
        keys.finish();
        read.map(|verb| Step { place: node.place, verb })
    }

    fn no_verb(&mut self, entries: &[Entry], node: &Node) -> Option<Step> {
        let verbs = || FORMS.iter().flat_map(|form| form.verbs).map(|key| key.name);
        let Some(first) = entries.first() else {
            return self.fail(Code::VerbMissing, node.place, "a step without a verb", "- get: /path");
        };
        if self.advice_is_wasted() {
            return self.fail(Code::VerbMissing, first.place, String::new(), String::new());
        }
        let upper = first.key.to_ascii_lowercase();
        let namespace = first.key.split('.').next().unwrap_or_default();
        if first.key.contains('.') && LATER.contains(&namespace) {
            let hint = "this version supports HTTP (get, post, …), gRPC (grpc.call), WebSocket (ws.send, …), \
                event streams (sse.wait, …), TCP (tcp.send, …) and UDP (udp.send, …)";
            return self.fail(
                Code::ProtocolLater,
                first.place,
                format!("`{}` is not supported in this version", first.key),
                hint,
            );
        }
        let hint = match did_you_mean(&first.key, verbs()) {
            _ if verbs().any(|verb| verb == upper) => format!("in lower case: {upper}"),
            _ if ["wait", "pause"].contains(&upper.as_str()) => "here it is called think".to_owned(),
            Some(near) => format!("did you mean {near}?"),
            None => match suggest_key::<MapName>(&first.key, verbs()) {
                Some(meant) => meant,
                None => format!("one of: {}", verbs().collect::<Vec<_>>().join(", ")),
            },
        };
        self.fail(
            Code::VerbMissing,
            first.place,
            format!("this step has no verb: `{}` is not one", first.key),
            hint,
        )
    }

    fn verb(&mut self, form: &str, verb: &Entry, keys: &mut Keys<'_>) -> Option<Verb> {
        match form {
            "request" => self.request(verb, keys).map(|request| Verb::Request(Box::new(request))),
            "grpc" => self.grpc_call(verb, keys).map(|request| Verb::Request(Box::new(request))),
            "raw" => self.raw(verb, keys).map(|request| Verb::Request(Box::new(request))),
            _ if form.starts_with("grpc.") => {
                self.call_step(form, verb, keys).map(|request| Verb::Request(Box::new(request)))
            }
            "ws.connect" => self.ws_connect(verb, keys).map(|request| Verb::Request(Box::new(request))),
            "ws.send" => self.ws_send(verb, keys).map(|request| Verb::Request(Box::new(request))),
            "ws.wait" => self.ws_wait(verb, keys).map(|request| Verb::Request(Box::new(request))),
            "ws.close" => self.ws_close(verb, keys).map(|request| Verb::Request(Box::new(request))),
            _ if form.starts_with("sse.") => {
                self.event_step(form, verb, keys).map(|request| Verb::Request(Box::new(request)))
            }
            _ if form.starts_with("tcp.") => {
                self.tcp_step(form, verb, keys).map(|request| Verb::Request(Box::new(request)))
            }
            "udp.send" => self.udp_send(verb, keys).map(|request| Verb::Request(Box::new(request))),
            "udp.read" => self.udp_read(verb, keys).map(|request| Verb::Request(Box::new(request))),
            "think" => self.think(&verb.value).map(Verb::Think),
            "group" => {
                let name = self.step_name(&verb.value);
                let steps = self.inner(keys, verb);
                Some(Verb::Group(name?, steps?))
            }
            "repeat" => {
                let times = self.count_positive(&verb.value);
                let steps = self.inner(keys, verb);
                Some(Verb::Repeat(times?, steps?))
            }
            "while" => {
                let check = self.check(&verb.value);
                let at_most = keys.require(self, "at_most").and_then(|node| self.count_positive(node));
                let steps = self.inner(keys, verb);
                Some(Verb::While { check: check?, at_most: at_most?.value, steps: steps? })
            }
            "if" => {
                let check = self.check(&verb.value);
                let otherwise = keys.take("else").map(|node| self.steps(node)).unwrap_or_default();
                let then = self.inner(keys, verb);
                Some(Verb::If { check: check?, then: then?, otherwise })
            }
            "each" => self.each_of(verb, keys),
            "choose" => self.choices(&verb.value).map(Verb::Choose),
            "use" => self.name(&verb.value, "a block").map(Verb::Use),
            "set" => self.set(verb),
            "log" => self.template(&verb.value, "a line").map(Verb::Log),
            "end" => self
                .one_of(&verb.value, "end", &[("session", EndScope::Session), ("run", EndScope::Run)])
                .map(Verb::End),
            _ => {
                let name = self.name(&verb.value, "a rendezvous");
                let wait = keys.take("wait").and_then(|node| self.duration_positive(node));
                let of = keys.take("of").and_then(|node| self.count_positive(node)).map(|of| of.value);
                Some(Verb::Rendezvous { name: name?, wait, of })
            }
        }
    }

    /// Reads the steps inside a step.
    fn inner(&mut self, keys: &mut Keys<'_>, verb: &Entry) -> Option<Vec<Step>> {
        let node = keys.require(self, "steps")?;
        if node.items().is_some_and(<[Node]>::is_empty) {
            return self.fail(
                Code::StepsEmpty,
                node.place,
                format!("`{}` has no steps inside", verb.key),
                "- get: /path",
            );
        }
        Some(self.steps(node))
    }

    fn each_of(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Verb> {
        let list = match &verb.value.kind {
            NodeKind::List(items) => {
                let items: Option<Vec<Value>> = items.iter().map(|item| self.value(item)).collect();
                items.map(ForEachItems::Items)
            }
            _ => self.list_variable(&verb.value),
        };
        let name = keys.require(self, "as").and_then(|node| self.text(node, "a variable"));
        let name = name.and_then(|name| self.identifier(&name));
        let steps = self.inner(keys, verb);
        Some(Verb::Each { list: list?, name: name?, steps: steps? })
    }

    fn list_variable(&mut self, node: &Node) -> Option<ForEachItems> {
        let scalar = self.scalar(node, "a list")?;
        let name = scalar.text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).map(str::trim);
        match name {
            Some(name) if super::is_identifier(name) && self.vars.get(name).is_none() => {
                Some(ForEachItems::Variable(wavetank_grammar::Spanned::new(name.to_owned(), node.place)))
            }
            _ => {
                let message = format!("`{}` is not a list", scalar.text);
                self.fail(Code::NotAList, node.place, message, "each: ${LIST}, each: [a, b, c]")
            }
        }
    }

    fn choices(&mut self, node: &Node) -> Option<Vec<Choice>> {
        let items = self.list(node, "choose");
        let mut all = Vec::new();
        for item in items {
            let mut keys = Keys::open(self, item, MapName::Choice)?;
            let weight = keys.take("weight").map(|node| self.count_positive(node));
            let steps = keys.require(self, "steps").map(|node| self.steps(node));
            keys.finish();
            let weight = match weight {
                None => 1,
                Some(weight) => weight?.value,
            };
            all.push(Choice { weight, steps: steps? });
        }
        if all.is_empty() {
            return self.fail(
                Code::StepsEmpty,
                node.place,
                "nothing to choose from",
                "- choose: [{weight: 3, steps: [{get: /a}]}]",
            );
        }
        Some(all)
    }

    fn set(&mut self, verb: &Entry) -> Option<Verb> {
        let entries = self.entries(&verb.value, "set");
        let all = entries.iter().map(|entry| {
            let name = self.variable_name(entry);
            let value = self.value(&entry.value);
            Some((name?, value?))
        });
        all.collect::<Vec<_>>().into_iter().collect::<Option<_>>().map(Verb::Set)
    }
}

fn form_of(key: &str) -> Option<&'static StepForm> {
    FORMS.iter().copied().find(|form| form.verbs.iter().any(|verb| verb.name == key))
}
