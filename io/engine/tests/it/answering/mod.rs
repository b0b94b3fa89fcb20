//! A server with responses defined by a test, which records the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The requests received, each with its body, in order of arrival.
pub(crate) type Seen = Arc<Mutex<Vec<String>>>;

/// Returns the response to a request. If it is empty, the connection is closed.
type Answers = dyn Fn(&str) -> Vec<u8> + Send + Sync;

/// Responds to every request, until the process ends.
pub(crate) fn server(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (seen, answer): (Seen, Arc<Answers>) = (Seen::default(), Arc::new(answer));
    let all = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, seen, answer) =
                (stream.expect("a connection"), Arc::clone(&all), Arc::clone(&answer));
            std::thread::spawn(move || serve(stream, &seen, &*answer));
        }
    });
    (address, seen)
}

fn serve(stream: TcpStream, seen: &Seen, answer: &Answers) {
    let mut writer = stream.try_clone().expect("a second handle");
    let mut reader = BufReader::new(stream);
    loop {
        let (mut request, mut length) = (String::new(), 0);
        loop {
            let before = request.len();
            if reader.read_line(&mut request).unwrap_or(0) == 0 {
                return;
            }
            let line = &request[before..];
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().expect("a length");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("the body");
        request.push_str(std::str::from_utf8(&body).expect("text"));
        let answer = answer(&request);
        seen.lock().expect("no thread panics with it").push(request);
        if answer.is_empty() || writer.write_all(&answer).is_err() {
            return;
        }
    }
}
