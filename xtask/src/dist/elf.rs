//! Reads a program's kind from its ELF header (System V ABI, chapters 4 and 5; 64 bits, little
//! endian).

use anyhow::{Context, Result, bail, ensure};

/// Program header of the path of a dynamic loader.
const PT_INTERP: u32 = 3;

/// Checks that `file` is a 64-bit program for `machine` without a dynamic loader, so that it runs
/// on an empty system.
pub(super) fn check_static(file: &[u8], machine: u16) -> Result<()> {
    ensure!(file.starts_with(&[0x7f, b'E', b'L', b'F', 2, 1]), "is no 64-bit little-endian ELF file");
    let found = u16_at(file, 18)?;
    ensure!(found == machine, "is for the machine {found} and not {machine}");
    let (headers, size, count) = (u64_at(file, 32)?, u16_at(file, 54)?, u16_at(file, 56)?);
    for index in 0..usize::from(count) {
        let at = usize::try_from(headers).context("the place of the headers")? + index * usize::from(size);
        if u32_at(file, at)? == PT_INTERP {
            bail!("is linked dynamically: it asks for a loader");
        }
    }
    Ok(())
}

fn bytes_at<const N: usize>(file: &[u8], at: usize) -> Result<[u8; N]> {
    let bytes = file.get(at..).and_then(|rest| rest.first_chunk::<N>());
    bytes.copied().context("is cut off within its headers")
}

fn u16_at(file: &[u8], at: usize) -> Result<u16> {
    bytes_at(file, at).map(u16::from_le_bytes)
}

fn u32_at(file: &[u8], at: usize) -> Result<u32> {
    bytes_at(file, at).map(u32::from_le_bytes)
}

fn u64_at(file: &[u8], at: usize) -> Result<u64> {
    bytes_at(file, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header for `machine` with one program header of `kind`.
    fn header(machine: u16, kind: u32) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        file[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        file[18..20].copy_from_slice(&machine.to_le_bytes());
        file[32..40].copy_from_slice(&64_u64.to_le_bytes());
        file[54..56].copy_from_slice(&56_u16.to_le_bytes());
        file[56..58].copy_from_slice(&1_u16.to_le_bytes());
        file[64..68].copy_from_slice(&kind.to_le_bytes());
        file
    }

    fn check(file: &[u8], expected: Option<&str>) {
        let error = check_static(file, 62).err().map(|error| error.to_string());
        match (&error, expected) {
            (None, None) => {}
            (Some(error), Some(expected)) if error.contains(expected) => {}
            _ => panic!("{error:?} and not {expected:?}"),
        }
    }

    #[test]
    fn static_programs_of_the_machine_pass_and_nothing_else() {
        check(&header(62, 1), None);
        check(&header(183, 1), Some("machine 183"));
        check(&header(62, PT_INTERP), Some("loader"));
        check(&header(62, 1)[..64], Some("cut off"));
        check(b"#!/bin/sh\n", Some("no 64-bit"));
    }

    #[test]
    fn this_very_test_is_no_static_program() {
        let itself = std::fs::read("/proc/self/exe").expect("can be read");
        let machine = u16_at(&itself, 18).expect("has a header");
        let error = check_static(&itself, machine);
        assert_eq!(error.is_err(), !cfg!(target_feature = "crt-static"));
    }
}
