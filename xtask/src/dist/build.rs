//! Builds one static binary. Rust brings musl's C library and start-up files for its musl targets,
//! and a linker (rust-lld) for every architecture. Of a cross toolchain only a C compiler is
//! needed, for the C code in some dependencies.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use wavetank_bench::programs;

use super::arch::Arch;
use super::{elf, program};
use crate::targets;

/// What a build is for; each has a profile in Cargo.toml.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be handed out: the release build without what only a debugger reads.
    HandOut,
    /// To see that it can be built and runs: without optimisations that take most of the time.
    Proof,
}

impl Purpose {
    fn profile(self) -> &'static str {
        match self {
            Self::HandOut => "dist",
            Self::Proof => "dist-proof",
        }
    }
}

/// What SQLite is compiled with besides, by the name its build script reads.
const SQLITE_FLAGS: &str = "LIBSQLITE3_FLAGS";

/// A C compiler for an architecture, with the flags it needs.
#[derive(Debug, PartialEq, Eq)]
struct Compiler {
    program: &'static str,
    flags: &'static str,
}

/// Checks that everything the build needs is present or can be fetched. The error names what is
/// missing and the package that provides it.
pub(super) fn possible(root: &Path, arch: Arch) -> Result<()> {
    targets::ensure(root, &arch.triple())?;
    compiler(arch, arch.is_native(), |name| programs::find(name).is_some()).map(drop)
}

/// Builds for `arch`; the path of the binary, found to be static and of that architecture.
pub(super) fn build(root: &Path, arch: Arch, purpose: Purpose) -> Result<PathBuf> {
    targets::ensure(root, &arch.triple())?;
    let compiler = compiler(arch, arch.is_native(), |name| programs::find(name).is_some())?;
    println!("building for {}, its C with {}", arch.triple(), compiler.program);
    let mut command = program::cargo(root);
    command.args(["build", "--locked", "--package", "wavetank", "--profile", purpose.profile(), "--target"]);
    command.arg(arch.triple());
    set_environment(&mut command, root, arch, &compiler)?;
    let status = command.status().context("cargo cannot be started")?;
    ensure!(status.success(), "building for {} ended with {status}", arch.triple());
    let binary = wavetank_bench::programs::target_folder(root)
        .join(arch.triple())
        .join(purpose.profile())
        .join("wavetank");
    let bytes = std::fs::read(&binary).with_context(|| binary.display().to_string())?;
    elf::check_static(&bytes, arch.elf_machine()).with_context(|| binary.display().to_string())?;
    Ok(binary)
}

fn set_environment(command: &mut Command, root: &Path, arch: Arch, compiler: &Compiler) -> Result<()> {
    let root = root.to_str().context("the path of the repository is not UTF-8")?;
    let mut flags = vec![
        "-Clinker=rust-lld".to_owned(),
        "-Clink-self-contained=yes".to_owned(),
        // A panic names its file: by its place in the sources, not on the machine that built it.
        format!("--remap-path-prefix={root}=."),
    ];
    if let Some(home) = cargo_home() {
        flags.push(format!("--remap-path-prefix={home}=cargo"));
    }
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    // With the headers of another C library, SQLite calls functions such as lstat64, which musl
    // does not have: its file offsets are always 64 bits. Flags from the environment take
    // precedence.
    if std::env::var_os(SQLITE_FLAGS).is_none() {
        command.env(SQLITE_FLAGS, "-DSQLITE_DISABLE_LFS");
    }
    // The variables that build scripts read to find a C compiler. A value from the environment
    // takes precedence.
    let suffix = arch.triple().replace('-', "_");
    for (name, value) in [("CC", compiler.program), ("CFLAGS", compiler.flags), ("AR", "ar")] {
        let name = format!("{name}_{suffix}");
        if std::env::var_os(&name).is_none() && !value.is_empty() {
            command.env(name, value);
        }
    }
    Ok(())
}

/// Where cargo keeps the sources of dependencies.
fn cargo_home() -> Option<String> {
    let home = std::env::var("CARGO_HOME").ok().filter(|home| !home.is_empty());
    home.or_else(|| Some(format!("{}/.cargo", std::env::var("HOME").ok()?)))
}

/// The first compiler that is there. `native`: this machine is of that architecture.
fn compiler(arch: Arch, native: bool, is_there: impl Fn(&str) -> bool) -> Result<Compiler> {
    // musl's own wrapper comes first: with the headers of another C library, C code may call
    // functions that musl lacks.
    let candidates = match (native, arch) {
        (true, _) => [("musl-gcc", ""), ("gcc", ""), ("clang", "")],
        (false, Arch::X86_64) => [
            ("x86_64-linux-musl-gcc", ""),
            ("x86_64-linux-gnu-gcc", ""),
            ("clang", "--target=x86_64-linux-gnu"),
        ],
        (false, Arch::Aarch64) => [
            ("aarch64-linux-musl-gcc", ""),
            ("aarch64-linux-gnu-gcc", ""),
            ("clang", "--target=aarch64-linux-gnu"),
        ],
    };
    let found = candidates.iter().find(|(program, _)| is_there(program));
    let Some(&(program, flags)) = found else {
        bail!(
            "no C compiler for {}: some dependencies are C inside; on Debian: apt-get install {}",
            arch.triple(),
            match (native, arch) {
                (true, _) => "musl-tools",
                (false, Arch::X86_64) => "gcc-x86-64-linux-gnu libc6-dev-amd64-cross",
                (false, Arch::Aarch64) => "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
            }
        );
    };
    Ok(Compiler { program, flags })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_fits_the_architecture() {
        let chosen = |arch, native, there: &[&str]| {
            compiler(arch, native, |name| there.contains(&name)).map(|compiler| compiler.program)
        };
        assert_eq!(chosen(Arch::X86_64, true, &["gcc", "musl-gcc"]).expect("there"), "musl-gcc");
        assert_eq!(chosen(Arch::X86_64, true, &["gcc"]).expect("there"), "gcc");
        assert_eq!(
            chosen(Arch::Aarch64, false, &["gcc", "musl-gcc", "aarch64-linux-gnu-gcc"]).expect("there"),
            "aarch64-linux-gnu-gcc"
        );
        let error = chosen(Arch::Aarch64, false, &["gcc", "musl-gcc"]).expect_err("nothing fits").to_string();
        assert!(error.contains("apt-get install gcc-aarch64-linux-gnu"), "{error}");
    }

    #[test]
    fn clang_receives_the_architecture() {
        let clang = compiler(Arch::Aarch64, false, |name| name == "clang").expect("there");
        assert_eq!(clang, Compiler { program: "clang", flags: "--target=aarch64-linux-gnu" });
    }
}
