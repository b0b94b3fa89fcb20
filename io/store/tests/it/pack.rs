//! Packed runs: the same run again, and nothing else whatever the file holds.

use crate::support;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use support::{in_progress, plan, record, sum};
use tempfile::TempDir;
use wavetank_record::{PACK_SCHEMA, PackDoc, PackedFile};
use wavetank_store::{RunsDir, inspect, open, pack};

const FOLDER: &str = "20261121T190000Z-localhost-8080-7f3a21";

fn packed(finished: bool) -> (TempDir, PathBuf, PathBuf) {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let writer = in_progress(&temp.path().join("runs"), 3);
    let dir = writer.dir().to_owned();
    if finished {
        writer.finish(&record()).expect("the folder is writable");
    } else {
        drop(writer);
    }
    let out = temp.path().join("one.wtrun");
    pack(&dir, &out, "0.1.0").expect("it can be packed");
    (temp, dir, out)
}

#[test]
fn a_pack_is_the_run_again() {
    for finished in [true, false] {
        let (temp, dir, out) = packed(finished);
        let (folder, pack_) = (open(&dir).expect("it opens"), open(&out).expect("it opens"));
        assert_eq!((&folder.record, &folder.plan_yaml), (&pack_.record, &pack_.plan_yaml));
        assert_eq!((&folder.environment, &folder.samples), (&pack_.environment, &pack_.samples));
        assert_eq!(pack_.ledger(&plan()).expect("it can be read").0.totals(), &sum(3));
        assert_eq!((pack_.is_packed(), folder.is_packed()), (true, false));
        assert!(pack_.display_path().ends_with("one.wtrun"));
        let (one, other) = (inspect(&dir).expect("shown"), inspect(&out).expect("shown"));
        assert_eq!((one.files, one.run, one.problems), (other.files, other.run, other.problems));
        // The same archive gives the same bytes.
        let again = temp.path().join("again.wtrun");
        pack(&dir, &again, "0.1.0").expect("it can be packed");
        assert_eq!(fs::read(&out).expect("it is there"), fs::read(&again).expect("it is there"));
        let error = pack(&dir, &out, "0.1.0").expect_err("nothing is overwritten");
        assert_eq!(error.code, "out_exists", "{error}");
        let elsewhere = RunsDir::new(temp.path().join("elsewhere"));
        let back = elsewhere.unpack(&out).expect("it can be unpacked");
        assert_eq!(back, elsewhere.path().join(FOLDER));
        assert_eq!(open(&back).expect("it opens").record, folder.record);
        assert_eq!(elsewhere.unpack(&out).expect_err("it is there already").code, "run_exists");
        assert_eq!(fs::read_dir(elsewhere.path()).expect("it is there").count(), 1, "nothing is left behind");
    }
}

#[test]
fn the_temporary_folder_is_private_and_goes_with_the_last_copy() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_temp, _, out) = packed(true);
    let opened = open(&out).expect("it opens");
    let place = opened.dir.clone();
    let mode = fs::metadata(&place).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let copy = opened.clone();
    drop(opened);
    assert!(place.join("run.json").exists());
    drop(copy);
    assert!(!place.exists());
}

#[test]
fn what_is_being_written_or_foreign_is_not_packed() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let writer = in_progress(temp.path(), 1);
    let out = temp.path().join("x.wtrun");
    assert_eq!(pack(writer.dir(), &out, "0.1.0").expect_err("it grows").code, "run_written");
    let dir = writer.finish(&record()).expect("the folder is writable");
    fs::write(dir.join("my notes.txt"), "mine").expect("the folder is writable");
    std::os::unix::fs::symlink("/etc/hostname", dir.join("link")).expect("the folder is writable");
    let packed = pack(&dir, &out, "0.1.0").expect("it can be packed");
    assert_eq!(packed.left_out, ["link", "my notes.txt"]);
    let lies = |name: &str| fs::symlink_metadata(temp.path().join(name)).is_ok();
    assert!(
        lies("x.wtrun") && fs::read_dir(temp.path()).expect("it is there").count() == 2,
        "nothing is left"
    );
    // A link that another user put where a careless program would write is not followed, and not
    // replaced.
    let precious = temp.path().join("precious");
    fs::write(&precious, "mine").expect("the folder is writable");
    std::os::unix::fs::symlink(&precious, temp.path().join("y.wtrun.partial"))
        .expect("the folder is writable");
    pack(&dir, &temp.path().join("y.wtrun"), "0.1.0").expect("it can be packed");
    assert!(lies("y.wtrun.partial") && lies("y.wtrun"));
    assert_eq!(fs::read_to_string(&precious).expect("it is there"), "mine");
    let nowhere = temp.path().join("no/such/folder/x.wtrun");
    assert_eq!(pack(&dir, &nowhere, "0.1.0").expect_err("nowhere to write").code, "out_unwritable");
}

