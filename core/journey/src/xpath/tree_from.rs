//! Trees from XML text and from parsed pages.

use ego_tree::iter::Edge;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use scraper::{Html, Node};

use super::tree::{NodeKind, Tree, TreeBuilder};

impl Tree {
    /// Parses XML. `None` if the text is not XML (tags do not match, it is empty, text is outside
    /// the root element) or exceeds the limits. Entities of a document type stay as written.
    pub fn parse_xml(text: &str) -> Option<Self> {
        let mut reader = Reader::from_str(text);
        let mut grower = TreeBuilder::new();
        let mut roots = 0;
        loop {
            match reader.read_event().ok()? {
                Event::Start(tag) => {
                    roots += usize::from(grower.depth() == 0);
                    open(&mut grower, &tag)?;
                }
                Event::Empty(tag) => {
                    roots += usize::from(grower.depth() == 0);
                    open(&mut grower, &tag)?;
                    grower.close()?;
                }
                Event::End(_) => grower.close()?,
                Event::Text(text) => {
                    let text = text.xml10_content().ok()?;
                    if grower.depth() == 0 && !text.trim().is_empty() {
                        return None;
                    }
                    grower.leaf(NodeKind::Text, "", &text)?;
                }
                Event::CData(text) => grower.leaf(NodeKind::Text, "", &text.xml10_content().ok()?)?,
                Event::GeneralRef(reference) => {
                    let name = reference.decode().ok()?;
                    match reference.resolve_char_ref().ok()? {
                        Some(letter) => grower.leaf(NodeKind::Text, "", letter.encode_utf8(&mut [0; 4]))?,
                        None => match resolve_predefined_entity(&name) {
                            Some(plain) => grower.leaf(NodeKind::Text, "", plain)?,
                            None => grower.leaf(NodeKind::Text, "", &format!("&{name};"))?,
                        },
                    }
                }
                Event::Comment(text) => grower.leaf(NodeKind::Comment, "", &text.xml10_content().ok()?)?,
                Event::PI(instruction) => {
                    let target = str::from_utf8(instruction.target()).ok()?;
                    let content = str::from_utf8(instruction.content()).ok()?;
                    grower.leaf(NodeKind::Instruction, target, content.trim_start())?;
                }
                Event::Decl(_) | Event::DocType(_) => {}
                Event::Eof => break,
            }
        }
        if roots != 1 || grower.depth() != 0 { None } else { Some(grower.finish()) }
    }

    /// Returns the tree of a parsed page as browsers build it, so `html`, `head` and `body` always
    /// exist. `None` beyond the limits.
    pub fn from_html(page: &Html) -> Option<Self> {
        let mut grower = TreeBuilder::new();
        for edge in page.tree.root().traverse() {
            match edge {
                Edge::Open(node) => match node.value() {
                    Node::Element(element) => {
                        grower.open(element.name())?;
                        for (name, value) in element.attrs() {
                            grower.attribute(name, value)?;
                        }
                    }
                    Node::Text(text) => grower.leaf(NodeKind::Text, "", text)?,
                    Node::Comment(comment) => grower.leaf(NodeKind::Comment, "", comment)?,
                    _ => {}
                },
                Edge::Close(node) if node.value().is_element() => grower.close()?,
                Edge::Close(_) => {}
            }
        }
        Some(grower.finish())
    }
}

fn open(grower: &mut TreeBuilder, tag: &BytesStart<'_>) -> Option<()> {
    grower.open(str::from_utf8(tag.name().into_inner()).ok()?)?;
    // A search for duplicates would compare each attribute with all earlier ones.
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.ok()?;
        let name = str::from_utf8(attribute.key.into_inner()).ok()?;
        // Declarations of namespaces are not attributes (XPath 1.0 §5.3).
        if name == "xmlns" || name.starts_with("xmlns:") {
            continue;
        }
        let raw = || String::from_utf8_lossy(&attribute.value).into_owned().into();
        let value = attribute.normalized_value(XmlVersion::Explicit1_0).unwrap_or_else(|_| raw());
        grower.attribute(name, &value)?;
    }
    Some(())
}
