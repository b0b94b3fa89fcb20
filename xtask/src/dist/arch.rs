//! [`Arch`]: a processor architecture binaries are made for.

/// One of the architectures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Arch {
    #[value(name = "x86_64")]
    X86_64,
    #[value(name = "aarch64")]
    Aarch64,
}

impl Arch {
    /// All there are, in the order in which they are made.
    pub(crate) const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    /// As Rust, the kernel and file names call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Rust's target.
    pub(crate) fn triple(self) -> String {
        format!("{}-unknown-linux-musl", self.name())
    }

    /// As container engines call it (their `TARGETARCH`).
    pub(crate) fn in_images(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// The number an ELF file carries for it (`e_machine`).
    pub(crate) fn elf_machine(self) -> u16 {
        match self {
            Self::X86_64 => 62,
            Self::Aarch64 => 183,
        }
    }

    /// Whether this machine runs it by itself.
    pub(crate) fn is_native(self) -> bool {
        std::env::consts::ARCH == self.name()
    }
}
