//! `wavetank net endpoint`: an end of a measurement on another host. It reads its job from standard
//! input, which has the token, and ends with its input.

use std::io::{BufRead as _, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wavetank_netbench::{ControlLine, EndpointEvent, EndpointJob, LINE_BYTES_MAX, MeasureJob, Token};
use wavetank_netprobe::{NetServer, PairContext, ServerLimits, measure_pair};
use wavetank_units::{Code, ExitCode, Nanos, UserError};

/// How often a server looks whether its input has ended.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// Does the job, and reports as lines of JSON.
pub(super) fn endpoint() -> Result<u8, UserError> {
    let mut line = Vec::new();
    let read = std::io::stdin().lock().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line);
    let job = read.ok().and_then(|_| serde_json::from_slice::<EndpointJob>(&line).ok());
    let Some(job) = job else {
        return Err(UserError::usage(
            Code::NetJob,
            "`wavetank net endpoint` is started by `wavetank net --lab` and `--fleet`, which send it a job",
            "use `wavetank net serve` and `wavetank net HOST`",
        ));
    };
    let done = match job {
        EndpointJob::Serve { token, listen, millis, peers } => {
            let lasts = Nanos::from_millis(i64::try_from(millis).unwrap_or(i64::MAX / 1_000_000));
            serve(&token, listen, ServerLimits { peers, lasts })
        }
        EndpointJob::Measure(job) => measure(&job),
    };
    if let Err(error) = done {
        report(&EndpointEvent::Failed { code: error.code.as_str().to_owned(), message: error.message });
        return Ok(error.exit as u8);
    }
    Ok(ExitCode::Pass as u8)
}

/// A controller that went away reads nothing more; the input ends then, too.
fn report(event: &EndpointEvent) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(&ControlLine::encode(event)).and_then(|()| stdout.flush());
}

fn token(text: &str) -> Result<Token, UserError> {
    Token::new(text).ok_or_else(|| {
        UserError::usage(Code::BadToken, "the job has no token", "use the same wavetank on all hosts")
    })
}

/// Sets `has_ended` when standard input has ended.
fn watch_input(has_ended: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        has_ended.store(true, Ordering::Relaxed);
    });
}

fn serve(text: &str, listen: std::net::SocketAddr, limits: ServerLimits) -> Result<(), UserError> {
    let server = NetServer::start(listen, token(text)?, env!("CARGO_PKG_VERSION"), limits)?;
    report(&EndpointEvent::Serving(server.address()));
    let has_ended = Arc::new(AtomicBool::new(false));
    watch_input(Arc::clone(&has_ended));
    while !has_ended.load(Ordering::Relaxed) && !server.is_over() {
        std::thread::park_timeout(LOOK_AROUND);
    }
    server.end();
    Ok(())
}

fn measure(job: &MeasureJob) -> Result<(), UserError> {
    let (token, settings) = (token(&job.token)?, job.settings());
    let stop = Arc::new(AtomicBool::new(false));
    let mut waits = job.waits;
    if !waits {
        watch_input(Arc::clone(&stop));
    }
    let mut wait_for_start = || {
        if std::mem::take(&mut waits) {
            report(&EndpointEvent::Ready);
            let _ = std::io::stdin().lock().read(&mut [0]);
            watch_input(Arc::clone(&stop));
        }
    };
    let measured = measure_pair(&mut PairContext {
        from: &job.from,
        to: &job.to,
        server: job.server,
        token: &token,
        version: env!("CARGO_PKG_VERSION"),
        settings: &settings,
        progress: &mut |test| report(&EndpointEvent::Progress(test.to_owned())),
        stop: &stop,
        wait_for_start: &mut wait_for_start,
        directions: &job.directions,
    });
    report(&EndpointEvent::Pair(Box::new(measured.doc)));
    Ok(())
}
