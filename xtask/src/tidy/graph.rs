//! Rules on dependencies: they point from io to core and from bin to both.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

use super::finding::Finding;

/// Crates that bring the system, a clock or chance into core.
const IMPURE: [&str; 12] = [
    "tokio",
    "rand",
    "getrandom",
    "fastrand",
    "libc",
    "rustix",
    "nix",
    "mio",
    "io-uring",
    "chrono",
    "time",
    "tempfile",
];
/// Async runtimes, and what brings one.
const ASYNC: [&str; 5] = ["tokio", "async-nats", "async-std", "smol", "futures-executor"];
/// The only crates with an async runtime, in threads of their own.
const ASYNC_DIRS: [&str; 2] = ["io/nats", "io/ui"];
/// Core crates with types that must not be serialized.
const NOT_SERIALIZED: [&str; 2] = ["wavetank-pace", "wavetank-measure"];
/// Core crates with types that a plan package contains, and no other format.
const IN_PACKAGE: [&str; 2] = ["wavetank-units", "wavetank-plan"];
/// Libraries that write a format; serde alone writes none.
const FORMATS: [&str; 3] = ["serde_json", "serde-saphyr", "postcard"];
/// What must not be reached, through any number of steps: from, to, why.
const NEVER: [(&str, &str, &str); 4] = [
    ("wavetank-report", "wavetank-fleet", "a report is a function of the stored run, not of a live one"),
    ("wavetank-report", "wavetank-pace", "a report is a function of the stored run, not of a live one"),
    ("wavetank-report", "wavetank-wire", "a report is a function of the stored run, not of a live one"),
    ("wavetank-engine", "wavetank-fleet", "the engine knows no fleet; the binary wires the two"),
];

/// One crate of the workspace.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    /// Folder from the repository's root, e.g. `core/plan`.
    pub(crate) dir: String,
    /// Names of dependencies, and whether only tests need them.
    dependencies: Vec<(String, bool)>,
}

/// Reads the output of `cargo metadata --no-deps --format-version 1`.
pub(crate) fn crates(metadata: &str) -> Result<Vec<Crate>> {
    let value: Value = serde_json::from_str(metadata).context("cargo metadata")?;
    let root = value["workspace_root"].as_str().context("workspace_root")?;
    let mut crates = Vec::new();
    for package in value["packages"].as_array().context("packages")? {
        let manifest = package["manifest_path"].as_str().context("manifest_path")?;
        let dir = manifest.trim_start_matches(root).trim_end_matches("Cargo.toml").trim_matches('/');
        let dependencies = package["dependencies"].as_array().context("dependencies")?.iter();
        let dependencies = dependencies
            .filter_map(|one| Some((one["name"].as_str()?.to_owned(), one["kind"].as_str() == Some("dev"))))
            .collect();
        let name = package["name"].as_str().context("name")?.to_owned();
        crates.push(Crate { name, dir: dir.to_owned(), dependencies });
    }
    Ok(crates)
}

/// All rules on the graph of `crates`.
pub(crate) fn check(crates: &[Crate]) -> Vec<Finding> {
    let dirs: BTreeMap<&str, &str> = crates.iter().map(|one| (one.name.as_str(), one.dir.as_str())).collect();
    let mut findings = Vec::new();
    for one in crates {
        let manifest = format!("{}/Cargo.toml", one.dir);
        let mut breach = |message: String| findings.push(Finding::at("direction", &manifest, 0, message));
        for (to, dev) in &one.dependencies {
            match dirs.get(to.as_str()) {
                Some(dir) if !may_depend(&one.dir, dir, *dev) => {
                    breach(format!("{} must not depend on {dir}", one.dir));
                }
                None if one.dir.starts_with("core/") && !dev && IMPURE.contains(&to.as_str()) => {
                    breach(format!("core has no system, clock or chance of its own: not `{to}`"));
                }
                None if !ASYNC_DIRS.contains(&one.dir.as_str()) && ASYNC.contains(&to.as_str()) => {
                    let dirs = ASYNC_DIRS.join(" and ");
                    breach(format!("an async runtime is in {dirs} only: not `{to}`"));
                }
                None if NOT_SERIALIZED.contains(&one.name.as_str()) && to == "serde" => {
                    breach(
                        "only the plan's types are `Serialize`; the formats live in core/record".to_owned(),
                    );
                }
                None if IN_PACKAGE.contains(&one.name.as_str()) && !dev && FORMATS.contains(&to.as_str()) => {
                    breach(format!("the formats live in core/record: not `{to}`"));
                }
                _ => {}
            }
        }
        let reached = reachable(crates, &one.name);
        for (from, to, why) in NEVER {
            if one.name == from && reached.contains(to) {
                breach(format!("reaches {to}: {why}"));
            }
        }
    }
    findings
}

