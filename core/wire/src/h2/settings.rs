//! The settings of the peer (RFC 9113 §6.5).

use super::error::Fault;
use super::frame::{FrameHeader, PAYLOAD_BYTES_MAX, WINDOW_DEFAULT, WINDOW_MAX, flag, number, setting};

/// The largest allowed value of `SETTINGS_MAX_FRAME_SIZE`.
const MAX_FRAME_SIZE_MAX: u32 = (1 << 24) - 1;

/// The settings of the peer that matter here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerSettings {
    /// Streams that it accepts simultaneously.
    pub(crate) streams_max: u32,
    /// The initial window of each stream.
    pub(crate) window: i64,
    /// The size of its header table, if it was given.
    pub(crate) table: Option<usize>,
    /// Whether it accepts streams for other protocols (RFC 8441 §3).
    pub(crate) connect_protocol: bool,
    /// Whether it has sent any settings.
    pub(crate) arrived: bool,
}

impl PeerSettings {
    pub(crate) const fn new() -> Self {
        Self {
            streams_max: u32::MAX,
            window: WINDOW_DEFAULT,
            table: None,
            connect_protocol: false,
            arrived: false,
        }
    }

    /// Takes in a SETTINGS frame. Returns whether it must be acknowledged. `is_server`: the peer is
    /// a server, which must not enable push.
    pub(crate) fn take(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        is_server: bool,
    ) -> Result<bool, Fault> {
        if header.stream != 0 {
            return Err(Fault::WrongStream);
        }
        if header.has(flag::ACK) {
            return if payload.is_empty() { Ok(false) } else { Err(Fault::FrameSize) };
        }
        if !payload.len().is_multiple_of(6) {
            return Err(Fault::FrameSize);
        }
        self.table = None;
        for entry in payload.chunks_exact(6) {
            let value = number(&entry[2..]);
            match number(&entry[..2]) as u16 {
                setting::HEADER_TABLE_SIZE => self.table = Some(value as usize),
                setting::ENABLE_PUSH if value > u32::from(!is_server) => return Err(Fault::BadSetting),
                setting::MAX_CONCURRENT_STREAMS => self.streams_max = value,
                setting::INITIAL_WINDOW_SIZE if i64::from(value) > WINDOW_MAX => {
                    return Err(Fault::WindowOverflow);
                }
                setting::INITIAL_WINDOW_SIZE => self.window = i64::from(value),
                setting::MAX_FRAME_SIZE
                    if !(PAYLOAD_BYTES_MAX as u32..=MAX_FRAME_SIZE_MAX).contains(&value) =>
                {
                    return Err(Fault::BadSetting);
                }
                setting::ENABLE_CONNECT_PROTOCOL if value > 1 => return Err(Fault::BadSetting),
                setting::ENABLE_CONNECT_PROTOCOL => self.connect_protocol |= value == 1,
                _ => {}
            }
        }
        self.arrived = true;
        Ok(true)
    }
}
