//! Opens the connection of one user: the addresses of its target in order, preface, TLS.

use wavetank_driver::{
    CloseReason, ConnId, Datagrams, Dial, DialTls, Driver, DriverConfig, Errno, Event, Tls,
};
use wavetank_measure::ErrorClass;
use wavetank_plan::{HttpVersion, UrlProtocol};
use wavetank_quic::Quic;
use wavetank_tunnel::Tunnels;
use wavetank_units::Nanos;

use super::connection::{Connector, Handshake, Opened, RequestError, SingleConnection};
use super::response_capture::ResponseCapture;
use crate::failure::{self, Failure};
use crate::sources::Route;

/// The maximum number of tuples that are tried if the plan defines them. Other programs may occupy
/// a few, but not all.
const TUPLES_TRIED_MAX: u32 = 16;
/// The maximum number of a name's addresses that are tried.
const ADDRESSES_TRIED_MAX: u32 = 8;
impl Connector<'_> {
    /// Connects to `target`. If another program occupies a tuple, it tries the next one. If an
    /// address cannot be reached, it tries the next one. `until` limits all of this.
    pub(crate) fn open<D: Driver>(
        &mut self,
        target: u16,
        until: Nanos,
    ) -> Result<SingleConnection<D>, RequestError> {
        let begun = self.clock.now();
        let setup =
            DriverConfig { features: self.outbound.features, sockets: 1, ..DriverConfig::small(self.clock) };
        let driver =
            D::new(&setup).map_err(|errno| RequestError::new(failure::connect_failure(errno), None))?;
        let is_quic = self.plan.http.version == HttpVersion::Http3;
        let tls = self.outbound.tls.clone();
        let (tls, quic) = if is_quic { (None, tls) } else { (tls, None) };
        let driver = Quic::wrap(Tls::wrap(driver, tls, None), quic)
            .map_err(|errno| RequestError::new(failure::connect_failure(errno), None))?;
        let mut driver = Tunnels::wrap(driver, self.plan.uses_tunnels().then_some(1));
        let (mut left, mut last) = (self.sources.address_count(target).min(ADDRESSES_TRIED_MAX), None);
        for _ in 0..TUPLES_TRIED_MAX {
            let Some(route) = self.sources.allocate(target, begun) else { break };
            let failure =
                match self.connect(&mut driver, target, route, share_of(until, self.clock.now(), left)) {
                    Ok(conn) => {
                        let connected = self.clock.now();
                        let opened =
                            Opened { address: route.to, begun, connected, tunnelled: None, tls: None };
                        let (clock, streams, messages) = (self.clock, None, None);
                        let connection = SingleConnection {
                            driver,
                            conn,
                            clock,
                            opened,
                            served: 0,
                            streams,
                            messages,
                            greeting: Vec::new(),
                            end: None,
                        };
                        return self.establish(connection, target, until);
                    }
                    Err(failure) => failure,
                };
            let is_taken = route.tuple.is_chosen() && failure.class == ErrorClass::NoSourceAddress;
            let goes_on = is_taken || (failure.is_unreached() && left > 1);
            left -= u32::from(!is_taken);
            last = Some(RequestError::new(failure, Some(route.to)));
            if !goes_on || self.is_cancelled() {
                break;
            }
        }
        Err(last
            .unwrap_or_else(|| RequestError::new(failure::connect_failure(Errno(libc::EADDRNOTAVAIL)), None)))
    }

    /// Connects on `route`, until `until`.
    fn connect<D: Driver>(
        &self,
        driver: &mut Tunnels<Quic<Tls<D>>>,
        target: u16,
        Route { to, from, .. }: Route,
        until: Nanos,
    ) -> Result<ConnId, Failure> {
        // After a preface, TLS starts later.
        let tls = self.dial_tls(target).filter(|_| !self.preface.is_needed());
        let asks_ends = self.preface.needs_addresses();
        let is_udp = self.plan.targets[usize::from(target)].protocol() == UrlProtocol::Udp;
        let datagrams = is_udp.then_some(Datagrams::Whole);
        let connected = match driver.connect(&Dial { from, tls, asks_ends, datagrams, ..Dial::plain(to) }) {
            Ok(conn) => self.connected(driver, conn, until)?,
            Err(errno) => Err(errno),
        };
        connected.map_err(|errno| match errno {
            // It was accepted and reset before it was seen as open.
            Errno(libc::ECONNRESET) if tls.is_some() => {
                failure::handshake_failure(CloseReason::Broken(errno), driver)
            }
            _ => failure::connect_failure(errno),
        })
    }

    /// Sends the preface and makes the TLS handshake, as far as `target` needs them.
    fn establish<D: Driver>(
        &self,
        mut connection: SingleConnection<D>,
        target: u16,
        until: Nanos,
    ) -> Result<SingleConnection<D>, RequestError> {
        let tls = self.dial_tls(target);
        let address = Some(connection.opened.address);
        let no = |failure| RequestError::new(failure, address);
        if self.preface.is_needed() {
            let mut hearing = ResponseCapture::default();
            let said = self.send_preface(&mut connection, (target, tls), until, &mut hearing);
            said.map_err(|failure| RequestError { seen: hearing.seen, ..no(failure) })?;
        }
        if tls.is_some() && self.plan.http.version != HttpVersion::Http3 {
            connection.opened.tls = Some(self.secure(&mut connection, until).map_err(no)?);
        }
        if self.plan.http.version.has_streams() && !self.plan.uses_tunnels() {
            self.greet(&mut connection, until).map_err(no)?;
        }
        if self.plan.carries_messages(usize::from(target)) {
            self.begin_messages(&mut connection, target, until).map_err(no)?;
        }
        Ok(connection)
    }

    fn dial_tls(&self, target: u16) -> Option<DialTls> {
        self.names[usize::from(target)].map(|name| DialTls { name, session: 0 })
    }

    /// Waits until `conn` is connected or has failed.
    fn connected<D: Driver>(
        &self,
        driver: &mut D,
        conn: ConnId,
        until: Nanos,
    ) -> Result<Result<ConnId, Errno>, Failure> {
        loop {
            match self.event(driver, until, &Failure::new(ErrorClass::ConnectTimeout))? {
                Event::Connected(id) if id == conn => return Ok(Ok(conn)),
                Event::ConnectFailed(id, errno) if id == conn => return Ok(Err(errno)),
                // QUIC is secured while it connects.
                Event::Ended(id, how) if id == conn => return Err(failure::handshake_failure(how, driver)),
                _ => {}
            }
        }
    }

    fn secure<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        until: Nanos,
    ) -> Result<Handshake, Failure> {
        let (driver, conn) = (&mut connection.driver, connection.conn);
        loop {
            match self.event(driver, until, &failure::HANDSHAKE_TIMEOUT)? {
                Event::Secured(id) if id == conn => {
                    let secured = self.clock.now();
                    let agreed =
                        driver.secured(conn).expect("a secured connection has negotiated parameters");
                    return Ok(Handshake { secured, agreed, certificates: driver.peer_certificates(conn) });
                }
                Event::Ended(id, how) if id == conn => return Err(failure::handshake_failure(how, driver)),
                _ => {}
            }
        }
    }
}

/// Returns when one of `left` addresses must have answered, so that the others have their time.
fn share_of(until: Nanos, now: Nanos, left: u32) -> Nanos {
    now.after(Nanos(until.since(now) as i64 / i64::from(left.max(1))))
}
