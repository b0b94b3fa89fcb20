//! Handshakes are expensive: the number of steps between two waits is bounded, and data goes ahead.

use wavetank_driver::{CloseReason, ConnId, Driver, Event, ListenerId, TlsServerOptions};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use crate::suite::bench::any_port;
use crate::tls::peer::{client, dial_tls, server, trusting};
use crate::tls::wire::wired;

/// A schedule would be disturbed by more steps than this.
const STEPS_MAX: usize = 8;
const NOW: Nanos = Nanos(i64::MIN);

#[test]
fn a_crowd_is_served_step_by_step() {
    let (mut driver, ends) = wired(Some(client(&trusting())), None);
    let crowd = 100;
    for user in 0..crowd {
        driver.connect(&dial_tls(any_port(), user)).expect("nothing to fail");
    }
    let (mut begun, mut turns) = (0, 0);
    while begun < crowd as usize {
        // A driver with work to do does not sleep.
        assert_eq!(driver.wait(Nanos::MAX), Ok(true), "{begun} have begun");
        while let Some(event) = driver.next() {
            assert!(matches!(event, Event::Connected(_)), "{event:?}");
        }
        let now = ends.borrow().senders();
        assert!(now > begun && now - begun <= STEPS_MAX, "{begun} had begun, then {now}");
        (begun, turns) = (now, turns + 1);
    }
    assert!(turns >= crowd as usize / STEPS_MAX);
    assert_eq!((driver.wait(NOW), ends.borrow().sleeps), (Ok(false), 0));
}

#[test]
fn data_go_ahead_of_handshakes_and_do_not_starve_them() {
    let server = server(&TlsServerOptions::default());
    let (mut driver, ends) = wired(Some(client(&trusting())), Some(server));
    let (open, far) = open(&mut driver, &ends);
    let crowd: Vec<_> =
        (0..50).map(|user| driver.connect(&dial_tls(any_port(), user)).expect("nothing to fail")).collect();
    let mut waiting: Vec<ConnId> = crowd;
    let (mut heard, mut turns) = (0, 0);
    while !waiting.is_empty() {
        turns += 1;
        assert!(turns < 1_000, "{} handshakes starve", waiting.len());
        // Each event is followed by another one immediately, so something is always ready.
        for _ in 0..20 {
            driver.send(far, b"tick").expect("open");
            let bytes = ends.borrow_mut().take_sent(far);
            ends.borrow_mut().arrive(open, &bytes);
        }
        driver.wait(NOW).expect("waiting works");
        // A caller that bounds its own turns, and so never takes all events.
        for _ in 0..20 {
            let event = driver.next();
            heard += u32::from(matches!(event, Some(Event::Received(conn, 4)) if conn == open));
        }
        waiting.retain(|conn| ends.borrow_mut().take_sent(*conn).is_empty());
    }
    // The first turns go to the waiting crowd, which was first: each connection is reported as
    // connected.
    assert!(heard + 50 >= turns * 20, "{heard} ticks in {turns} turns");
}

/// Returns both ends of a connection on one wire, with the handshake complete.
fn open(
    driver: &mut wavetank_driver::Tls<crate::tls::wire::Wire>,
    ends: &std::rc::Rc<std::cell::RefCell<crate::tls::wire::Ends>>,
) -> (ConnId, ConnId) {
    let near = driver.connect(&dial_tls(any_port(), 0)).expect("nothing to fail");
    let far = ends.borrow_mut().conn();
    ends.borrow_mut().hear(Event::Accepted(ListenerId(0), far));
    for _ in 0..20 {
        driver.wait(NOW).expect("waiting works");
        while driver.next().is_some() {}
        for (from, to) in [(near, far), (far, near)] {
            let bytes = ends.borrow_mut().take_sent(from);
            if !bytes.is_empty() {
                ends.borrow_mut().arrive(to, &bytes);
            }
        }
    }
    assert!(driver.secured(near).is_some() && driver.secured(far).is_some());
    (near, far)
}

#[test]
fn early_data_is_handled_immediately() {
    let (mut driver, ends) = wired(Some(client(&trusting())), None);
    let conn = driver.connect(&dial_tls(any_port(), 0)).expect("nothing to fail");
    ends.borrow_mut().arrive(conn, &vec![b'x'; 100_000]);
    ends.borrow_mut().hear(Event::Ended(conn, CloseReason::Eof));
    let mut heard = Vec::new();
    let mut sent = Vec::new();
    for _ in 0..5 {
        driver.wait(NOW).expect("waiting works");
        while let Some(event) = driver.next() {
            heard.push(event);
        }
        sent.push(ends.borrow_mut().take_sent(conn).len());
    }
    assert_eq!(heard, [Event::Connected(conn), Event::Ended(conn, CloseReason::Tls)]);
    assert!(sent[0] > 0 && sent[1..] == [0; 4], "it does not start again: {sent:?}");
}

#[test]
fn who_leaves_the_queue_is_forgotten() {
    let (mut driver, ends) = wired(Some(client(&trusting())), None);
    let crowd: Vec<_> =
        (0..30).map(|user| driver.connect(&dial_tls(any_port(), user)).expect("nothing to fail")).collect();
    driver.wait(NOW).expect("waiting works");
    while driver.next().is_some() {}
    let begun = ends.borrow().senders();
    for conn in crowd {
        driver.close(conn, Close::Rst);
    }
    for _ in 0..30 {
        driver.wait(NOW).expect("waiting works");
        assert_eq!(driver.next(), None);
    }
    assert_eq!(ends.borrow().senders(), begun, "no work is done for the dead");
}
