//! `cargo xtask dist`: static binaries, a bundle of them that is also a container's build context,
//! a source bundle that builds without a network, and checksums. Everything is made from the
//! checked-out state. The same state gives the same names, and the same binaries give the same
//! archives.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use arch::Arch;
use build::Purpose;
use release::Release;
use wavetank_bench::stopwatch::Stopwatch;

mod arch;
mod build;
mod bundle;
mod checksums;
mod container;
mod elf;
mod licences;
mod program;
mod release;
mod smoke;
mod source;
mod tarball;

/// What `cargo xtask dist` takes.
#[derive(clap::Args)]
pub(crate) struct DistArguments {
    /// Only this architecture (repeatable) [default: all]
    #[arg(long, value_enum)]
    target: Vec<Arch>,
    /// Output folder; existing files of the same names are replaced
    #[arg(long, default_value = "dist")]
    out: PathBuf,
    /// No source bundle
    #[arg(long)]
    no_source: bool,
    /// Build the unpacked source bundle as well, without a network: some minutes
    #[arg(long, conflicts_with = "no_source")]
    prove_source: bool,
    /// Do not run what was built
    #[arg(long)]
    no_smoke: bool,
}

/// Makes everything; prints what was made and what was left out.
pub(crate) fn run(root: &Path, arguments: &DistArguments) -> Result<()> {
    let watch = Stopwatch::start();
    let release = Release::from_root(root)?;
    let architectures =
        if arguments.target.is_empty() { Arch::ALL.to_vec() } else { arguments.target.clone() };
    let out = root.join(&arguments.out);
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let mut built = Vec::new();
    for arch in architectures {
        built.push((arch, build::build(root, arch, Purpose::HandOut)?));
    }
    let mut skipped = Vec::new();
    if !arguments.no_smoke {
        for (arch, binary) in &built {
            skipped.extend(smoke::smoke(*arch, binary, &release.version)?);
        }
    }
    let mut made = Vec::new();
    for (arch, binary) in &built {
        let file = out.join(format!("wavetank-{}-{}-linux-musl", release.version, arch.name()));
        std::fs::copy(binary, &file).with_context(|| file.display().to_string())?;
        made.push(file);
    }
    made.push(bundle::make(root, &release, &built, &out)?);
    if !arguments.no_source {
        let source = source::make(root, &release, &out)?;
        source::prove(&source, &release, arguments.prove_source)?;
        made.push(source);
    }
    made.push(checksums::write(&out, &made)?);
    for file in &made {
        let bytes = std::fs::metadata(file).with_context(|| file.display().to_string())?.len();
        println!("{:>10.1} MB  {}", bytes as f64 / 1e6, file.display());
    }
    for line in &skipped {
        println!("SKIPPED {line}");
    }
    println!("made in {:.0} s", watch.elapsed().as_secs_f64());
    Ok(())
}

/// Runs the part that `cargo ci --long` checks: each available architecture is built without
/// optimisation and run, and the container's recipe is checked against the bundle. Returns what was
/// skipped.
pub(crate) fn in_ci(root: &Path) -> Result<Vec<String>> {
    let release = Release::from_root(root)?;
    let mut skipped = Vec::new();
    let mut built = Vec::new();
    for arch in Arch::ALL {
        if let Err(reason) = build::possible(root, arch) {
            skipped.push(format!("dist {}: {reason:#}", arch.name()));
            continue;
        }
        let binary = build::build(root, arch, Purpose::Proof)?;
        skipped.extend(smoke::smoke(arch, &binary, &release.version)?);
        built.push((arch, binary));
    }
    if built.is_empty() {
        return Ok(skipped);
    }
    let folder = tempfile::tempdir().context("a folder")?;
    let bundle = bundle::make(root, &release, &built, folder.path())?;
    if !bundle.is_file() {
        bail!("{} is missing", bundle.display());
    }
    Ok(skipped)
}