fn may_depend(from: &str, to: &str, dev: bool) -> bool {
    let area = |dir: &str| dir.split('/').next().unwrap_or_default().to_owned();
    let (from, to) = (area(from), area(to));
    match (from.as_str(), to.as_str()) {
        ("core" | "io" | "bin" | "testkit", "core")
        | ("io" | "bin" | "testkit", "io")
        | ("xtask", "bench") => true,
        // The tests of io and bin run against scripted targets; core is tested without any system.
        ("io" | "bin", "testkit") => dev,
        _ => false,
    }
}

fn reachable<'a>(crates: &'a [Crate], from: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut ahead = vec![from];
    while let Some(name) = ahead.pop() {
        let Some(one) = crates.iter().find(|one| one.name == name) else { continue };
        for (to, dev) in &one.dependencies {
            if !dev && reached.insert(to.as_str()) {
                ahead.push(to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the messages for a workspace of crates `(dir, dependencies)`; `dev:` marks a
    /// dependency of tests alone.
    fn check_graph(graph: &[(&str, &[&str])], expected: &[&str]) {
        let packages: Vec<Value> = graph
            .iter()
            .map(|(dir, dependencies)| {
                let dependencies: Vec<Value> = dependencies
                    .iter()
                    .map(|name| {
                        let dev = name.starts_with("dev:");
                        let kind = if dev { Value::from("dev") } else { Value::Null };
                        serde_json::json!({"name": name.trim_start_matches("dev:"), "kind": kind})
                    })
                    .collect();
                let name = format!("wavetank-{}", dir.rsplit('/').next().unwrap_or(dir));
                let manifest = format!("/root-of-it/{dir}/Cargo.toml");
                serde_json::json!({"name": name, "manifest_path": manifest, "dependencies": dependencies})
            })
            .collect();
        let metadata = serde_json::json!({"workspace_root": "/root-of-it", "packages": packages}).to_string();
        let found = check(&crates(&metadata).expect("is metadata"));
        let found: Vec<_> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn dependencies_point_down() {
        let core: (&str, &[&str]) = ("core/plan", &[]);
        let io: (&str, &[&str]) = ("io/driver", &["wavetank-plan"]);
        check_graph(&[core, io, ("bin/wavetank", &["wavetank-plan", "wavetank-driver"])], &[]);
        check_graph(
            &[("core/pace", &["wavetank-driver"]), io, core],
            &["core/pace must not depend on io/driver"],
        );
        check_graph(&[("xtask", &["wavetank-bench"]), ("bench", &[])], &[]);
        check_graph(&[core, io, ("bench", &["wavetank-plan"])], &["bench must not depend on core/plan"]);
        check_graph(&[core, io, ("xtask", &["wavetank-plan"])], &["xtask must not depend on core/plan"]);
        check_graph(
            &[("io/link", &["wavetank-wavetank"]), ("bin/wavetank", &[])],
            &["io/link must not depend on bin/wavetank"],
        );
    }

    #[test]
    fn testkit_is_for_tests() {
        let testkit: (&str, &[&str]) = ("testkit", &[]);
        check_graph(&[testkit, ("io/engine", &["dev:wavetank-testkit"])], &[]);
        check_graph(
            &[testkit, ("io/engine", &["wavetank-testkit"])],
            &["io/engine must not depend on testkit"],
        );
        check_graph(
            &[testkit, ("core/pace", &["dev:wavetank-testkit"])],
            &["core/pace must not depend on testkit"],
        );
    }

    #[test]
    fn two_crates_have_an_async_runtime() {
        check_graph(&[("io/ui", &["tokio"])], &[]);
        check_graph(&[("io/nats", &["tokio", "async-nats"])], &[]);
        let alone = "an async runtime is in io/nats and io/ui only";
        check_graph(&[("io/engine", &["tokio"])], &[alone]);
        check_graph(&[("bin/wavetank", &["dev:async-nats"])], &[alone]);
    }

    #[test]
    fn core_depends_on_nothing_impure() {
        check_graph(&[("core/wire", &["memchr"])], &[]);
        check_graph(&[("core/wire", &["tokio"])], &["not `tokio`"]);
        check_graph(&[("core/wire", &["dev:tempfile"])], &[]);
        check_graph(&[("core/pace", &["serde"])], &["only the plan's types are `Serialize`"]);
        check_graph(&[("core/plan", &["serde"])], &[]);
        check_graph(&[("core/plan", &["serde_json"])], &["not `serde_json`"]);
        check_graph(&[("core/record", &["serde"])], &[]);
    }

    #[test]
    fn report_and_engine_keep_their_distance() {
        check_graph(
            &[
                ("core/report", &["wavetank-diagnose"]),
                ("core/diagnose", &["wavetank-pace"]),
                ("core/pace", &[]),
            ],
            &["reaches wavetank-pace"],
        );
        check_graph(
            &[("io/engine", &["wavetank-fleet"]), ("core/fleet", &[])],
            &["reaches wavetank-fleet: the engine knows no fleet"],
        );
    }
}
