//! The server without files: it says so in its count, and goes on when there are some again.
//!
//! It limits the files of the whole process, so it is alone in one.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wavetank_target::{ServeOptions, start};

#[test]
fn no_file_for_a_client_is_counted_and_outlived() {
    let listen = vec!["127.0.0.1:0".parse().expect("an address")];
    let server =
        start(ServeOptions { listen, threads: Some(1), ..ServeOptions::default() }).expect("a free port");
    let limits = getrlimit(Resource::Nofile);
    let used = fs::read_dir("/proc/self/fd").expect("/proc is mounted").count() as u64 + 8;
    setrlimit(Resource::Nofile, Rlimit { current: Some(used), ..limits }).expect("lowering is allowed");
    let mut rest: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    // One number is free, and this end takes it.
    rest.pop().expect("there were some");
    let mut client = TcpStream::connect(server.addresses()[0]).expect("the kernel accepts");
    client.set_read_timeout(Some(Duration::from_mins(1))).expect("a positive timeout");
    client.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("the kernel takes it");
    while server.truth().connections.accept_failed < 2 {
        std::thread::yield_now();
    }
    assert_eq!(server.truth().connections.accepted, 0);
    drop(rest);
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).expect("a clean end");
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"));
    let connections = server.truth().connections;
    assert_eq!(connections.accepted, 1);
    // Each failure is followed by a pause of 100 ms; spinning would make them many thousands.
    assert!(connections.accept_failed < 200, "{connections:?}");
    setrlimit(Resource::Nofile, limits).expect("raising to the old limit is allowed");
}
