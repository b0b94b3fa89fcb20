//! [`pack`]: writes an archive into one file.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use wavetank_record::{PACK_SCHEMA, PackDoc, PackedFile};
use wavetank_units::{Code, UserError, sanitize};

use super::{PACK_JSON, faults, is_name, is_path};
use crate::archive_error::not_an_archive;
use crate::contents::{Contents, unreadable};
use crate::file_access::is_locked;
use crate::folder_name::{new_id, sanitized};
use crate::line_digest::hex;
use crate::store_problem::{is_full, os_error_text};

/// Attempts to find an unused name for the partial file.
const NAMES_TRIED: u32 = 8;

/// Result of packing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The file.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Size in bytes after unpacking.
    pub unpacked_bytes: u64,
    /// How many files are in it.
    pub files: usize,
    /// Paths in the archive's folder that were left out: links, and names that no archive uses.
    pub left_out: Vec<String>,
}

/// Packs the archive at `dir` into the new file `out`, which appears complete or not at all.
/// `version` is the version of wavetank.
///
/// # Errors
/// A usage error if the run is being written, if `out` exists already or cannot be written, or if
/// the archive cannot be read or changes meanwhile.
pub fn pack(dir: &Path, out: &Path, version: &str) -> Result<Packed, UserError> {
    if is_locked(dir) {
        return Err(UserError::usage(
            Code::RunWritten,
            format!("`{}` is still being written", sanitize(&dir.to_string_lossy())),
            "pack it when the run is over",
        ));
    }
    if !["run.json", "plan.yaml"].iter().any(|name| dir.join(name).symlink_metadata().is_ok()) {
        return Err(not_an_archive(dir));
    }
    if out.symlink_metadata().is_ok() {
        return Err(exists(out));
    }
    let contents = Contents::scan(dir)?;
    let (files, foreign): (Vec<_>, Vec<_>) = contents.files.into_iter().partition(|file| is_path(&file.path));
    let left_out = contents.odd.into_iter().chain(foreign.into_iter().map(|file| file.path)).collect();
    let folder = dir.file_name().unwrap_or_default().to_string_lossy();
    let announced: Result<Vec<_>, _> = files
        .iter()
        .map(|file| {
            let (bytes, sha256) = sum(&dir.join(&file.path))?;
            Ok(PackedFile { path: file.path.clone(), bytes, sha256 })
        })
        .collect();
    let doc = PackDoc {
        schema: PACK_SCHEMA.to_owned(),
        version: version.to_owned(),
        folder: if is_name(&folder) { folder.into_owned() } else { sanitized(&folder) },
        files: announced?,
    };
    if let Some(fault) = faults(&doc) {
        return Err(UserError::usage(
            Code::NotPackable,
            format!("cannot pack it: {fault}"),
            "move it out of the way",
        ));
    }
    let (file, partial) = begin(out).map_err(|error| Failure::Writing(error).user_error(out))?;
    let written = write(dir, &doc, file).and_then(|()| settle(&partial, out).map_err(Failure::Writing));
    // Clean-up only: no program reads a file of this name. If packing succeeded, the name is gone
    // or is a second name of `out`.
    let _ = fs::remove_file(&partial);
    written.map_err(|failure| failure.user_error(out))?;
    Ok(Packed {
        path: out.to_owned(),
        bytes: fs::metadata(out).map(|metadata| metadata.len()).unwrap_or_default(),
        unpacked_bytes: doc.files.iter().map(|file| file.bytes).sum(),
        files: doc.files.len(),
        left_out,
    })
}

/// Why packing stopped.
enum Failure {
    Reading(UserError),
    Writing(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Writing(error)
    }
}

impl Failure {
    fn user_error(self, out: &Path) -> UserError {
        match self {
            Self::Reading(error) => error,
            Self::Writing(error) if error.kind() == io::ErrorKind::AlreadyExists => exists(out),
            Self::Writing(error) => UserError::usage(
                Code::OutUnwritable,
                format!("cannot write `{}`: {}", sanitize(&out.to_string_lossy()), os_error_text(&error)),
                if is_full(&error) {
                    "free some space there, or name a file elsewhere: --out FILE"
                } else {
                    "name a file in a folder that exists and can be written: --out FILE"
                },
            ),
        }
    }
}

fn exists(out: &Path) -> UserError {
    UserError::usage(
        Code::OutExists,
        format!("`{}` exists already", sanitize(&out.to_string_lossy())),
        "name another file with `--out FILE`, or remove that one",
    )
}

