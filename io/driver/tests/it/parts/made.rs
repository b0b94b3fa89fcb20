//! [`Made`]: a driver made in a special way, for the suite of all drivers.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::{
    Clock, ConnAddresses, ConnId, Dial, Driver, DriverConfig, Errno, Event, Feature, ListenerId, SendStatus,
    Waker,
};
use wavetank_plan::Close;
use wavetank_units::Nanos;

/// The way a driver is made.
pub(crate) trait Make {
    type Driver: Driver;

    fn make(setup: &DriverConfig) -> Result<Self::Driver, Errno>;
}

/// `D` without the feature with the number `FEATURE`, as on a kernel that lacks it.
pub(crate) struct Without<D, const FEATURE: usize>(PhantomData<D>);

impl<D: Driver, const FEATURE: usize> Make for Without<D, FEATURE> {
    type Driver = D;

    fn make(setup: &DriverConfig) -> Result<D, Errno> {
        let feature = Feature::ALL.iter().find(|(feature, _)| *feature as usize == FEATURE);
        let (feature, _) = feature.expect("the number of a feature");
        D::new(&DriverConfig { features: setup.features.without(*feature), ..*setup })
    }
}

/// See the module's description.
pub(crate) struct Made<M: Make>(M::Driver);

impl<M: Make> Driver for Made<M> {
    const SENDS_LATER: bool = M::Driver::SENDS_LATER;

    fn new(setup: &DriverConfig) -> Result<Self, Errno> {
        M::make(setup).map(Self)
    }

    fn connect(&mut self, dial: &Dial) -> Result<ConnId, Errno> {
        self.0.connect(dial)
    }

    fn listen(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno> {
        self.0.listen(at)
    }

    fn stop_accepting(&mut self) {
        self.0.stop_accepting();
    }

    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        self.0.send(conn, bytes)
    }

    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno> {
        self.0.send_shared(conn, bytes)
    }

    fn ends(&mut self, conn: ConnId) -> Result<ConnAddresses, Errno> {
        self.0.ends(conn)
    }

    fn bytes_sent(&self) -> u64 {
        self.0.bytes_sent()
    }

    fn close(&mut self, conn: ConnId, how: Close) {
        self.0.close(conn, how);
    }

    fn shut_down_sending(&mut self, conn: ConnId) {
        self.0.shut_down_sending(conn);
    }

    fn clock(&self) -> Clock {
        self.0.clock()
    }

    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        self.0.wait_from(now, until)
    }

    fn send_now(&mut self) {
        self.0.send_now();
    }

    fn take_unsent(&mut self) -> Option<(ConnId, u32)> {
        self.0.take_unsent()
    }

    fn next(&mut self) -> Option<Event> {
        self.0.next()
    }

    fn received(&self, len: usize) -> &[u8] {
        self.0.received(len)
    }

    fn is_ending(&self, conn: ConnId) -> bool {
        self.0.is_ending(conn)
    }

    fn waker(&self) -> Result<Waker, Errno> {
        self.0.waker()
    }

    fn stale(&self) -> u64 {
        self.0.stale()
    }

    fn tls_fault(&self) -> Option<String> {
        self.0.tls_fault()
    }
}
