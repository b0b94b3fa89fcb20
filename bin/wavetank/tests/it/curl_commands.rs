//! Commands for curl send the same with `--curl` as with curl itself.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::spawn;

use wavetank_testkit::{Program, TestDir, is_long, skip};

/// Commands with `URL` and `HOST` (with its port) for the server's. Each is a kind of its own.
const COMMANDS: [&str; 22] = [
    "curl URL/a?b=c",
    "curl -G -d x=1 --data-urlencode 'y=a b' 'URL/a?q#frag'",
    "curl 'URL/?a' --data-urlencode 'a b&c' --data-urlencode '=x=y z' --data-urlencode @f.txt --data-urlencode n@f.txt",
    "curl URL/ -d @f.txt -d a=1",
    "curl URL/ --data-binary @f.txt",
    "curl URL/ --data-raw @f.txt -X PUT",
    "curl URL/ --json '{\"a\":' --json '1}'",
    "curl URL/ -H @h.txt -H 'X-E;' -H 'X-T:  v' -H 'User-Agent:' -H 'Accept:'",
    "curl URL/ -A me -e 'http://r/;auto' -r 0-99 --compressed",
    "curl URL/ -A me -H 'User-Agent: you' -r 5 -H 'Host: other'",
    "curl URL/x -b a=1 -b jar.txt -b b=2",
    "curl URL/x -b a=1 -H 'Cookie: c=3'",
    "curl -I URL/",
    "curl -u me:p@ss URL/",
    "curl http://us%40er:p%3Aw@HOST/",
    "curl -x HOST -U pu:pp http://127.0.0.1:9/p",
    "curl URL/ -F a=b -F 'c=d;type=text/plain;charset=x' -F 'e=\"x;y\"' -F f=@f.txt -F 'h=<h.txt' --form-string 'i=@j;type=z'",
    "curl URL/ -F 'g=@f.txt;type=text/x;filename=q.txt' -F 'k=@p.png;filename=\"a b.png\"' -F 'l=m;n'",
    "curl --connect-to 127.0.0.1:9:HOST http://127.0.0.1:9/c -0",
    "curl --resolve '*:PORT:127.0.0.1' http://nowhere.test:PORT/",
    "curl --unix-socket s.sock http://localhost/u",
    "curl $'URL/\\x61' -H $'X-Q: it\\'s' --data $'caf\\u00e9\\n'",
];

/// More of the same, for the long form.
const MORE: [&str; 20] = [
    "curl --url URL/ -sSL -X DELETE -o /dev/null",
    "curl URL/ -d a=b -G -X POST",
    "curl URL/ -d ''",
    "curl URL/ -d x=1 --json '{}'",
    "curl URL/ --json '{}' -d x=1",
    "curl URL/ -d a -H 'Content-Type: text/x'",
    "curl URL/ -d a -H 'Content-Type:'",
    "curl URL/ -A ''",
    "curl URL/ -e ';auto' -b ''",
    "curl URL/ -r -5 -H 'range: bytes=5-6'",
    "curl URL/ -I -G -d x=y",
    "curl URL/ -u me: -H 'Authorization: Bearer x'",
    "curl URL/ --oauth2-bearer tok",
    "curl -x http://a:b@HOST http://127.0.0.1:9/p",
    "curl -x '' URL/ --noproxy '*'",
    "curl -x HOST --noproxy .0.0.1,127.0.0.1 URL/",
    "curl URL/ -F 'x=@h.json' -F 'y=<f.json;type=application/json'",
    "curl --connect-to ::HOST http://127.0.0.1:9/",
    "curl --connect-to '::[::1]:PORT6' http://[::1]:9/six",
    "curl --resolve 'b.test:PORT6:[::1]' --connect-to 'a.test:80:b.test:PORT6' http://a.test/",
];

/// A server that passes on every request as it came, and answers with an empty response.
struct Recorder {
    address: SocketAddr,
    six: Option<SocketAddr>,
    requests: Receiver<Vec<u8>>,
}

impl Recorder {
    fn start(socket: &str) -> Self {
        let (sender, requests) = sync_channel(16);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let six = TcpListener::bind("[::1]:0").ok();
        let six_address = six.as_ref().and_then(|six| six.local_addr().ok());
        for listener in std::iter::once(listener).chain(six) {
            let sender = sender.clone();
            spawn(move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    let copy = stream.try_clone().expect("a copy of a socket");
                    serve(stream, copy, &sender);
                }
            });
        }
        let listener = UnixListener::bind(socket).expect("a free path");
        spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let copy = stream.try_clone().expect("a copy of a socket");
                serve(stream, copy, &sender);
            }
        });
        Self { address, six: six_address, requests }
    }

    /// Returns the request of `program`, which must have sent exactly one.
    fn request_of(&self, program: Program) -> String {
        let outcome = program.run();
        let mut requests = self.requests.try_iter();
        match (requests.next(), requests.next()) {
            (Some(one), None) => canonical(&one),
            (one, _) => format!("{} requests: {outcome}", if one.is_some() { "several" } else { "no" }),
        }
    }
}

