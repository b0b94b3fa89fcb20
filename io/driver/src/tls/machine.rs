//! [`TlsState`]: the library's state of one connection, as client or server, without buffers of its
//! own.

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, InsufficientSizeError, UnbufferedStatus,
};
use rustls::{CommonState, Error};

/// Maximum plaintext of one record (RFC 8446 §5.1).
const RECORD_BYTES: usize = 16 * 1024;
/// Header, content type, tag and nonce: more than any record adds to its plaintext.
const RECORD_OVERHEAD: usize = 64;
/// A `close_notify` with everything around it.
const GOODBYE_BYTES: usize = 128;

/// A reusable buffer for ciphertext: it grows once to the largest size needed.
#[derive(Debug, Default)]
pub(super) struct Out {
    bytes: Vec<u8>,
    len: usize,
}

impl Out {
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn filled(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn room(&mut self, len: usize) -> &mut [u8] {
        if self.bytes.len() < self.len + len {
            self.bytes.resize(self.len + len, 0);
        }
        &mut self.bytes[self.len..]
    }
}

/// The library's state of one connection.
pub(super) enum TlsState {
    Client(Box<UnbufferedClientConnection>),
    Server(Box<UnbufferedServerConnection>),
}

/// The result of reading.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Bytes of the input that were consumed. The rest must be passed in again, followed by more.
    pub(super) used: usize,
    /// The peer announced that it will send no more.
    pub(super) closed: bool,
    /// The error after which the connection cannot continue.
    pub(super) fault: Option<Error>,
}

impl TlsState {
    pub(super) fn state(&self) -> &CommonState {
        match self {
            Self::Client(client) => client,
            Self::Server(server) => server,
        }
    }

    /// Processes `incoming`. Adds plaintext to `plain`, and the bytes that TLS must send in
    /// response to `out`.
    pub(super) fn read(&mut self, incoming: &mut [u8], plain: &mut Vec<u8>, out: &mut Out) -> Read {
        match self {
            Self::Client(client) => read(&mut **client, incoming, plain, out),
            Self::Server(server) => read(&mut **server, incoming, plain, out),
        }
    }

    /// Adds `plain` to `out`, encrypted. `rest` is the input that reading left over. It may be half
    /// a message, which the library must see again. Returns false if nothing can be sent (any
    /// more).
    pub(super) fn write(&mut self, plain: &[u8], rest: &mut [u8], out: &mut Out) -> bool {
        match self {
            Self::Client(client) => write(&mut **client, Outbound::Data(plain), rest, out),
            Self::Server(server) => write(&mut **server, Outbound::Data(plain), rest, out),
        }
    }

    /// Adds the announcement that this side sends no more.
    pub(super) fn write_close_notify(&mut self, rest: &mut [u8], out: &mut Out) -> bool {
        match self {
            Self::Client(client) => write(&mut **client, Outbound::Goodbye, rest, out),
            Self::Server(server) => write(&mut **server, Outbound::Goodbye, rest, out),
        }
    }
}

/// The interface that client and server have in common.
trait Side {
    type Data;
    fn state(&self) -> &CommonState;
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data>;
}

impl Side for UnbufferedClientConnection {
    type Data = ClientConnectionData;
    fn state(&self) -> &CommonState {
        self
    }
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(incoming)
    }
}

impl Side for UnbufferedServerConnection {
    type Data = ServerConnectionData;
    fn state(&self) -> &CommonState {
        self
    }
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(incoming)
    }
}

fn read<S: Side>(side: &mut S, incoming: &mut [u8], plain: &mut Vec<u8>, out: &mut Out) -> Read {
    let mut read = Read::default();
    loop {
        let UnbufferedStatus { mut discard, state } = side.process(&mut incoming[read.used..]);
        let mut more = true;
        match state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(record) = traffic.next_record() {
                    match record {
                        Ok(record) => {
                            plain.extend_from_slice(record.payload);
                            discard += record.discard;
                        }
                        Err(error) => read.fault = Some(error),
                    }
                }
            }
            Ok(ConnectionState::EncodeTlsData(data)) => encode(data, out),
            // The caller sends everything in `out`.
            Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
            Ok(ConnectionState::PeerClosed) => read.closed = true,
            Ok(ConnectionState::Closed) => {
                read.closed = true;
                more = false;
            }
            // Early data is not offered or accepted; `WriteTraffic` and `BlockedHandshake`
            // need more input.
            Ok(_) => more = false,
            Err(error) => {
                read.fault = Some(error);
                more = false;
            }
        }
        read.used += discard;
        if !more {
            break;
        }
    }
    // The alert that informs the peer. After an error the library must not see input again: it
    // asserts that there is no second error.
    while read.fault.is_some() && side.state().wants_write() {
        match side.process(&mut []).state {
            Ok(ConnectionState::EncodeTlsData(data)) => encode(data, out),
            Ok(_) | Err(_) => break,
        }
    }
    read
}

#[derive(Clone, Copy)]
enum Outbound<'a> {
    Data(&'a [u8]),
    Goodbye,
}

fn write<S: Side>(side: &mut S, words: Outbound<'_>, rest: &mut [u8], out: &mut Out) -> bool {
    loop {
        match side.process(rest).state {
            Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                let written = match words {
                    Outbound::Data(plain) => {
                        let records = plain.len() / RECORD_BYTES + 1;
                        traffic.encrypt(plain, out.room(plain.len() + records * RECORD_OVERHEAD))
                    }
                    Outbound::Goodbye => traffic.queue_close_notify(out.room(GOODBYE_BYTES)),
                };
                return match written {
                    Ok(len) => {
                        out.len += len;
                        true
                    }
                    // The buffer is large enough by construction, and keys are renewed long before
                    // they are exhausted.
                    Err(EncryptError::InsufficientSize(_) | EncryptError::EncryptExhausted) => false,
                };
            }
            Ok(ConnectionState::EncodeTlsData(data)) => encode(data, out),
            Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
            Ok(ConnectionState::PeerClosed) => {}
            Ok(_) | Err(_) => return false,
        }
    }
}

fn encode<Data>(mut data: EncodeTlsData<'_, Data>, out: &mut Out) {
    let mut wanted = 0;
    loop {
        match data.encode(out.room(wanted)) {
            Ok(len) => return out.len += len,
            Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) => {
                wanted = required_size;
            }
            Err(EncodeError::AlreadyEncoded) => return,
        }
    }
}
