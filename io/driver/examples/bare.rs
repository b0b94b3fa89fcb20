//! scratch
use std::sync::Arc;
use wavetank_driver::*;
use wavetank_plan::Nanos;
fn run<D: Driver>(port: u16, conns: usize, secs: i64) {
    let clock = Clock::starting_now();
    let mut d = D::new(&Setup::small(clock)).unwrap();
    let req: Arc<[u8]> = Arc::from(&b"GET / HTTP/1.1\r\nHost: 127.0.0.1:18080\r\nUser-Agent: x\r\n\r\n"[..]);
    for _ in 0..conns { d.connect(&Dial::plain(([127,0,0,1],port).into())).unwrap(); }
    let end = clock.now().after(Nanos::from_secs(secs));
    let (mut n, mut turns) = (0u64, 0u64);
    while clock.now() < end {
        d.wait(end).unwrap();
        turns += 1;
        while let Some(e) = d.next() {
            match e {
                Event::Connected(c) => { d.send_shared(c, &req).unwrap(); }
                Event::Received(c, len) => { assert!(d.received(len).ends_with(b"\n") || len > 0); n += 1; d.send_shared(c, &req).unwrap(); }
                e => panic!("{e:?}"),
            }
        }
    }
    println!("{{\"requests\":{{\"done\":{n}}},\"turns\":{turns}}}");
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    // bare run URL -c N -d Ns ...
    let port: u16 = a[2].rsplit(':').next().unwrap().trim_end_matches('/').parse().unwrap();
    let conns: usize = a[4].parse().unwrap();
    let secs: f64 = a[6].trim_end_matches('s').parse().unwrap();
    if std::env::var_os("WT_URING").is_some() { run::<Uring>(port, conns, secs as i64) } else { run::<Epoll>(port, conns, secs as i64) }
}
