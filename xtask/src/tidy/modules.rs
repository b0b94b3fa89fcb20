//! Rules on modules: one style of folders, and no circle of imports over more than two files.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;
use super::source::{Next, Source, is_rust};

/// Most files that may import each other in a circle.
const CIRCLE_FILES_MAX: usize = 2;

/// A module with a folder is `x/mod.rs`, never `x.rs` next to `x/`.
pub(crate) fn check_style(paths: &[String]) -> Vec<Finding> {
    let folders: BTreeSet<&str> = paths
        .iter()
        .filter(|path| is_rust(path))
        .filter_map(|path| path.rsplit_once('/').map(|(folder, _)| folder))
        .collect();
    let doubled =
        paths.iter().filter(|path| path.strip_suffix(".rs").is_some_and(|stem| folders.contains(stem)));
    doubled
        .map(|path| {
            let stem = path.trim_end_matches(".rs");
            Finding::at("module-style", path, 0, format!("move it to {stem}/mod.rs, next to its modules"))
        })
        .collect()
}

/// The imports of every crate, file by file.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    modules: BTreeMap<Module, File>,
}

/// A crate and the path of a module in it: `core/pace` and `timers::wheel`.
type Module = (String, String);

#[derive(Debug)]
struct File {
    path: String,
    /// Paths that the code uses, other crates' included.
    used: Vec<String>,
    /// Paths that are imported: names under which other files may find an item here.
    imported: Vec<String>,
}

impl Imports {
    /// Adds a file below `src/`; test code does not count.
    pub(crate) fn add(&mut self, source: &Source) {
        let Some((krate, module)) = module_of(&source.path) else { return };
        let words: Vec<_> = source.paths.iter().filter(|word| !word.test).collect();
        let heads: BTreeSet<&str> = words.iter().map(|word| first(&word.text)).collect();
        let mut file = File { path: source.path.clone(), used: Vec::new(), imported: Vec::new() };
        for word in words.iter().filter(|word| word.text.contains("::")) {
            let last = word.text.rsplit("::").next().unwrap_or_default();
            if word.next == Next::Other {
                file.imported.push(word.text.clone());
            }
            // A name that the file imports and never mentions again is there for others.
            if word.next != Next::Other || heads.contains(last) {
                file.used.push(word.text.clone());
            }
        }
        self.modules.insert((krate.to_owned(), module), file);
    }

    /// Circles of more than two files, each named by its first file.
    pub(crate) fn check(&self) -> Vec<Finding> {
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (module, file) in &self.modules {
            let targets = file.used.iter().filter_map(|path| self.resolve(module, path, 0));
            let others: BTreeSet<&str> = targets.filter(|to| *to != file.path).collect();
            edges.insert(&file.path, others);
        }
        let circles = circles(&edges).into_iter().filter(|circle| circle.len() > CIRCLE_FILES_MAX);
        circles
            .map(|circle| Finding {
                rule: "import-circle",
                subject: circle[0].to_owned(),
                line: 0,
                size: Some(circle.len()),
                message: format!("{} files import each other: {}", circle.len(), circle.join(", ")),
            })
            .collect()
    }

    /// The file of this crate that declares what `path` names, seen from `module`. Names that a
    /// module passes on lead to the file they come from; `depth` bounds that search.
    fn resolve(&self, module: &Module, path: &str, depth: usize) -> Option<&str> {
        const DEPTH_MAX: usize = 8;
        let (krate, own) = module;
        let mut at: Vec<&str> = own.split("::").filter(|segment| !segment.is_empty()).collect();
        let mut parts = path.split("::").peekable();
        match first(path) {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
            }
            child => {
                at.push(child);
                self.modules.get(&(krate.clone(), at.join("::")))?;
            }
        }
        parts.next();
        while parts.peek() == Some(&"super") {
            parts.next();
            at.pop();
        }
        let mut found = (krate.clone(), at.join("::"));
        let mut item = None;
        for part in parts {
            let inner = if found.1.is_empty() { part.to_owned() } else { format!("{}::{part}", found.1) };
            let inner = (krate.clone(), inner);
            if !self.modules.contains_key(&inner) {
                item = Some(part);
                break;
            }
            found = inner;
        }
        let file = self.modules.get(&found)?;
        let from = item
            .filter(|_| depth < DEPTH_MAX)
            .and_then(|item| file.imported.iter().find(|path| path.rsplit("::").next() == Some(item)));
        let passed_on = from.and_then(|path| self.resolve(&found, path, depth + 1));
        Some(passed_on.unwrap_or(&file.path))
    }
}

fn first(path: &str) -> &str {
    path.split("::").next().unwrap_or_default()
}

