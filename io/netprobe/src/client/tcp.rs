//! TCP throughput.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Barrier;
use std::sync::atomic::AtomicBool;

use wavetank_netbench::{DataKind, Direction, FlowResult, ThroughputMeter, tcp_doc};
use wavetank_record::TcpThroughputDoc;
use wavetank_units::{Nanos, UserError};

use super::NetClient;
use crate::error;
use crate::streams::DataStream;

impl NetClient {
    /// Measures the throughput of this number of streams in these directions simultaneously.
    pub(super) fn measure_tcp(
        &mut self,
        directions: &[Direction],
        streams: u32,
        duration: Nanos,
        go: &mut dyn FnMut(),
    ) -> Result<Vec<TcpThroughputDoc>, UserError> {
        let all = streams * directions.len() as u32;
        let test = self.expect("TCP throughput", all, duration)?;
        let mut open = Vec::new();
        for number in 0..all {
            let direction = directions[(number / streams) as usize];
            let kind = match direction {
                Direction::Forward => DataKind::Upload,
                Direction::Reverse => DataKind::Download,
            };
            open.push((direction, number, self.open(kind, (test, number))?));
        }
        go();
        let own = run_streams(&open, duration, &self.stop);
        let theirs = self.collect_flows("TCP throughput", test)?;
        drop(open);
        let server = self.server.to_string();
        if let Some(failed) = own.iter().chain(&theirs).find(|flow| !flow.error.is_empty()) {
            return Err(error::test_failed("TCP throughput", &server, &failed.error));
        }
        let interval = ThroughputMeter::interval_of(duration);
        let of = |flows: &[FlowResult], index: usize| -> Vec<FlowResult> {
            let numbers = index as u32 * streams..(index as u32 + 1) * streams;
            flows.iter().filter(|flow| numbers.contains(&flow.stream)).cloned().collect()
        };
        let docs = directions.iter().enumerate().map(|(index, &direction)| {
            let (own, theirs) = (of(&own, index), of(&theirs, index));
            if own.len() != theirs.len() {
                return Err(error::test_failed(
                    "TCP throughput",
                    &server,
                    "it has no result of some streams",
                ));
            }
            let ends = match direction {
                Direction::Forward => (theirs.as_slice(), own.as_slice()),
                Direction::Reverse => (own.as_slice(), theirs.as_slice()),
            };
            Ok(tcp_doc(direction, directions.len() > 1, interval, ends))
        });
        docs.collect()
    }
}

/// Runs the streams, each in a thread, from one start on.
fn run_streams(open: &[(Direction, u32, TcpStream)], duration: Nanos, stop: &AtomicBool) -> Vec<FlowResult> {
    let start = Barrier::new(open.len());
    let run = |direction: Direction, number: u32, stream: &TcpStream| {
        let data = DataStream { stream, number, duration, stop };
        start.wait();
        match direction {
            Direction::Forward => data.send(),
            Direction::Reverse => {
                let mut stream = stream;
                match stream.write_all(b"G") {
                    Ok(()) => data.receive(),
                    Err(error) => {
                        FlowResult { stream: number, error: error::reason(&error), ..FlowResult::default() }
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = open
            .iter()
            .map(|(direction, number, stream)| (*number, scope.spawn(|| run(*direction, *number, stream))))
            .collect();
        let joined = threads.into_iter().map(|(number, thread)| {
            thread.join().unwrap_or_else(|_| FlowResult {
                stream: number,
                error: "its thread failed".to_owned(),
                ..FlowResult::default()
            })
        });
        joined.collect()
    })
}
