//! Iteration over steps and the steps inside them, including blocks.

use std::collections::BTreeSet;

use crate::model::{
    Alternative, Auth, Body, Check, CheckSubject, Experiment, ForEachItems, Message, Operand, PartContent,
    Proxy, Request, RequestHead, Step, Template, Value, Verb,
};

impl Experiment {
    /// Returns `steps` and all steps inside them, including those of used blocks, each once.
    pub fn flattened<'e>(&'e self, steps: &'e [Step]) -> Vec<&'e Step> {
        let mut blocks_seen: BTreeSet<&str> = BTreeSet::new();
        let mut waiting: Vec<&Step> = steps.iter().rev().collect();
        let mut all = Vec::new();
        while let Some(step) = waiting.pop() {
            all.push(step);
            if let Verb::Use(name) = &step.verb
                && !blocks_seen.contains(name.value.as_str())
                && let Some(block) = self.blocks.iter().find(|block| block.name.value == name.value)
            {
                blocks_seen.insert(&name.value);
                waiting.extend(block.steps.iter().rev());
            }
            for inner in step.child_lists().into_iter().rev() {
                waiting.extend(inner.iter().rev());
            }
        }
        all
    }
}

impl Step {
    /// Returns the lists of steps inside the step.
    pub fn child_lists(&self) -> Vec<&[Self]> {
        match &self.verb {
            Verb::Group(_, steps)
            | Verb::Repeat(_, steps)
            | Verb::While { steps, .. }
            | Verb::Each { steps, .. } => vec![steps],
            Verb::If { then, otherwise, .. } => vec![then, otherwise],
            Verb::Choose(ways) => ways.iter().map(|way| way.steps.as_slice()).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns its request, if it sends one.
    pub fn request(&self) -> Option<&Request> {
        match &self.verb {
            Verb::Request(request) => Some(request),
            _ => None,
        }
    }

    /// Returns the names of the variables that it sets.
    pub(crate) fn sets(&self) -> Vec<&str> {
        match &self.verb {
            Verb::Request(request) => request.extract.iter().map(|one| one.name.value.as_str()).collect(),
            Verb::Set(values) => values.iter().map(|(name, _)| name.value.as_str()).collect(),
            Verb::Each { name, .. } => vec![&name.value],
            _ => Vec::new(),
        }
    }

    /// Returns its own templates, not those of the steps inside it.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        let mut all = Vec::new();
        match &self.verb {
            Verb::Request(request) => of_request(request, &mut all),
            Verb::While { check, .. } | Verb::If { check, .. } => of_check(check, &mut all),
            Verb::Each { list: ForEachItems::Items(items), .. } => {
                for item in items {
                    templates_in_value(item, &mut all);
                }
            }
            Verb::Set(values) => values.iter().for_each(|(_, value)| templates_in_value(value, &mut all)),
            Verb::Log(line) => all.push(line),
            _ => {}
        }
        all
    }
}

fn of_request<'e>(request: &'e Request, all: &mut Vec<&'e Template>) {
    match &request.head {
        RequestHead::Http { url, .. } => all.push(url),
        RequestHead::Raw(text) => all.push(text),
        RequestHead::Grpc(_) => {}
    }
    request.query.iter().for_each(|(_, value)| templates_in_value(value, all));
    all.extend(request.headers.iter().map(|header| &header.value));
    match &request.body {
        Some(Body::Json(value)) => templates_in_value(value, all),
        Some(Body::Form(fields)) => fields.iter().for_each(|(_, value)| templates_in_value(value, all)),
        Some(Body::Multipart(parts)) => {
            for (_, part) in parts {
                match part {
                    PartContent::Text { text, .. } => all.push(text),
                    PartContent::File { name, .. } => all.extend(name),
                }
            }
        }
        Some(Body::Text(text) | Body::JsonText(text)) => all.push(text),
        Some(Body::Xml(text, call)) => {
            all.push(text);
            all.extend(call.iter().map(|call| &call.action));
        }
        Some(Body::File(_) | Body::Bytes(_)) | None => {}
    }
    all.extend(request.auth.iter().flat_map(Auth::templates));
    request.checks.iter().for_each(|named| of_check(&named.check, all));
    request.message.iter().filter_map(Message::condition).for_each(|check| of_check(check, all));
    request.counts.iter().for_each(|(_, check)| of_check(check, all));
}

impl Auth {
    /// Returns its templates.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::None => Vec::new(),
            Self::Basic(user, password) | Self::Digest(user, password) => vec![user, password],
            Self::Bearer(token) => vec![token],
        }
    }
}

impl Proxy {
    /// Returns its templates.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        self.user.iter().flat_map(|(user, password)| [user, password]).collect()
    }
}

/// Adds the templates inside a value to `all`.
pub(crate) fn templates_in_value<'e>(value: &'e Value, all: &mut Vec<&'e Template>) {
    match value {
        Value::Text(template) => all.push(template),
        Value::List(items) => items.iter().for_each(|item| templates_in_value(item, all)),
        Value::Map(entries) => entries.iter().for_each(|(_, value)| templates_in_value(value, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn of_check<'e>(check: &'e Check, all: &mut Vec<&'e Template>) {
    if let CheckSubject::Value(template) = &check.subject {
        all.push(template);
    }
    let operands = check.expected.iter().flat_map(|expected| match expected {
        Alternative::One(one) => vec![one],
        Alternative::Range(low, high) => vec![low, high],
    });
    all.extend(operands.filter_map(|operand| match operand {
        Operand::Text(template) => Some(template),
        _ => None,
    }));
}
