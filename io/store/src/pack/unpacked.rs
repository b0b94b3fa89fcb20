//! [`Unpacked`]: a packed run in a private folder, which is removed when the value is dropped.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use wavetank_record::{PackDoc, PackedFile};
use wavetank_units::{Code, UserError, sanitize};

use super::{PACK_JSON, PACK_JSON_BYTES_MAX, damaged, faults, is_bomb};
use crate::RunsDir;
use crate::archive_error::newer;
use crate::contents::unreadable;
use crate::line_digest::hex;
use crate::store_problem::{is_full, os_error_text};

/// First bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Name prefix of a folder in the runs directory while a run is being unpacked into it.
const UNPACKING_PREFIX: &str = ".wavetank-unpacking-";
/// Bytes after the last file: tar files end with blocks of zeros.
const END_BYTES_MAX: u64 = 1 << 20;

/// The files of a pack in a temporary folder that only its owner may enter. The folder is removed
/// when this value is dropped.
#[derive(Debug)]
pub struct Unpacked {
    path: PathBuf,
    temporary: TempDir,
    doc: PackDoc,
}

/// Two are equal if they came from the same file.
impl PartialEq for Unpacked {
    fn eq(&self, other: &Self) -> bool {
        (&self.path, &self.doc) == (&other.path, &other.doc)
    }
}

impl Unpacked {
    /// Unpacks the file at `path`.
    ///
    /// # Errors
    /// A usage error if the file cannot be read, is not a pack, is damaged, is of a later version,
    /// or is larger than any run, and if there is not enough room. Nothing is left behind then.
    pub fn new(path: &Path) -> Result<Self, UserError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("wavetank-pack-");
        only_for_us(&mut builder);
        let temporary =
            builder.tempdir().map_err(|error| Purpose::Reading.no_room(&std::env::temp_dir(), &error))?;
        let doc = unpack(path, temporary.path(), Purpose::Reading)?;
        Ok(Self { path: path.to_owned(), temporary, doc })
    }

    /// The pack.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of the folder that was packed.
    pub fn folder(&self) -> &str {
        &self.doc.folder
    }

    /// The folder that holds the archive's files.
    pub fn dir(&self) -> &Path {
        self.temporary.path()
    }
}

impl RunsDir {
    /// Unpacks the file at `path` into the runs directory, completely or not at all. Returns the
    /// run's folder.
    ///
    /// # Errors
    /// As [`Unpacked::new`], and if the folder exists already.
    pub fn unpack(&self, path: &Path) -> Result<PathBuf, UserError> {
        let no_room = |place: &Path, error: &io::Error| Purpose::Keeping.no_room(place, error);
        fs::create_dir_all(self.path()).map_err(|error| no_room(self.path(), &error))?;
        let mut builder = tempfile::Builder::new();
        let partial = builder.prefix(UNPACKING_PREFIX).tempdir_in(self.path());
        let partial = partial.map_err(|error| no_room(self.path(), &error))?;
        let doc = unpack(path, partial.path(), Purpose::Keeping)?;
        let folder = self.path().join(&doc.folder);
        if folder.symlink_metadata().is_ok() {
            return Err(UserError::usage(
                Code::RunExists,
                format!("`{}` exists already", sanitize(&folder.to_string_lossy())),
                "name another runs directory with `--runs-dir DIR`; report and compare read the pack as it is",
            ));
        }
        fs::rename(partial.path(), &folder).map_err(|error| no_room(&folder, &error))?;
        Ok(folder)
    }
}

#[cfg(unix)]
fn only_for_us(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt as _;
    builder.permissions(fs::Permissions::from_mode(0o700));
}

/// On other systems, the folder for temporary files belongs to the user.
#[cfg(not(unix))]
const fn only_for_us(_: &mut tempfile::Builder<'_, '_>) {}

/// Unpacks the file at `path` into the empty folder `to`.
pub(super) fn unpack(path: &Path, to: &Path, purpose: Purpose) -> Result<PackDoc, UserError> {
    let mut file =
        BufReader::with_capacity(1 << 16, File::open(path).map_err(|error| unreadable(path, &error))?);
    let begins = file.fill_buf().map_err(|error| unreadable(path, &error))?;
    if !begins.starts_with(&GZIP_MAGIC) {
        return Err(UserError::usage(
            Code::NotAPack,
            format!(
                "`{}` is not a packed run: it does not start with a gzip header",
                sanitize(&path.to_string_lossy())
            ),
            purpose.instead(),
        ));
    }
    let mut tar = tar::Archive::new(GzDecoder::new(file));
    // Raw: names and sizes are taken from the headers alone. Wavetank never writes extended headers
    // for long names.
    let mut entries = tar.entries().map_err(|error| broken(path, &error))?.raw(true);
    let mut next = || -> Result<Option<_>, UserError> {
        entries.next().transpose().map_err(|error| broken(path, &error))
    };
    let first = next()?.ok_or_else(|| damaged(path, "it is empty"))?;
    let (doc, prefix) = announcement(path, first)?;
    for announced in &doc.files {
        let entry = next()?;
        let entry = entry.ok_or_else(|| damaged(path, &format!("`{}` is missing", announced.path)))?;
        take(path, entry, announced, &prefix, (to, purpose))?;
    }
    if next()?.is_some() {
        return Err(damaged(path, "it holds more than it announces"));
    }
    // Read to the very end, where gzip stores its checksum.
    let mut rest = tar.into_inner().take(END_BYTES_MAX);
    let ended = io::copy(&mut rest, &mut io::sink()).map_err(|error| broken(path, &error))?;
    let mut behind = rest.into_inner().into_inner();
    let follows =
        ended == END_BYTES_MAX || !behind.fill_buf().map_err(|error| broken(path, &error))?.is_empty();
    if follows {
        return Err(damaged(path, "something follows its end"));
    }
    Ok(doc)
}

