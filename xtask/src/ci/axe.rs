//! Fetches axe-core, the accessibility checker that page tests run in a browser. It is stored in
//! cargo's target folder, where those tests look for it. The repository and the distributions do
//! not contain it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::Ci;
use wavetank_bench::programs::find;

/// The version that is known to be content with the pages; a later one may know more rules.
const VERSION: &str = "4.14.1";

/// Fetches axe-core with npm unless it is present. Without npm or a network, the tests run without
/// it and the summary lists that.
pub(super) fn fetch(ci: &mut Ci<'_>) -> Result<()> {
    let folder = wavetank_bench::programs::target_folder(ci.root).join("axe-core");
    if is_there(&folder) {
        println!("axe-core {VERSION} is here");
        return Ok(());
    }
    let Some(npm) = find("npm") else {
        ci.skipped.push("axe-core: there is no npm to fetch it with".to_owned());
        return Ok(());
    };
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--fetch-retries=1"];
    let mut command = Command::new(npm);
    command.arg("install").args(options).arg("--prefix").arg(&folder).arg(format!("axe-core@{VERSION}"));
    let status = command.status().context("npm")?;
    if !status.success() || !is_there(&folder) {
        ci.skipped.push(format!("axe-core: npm cannot fetch version {VERSION}: {status}"));
    }
    Ok(())
}

/// Returns whether `folder` holds the complete package in this version.
fn is_there(folder: &Path) -> bool {
    let package = folder.join("node_modules/axe-core");
    let reported = fs::read_to_string(package.join("package.json")).unwrap_or_default();
    let reported: serde_json::Value = serde_json::from_str(&reported).unwrap_or_default();
    reported["version"] == VERSION && package.join("axe.min.js").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_or_half_of_it_is_not_there() {
        let folder = tempfile::tempdir().expect("the system's folder for temporary files is writable");
        let package = folder.path().join("node_modules/axe-core");
        fs::create_dir_all(&package).expect("it is the test's own");
        assert!(!is_there(folder.path()));
        let write =
            |name: &str, text: &str| fs::write(package.join(name), text).expect("it is the test's own");
        write("package.json", &format!("{{\"version\": \"{VERSION}\"}}"));
        assert!(!is_there(folder.path()));
        write("axe.min.js", "");
        assert!(is_there(folder.path()));
        write("package.json", "{\"version\": \"1.0.0\"}");
        assert!(!is_there(folder.path()));
    }
}