/// Passes on one request before it answers it.
fn serve(mut input: impl Read, mut output: impl Write, requests: &SyncSender<Vec<u8>>) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let head = request.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(head) = head {
            let text = String::from_utf8_lossy(&request[..head]).to_ascii_lowercase();
            let length =
                text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            if request.len() >= head + 4 + length.unwrap_or(0_usize) {
                break;
            }
        }
        match input.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(count) => request.extend(&piece[..count]),
        }
    }
    let _ = requests.send(request);
    let _ = output.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

/// The request with its headers in order of their names, without those that name the program or a
/// connection, and with one boundary for all forms.
fn canonical(request: &[u8]) -> String {
    let text = String::from_utf8_lossy(request).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").expect("a whole head");
    let boundary = head.split("boundary=").nth(1).map(|rest| rest.lines().next().unwrap_or_default());
    let unify = |text: &str| boundary.map_or(text.to_owned(), |own| text.replace(own, "BOUNDARY"));
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    let headers: BTreeSet<String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().replace("; ", ";")))
        .filter(|(name, value)| {
            !(name == "user-agent" && (value.starts_with("curl/") || value.starts_with("wavetank/")))
        })
        .filter(|(name, _)| !matches!(name.as_str(), "connection" | "proxy-connection" | "content-length"))
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect();
    format!("{first}\n{}\n{}", unify(&headers.into_iter().collect::<String>()), unify(body))
}

#[test]
fn curl_sends_the_same() {
    if Program::foreign("curl").is_none() {
        return skip("curl_sends_the_same", "curl is not installed");
    }
    let place = TestDir::new();
    place.write("f.txt", b"a=1\r\nb=2\n${x} \xc3\xa4");
    place.write("f.json", "{\"a\": 1}\n");
    place.write("h.json", "{}");
    place.write("p.png", b"\x89PNG\xff");
    place.write("h.txt", "X-A: 1\nX-B;\n# c\n\nX-C: 2\n");
    let jar = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tabc\n.other.org\tTRUE\t/\tFALSE\t0\tx\ty\n";
    place.write("jar.txt", jar);
    let recorder = Recorder::start(&place.file("s.sock"));
    let mut differing = Vec::new();
    let more: &[&str] = if is_long() { &MORE } else { &[] };
    for template in COMMANDS.iter().chain(more) {
        if template.contains("PORT6") && recorder.six.is_none() {
            continue;
        }
        let six = recorder.six.map(|six| six.port().to_string()).unwrap_or_default();
        let command = template
            .replace("URL", &format!("http://{}", recorder.address))
            .replace("HOST", &recorder.address.to_string())
            .replace("PORT6", &six)
            .replace("PORT", &recorder.address.port().to_string());
        let shell = Program::foreign("bash").expect("a shell").args(["-c", &format!("{command} -s -m 10")]);
        let expected = recorder.request_of(shell.in_folder(place.path()));
        let file = place.write("command.txt", &command);
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(place.path());
        let found = recorder.request_of(program.args(["run", "--curl", &file, "--once"]));
        if found != expected {
            differing.push(format!("{command}\nsent {found}\ncurl {expected}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
}

#[test]
fn a_copy_for_windows_sends_the_same() {
    let place = TestDir::new();
    let recorder = Recorder::start(&place.file("s.sock"));
    let command = format!(
        "curl ^\"http://{}/?a=1^&b=50^%^\" ^\r\n  -H ^\"X-Q: ^\\^\"v^\\^\"^\" ^\r\n  --data-raw ^\"^{{^\\^\"a^\\^\":1^}}^\"\r\n",
        recorder.address
    );
    let file = place.write("command.txt", command);
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(place.path());
    let found = recorder.request_of(program.args(["run", "--curl", &file, "--once"]));
    let expected = format!(
        "POST /?a=1&b=50% HTTP/1.1\naccept: */*\ncontent-type: application/x-www-form-urlencoded\nhost: {}\n\
         x-q: \"v\"\n\n{{\"a\":1}}",
        recorder.address
    );
    assert_eq!(found, expected);
}
