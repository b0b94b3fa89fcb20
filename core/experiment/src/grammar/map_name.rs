//! [`MapName`]: the maps with fixed keys, by name.

/// A key of an experiment.
pub(crate) type Key = wavetank_grammar::KeySchema<MapName>;

/// The kind of value of a key.
pub(crate) type Kind = wavetank_grammar::ValueKind<MapName>;

/// A map with fixed keys.
pub(crate) type Section = wavetank_grammar::MapSchema<MapName>;

/// The maps with fixed keys, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapName {
    Experiment,
    Http,
    Grpc,
    Tls,
    WebSocket,
    Target,
    TargetUrl,
    DataFile,
    DataRows,
    Scenario,
    Phase,
    Event,
    MultipartFile,
    SoapCall,
    TcpBytes,
    TcpExtent,
    Choice,
}
