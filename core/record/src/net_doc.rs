//! [`NetDoc`]: the `wavetank.net/1` object, measurements of the network between hosts.

use serde::{Deserialize, Serialize};

use crate::{DecodeError, Number};

/// Version of the format; fields are only ever added to it.
pub const NET_SCHEMA: &str = "wavetank.net/1";

/// Measurements of the network between hosts. Every view of them is a function of it alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetDoc {
    /// Always [`NET_SCHEMA`].
    pub schema: String,
    /// Version of wavetank.
    pub version: String,
    /// Name of the measurement.
    pub name: String,
    /// Its id.
    pub id: String,
    /// The command, without secrets.
    pub command: String,
    /// Wall time of its start, RFC 3339 in UTC.
    pub started_at: String,
    /// Duration of everything, seconds.
    pub took_s: Number,
    /// What was measured.
    pub settings: NetSettingsDoc,
    /// The pairs, in the order in which they were measured.
    pub pairs: Vec<NetPairDoc>,
    /// All hosts sending to one simultaneously; absent if that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub many_to_one: Option<ManyToOneDoc>,
    /// What is wrong with the network.
    pub findings: Vec<NetFindingDoc>,
    /// Additional information.
    pub notes: Vec<String>,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetSettingsDoc {
    /// `tcp`, `rr`, `connect`, `sizes`, `udp`, `mtu`.
    pub tests: Vec<String>,
    /// Numbers of simultaneous TCP streams.
    pub streams: Vec<u32>,
    /// Duration of each measurement, seconds.
    pub duration_s: Number,
    /// UDP rate at which loss and jitter were measured, bits of payload per second.
    pub udp_bits_per_s: Number,
    /// Nominal speed of the links, bits per second, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bits_per_s: Option<Number>,
}

/// Measurements of one pair of hosts. `from` is the client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetPairDoc {
    /// Name of the client's host.
    pub from: String,
    /// Name of the server's host.
    pub to: String,
    /// The address that the client used; empty if there is none.
    pub address: String,
    /// Version of wavetank at the server; empty if it is not known.
    pub server_version: String,
    /// The interfaces that the pair uses, client first.
    pub links: Vec<NetLinkDoc>,
    /// What failed; the other measurements of the pair are valid.
    pub failures: Vec<NetFailureDoc>,
    /// TCP throughput.
    pub tcp: Vec<TcpThroughputDoc>,
    /// Requests and responses, one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rr: Option<RequestResponseDoc>,
    /// New connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<ConnectDoc>,
    /// Messages of growing size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizesDoc>,
    /// UDP.
    pub udp: Vec<UdpDoc>,
    /// The largest packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<MtuDoc>,
}

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetLinkDoc {
    /// Its host.
    pub host: String,
    /// Its name.
    pub interface: String,
    /// Its nominal speed, bits per second; `null` if it is virtual or does not report one.
    pub bits_per_s: Option<Number>,
}

/// A measurement that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetFailureDoc {
    /// `connect` for the control connection, or the test.
    pub test: String,
    /// Stable name, e.g. `net_filtered`.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// Throughput in one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TcpThroughputDoc {
    /// `forward`: client to server; `reverse`: server to client.
    pub direction: String,
    /// Whether the other direction was busy in the meantime.
    pub both: bool,
    /// Simultaneous streams.
    pub streams: u32,
    /// Bits of payload per second, at the receiver.
    pub bits_per_s: Number,
    /// Bytes received.
    pub bytes: u64,
    /// Time in which they were received, seconds.
    pub duration_s: Number,
    /// Bits per second in each interval.
    pub intervals: Vec<Number>,
    /// Length of an interval, seconds.
    pub interval_s: Number,
    /// Throughput of each stream, bits per second.
    pub each: Vec<Number>,
    /// Segments sent again; `null` if unknown.
    pub retransmits: Option<u64>,
    /// CPU time of the sending threads, seconds.
    pub sender_cpu_s: Number,
    /// CPU time of the receiving threads, seconds.
    pub receiver_cpu_s: Number,
}

/// A distribution of times, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetLatencyDoc {
    /// Values.
    pub count: u64,
    /// The smallest.
    pub min: Number,
    /// The mean.
    pub mean: Number,
    /// Percentiles.
    pub p50: Number,
    /// Percentile 90.
    pub p90: Number,
    /// Percentile 99.
    pub p99: Number,
    /// Percentile 99.9.
    pub p999: Number,
    /// The largest.
    pub max: Number,
    /// Upper ends of buckets, and how many values are in each.
    pub buckets: Vec<(Number, u64)>,
}

