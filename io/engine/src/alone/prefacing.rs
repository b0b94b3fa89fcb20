//! What a line begins with ahead of TLS and requests.

use wavetank_driver::{DialTls, Driver, Event};
use wavetank_plan::Nanos;

use super::line::{Caller, Hearing, Line};
use crate::failure::{self, Failure};
use crate::preface::{TUNNEL_TIMEOUT, read_tunnel, tunnel_ended, tunnel_reader};

impl Caller<'_> {
    /// Say what `line` to `target` begins with, and begin TLS behind it. `hearing` keeps what a proxy answers to that.
    pub(super) fn say_preface<D: Driver>(
        &self,
        line: &mut Line<D>,
        (target, tls): (u16, Option<DialTls>),
        until: Nanos,
        hearing: &mut Hearing,
    ) -> Result<(), Failure> {
        let bytes = self.preface.bytes(target, || line.driver.ends(line.conn))?;
        if !bytes.is_empty() {
            // Where it fails, the end is told.
            let _ = line.driver.send(line.conn, &bytes);
        }
        if self.preface.asks_tunnel(target) {
            self.open_tunnel(line, until, hearing)?;
            line.opened.tunnelled = Some(self.clock.now());
        }
        tls.map_or(Ok(()), |tls| line.driver.secure(line.conn, tls)).map_err(failure::of_connect)
    }

    fn open_tunnel<D: Driver>(
        &self,
        line: &mut Line<D>,
        until: Nanos,
        hearing: &mut Hearing,
    ) -> Result<(), Failure> {
        let (driver, conn) = (&mut line.driver, line.conn);
        let mut reader = tunnel_reader();
        loop {
            match self.event(driver, until, &TUNNEL_TIMEOUT)? {
                Event::Received(id, len) if id == conn => {
                    hearing.see(driver.received(len));
                    if read_tunnel(&mut reader, driver.received(len))? {
                        return Ok(());
                    }
                }
                Event::Ended(id, how) if id == conn => {
                    return Err(tunnel_ended(&failure::of_end(how, driver)));
                }
                _ => {}
            }
        }
    }
}
