//! The control connection of a client, at the server.

use std::net::{IpAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt::{set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl};
use wavetank_netbench::{
    ClientHello, ClientProof, ClientRequest, Direction, NetSettings, ServerHello, ServerProof, ServerReply,
    UDP_HEADER_BYTES, random_hex,
};
use wavetank_units::Nanos;

use super::datagrams::{UdpTask, UdpWork, bind};
use super::sessions::Session;
use super::state::{ServerState, Unproved, start_thread};
use crate::control::ControlSocket;
use crate::interface::interface_of;

/// How long a client may take for each line of its greeting.
const GREETING_WAIT: Nanos = Nanos::from_secs(5);
/// How often a session looks whether the server is to end.
const LOOK_EVERY: Nanos = Nanos::from_millis(500);
/// A client that has sent nothing for this long, in addition to the longest test, is gone.
const IDLE_MAX: Nanos = Nanos::from_secs(120);
/// How long the threads of a test may take to end.
const COLLECT_WAIT: Duration = Duration::from_secs(8);
/// Largest payload of a datagram.
const DATAGRAM_BYTES_MAX: u32 = 65_507;

/// Greets a client and carries out its requests until it closes the connection.
pub(super) fn serve_session(
    state: &Arc<ServerState>,
    stream: TcpStream,
    peer: IpAddr,
    start: &[u8],
    unproved: Unproved,
) {
    let local = stream.local_addr().map(|address| address.ip());
    notice_loss(&stream);
    let (Ok(local), Ok(mut control)) = (local, ControlSocket::new(stream, start)) else { return };
    let Ok(Some(session)) = greet(state, &mut control, local, peer) else { return };
    drop(unproved);
    state.sessions.event(format!("{peer} connected"));
    let test_max = NetSettings::DURATION_MAX;
    let mut last = state.clock.now();
    while !state.is_over() && state.clock.now() < last.after(test_max).after(IDLE_MAX) {
        match control.receive::<ClientRequest>(LOOK_EVERY) {
            Ok(request) => {
                let reply = handle(state, &session, local, &request);
                if control.send(&reply).is_err() {
                    break;
                }
                last = state.clock.now();
            }
            Err(error) if crate::control::is_wait(&error) => {}
            Err(_) => break,
        }
    }
    state.sessions.end(&session);
    state.sessions.event(format!("{peer} has ended"));
}

/// Makes the kernel end the connection to a client that has vanished without a word. Its place is
/// free for another one then.
fn notice_loss(stream: &TcpStream) {
    let times = set_tcp_keepidle(stream, Duration::from_secs(10))
        .and_then(|()| set_tcp_keepintvl(stream, Duration::from_secs(5)))
        .and_then(|()| set_tcp_keepcnt(stream, 3));
    // Without these settings, the time limit of an idle client applies.
    let _ = times.and_then(|()| set_socket_keepalive(stream, true));
}

/// Exchanges the proofs; `None` if the client is not accepted.
fn greet(
    state: &ServerState,
    control: &mut ControlSocket,
    local: IpAddr,
    peer: IpAddr,
) -> std::io::Result<Option<Arc<Session>>> {
    let hello: ClientHello = control.receive(GREETING_WAIT)?;
    let nonce = random_nonce()?;
    control.send(&ServerHello::new(state.version, nonce.clone()))?;
    // A client of another version reads that from the greeting, and closes.
    if hello.check().is_err() {
        return Ok(None);
    }
    let proof: ClientProof = control.receive(GREETING_WAIT)?;
    if !state.token.is_client(&proof, &hello.nonce, &nonce) {
        state.sessions.event(format!("{peer} has another token"));
        control.send(&ServerProof::BadToken)?;
        return Ok(None);
    }
    let mut number = [0; 8];
    getrandom::fill(&mut number).map_err(std::io::Error::other)?;
    let number = u64::from_be_bytes(number);
    let key = state.token.session_key(&hello.nonce, &nonce);
    let Some(session) = state.sessions.add(number, key, peer) else {
        control.send(&ServerProof::Busy)?;
        return Ok(None);
    };
    control.trust();
    let interface = interface_of(local);
    control.send(&ServerProof::Session {
        proof: state.token.server_proof(&hello.nonce, &nonce),
        session: number,
        interface: interface.name,
        link_bits_per_s: interface.bits_per_s,
    })?;
    Ok(Some(session))
}

/// Returns 16 random bytes in hexadecimal digits.
pub(crate) fn random_nonce() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(random_hex(bytes))
}

fn handle(
    state: &Arc<ServerState>,
    session: &Arc<Session>,
    local: IpAddr,
    request: &ClientRequest,
) -> ServerReply {
    let replied = match *request {
        ClientRequest::Expect { test, streams, millis } => {
            session.expect(test, streams, millis).map(|()| ServerReply::Ready)
        }
        ClientRequest::Udp { test, direction, bytes, bits_per_s, millis } => {
            let work = match direction {
                Direction::Forward => UdpWork::Receive,
                Direction::Reverse => UdpWork::Send { bytes, bits_per_s },
            };
            let is_possible = (UDP_HEADER_BYTES as u32..=DATAGRAM_BYTES_MAX).contains(&bytes);
            if is_possible {
                start_udp(state, session, local, (test, millis), work)
            } else {
                Err(format!("a datagram has {UDP_HEADER_BYTES} to {DATAGRAM_BYTES_MAX} bytes"))
            }
        }
        ClientRequest::MtuProbe { test, millis } => {
            start_udp(state, session, local, (test, millis), UdpWork::Answer)
        }
        ClientRequest::Collect { test, .. } => match session.collect(test, COLLECT_WAIT) {
            Some((_, Some(udp))) => Ok(ServerReply::Udp(udp)),
            Some((flows, None)) => Ok(ServerReply::Flows(flows)),
            None => Err("there is no such test".to_owned()),
        },
    };
    replied.unwrap_or_else(ServerReply::Refused)
}

fn start_udp(
    state: &Arc<ServerState>,
    session: &Arc<Session>,
    local: IpAddr,
    (test, millis): (u32, u64),
    work: UdpWork,
) -> Result<ServerReply, String> {
    let stop = session.expect_udp(test, millis)?;
    let socket = bind(local, state.address.port())
        .map_err(|error| format!("UDP: {}", crate::error::reason(&error)))?;
    let port = socket.local_addr().map_err(|error| error.to_string())?.port();
    let duration = Nanos::from_millis(millis as i64);
    let task = UdpTask { socket, session: Arc::clone(session), test, duration, stop };
    let active = session.activate();
    start_thread("net-udp", move || {
        let _active = active;
        task.run(work);
    });
    Ok(ServerReply::UdpPort(port))
}