/// Requests and responses of a byte.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestResponseDoc {
    /// Requests per second of one connection.
    pub per_s: Number,
    /// Duration, seconds.
    pub duration_s: Number,
    /// Round-trip times.
    pub round_trip_us: NetLatencyDoc,
}

/// New connections, each with a request and a byte of response.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectDoc {
    /// Connections per second.
    pub per_s: Number,
    /// Threads that opened connections.
    pub threads: u32,
    /// Duration, seconds.
    pub duration_s: Number,
    /// Connections that failed.
    pub failed: u64,
    /// Time until a connection is established.
    pub connect_us: NetLatencyDoc,
}

/// Messages of growing size, back and forth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizesDoc {
    /// One for each size, ascending.
    pub points: Vec<SizePointDoc>,
    /// The highest throughput, bits per second.
    pub max_bits_per_s: Number,
    /// Size of a message that reaches half of it (n½), bytes; `null` if every size does.
    pub half_bytes: Option<Number>,
}

/// Messages of one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizePointDoc {
    /// Size, bytes.
    pub bytes: u64,
    /// Half the round-trip time: the mean of the best round.
    pub latency_us: Number,
    /// Size divided by that time, bits per second.
    pub bits_per_s: Number,
    /// Messages sent each way.
    pub count: u64,
}

/// Datagrams in one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UdpDoc {
    /// `forward` or `reverse`.
    pub direction: String,
    /// `rate`: at a fixed rate; `packets`: small packets as fast as possible.
    pub mode: String,
    /// Payload of a datagram, bytes.
    pub bytes: u32,
    /// Intended rate, bits of payload per second; `null` in mode `packets`.
    pub target_bits_per_s: Option<Number>,
    /// Datagrams sent.
    pub sent: u64,
    /// Different datagrams received.
    pub received: u64,
    /// Share of those sent that did not arrive.
    pub loss: Number,
    /// Datagrams received again.
    pub duplicates: u64,
    /// Datagrams received after a later one.
    pub reordered: u64,
    /// Datagrams per second, at the sender.
    pub sent_per_s: Number,
    /// Datagrams per second, at the receiver.
    pub received_per_s: Number,
    /// Bits of payload per second, at the receiver.
    pub bits_per_s: Number,
    /// Interarrival jitter by RFC 3550.
    pub jitter_us: Number,
}

/// The largest packets, with IP header, that pass without being fragmented.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MtuDoc {
    /// From client to server, bytes; `null` if not even small packets pass.
    pub forward: Option<u32>,
    /// From server to client, bytes.
    pub reverse: Option<u32>,
    /// What the client's kernel takes for the MTU of the path.
    pub kernel: Option<u32>,
    /// `forward`, `reverse`: directions in which large packets vanish without an ICMP message.
    pub black_holes: Vec<String>,
    /// Datagrams sent to find out.
    pub probes: u32,
}

/// All hosts sending to one simultaneously.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ManyToOneDoc {
    /// The receiver.
    pub to: String,
    /// One for each sender.
    pub senders: Vec<ManySenderDoc>,
    /// Throughput of all, bits per second.
    pub bits_per_s: Number,
    /// The highest throughput of one sender by itself, bits per second.
    pub best_alone_bits_per_s: Number,
}

/// One sender of many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ManySenderDoc {
    /// Its name.
    pub from: String,
    /// Its throughput by itself, bits per second; `null` if it failed.
    pub alone_bits_per_s: Option<Number>,
    /// Its throughput in parallel with the others, bits per second; `null` if it failed.
    pub together_bits_per_s: Option<Number>,
    /// What failed; empty if nothing did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// Something wrong with the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetFindingDoc {
    /// Stable name, e.g. `net_mtu_black_hole`.
    pub code: String,
    /// What was found, with its numbers.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl NetDoc {
    /// The object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data with string keys always encodes")
    }

    /// Reads the object. Unknown fields are skipped: the format only grows.
    ///
    /// # Errors
    /// If the text is not a JSON object of this schema.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let doc: Self = serde_json::from_str(text).map_err(|error| DecodeError::json(&error))?;
        if doc.schema == NET_SCHEMA { Ok(doc) } else { Err(DecodeError::schema(&doc.schema, NET_SCHEMA)) }
    }
}