/// The crate and the module path of a source file; `None` for files outside `src/`.
fn module_of(path: &str) -> Option<(&str, String)> {
    let (krate, file) = path.split_once("/src/")?;
    let stem = file.strip_suffix(".rs")?;
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    let root = matches!(stem, "lib" | "main" | "mod");
    Some((krate, if root { String::new() } else { stem.replace('/', "::") }))
}

/// Strongly connected groups of more than one file, each sorted (Tarjan 1972).
fn circles<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<Vec<&'a str>> {
    let mut search =
        Search { edges, index: BTreeMap::new(), low: BTreeMap::new(), stack: Vec::new(), found: Vec::new() };
    for node in edges.keys() {
        if !search.index.contains_key(node) {
            search.visit(node);
        }
    }
    search.found
}

struct Search<'a, 'e> {
    edges: &'e BTreeMap<&'a str, BTreeSet<&'a str>>,
    index: BTreeMap<&'a str, usize>,
    low: BTreeMap<&'a str, usize>,
    stack: Vec<&'a str>,
    found: Vec<Vec<&'a str>>,
}

impl<'a> Search<'a, '_> {
    fn visit(&mut self, node: &'a str) {
        let order = self.index.len();
        self.index.insert(node, order);
        self.low.insert(node, order);
        self.stack.push(node);
        for next in self.edges.get(node).into_iter().flatten().copied() {
            if !self.index.contains_key(next) {
                self.visit(next);
                self.lower(node, self.low[next]);
            } else if self.stack.contains(&next) {
                self.lower(node, self.index[next]);
            }
        }
        if self.low[node] == order {
            let first = self.stack.iter().position(|one| *one == node).expect("it was pushed above");
            let mut group = self.stack.split_off(first);
            group.sort_unstable();
            if group.len() > 1 {
                self.found.push(group);
            }
        }
    }

    fn lower(&mut self, node: &'a str, to: usize) {
        let low = self.low.get_mut(node).expect("a visited node has one");
        *low = (*low).min(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_next_to_a_folder_of_its_name_is_found() {
        let paths = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(check_style(&paths(&["a/src/x.rs", "a/src/x/y.rs"])).len(), 1);
        assert!(check_style(&paths(&["a/src/x/mod.rs", "a/src/x/y.rs", "a/src/z.rs"])).is_empty());
    }

    fn check(files: &[(&str, &str)], expected: &[(&str, usize)]) {
        let mut imports = Imports::default();
        for (path, text) in files {
            imports.add(&Source::parse(path, text).expect("is Rust"));
        }
        let found = imports.check();
        let found: Vec<_> =
            found.iter().map(|one| (one.subject.as_str(), one.size.unwrap_or_default())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_circle_over_three_files_is_found_and_one_over_two_is_not() {
        let root = ("c/src/lib.rs", "mod a; mod b; mod d;");
        let a = ("c/src/a.rs", "use crate::b::B; pub struct A(B);");
        check(&[root, a, ("c/src/b.rs", "use super::a::A; fn f(a: A) {}")], &[]);
        let b = ("c/src/b.rs", "use crate::d::D; fn f(d: D) {}");
        check(&[root, a, b, ("c/src/d.rs", "fn f() { crate::a::g(); }")], &[("c/src/a.rs", 3)]);
    }

    #[test]
    fn tests_and_other_crates_make_no_circle() {
        let a = ("c/src/a.rs", "fn f() { crate::b::g() }");
        let b = ("c/src/b.rs", "fn f() { crate::d::g() }");
        let test = ("c/src/d.rs", "#[cfg(test)] mod tests { fn f() { crate::a::g() } }");
        check(&[a, b, test], &[]);
        check(&[a, b, ("e/src/d.rs", "fn f() { crate::a::g() }")], &[]);
    }

    #[test]
    fn paths_through_parents_lead_to_their_file() {
        let x = ("c/src/m/x.rs", "fn f() { super::y::g() }");
        let y = ("c/src/m/y.rs", "fn f() { super::super::n::g() }");
        let n = ("c/src/n.rs", "fn f() { crate::m::x::g() }");
        check(&[("c/src/lib.rs", ""), ("c/src/m/mod.rs", ""), x, y, n], &[("c/src/m/x.rs", 3)]);
    }

    #[test]
    fn a_name_that_a_folder_passes_on_leads_to_its_file() {
        let folder = ("c/src/m/mod.rs", "mod x; mod y; pub use x::X;");
        let x = ("c/src/m/x.rs", "pub struct X;");
        check(&[folder, x, ("c/src/m/y.rs", "use super::X; fn f(x: X) {}")], &[]);
        let own = ("c/src/m/mod.rs", "mod x; mod y; pub fn n() {} fn f() { x::g(); y::g(); }");
        let y = ("c/src/m/y.rs", "fn g() { super::n(); }");
        check(&[own, ("c/src/m/x.rs", "fn g() { super::n(); }"), y], &[("c/src/m/mod.rs", 3)]);
    }
}