/// A pack of `entries` (path, type, content) after `doc`.
fn forge(to: &Path, doc: &str, entries: &[(&str, tar::EntryType, &[u8])]) {
    let file = fs::File::create(to).expect("the folder is writable");
    let mut tar = tar::Builder::new(GzEncoder::new(file, Compression::fast()));
    let manifest = format!("{FOLDER}/pack.json");
    let all = std::iter::once((manifest.as_str(), tar::EntryType::Regular, doc.as_bytes()));
    for (path, kind, content) in all.chain(entries.iter().copied()) {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_entry_type(kind);
        // As it is: the library would not write a path that leads out.
        header.as_old_mut().name[..path.len().min(100)]
            .copy_from_slice(&path.as_bytes()[..path.len().min(100)]);
        if kind == tar::EntryType::Symlink {
            header.set_link_name("/etc/passwd").expect("it fits");
        }
        header.set_cksum();
        tar.append(&header, content).expect("the folder is writable");
    }
    tar.into_inner()
        .and_then(GzEncoder::finish)
        .and_then(|mut file| file.flush())
        .expect("the disk has room");
}

fn doc(files: &[(&str, &[u8])]) -> PackDoc {
    let sha256 = |content: &[u8]| {
        use std::fmt::Write as _;
        Sha256::digest(content).iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a string takes all text");
            hex
        })
    };
    let file = |(path, content): &(&str, &[u8])| PackedFile {
        path: (*path).to_owned(),
        bytes: content.len() as u64,
        sha256: sha256(content),
    };
    PackDoc {
        schema: PACK_SCHEMA.to_owned(),
        folder: FOLDER.to_owned(),
        files: files.iter().map(file).collect(),
        ..PackDoc::default()
    }
}

/// Checks that the file gives one clear error with this code, and that nothing is left behind or
/// written elsewhere.
#[track_caller]
fn check(path: &Path, code: &str, says: &str) {
    let error = open(path).expect_err(says);
    assert_eq!(error.code, code, "{says}: {error}");
    assert!(error.message.contains(says), "{says}: {error}");
    assert_eq!(error.to_string().lines().count(), 2, "{error}");
    let runs = RunsDir::new(path.parent().expect("a folder").join("unpacked"));
    assert_eq!(runs.unpack(path).expect_err(says).code, code);
    assert_eq!(fs::read_dir(runs.path()).expect("it was made").count(), 0, "nothing is kept: {says}");
}

#[test]
fn a_forged_pack_gives_nothing() {
    use tar::EntryType::{Directory, Regular, Symlink};
    let temp = tempfile::tempdir().expect("a folder for the test");
    let place = temp.path().join("forged.wtrun");
    let plan: &[u8] = b"wavetank_plan: 1\n";
    let path = format!("{FOLDER}/plan.yaml");
    let good = doc(&[("plan.yaml", plan)]);
    let (path, regular) = (path.as_str(), Regular);
    forge(&place, &good.to_json(), &[(path, regular, plan)]);
    assert!(open(&place).is_ok(), "the forger's own pack is right");
    let json = good.to_json();
    for (entries, says) in [
        (vec![], "`plan.yaml` is missing"),
        (vec![(path, regular, plan), (path, regular, plan)], "more than it announces"),
        (vec![(path, regular, b"wavetank_plan: 2\n".as_slice())], "SHA-256 is different"),
        (vec![(path, regular, b"longer than it was announced".as_slice())], "bytes, not 17"),
        (vec![(path, Symlink, b"".as_slice())], "is not a regular file"),
        (vec![(path, Directory, b"".as_slice())], "is not a regular file"),
        (vec![("../../etc/passwd", regular, plan)], "was found where"),
        (vec![("/etc/passwd", regular, plan)], "was found where"),
        (vec![("plan.yaml", regular, plan)], "was found where"),
    ] {
        forge(&place, &json, &entries);
        check(&place, "pack_damaged", says);
    }
    for name in
        ["../x", "/x", "a/../x", "a//x", ".x", "-x", "a/b/c/d/e", "x\ny", "", "pack.json", "a\\b", "x."]
    {
        let doc = doc(&[(name, plan)]);
        forge(&place, &doc.to_json(), &[(&format!("{FOLDER}/{name}"), regular, plan)]);
        check(&place, "pack_damaged", "an invalid path");
    }
    let folder = PackDoc { folder: "..".to_owned(), ..good.clone() };
    forge(&place, &folder.to_json(), &[(path, regular, plan)]);
    check(&place, "pack_damaged", "an invalid folder name");
    let twice = doc(&[("plan.yaml", plan), ("Plan.yaml", plan)]);
    forge(&place, &twice.to_json(), &[(path, regular, plan)]);
    check(&place, "pack_damaged", "twice");
}