/// Reads `pack.json`. Also returns the common prefix of all paths.
fn announcement(path: &Path, entry: tar::Entry<'_, impl Read>) -> Result<(PackDoc, String), UserError> {
    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let prefix = name.strip_suffix(PACK_JSON).filter(|prefix| prefix.ends_with('/')).map(str::to_owned);
    let (Some(prefix), true) = (prefix, entry.header().entry_type().is_file()) else {
        return Err(damaged(path, &format!("it begins with `{}`, not with `pack.json`", sanitize(&name))));
    };
    if entry.size() > PACK_JSON_BYTES_MAX {
        return Err(damaged(path, "its `pack.json` is too long"));
    }
    let mut text = String::new();
    entry.take(PACK_JSON_BYTES_MAX).read_to_string(&mut text).map_err(|error| broken(path, &error))?;
    let doc = PackDoc::from_json(&text).map_err(|error| {
        if error.is_newer() {
            return newer(&sanitize(&path.to_string_lossy()), PACK_JSON, &error);
        }
        damaged(path, &format!("cannot read its `pack.json`: {error}"))
    })?;
    if let Some(fault) = faults(&doc) {
        return Err(damaged(path, &fault));
    }
    let packed =
        fs::metadata(path).map(|metadata| metadata.len()).map_err(|error| unreadable(path, &error))?;
    if is_bomb(&doc, packed) {
        return Err(damaged(path, &format!("it announces far more than a run packed into {packed} bytes")));
    }
    if prefix != format!("{}/", doc.folder) {
        return Err(damaged(path, "its paths differ from those it announces"));
    }
    Ok((doc, prefix))
}

/// Writes one file, if it is the announced one.
fn take(
    path: &Path,
    mut entry: tar::Entry<'_, impl Read>,
    announced: &PackedFile,
    prefix: &str,
    (to, purpose): (&Path, Purpose),
) -> Result<(), UserError> {
    let no_room = |place: &Path, error: &io::Error| purpose.no_room(place, error);
    let expected = format!("{prefix}{}", announced.path);
    let found = entry.path_bytes();
    if *found != *expected.as_bytes() {
        let found = String::from_utf8_lossy(&found).into_owned();
        let why = format!("`{}` was found where `{expected}` was announced", sanitize(&found));
        return Err(damaged(path, &why));
    }
    if !entry.header().entry_type().is_file() {
        return Err(damaged(path, &format!("`{}` is not a regular file", announced.path)));
    }
    if entry.size() != announced.bytes {
        let why = format!("`{}` has {} bytes, not {}", announced.path, entry.size(), announced.bytes);
        return Err(damaged(path, &why));
    }
    let place = to.join(&announced.path);
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder).map_err(|error| no_room(folder, &error))?;
    }
    let mut file = File::create_new(&place).map_err(|error| no_room(&place, &error))?;
    let mut sum = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let read = entry.read(&mut buffer).map_err(|error| broken(path, &error))?;
        if read == 0 {
            break;
        }
        sum.update(&buffer[..read]);
        bytes += read as u64;
        file.write_all(&buffer[..read]).map_err(|error| no_room(&place, &error))?;
    }
    if bytes != announced.bytes {
        return Err(damaged(path, &format!("it ends inside `{}`", announced.path)));
    }
    if hex(&sum.finalize()) != announced.sha256 {
        let why = format!("`{}` differs from what was packed: its SHA-256 is different", announced.path);
        return Err(damaged(path, &why));
    }
    Ok(())
}

/// Returns the error of the decoders, with a message of our own where theirs is not made for
/// people.
fn broken(path: &Path, error: &io::Error) -> UserError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged(path, "it ends too early"),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::Other => {
            damaged(path, &format!("it cannot be unpacked: {}", sanitize(&os_error_text(error))))
        }
        _ => unreadable(path, error),
    }
}

/// What a pack is unpacked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// To be read, in a temporary folder.
    Reading,
    /// To stay in the runs directory.
    Keeping,
}

impl Purpose {
    fn no_room(self, place: &Path, error: &io::Error) -> UserError {
        let hint = match self {
            Self::Reading => {
                "choose a folder with enough room for temporary files: TMPDIR=/a/place/with/room wavetank …"
            }
            Self::Keeping if is_full(error) => {
                "free some space there, or name another place with `--runs-dir DIR`"
            }
            Self::Keeping => "name a writable runs directory with `--runs-dir DIR`",
        };
        let message =
            format!("cannot unpack into `{}`: {}", sanitize(&place.to_string_lossy()), os_error_text(error));
        UserError::usage(Code::NoRoom, message, hint)
    }

    /// The hint for a file that is not a pack.
    const fn instead(self) -> &'static str {
        match self {
            Self::Reading => {
                "name a run by its folder, the start of its id, or `latest`; `wavetank runs pack RUN` makes a pack"
            }
            Self::Keeping => {
                "name a file that `wavetank runs pack RUN` made: wavetank runs unpack FILE.wtrun"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_no_room_the_hint_is_about_that_place() {
        let hint = |purpose: Purpose, kind: io::ErrorKind| purpose.no_room(Path::new("x"), &kind.into()).hint;
        assert!(hint(Purpose::Reading, io::ErrorKind::StorageFull).contains("TMPDIR="));
        let full = hint(Purpose::Keeping, io::ErrorKind::StorageFull);
        assert!(full.contains("free some space") && full.contains("--runs-dir DIR"), "{full}");
        let closed = hint(Purpose::Keeping, io::ErrorKind::PermissionDenied);
        assert!(closed.contains("a writable runs directory with `--runs-dir DIR`"), "{closed}");
    }
}