/// Creates a new file next to `out`, under a name that cannot be guessed. In a shared folder, a
/// file with a predictable name may belong to another user, or be a link to such a file.
fn begin(out: &Path) -> io::Result<(File, PathBuf)> {
    let name = |attempt: u32| {
        let mut name = out.as_os_str().to_owned();
        name.push(format!(".{}{attempt}.partial", new_id()));
        PathBuf::from(name)
    };
    for partial in (0..NAMES_TRIED).map(name) {
        match File::create_new(&partial) {
            Ok(file) => return Ok((file, partial)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Renames the complete file without replacing anything: a file that appeared at `out` since the
/// first check stays.
fn settle(partial: &Path, out: &Path) -> io::Result<()> {
    match fs::hard_link(partial, out) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no hard links. There, an empty file reserves the name, and only
        // that file is replaced.
        Err(_) => {
            File::create_new(out)?;
            fs::rename(partial, out).inspect_err(|_| {
                let _ = fs::remove_file(out);
            })
        }
    }
}

fn write(dir: &Path, doc: &PackDoc, file: File) -> Result<(), Failure> {
    let gzip = GzEncoder::new(BufWriter::with_capacity(1 << 16, file), Compression::default());
    let mut tar = tar::Builder::new(gzip);
    let manifest = doc.to_json() + "\n";
    let path = |name: &str| format!("{}/{name}", doc.folder);
    let newest = doc.files.iter().map(|file| modified(&dir.join(&file.path))).max().unwrap_or_default();
    tar.append_data(&mut header(manifest.len() as u64, newest), path(PACK_JSON), manifest.as_bytes())?;
    for announced in &doc.files {
        let from = dir.join(&announced.path);
        let opened = File::open(&from).map_err(|error| Failure::Reading(unreadable(&from, &error)))?;
        let mut reader = Summed { inner: opened.take(announced.bytes), sum: Sha256::new(), bytes: 0 };
        let mut header = header(announced.bytes, modified(&from));
        let written = tar.append_data(&mut header, path(&announced.path), &mut reader);
        if reader.bytes != announced.bytes || hex(&reader.sum.finalize()) != announced.sha256 {
            return Err(Failure::Reading(UserError::usage(
                Code::ArchiveChanged,
                format!("`{}` changed while it was packed", sanitize(&from.to_string_lossy())),
                "pack it when no process writes to it",
            )));
        }
        written?;
    }
    let mut buffered = tar.into_inner()?.finish()?;
    buffered.flush()?;
    buffered.get_ref().sync_all()?;
    Ok(())
}

/// A plain file that its owner may write and all may read.
fn header(bytes: u64, modified_s: u64) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_mtime(modified_s);
    header.set_entry_type(tar::EntryType::Regular);
    header
}

/// Seconds since 1970.
fn modified(path: &Path) -> u64 {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_secs())
}

/// Length and SHA-256 of a file.
fn sum(path: &Path) -> Result<(u64, String), UserError> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut reader = Summed { inner: BufReader::new(file), sum: Sha256::new(), bytes: 0 };
    io::copy(&mut reader, &mut io::sink()).map_err(|error| unreadable(path, &error))?;
    Ok((reader.bytes, hex(&reader.sum.finalize())))
}

/// Counts and hashes the bytes read through it.
struct Summed<R> {
    inner: R,
    sum: Sha256,
    bytes: u64,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.sum.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_to_be_there_meanwhile_stays() {
        let temp = tempfile::tempdir().expect("a folder for the test");
        let out = temp.path().join("x.wtrun");
        let (file, partial) = begin(&out).expect("the folder is writable");
        drop(file);
        assert_ne!(begin(&out).expect("the folder is writable").1, partial, "each name is new");
        fs::write(&out, "another's").expect("the folder is writable");
        let error = settle(&partial, &out).expect_err("it is there");
        assert_eq!(Failure::Writing(error).user_error(&out).code, "out_exists");
        assert_eq!(fs::read_to_string(&out).expect("it is there"), "another's");
        fs::remove_file(&out).expect("it is there");
        settle(&partial, &out).expect("nothing is in the way");
        assert_eq!(fs::read(&out).expect("it is there"), b"");
    }

    #[test]
    fn a_full_disk_is_distinguished_from_a_folder_that_is_not_there() {
        let hint = |kind: io::ErrorKind| Failure::Writing(kind.into()).user_error(Path::new("x.wtrun")).hint;
        assert!(hint(io::ErrorKind::StorageFull).starts_with("free some space there"));
        assert!(hint(io::ErrorKind::NotFound).starts_with("name a file in a folder that exists"));
    }
}
