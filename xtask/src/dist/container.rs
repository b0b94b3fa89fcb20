//! Checks the Containerfile against the bundle. An image cannot be built everywhere, but a recipe
//! that names a missing file can be found everywhere.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// The recipe, at the root of the repository and of the bundle.
pub(super) const FILE: &str = "Containerfile";

/// Checks that an image for `architecture` (in the engines' naming) can be built from `recipe` in
/// `folder`: every copied file exists, the started program is one of them, and it does not run as
/// root.
pub(super) fn check(recipe: &str, folder: &Path, architecture: &str) -> Result<()> {
    let mut places = BTreeSet::new();
    let mut program = None;
    let mut user = None;
    for line in recipe.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (instruction, rest) = line.split_once(' ').context("an instruction without a word behind it")?;
        let rest = rest.replace("${TARGETARCH}", architecture);
        match instruction {
            "FROM" => ensure!(rest == "scratch", "an image on top of `{rest}`"),
            "ARG" => ensure!(rest == "TARGETARCH", "an argument without a value: {rest}"),
            "COPY" => {
                let mut words: Vec<&str> = rest.split(' ').filter(|word| !word.starts_with("--")).collect();
                let to = words.pop().context("COPY without a place")?;
                ensure!(to.starts_with('/'), "COPY to `{to}`: not from the root");
                for from in words {
                    ensure!(folder.join(from).exists(), "COPY of `{from}`, which the bundle has not");
                    places.insert(place(from, to));
                }
            }
            "USER" => user = Some(rest),
            "WORKDIR" => ensure!(places.contains(&rest), "WORKDIR `{rest}` is not copied"),
            "ENTRYPOINT" => {
                let words: Vec<String> = serde_json::from_str(&rest).context("ENTRYPOINT is no list")?;
                program = words.into_iter().next();
            }
            "LABEL" => {}
            other => bail!("an instruction that nothing here knows: {other}"),
        }
    }
    let program = program.context("no ENTRYPOINT")?;
    ensure!(places.contains(&program), "ENTRYPOINT `{program}` is not copied");
    let user = user.context("no USER: it would run as root")?;
    // By number: there is no /etc/passwd to look a name up in.
    let number: u32 = user.split(':').next().unwrap_or_default().parse().context("USER is no number")?;
    ensure!(number != 0, "USER is root");
    Ok(())
}

/// Where a copied file or folder ends up.
fn place(from: &str, to: &str) -> String {
    // A folder's content goes into the place; a file goes into a place that ends like a folder.
    let into_folder = to.ends_with('/') && !from.ends_with('/');
    let name = from.rsplit('/').next().unwrap_or(from);
    if into_folder { format!("{to}{name}") } else { to.trim_end_matches('/').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::arch::Arch;
    use super::super::bundle;
    use super::*;

    /// The bundle's folder with the repository's texts and empty binaries.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let binary = folder.path().join("binary");
        std::fs::write(&binary, "").expect("a file");
        let built = Arch::ALL.map(|arch| (arch, binary.clone()));
        bundle::lay(&crate::root(), &built, folder.path()).expect("can be laid out");
        std::fs::write(folder.path().join(bundle::TERMS), "").expect("a file");
        folder
    }

    fn check_recipe(recipe: &str, expected: Option<&str>) {
        let folder = folder();
        for arch in Arch::ALL {
            let error = check(recipe, folder.path(), arch.in_images()).err().map(|error| error.to_string());
            match (&error, expected) {
                (None, None) => {}
                (Some(error), Some(expected)) if error.contains(expected) => {}
                _ => panic!("{error:?} and not {expected:?}:\n{recipe}"),
            }
        }
    }

    #[test]
    fn the_recipe_of_the_repository_fits_the_bundle() {
        let recipe = std::fs::read_to_string(crate::root().join(FILE)).expect("is there");
        check_recipe(&recipe, None);
        // The check can fail: each of these breaks what the recipe says.
        let program = "linux/${TARGETARCH}/wavetank";
        for (from, to, error) in [
            (program, "linux/${TARGETARCH}/wavetonk", "which the bundle has not"),
            (program, "linux/${TARGETARCHITECTURE}/wavetank", "which the bundle has not"),
            ("[\"/wavetank\"]", "[\"/usr/bin/wavetank\"]", "is not copied"),
            ("USER 65532", "USER 0", "root"),
            ("USER 65532", "USER daemon", "no number"),
            ("FROM scratch", "FROM debian", "on top of"),
            ("WORKDIR /data", "WORKDIR /home", "is not copied"),
        ] {
            assert!(recipe.contains(from), "{from}");
            check_recipe(&recipe.replace(from, to), Some(error));
        }
    }

    #[test]
    fn files_and_folders_land_where_an_engine_puts_them() {
        assert_eq!(place("linux/amd64/wavetank", "/wavetank"), "/wavetank");
        assert_eq!(place("LICENSE-MIT", "/licences/"), "/licences/LICENSE-MIT");
        assert_eq!(place("data/", "/data/"), "/data");
    }
}
