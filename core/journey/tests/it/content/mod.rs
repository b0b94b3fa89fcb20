//! Content codings: whole, in pieces, cut off, broken, too large.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;
use wavetank_journey::content::{Coding, ContentFault, Decoder};

/// Made by the reference programs from [`digits`].
const BROTLI: &[u8] = include_bytes!("digits.br");
const ZSTD: &[u8] = include_bytes!("digits.zst");
const ZSTD_UNCHECKED: &[u8] = include_bytes!("unchecked.zst");
/// A frame that readers pass over (RFC 8878 §3.1.2): magic, length 3, content.
const ZSTD_SKIPPABLE: &[u8] = b"\x52\x2a\x4d\x18\x03\0\0\0abc";

/// 330,000 bytes: longer than two blocks of zstd.
fn digits() -> Vec<u8> {
    b"0123456789\n".repeat(30_000)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
    writer.write_all(text).and_then(|()| writer.finish()).expect("writes to memory")
}

fn zlib(text: &[u8]) -> Vec<u8> {
    let mut writer = ZlibEncoder::new(Vec::new(), Compression::fast());
    writer.write_all(text).and_then(|()| writer.finish()).expect("writes to memory")
}

fn bare(text: &[u8]) -> Vec<u8> {
    let mut writer = DeflateEncoder::new(Vec::new(), Compression::fast());
    writer.write_all(text).and_then(|()| writer.finish()).expect("writes to memory")
}

/// Feeds `coded` in pieces of `piece` bytes.
fn decode(coding: Coding, coded: &[u8], piece: usize, bytes_max: usize) -> Result<Vec<u8>, ContentFault> {
    let mut decoder = Decoder::new(coding, bytes_max);
    let mut out = b"before".to_vec();
    for piece in coded.chunks(piece) {
        decoder.feed(piece, &mut out)?;
    }
    decoder.finish(&mut out)?;
    assert!(out.starts_with(b"before"), "the caller's bytes are left alone");
    Ok(out.split_off(6))
}

fn samples() -> Vec<(Coding, Vec<u8>)> {
    let text = digits();
    vec![
        (Coding::Identity, text.clone()),
        (Coding::Gzip, gzip(&text)),
        (Coding::Gzip, [gzip(&text[..1000]), gzip(&text[1000..])].concat()),
        (Coding::Deflate, zlib(&text)),
        (Coding::Deflate, bare(&text)),
        (Coding::Br, BROTLI.to_vec()),
        (Coding::Zstd, ZSTD.to_vec()),
        (Coding::Zstd, ZSTD_UNCHECKED.to_vec()),
        (Coding::Zstd, [ZSTD_SKIPPABLE, ZSTD, ZSTD_SKIPPABLE].concat()),
    ]
}

#[test]
fn every_coding_is_read_in_any_split() {
    for (coding, coded) in samples() {
        for piece in [1, 2, 7, 1000, usize::MAX] {
            let found = decode(coding, &coded, piece, 330_000);
            assert!(found == Ok(digits()), "{coding:?} by {piece}: {:?}", found.map(|out| out.len()));
        }
        assert_eq!(decode(coding, b"", 1, 0), Ok(Vec::new()), "{coding:?}: an empty body is whole");
    }
}

#[test]
fn a_body_cut_off_is_not_whole() {
    for (coding, coded) in samples().into_iter().filter(|(coding, _)| *coding != Coding::Identity) {
        for cut in [1, 2, 5, coded.len() / 2, coded.len() - 1] {
            let found = decode(coding, &coded[..cut], 100, 1 << 20);
            assert_eq!(found.map(|out| out.len()), Err(ContentFault::Truncated), "{coding:?} cut at {cut}");
        }
    }
}

