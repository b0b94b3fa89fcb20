//! The built-in server alone, for benches of it: `serve ADDRESS [THREADS]`, until it is killed.

use std::process::ExitCode;
use std::thread;

use wavetank_target::{ServeOptions, start};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let listen = words.next().and_then(|word| word.parse().ok());
    let threads = words.next().and_then(|word| word.parse().ok());
    let Some(listen) = listen else {
        return ExitCode::from(2);
    };
    let Ok(_server) = start(ServeOptions { listen: vec![listen], threads, ..ServeOptions::default() }) else {
        return ExitCode::from(5);
    };
    loop {
        thread::park();
    }
}
