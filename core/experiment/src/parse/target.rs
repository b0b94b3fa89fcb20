//! `target`, `targets`.

use wavetank_grammar::{Node, NodeKind, Spanned};
use wavetank_plan::TargetUrl;
use wavetank_units::Code;

use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{Pick, Target, TargetAddress};

/// Maximum number of URLs of one target.
const URLS_MAX: usize = 4_096;

impl Parser<'_> {
    /// `target:`.
    pub(super) fn target(&mut self, node: &Node) -> Option<Target> {
        let urls = self.urls(node)?;
        Some(Target { name: None, urls, pick: None, tls: None })
    }

    /// `targets:`.
    pub(super) fn targets(&mut self, node: &Node) -> Vec<Target> {
        let entries = self.entries(node, "targets");
        let all = entries.iter().map(|entry| {
            let name = self.user_defined_name(entry, "a target")?;
            let mut target = match &entry.value.kind {
                NodeKind::Map(_) => self.target_map(&entry.value)?,
                _ => self.target(&entry.value)?,
            };
            target.name = Some(name);
            Some(target)
        });
        all.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn target_map(&mut self, node: &Node) -> Option<Target> {
        let mut keys = Keys::open(self, node, MapName::Target)?;
        let urls = keys.require(self, "urls").and_then(|urls| self.urls(urls));
        let words = [
            ("in_turn", Pick::InTurn),
            ("random", Pick::Random),
            ("weight", Pick::Weight),
            ("dns", Pick::Dns),
        ];
        let pick =
            keys.take("pick").and_then(|node| Some((self.one_of(node, "way to pick", &words)?, node.place)));
        let tls = keys.take("tls").and_then(|node| self.tls(node));
        keys.finish();
        let urls = urls?;
        let weighted = urls.iter().filter(|url| url.weight.is_some()).count();
        if let Some((pick, place)) = pick {
            if pick == Pick::Weight && weighted < urls.len() {
                let hint = "urls: [{url: http://10.0.0.1, weight: 3}, {url: http://10.0.0.2, weight: 1}]";
                return self.fail(
                    Code::WeightMissing,
                    place,
                    "pick: weight, but not every URL has a weight",
                    hint,
                );
            }
            if pick != Pick::Weight && weighted > 0 {
                return self.fail(
                    Code::WeightUnused,
                    place,
                    "the URLs have weights, but `pick` ignores them",
                    "pick: weight",
                );
            }
        } else if weighted > 0 && weighted < urls.len() {
            let hint = "give all of them a weight, or none";
            return self.fail(Code::WeightMissing, node.place, "some of the URLs have no weight", hint);
        }
        let pick = pick.map(|(pick, _)| pick).or((weighted > 0).then_some(Pick::Weight));
        Some(Target { name: None, urls, pick, tls })
    }

    fn urls(&mut self, node: &Node) -> Option<Vec<TargetAddress>> {
        let urls = self.each(node, |reader, item| match &item.kind {
            NodeKind::Map(_) => {
                let mut keys = Keys::open(reader, item, MapName::TargetUrl)?;
                let url = keys.require(reader, "url").and_then(|url| reader.url(url));
                let weight = keys.take("weight").and_then(|weight| reader.count_positive(weight));
                keys.finish();
                Some(TargetAddress { url: url?, weight: weight.map(|weight| weight.value) })
            }
            _ => Some(TargetAddress { url: reader.url(item)?, weight: None }),
        });
        if urls.len() > URLS_MAX {
            let message = format!("{} URLs; a target has at most {URLS_MAX}", urls.len());
            return self.fail(
                Code::TooMany,
                node.place,
                message,
                "use one name that resolves to all of them",
            );
        }
        if urls.is_empty() && node.items().is_some_and(<[Node]>::is_empty) {
            return self.fail(
                Code::TargetMissing,
                node.place,
                "a target without a URL",
                "target: http://10.0.0.5:8080",
            );
        }
        (!urls.is_empty()).then_some(urls)
    }

    /// Reads a URL. Its scheme is http if it has none, as on the command line.
    pub(super) fn url(&mut self, node: &Node) -> Option<Spanned<TargetUrl>> {
        let Spanned { value: text, place } = self.text(node, "a URL")?;
        match TargetUrl::parse(&text) {
            Ok(url) => Some(Spanned::new(url, place)),
            Err(mut error) => {
                if error.code == Code::UrlUser {
                    "http: {auth: basic USER:${secret:PASSWORD}}".clone_into(&mut error.hint);
                }
                self.out.push(wavetank_grammar::Diagnostic::from_error(error, place));
                None
            }
        }
    }
}
