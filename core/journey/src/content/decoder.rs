//! [`Decoder`]: decodes one body.

use super::brotli::Unbrotli;
use super::coding::Coding;
use super::fault::ContentFault;
use super::inflate::Inflate;
use super::sink::LimitedBuffer;
use super::zstd::Unzstd;

/// Decodes one body piece by piece into the caller's buffer.
///
/// It holds the coding's window (32 KiB to 8 MiB) only while a body arrives, which matters with a
/// million users. After a fault it keeps returning that fault.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    sink: LimitedBuffer,
    fault: Option<ContentFault>,
}

/// The state of the coding in use. It is boxed, so that an idle decoder is not as large as the
/// largest state.
#[derive(Debug)]
enum State {
    Identity,
    Inflate(Box<Inflate>),
    Brotli(Box<Unbrotli>),
    Zstd(Box<Unzstd>),
}

impl Decoder {
    /// Creates a decoder for a body in `coding` with a decoded length of at most `bytes_max`.
    pub fn new(coding: Coding, bytes_max: usize) -> Self {
        let state = match coding {
            Coding::Identity => State::Identity,
            Coding::Gzip => State::Inflate(Box::new(Inflate::gzip())),
            Coding::Deflate => State::Inflate(Box::new(Inflate::deflate())),
            Coding::Br => State::Brotli(Box::new(Unbrotli::new())),
            Coding::Zstd => State::Zstd(Box::new(Unzstd::new())),
        };
        Self { state, sink: LimitedBuffer { left: bytes_max, ..LimitedBuffer::default() }, fault: None }
    }

    /// Decodes the next piece and appends the result to `out`.
    pub fn feed(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), ContentFault> {
        self.step(out, |state, sink| match state {
            State::Identity => {
                std::io::Write::write(sink, piece).map_err(|_| ContentFault::TooLarge).map(drop)
            }
            State::Inflate(inflate) => inflate.feed(piece, sink),
            State::Brotli(brotli) => brotli.feed(piece, sink).map_err(|()| ContentFault::Broken),
            State::Zstd(zstd) => zstd.feed(piece, sink),
        })
    }

    /// Ends the body: appends remaining bytes and returns whether it was complete. An empty body is
    /// complete in every coding, because a response to HEAD and a 304 have none.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ContentFault> {
        self.step(out, |state, sink| {
            let whole = match state {
                State::Identity => true,
                State::Inflate(inflate) => return inflate.finish(sink),
                State::Brotli(brotli) => brotli.is_complete(),
                State::Zstd(zstd) => zstd.is_complete(),
            };
            if whole { Ok(()) } else { Err(ContentFault::Truncated) }
        })
    }

    fn step(
        &mut self,
        out: &mut Vec<u8>,
        work: impl FnOnce(&mut State, &mut LimitedBuffer) -> Result<(), ContentFault>,
    ) -> Result<(), ContentFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        // The writers of the libraries own their output, so the caller's buffer is moved in and
        // out.
        std::mem::swap(out, &mut self.sink.bytes);
        let worked = work(&mut self.state, &mut self.sink);
        std::mem::swap(out, &mut self.sink.bytes);
        if self.sink.overflowed {
            self.fault = Some(ContentFault::TooLarge);
        } else {
            self.fault = worked.err();
        }
        self.fault.map_or(Ok(()), Err)
    }
}
