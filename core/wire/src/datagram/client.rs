//! [`Client`]: the client's side of a connected UDP socket.

use wavetank_units::registered;

use crate::ws::{ClientSink, MessageKind};

/// The maximum number of bytes of a datagram over IPv4: 65,535 without the headers of IP and UDP.
pub const DATAGRAM_BYTES_MAX: usize = 65_507;

/// The bytes that an answer has in common with its request, such as a transaction number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchedRange {
    /// The number of bytes before them.
    pub offset: u16,
    /// The number of bytes, at least one.
    pub length: u16,
}

impl MatchedRange {
    /// Returns these bytes of a datagram, if it is long enough.
    fn of(self, datagram: &[u8]) -> Option<&[u8]> {
        let start = usize::from(self.offset);
        datagram.get(start..start + usize::from(self.length))
    }
}

/// Why a datagram cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendFault {
    /// It has no bytes.
    Empty,
    /// It is longer than UDP allows.
    TooLong,
    /// It ends before the bytes that its answer is compared with.
    EndsBeforeMatch,
}

impl SendFault {
    /// Describes the fault.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Empty => registered!("the datagram has no bytes"),
            Self::TooLong => registered!("the datagram has more than 65,507 bytes"),
            Self::EndsBeforeMatch => registered!("the datagram ends before the bytes of match"),
        }
    }
}

/// What answers the datagram that was sent.
#[derive(Clone, Debug)]
enum Awaited {
    /// The next datagram.
    Any,
    /// The next datagram with these bytes at this range.
    Same(MatchedRange, Box<[u8]>),
}

/// The client's side of a connected UDP socket; see the [module](super).
#[derive(Debug)]
pub struct Client {
    is_open: bool,
    awaited: Option<Awaited>,
    /// Whether datagrams are kept for a later step.
    keeps: bool,
    out: Vec<u8>,
}

impl Client {
    /// Creates the machine of a new socket. `keeps`: some step reads datagrams that arrived before
    /// it started.
    pub const fn new(keeps: bool) -> Self {
        Self { is_open: false, awaited: None, keeps, out: Vec::new() }
    }

    /// Creates the machine of an open socket that was [idle](Self::is_idle).
    pub const fn resume(keeps: bool) -> Self {
        let mut client = Self::new(keeps);
        client.is_open = true;
        client
    }

    /// The datagram to send. The caller removes what it sends.
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Whether datagrams can be sent.
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether the socket has no state.
    pub const fn is_idle(&self) -> bool {
        self.is_open && self.out.is_empty() && self.awaited.is_none()
    }

    /// Uses the socket.
    pub const fn connect(&mut self) {
        self.is_open = true;
    }

    /// Sends a datagram.
    ///
    /// # Errors
    /// UDP cannot carry it. Nothing is sent.
    pub fn send(&mut self, datagram: &[u8]) -> Result<(), SendFault> {
        match datagram.len() {
            0 => Err(SendFault::Empty),
            1..=DATAGRAM_BYTES_MAX => {
                self.out.extend_from_slice(datagram);
                Ok(())
            }
            _ => Err(SendFault::TooLong),
        }
    }

    /// Sends a datagram and waits for its answer. With `matched`, the answer has the same bytes
    /// there.
    ///
    /// # Errors
    /// Nothing is sent, and nothing is awaited.
    pub fn ask(&mut self, matched: Option<MatchedRange>, datagram: &[u8]) -> Result<(), SendFault> {
        let awaited = match matched {
            None => Awaited::Any,
            Some(range) => {
                let bytes = range.of(datagram).ok_or(SendFault::EndsBeforeMatch)?;
                Awaited::Same(range, bytes.into())
            }
        };
        self.send(datagram)?;
        self.awaited = Some(awaited);
        Ok(())
    }

    /// Waits for an answer no longer. One that arrives later is a datagram like any other.
    pub fn stop_waiting(&mut self) {
        self.awaited = None;
    }

    /// Reads one datagram. Without bytes there is none.
    pub fn read(&mut self, datagram: &[u8], sink: &mut impl ClientSink) {
        let is_wanted = match &self.awaited {
            None => self.keeps,
            Some(Awaited::Any) => true,
            Some(Awaited::Same(range, bytes)) => range.of(datagram) == Some(bytes),
        };
        if datagram.is_empty() || !is_wanted {
            return;
        }
        self.awaited = None;
        sink.begin(MessageKind::Binary);
        sink.piece(datagram);
        sink.end(datagram.len() as u64);
    }
}
