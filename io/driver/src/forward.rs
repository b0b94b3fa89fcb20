//! [`forward_driver!`](crate::forward_driver): methods of a layer that only its inner driver has.

/// Defines methods of [`Driver`](crate::Driver) that call the same method of a field. For example,
/// `forward_driver!(inner: clock stale)` defines `clock` and `stale`.
#[macro_export]
macro_rules! forward_driver {
    ($inner:tt: $($method:ident)+) => { $($crate::forward_driver! { @$method $inner })+ };
    (@ends $i:tt) => {
        $crate::forward_driver! { #$i mut ends(conn: $crate::ConnId)
            -> Result<$crate::ConnAddresses, $crate::Errno> }
    };
    (@last_received_age $i:tt) => {
        $crate::forward_driver! { #$i mut last_received_age(conn: $crate::ConnId)
            -> Option<wavetank_units::Nanos> }
    };
    (@connect $i:tt) => {
        $crate::forward_driver! { #$i mut connect(dial: &$crate::Dial)
            -> Result<$crate::ConnId, $crate::Errno> }
    };
    (@secure $i:tt) => {
        $crate::forward_driver! { #$i mut secure(conn: $crate::ConnId, tls: $crate::DialTls)
            -> Result<(), $crate::Errno> }
    };
    (@listen $i:tt) => {
        $crate::forward_driver! { #$i mut listen(at: std::net::SocketAddr)
            -> Result<($crate::ListenerId, std::net::SocketAddr), $crate::Errno> }
    };
    (@stop_accepting $i:tt) => { $crate::forward_driver! { #$i mut stop_accepting() } };
    (@send $i:tt) => {
        $crate::forward_driver! { #$i mut send(conn: $crate::ConnId, bytes: &[u8])
            -> Result<$crate::SendStatus, $crate::Errno> }
    };
    (@send_shared $i:tt) => {
        $crate::forward_driver! { #$i mut send_shared(conn: $crate::ConnId, bytes: &std::sync::Arc<[u8]>)
            -> Result<$crate::SendStatus, $crate::Errno> }
    };
    (@bytes_sent $i:tt) => { $crate::forward_driver! { #$i bytes_sent() -> u64 } };
    (@packets $i:tt) => { $crate::forward_driver! { #$i packets() -> $crate::PacketCounts } };
    (@close $i:tt) => {
        $crate::forward_driver! { #$i mut close(conn: $crate::ConnId, how: wavetank_plan::Close) }
    };
    (@shut_down_sending $i:tt) => {
        $crate::forward_driver! { #$i mut shut_down_sending(conn: $crate::ConnId) }
    };
    (@clock $i:tt) => { $crate::forward_driver! { #$i clock() -> $crate::Clock } };
    (@now $i:tt) => { $crate::forward_driver! { #$i now() -> wavetank_units::Nanos } };
    (@wait_from $i:tt) => {
        $crate::forward_driver! { #$i mut wait_from(now: wavetank_units::Nanos, until: wavetank_units::Nanos)
            -> Result<bool, $crate::Errno> }
    };
    (@worked_until $i:tt) => {
        $crate::forward_driver! { #$i worked_until() -> Option<wavetank_units::Nanos> }
    };
    (@take_longest_send $i:tt) => { $crate::forward_driver! { #$i mut take_longest_send() -> u64 } };
    (@send_now $i:tt) => { $crate::forward_driver! { #$i mut send_now() } };
    (@take_unsent $i:tt) => {
        $crate::forward_driver! { #$i mut take_unsent() -> Option<($crate::ConnId, u32)> }
    };
    (@next $i:tt) => { $crate::forward_driver! { #$i mut next() -> Option<$crate::Event> } };
    (@received $i:tt) => { $crate::forward_driver! { #$i received(len: usize) -> &[u8] } };
    (@is_ending $i:tt) => { $crate::forward_driver! { #$i is_ending(conn: $crate::ConnId) -> bool } };
    (@waker $i:tt) => { $crate::forward_driver! { #$i waker() -> Result<$crate::Waker, $crate::Errno> } };
    (@stale $i:tt) => { $crate::forward_driver! { #$i stale() -> u64 } };
    (@tls_fault $i:tt) => { $crate::forward_driver! { #$i tls_fault() -> Option<String> } };
    (#$i:tt mut $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?) => {
        #[inline]
        fn $name(&mut self $(, $arg: $ty)*) $(-> $ret)? {
            self.$i.$name($($arg),*)
        }
    };
    (#$i:tt $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?) => {
        #[inline]
        fn $name(&self $(, $arg: $ty)*) $(-> $ret)? {
            self.$i.$name($($arg),*)
        }
    };
}
