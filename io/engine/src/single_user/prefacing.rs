//! The preface of a connection, ahead of TLS and requests.

use wavetank_driver::{DialTls, Driver, Event};
use wavetank_plan::UrlProtocol;
use wavetank_units::Nanos;

use super::connection::{Connector, SingleConnection};
use super::response_capture::ResponseCapture;
use crate::failure::{self, Failure};
use crate::preface::{TUNNEL_TIMEOUT, read_tunnel, tunnel_ended, tunnel_reader};

impl Connector<'_> {
    /// Sends the preface of `connection` to `target`, and starts TLS after it. `hearing` keeps the
    /// response of a proxy.
    pub(super) fn send_preface<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        (target, tls): (u16, Option<DialTls>),
        until: Nanos,
        hearing: &mut ResponseCapture,
    ) -> Result<(), Failure> {
        let bytes = self.preface.bytes(target, || connection.driver.ends(connection.conn))?;
        if !bytes.is_empty() {
            // If this fails, the end of the connection is reported.
            let _ = connection.driver.send(connection.conn, &bytes);
        }
        if self.preface.needs_tunnel(target) {
            self.open_tunnel(connection, target, until, hearing)?;
            connection.opened.tunnelled = Some(self.clock.now());
        }
        tls.map_or(Ok(()), |tls| connection.driver.secure(connection.conn, tls))
            .map_err(failure::connect_failure)
    }

    fn open_tunnel<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        target: u16,
        until: Nanos,
        hearing: &mut ResponseCapture,
    ) -> Result<(), Failure> {
        let protocol = self.plan.targets[usize::from(target)].protocol();
        let may_greet = protocol == UrlProtocol::Tcp && self.names[usize::from(target)].is_none();
        let (driver, conn) = (&mut connection.driver, connection.conn);
        let mut reader = tunnel_reader(self.limits());
        loop {
            match self.event(driver, until, &TUNNEL_TIMEOUT)? {
                Event::Received(id, len) if id == conn => {
                    hearing.observe(driver.received(len));
                    let received = driver.received(len);
                    if let Some(surplus) = read_tunnel(&mut reader, received, may_greet)? {
                        connection.greeting = received[len - surplus..].to_vec();
                        return Ok(());
                    }
                }
                Event::Ended(id, how) if id == conn => {
                    return Err(tunnel_ended(&failure::end_failure(how, driver)));
                }
                _ => {}
            }
        }
    }
}
