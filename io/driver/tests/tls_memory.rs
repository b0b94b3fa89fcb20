//! Memory of an idle TLS connection, on the client and on the server side. An allocator counts it:
//! the growth from 100 to 400 connections, per connection. Kernel memory is not included. The test
//! prints the numbers: `cargo test -p wavetank-driver --test tls_memory -- --nocapture`.
#![expect(unsafe_code, reason = "an allocator that counts is unsafe by its trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use wavetank_driver::{
    Clock, ConnId, Dial, DialTls, Driver, DriverConfig, Epoll, Event, Tls, TlsClient, TlsServer,
    TlsServerOptions,
};
use wavetank_plan::{TlsPlan, TlsResume, TlsVersions};
use wavetank_units::Nanos;

/// Bytes held by each side: 0 client, 1 server.
static HELD: [AtomicI64; 2] = [AtomicI64::new(0), AtomicI64::new(0)];
/// The side that allocations count for. All code runs on one thread, and each side frees the memory
/// that it allocated.
static SIDE: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD[SIDE.load(Ordering::Relaxed)].fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller meets the requirements of the trait.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD[SIDE.load(Ordering::Relaxed)].fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Side {
    index: usize,
    driver: Tls<Epoll>,
    secured: usize,
    accepted: Vec<ConnId>,
}

impl Side {
    /// Handles all ready events.
    fn turn(&mut self) {
        SIDE.store(self.index, Ordering::Relaxed);
        self.driver.wait(Nanos(i64::MIN)).expect("waiting works");
        while let Some(event) = self.driver.next() {
            match event {
                Event::Secured(_) => self.secured += 1,
                Event::Accepted(_, conn) => self.accepted.push(conn),
                Event::Received(conn, _) if self.index == 1 => {
                    self.driver.send(conn, &[b'a'; 200]).expect("open");
                }
                _ => {}
            }
        }
    }
}

/// Returns the bytes per connection of the client and of the server.
fn measure(versions: TlsVersions, resume: TlsResume) -> [i64; 2] {
    let server = TlsServer::self_signed(&["localhost".to_owned()], &TlsServerOptions::default());
    let server = Arc::new(server.expect("a server"));
    let plan = TlsPlan {
        verify: true,
        ca_pem: Some(server.chain_pem().to_vec()),
        client: None,
        sni: None,
        resume,
        versions,
        groups: vec!["X25519".to_owned()],
        ciphers: vec![],
        alpn: vec![],
    };
    let client = Arc::new(TlsClient::new(&plan, &["localhost".to_owned()]).expect("a client"));
    let setup = DriverConfig::small(Clock::starting_now());
    let side = |index, client, server| {
        let driver = Tls::wrap(Epoll::new(&setup).expect("a driver"), client, server);
        Side { index, driver, secured: 0, accepted: Vec::with_capacity(4_096) }
    };
    let (mut client, mut server) = (side(0, Some(client), None), side(1, None, Some(server)));
    let (_, at) = server.driver.listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a free port");
    let mut held = [[0; 2]; 2];
    let mut made = 0;
    for (round, until) in [100, 400].into_iter().enumerate() {
        while made < until {
            SIDE.store(0, Ordering::Relaxed);
            let tls = Some(DialTls { name: 0, session: made as u32 });
            let conn = client.driver.connect(&Dial { tls, ..Dial::plain(at) }).expect("loopback connects");
            client.driver.send(conn, &[b'q'; 100]).expect("kept");
            made += 1;
            while client.secured < made || server.secured < made {
                client.turn();
                server.turn();
            }
        }
        for _ in 0..10 {
            client.turn();
            server.turn();
        }
        held[round] = [0, 1].map(|index| HELD[index].load(Ordering::Relaxed));
    }
    [0, 1].map(|index| (held[1][index] - held[0][index]) / 300)
}

/// Twice the measured value: a buffer left on each connection exceeds it, small changes do not.
const IDLE_BYTES_MAX: i64 = 10_000;

#[test]
fn an_idle_connection_holds_no_buffers() {
    for versions in [TlsVersions::Tls13, TlsVersions::Tls12] {
        for resume in [TlsResume::Never, TlsResume::User] {
            let [client, server] = measure(versions, resume);
            let line = format!("idle {versions:?}, resume {resume:?}: client {client} B, server {server} B");
            writeln!(std::io::stderr(), "{line}").expect("stderr is open");
            // A negative value would mean that nothing is counted.
            assert!((500..IDLE_BYTES_MAX).contains(&client), "{line}");
            assert!((500..IDLE_BYTES_MAX / 2).contains(&server), "{line}");
        }
    }
}
