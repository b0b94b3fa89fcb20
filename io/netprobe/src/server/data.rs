//! What a server does with an accepted connection.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_netbench::{DataHeader, DataKind, HEADER_BYTES};
use wavetank_units::Nanos;

use super::session::serve_session;
use super::sessions::Session;
use super::state::{ServerState, limit_waits, start_thread};
use crate::control::is_wait;
use crate::streams::{DataStream, GRACE, echo, fill};

/// How long an acceptor waits for the first bytes. A client sends them with its first packet.
const FIRST_BYTES_WAIT: Duration = Duration::from_millis(20);
/// How long a slow connection may take to send them.
const HEADER_WAIT: Duration = Duration::from_secs(5);

/// Reads the first bytes of a connection and serves it: a short one in this thread, else in one of
/// its own.
pub(super) fn dispatch(state: &Arc<ServerState>, stream: TcpStream, peer: IpAddr) {
    let mut start = [0; HEADER_BYTES];
    if limit_waits(&stream, FIRST_BYTES_WAIT).is_err() {
        return;
    }
    match (&stream).read(&mut start) {
        Ok(0) => {}
        Ok(length) => classify(state, stream, peer, start, length),
        Err(error) if is_wait(&error) => {
            let Some(unproved) = state.count_unproved() else { return };
            let state = Arc::clone(state);
            start_thread("net-slow", move || {
                let _unproved = unproved;
                let is_limited = limit_waits(&stream, HEADER_WAIT).is_ok();
                if let Some(length) =
                    (&stream).read(&mut start).ok().filter(|&length| is_limited && length > 0)
                {
                    classify(&state, stream, peer, start, length);
                }
            });
        }
        Err(_) => {}
    }
}

/// Distinguishes control connections, which start with `{`, from data connections.
fn classify(
    state: &Arc<ServerState>,
    stream: TcpStream,
    peer: IpAddr,
    mut start: [u8; HEADER_BYTES],
    length: usize,
) {
    if start[0] == b'{' {
        let Some(unproved) = state.count_unproved() else { return };
        let state = Arc::clone(state);
        let _ = limit_waits(&stream, HEADER_WAIT);
        start_thread("net-session", move || serve_session(&state, stream, peer, &start[..length], unproved));
        return;
    }
    if length < HEADER_BYTES && !matches!(fill(&stream, &mut start[length..], &|| true), Ok(true)) {
        return;
    }
    let session = DataHeader::session_of(&start).and_then(|number| state.sessions.find(number));
    let Some(session) = session else { return };
    let Some(header) = DataHeader::decode(&start, &session.key) else { return };
    let Some(duration) = session.admit(&header) else { return };
    if header.kind == DataKind::Connect {
        // The client closes first, so no socket stays in TIME-WAIT here.
        let _ = (&stream).write(b"!");
        let _ = (&stream).read(&mut start);
        return;
    }
    let active = session.activate();
    start_thread("net-stream", move || {
        let _active = active;
        serve_stream(&session, &stream, &header, duration);
    });
}

fn serve_stream(session: &Session, stream: &TcpStream, header: &DataHeader, duration: Nanos) {
    let _ = stream.set_nodelay(true);
    let data = DataStream { stream, number: header.stream, duration, stop: &session.stop };
    match header.kind {
        DataKind::Upload => session.add_flow(header.test, data.receive()),
        DataKind::Download => {
            // The client has opened all its streams when it sends this byte.
            let clock = Clock::starting_now();
            let _ = stream.set_read_timeout(Some(HEADER_WAIT));
            let is_over = || clock.now() > Nanos::from_secs(5);
            if matches!(fill(stream, &mut [0], &is_over), Ok(true)) {
                session.add_flow(header.test, data.send());
            }
        }
        DataKind::Echo => {
            // The client ends it; the time is a bound.
            let until = duration.after(GRACE).after(GRACE);
            let _ = echo(stream, &session.stop, Clock::starting_now(), until);
        }
        DataKind::Connect | DataKind::Datagram => {}
    }
}
