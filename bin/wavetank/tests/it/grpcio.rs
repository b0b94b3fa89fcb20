//! A gRPC server of grpcio, the Python library.

use std::time::Duration;

use wavetank_testkit::{Program, TestDir, poll_until, skip};

const SERVER: &str = include_str!("grpc_server.py");

/// Calls `body` with the URL of a server of grpcio. Without the library `test` is skipped.
pub(crate) fn with_grpcio(test: &str, body: impl FnOnce(&str)) {
    let Some(python) = Program::foreign("python3") else { return skip(test, "python3 is not installed") };
    if python.clone().args(["-c", "import grpc"]).run().exit != Some(0) {
        return skip(test, "python3 has no grpcio");
    }
    let place = TestDir::new();
    let (script, ready) = (place.write("server.py", SERVER), place.path().join("port"));
    let server = python.args([script.as_str(), &ready.display().to_string()]).start();
    let port = poll_until(Duration::from_mins(1), || {
        std::fs::read_to_string(&ready).ok().filter(|port| port.ends_with('\n'))
    });
    let Some(port) = port else { panic!("the server does not start: {}", server.stderr()) };
    body(&format!("grpc://127.0.0.1:{}", port.trim()));
}