/// Sizes are refused by what is announced, before a byte of it is written.
#[test]
fn a_bomb_does_not_go_off() {
    let temp = tempfile::tempdir().expect("a folder for the test");
    let place = temp.path().join("bomb.wtrun");
    let check_size = |bytes: &[u64], says: &str| {
        let mut doc = doc(&vec![("x", b"".as_slice()); bytes.len()]);
        for (number, (file, bytes)) in doc.files.iter_mut().zip(bytes).enumerate() {
            (file.path, file.bytes) = (format!("intervals/{number}.jsonl"), *bytes);
        }
        forge(&place, &doc.to_json(), &[]);
        check(&place, "pack_damaged", says);
    };
    check_size(&[u64::MAX], "more than 64 GiB");
    check_size(&[u64::MAX, 2], "more than 64 GiB");
    check_size(&[3 << 30], "far more than");
    check_size(&vec![0; 20_000], "20000 files");
    // A `pack.json` without end.
    let endless = " ".repeat(9 << 20);
    forge(&place, &endless, &[]);
    check(&place, "pack_damaged", "is too long");
}

#[test]
fn what_is_no_pack_or_half_of_one_is_reported() {
    let (temp, _, out) = packed(true);
    let whole = fs::read(&out).expect("it is there");
    let place = temp.path().join("cut.wtrun");
    let put = |bytes: &[u8]| fs::write(&place, bytes).expect("the folder is writable");
    for cut in [3, 10, 20, whole.len() / 4, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        put(&whole[..cut]);
        check(&place, "pack_damaged", "");
    }
    for (at, bit) in (0..whole.len()).step_by(whole.len() / 40).zip([1u8, 0x80, 0x10, 8].into_iter().cycle())
    {
        let mut bent = whole.clone();
        bent[at] ^= bit;
        put(&bent);
        // gzip's head holds a time and the like, of which nothing depends.
        if at < 10 {
            continue;
        }
        match open(&place) {
            Err(error) => assert_eq!(error.code, "pack_damaged", "byte {at}: {error}"),
            // Some bits of the compressed data have no meaning, e.g. the code of a distance that
            // does not occur.
            Ok(same) => {
                let (one, other) = (open(&out).expect("it opens"), inspect(&out).expect("shown"));
                assert_eq!((&same.record, &same.plan_yaml), (&one.record, &one.plan_yaml), "byte {at}");
                assert_eq!((&same.environment, &same.samples), (&one.environment, &one.samples));
                assert_eq!(inspect(&place).expect("shown").files, other.files, "byte {at}");
            }
        }
    }
    put(b"");
    check(&place, "not_a_pack", "does not start with a gzip header");
    for behind in [&b"junk"[..], &[0], &whole] {
        put(&[&whole, behind].concat());
        check(&place, "pack_damaged", "something follows its end");
    }
    put(b"{\"schema\":\"wavetank.run/1\"}");
    check(&place, "not_a_pack", "does not start with a gzip header");
    let newer = PackDoc { schema: "wavetank.pack/2".to_owned(), ..doc(&[]) };
    forge(&place, &newer.to_json(), &[]);
    check(&place, "archive_newer", "later version");
    forge(&place, "no json", &[]);
    check(&place, "pack_damaged", "cannot read its `pack.json`");
}
