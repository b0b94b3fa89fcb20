//! Messages of the control connection: a greeting, then requests of the client and replies.

use serde::{Deserialize, Serialize};

use crate::{Direction, Token};

/// Version of the messages. Both ends must have the same.
pub const PROTOCOL: u32 = 1;

/// First line of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientHello {
    /// [`PROTOCOL`] of the client.
    pub wavetank_net: u32,
    /// Version of the program.
    pub version: String,
    /// Random number in hexadecimal digits.
    pub nonce: String,
}

/// First line of a server. It proves nothing yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerHello {
    /// [`PROTOCOL`] of the server.
    pub wavetank_net: u32,
    /// Version of the program.
    pub version: String,
    /// Random number in hexadecimal digits.
    pub nonce: String,
}

/// The client's proof that it has the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientProof {
    /// See [`Token::client_proof`].
    pub proof: String,
}

/// The server's proof that it has the token, or why it does not accept the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerProof {
    /// A session starts.
    Session {
        /// See [`Token::server_proof`].
        proof: String,
        /// Number of the session.
        session: u64,
        /// Name of the server's interface to this client; empty if it is not known.
        interface: String,
        /// Speed of that interface, bits per second; 0 if it is not known.
        link_bits_per_s: u64,
    },
    /// The proof is wrong.
    BadToken,
    /// The server has as many clients as it may have.
    Busy,
}

/// What a client requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientRequest {
    /// Expect data connections of a test. The server replies [`ServerReply::Ready`].
    Expect {
        /// Number of the test, greater than all before.
        test: u32,
        /// Data connections that may belong to it; of a test of connections none is limited.
        streams: u32,
        /// Its duration, ms. The server drops its connections some seconds later.
        millis: u64,
    },
    /// Receive or send datagrams. The server replies [`ServerReply::UdpPort`].
    Udp {
        /// Number of the test, greater than all before.
        test: u32,
        /// Who sends.
        direction: Direction,
        /// Payload of a datagram, bytes.
        bytes: u32,
        /// Rate, bits of payload per second; 0: as fast as possible.
        bits_per_s: u64,
        /// Duration, ms.
        millis: u64,
    },
    /// Reply to datagrams, each with one of the requested size. The server replies
    /// [`ServerReply::UdpPort`].
    MtuProbe {
        /// Number of the test, greater than all before.
        test: u32,
        /// Duration at most, ms.
        millis: u64,
    },
    /// End a test and return what the server has measured.
    Collect {
        /// Number of the test.
        test: u32,
        /// Datagrams that the client has sent.
        sent: u64,
    },
}

/// What a server replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerReply {
    /// Data connections are expected.
    Ready,
    /// Datagrams are expected at this port.
    UdpPort(u16),
    /// Results of TCP streams, in no order.
    Flows(Vec<FlowResult>),
    /// Result of datagrams.
    Udp(UdpResult),
    /// The request cannot be met; a short reason.
    Refused(String),
}

/// What one end has measured of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowResult {
    /// Number of the stream.
    pub stream: u32,
    /// Whether this end has received; else it has sent.
    pub received: bool,
    /// Bytes of payload.
    pub bytes: u64,
    /// Time from its first to its last byte, ns.
    pub nanos: u64,
    /// Bytes of each interval; empty at a sender.
    pub intervals: Vec<u64>,
    /// CPU time of its thread, ns.
    pub cpu_ns: u64,
    /// Segments that were sent again; `None` if it is not known.
    pub retransmits: Option<u64>,
    /// Why it ended early; empty if it did not.
    pub error: String,
}

/// What a server has measured of datagrams.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UdpResult {
    /// Datagrams sent by the server.
    pub sent: u64,
    /// Time in which the server has sent or received, ns.
    pub nanos: u64,
    /// Different datagrams received.
    pub received: u64,
    /// Datagrams received again.
    pub duplicates: u64,
    /// Datagrams received after a later one.
    pub reordered: u64,
    /// Interarrival jitter by RFC 3550, ns.
    pub jitter_ns: f64,
    /// CPU time of the thread, ns.
    pub cpu_ns: u64,
}

/// Two ends with different messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatible {
    /// Version of the other end's program.
    pub version: String,
    /// The other end's [`PROTOCOL`].
    pub protocol: u32,
}

impl ClientHello {
    /// A greeting.
    pub fn new(version: &str, nonce: String) -> Self {
        Self { wavetank_net: PROTOCOL, version: version.to_owned(), nonce }
    }

    /// Fails if the client has other messages.
    pub fn check(&self) -> Result<(), Incompatible> {
        check(self.wavetank_net, &self.version)
    }
}

impl ServerHello {
    /// A greeting.
    pub fn new(version: &str, nonce: String) -> Self {
        Self { wavetank_net: PROTOCOL, version: version.to_owned(), nonce }
    }

    /// Fails if the server has other messages.
    pub fn check(&self) -> Result<(), Incompatible> {
        check(self.wavetank_net, &self.version)
    }
}

fn check(protocol: u32, version: &str) -> Result<(), Incompatible> {
    if protocol == PROTOCOL {
        return Ok(());
    }
    // The text comes from the network.
    let version = version.chars().filter(char::is_ascii_graphic).take(32).collect();
    Err(Incompatible { version, protocol })
}

impl Token {
    /// Whether `proof` is that of a client with this token.
    pub fn is_client(&self, proof: &ClientProof, client_nonce: &str, server_nonce: &str) -> bool {
        let expected = self.client_proof(client_nonce, server_nonce);
        crate::token::are_equal(expected.as_bytes(), proof.proof.as_bytes())
    }

    /// Whether `proof` is that of a server with this token.
    pub fn is_server(&self, proof: &str, client_nonce: &str, server_nonce: &str) -> bool {
        let expected = self.server_proof(client_nonce, server_nonce);
        crate::token::are_equal(expected.as_bytes(), proof.as_bytes())
    }
}