#[test]
fn a_body_is_never_longer_than_its_limit() {
    for (coding, coded) in samples() {
        for limit in [0, 1, 5000, 329_999] {
            let mut out = Vec::new();
            let mut decoder = Decoder::new(coding, limit);
            let fault = coded.chunks(64).find_map(|piece| decoder.feed(piece, &mut out).err());
            let fault = fault.or_else(|| decoder.finish(&mut out).err());
            assert_eq!(fault, Some(ContentFault::TooLarge), "{coding:?} {limit}");
            assert!(out.len() <= limit, "{coding:?}: {} of {limit}", out.len());
            assert_eq!(
                decoder.feed(b"more", &mut out),
                Err(ContentFault::TooLarge),
                "the fault is permanent"
            );
        }
    }
}

#[test]
fn bytes_that_are_something_else_are_broken() {
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd] {
        let found = decode(coding, &[b"<html>no coding at all</html>".as_slice(); 40].concat(), 11, 1 << 20);
        assert_eq!(found, Err(ContentFault::Broken), "{coding:?}");
    }
}

#[test]
fn bytes_after_gzip_are_ignored_and_a_wrong_checksum_is_reported() {
    let check = |change: &dyn Fn(&mut Vec<u8>), expected: Result<&[u8], ContentFault>| {
        let mut coded = gzip(b"some text");
        change(&mut coded);
        for piece in [1, 3, usize::MAX] {
            let found = decode(Coding::Gzip, &coded, piece, 1000);
            assert_eq!(found.as_deref().map_err(|fault| *fault), expected, "by {piece}");
        }
    };
    check(&|coded| coded.extend([0; 100]), Ok(b"some text"));
    check(&|coded| coded.extend(b"\0\0x"), Ok(b"some text"));
    check(&|coded| coded.extend(b"\r\n<b>Warning</b>: ..."), Ok(b"some text"));
    check(&|coded| coded.extend(b"\x1f\x8bmore than a head of a member"), Err(ContentFault::Broken));
    let at = gzip(b"some text").len() - 8;
    check(&|coded| coded[at] ^= 1, Err(ContentFault::Checksum));
    check(&|coded| coded[at + 4] ^= 1, Err(ContentFault::Checksum));
    check(&|coded| *coded = [&coded[..at], &[0; 8], &coded[..]].concat(), Err(ContentFault::Checksum));
    check(&|coded| coded.truncate(at + 7), Err(ContentFault::Truncated));
}

#[test]
fn a_wrong_checksum_of_a_zstd_frame_is_reported() {
    let at = ZSTD.len() - 4;
    for (bytes, flip) in [(at, 1), (at + 3, 0x80)] {
        let mut coded = ZSTD.to_vec();
        coded[bytes] ^= flip;
        for piece in [1, 1000, usize::MAX] {
            let found = decode(Coding::Zstd, &coded, piece, 1 << 20).map(|out| out.len());
            assert_eq!(found, Err(ContentFault::Checksum), "byte {bytes} by {piece}");
        }
    }
}

#[test]
fn a_zstd_frame_may_not_ask_for_a_huge_window() {
    // Magic, single-segment flag off, window descriptor 2^27 (RFC 8878 §3.1.1.1.2), then one empty
    // last block.
    let huge = b"\x28\xb5\x2f\xfd\x00\x88\x01\0\0............";
    assert_eq!(decode(Coding::Zstd, huge, 100, 1 << 20), Err(ContentFault::Broken));
}

#[test]
fn brotli_with_a_window_beyond_its_rfc_is_broken() {
    assert_eq!(decode(Coding::Br, b"\x11\x1e....", 1, 1 << 20), Err(ContentFault::Broken));
}

proptest! {
    #[test]
    fn any_bytes_are_survived_and_cut_anywhere_alike(
        mut bytes: Vec<u8>, which in 0..9_usize, at in 0..4000_usize, flip: u8, piece in 1..300_usize,
    ) {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd] {
            let whole = decode(coding, &bytes, usize::MAX, 10_000);
            prop_assert_eq!(decode(coding, &bytes, piece, 10_000).is_ok(), whole.is_ok());
        }
        let (coding, mut sample) = samples().swap_remove(which);
        let at = at % sample.len();
        sample[at] ^= flip;
        sample.append(&mut bytes);
        if let Ok(out) = decode(coding, &sample, piece, 400_000) {
            prop_assert!(out.len() <= 400_000);
        }
    }
}
