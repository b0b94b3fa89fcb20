//! [`Peers`]: the other side of every connection, and the sender of the load thread's commands.

use std::cell::Cell;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender};

use wavetank_driver::Clock;
use wavetank_engine::{Command, Message, SealedInterval};

/// The response to every request.
const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nhello, world";

/// The peers; see the module documentation.
pub(crate) struct Peers {
    listener: TcpListener,
    connections: Vec<TcpStream>,
    control: Option<Control>,
    done: u64,
    sealed: Rc<Cell<u64>>,
}

struct Control {
    messages: Receiver<Message>,
    commands: SyncSender<Command>,
    /// Requests that must have been completed at the end.
    requests: u64,
}

impl Peers {
    pub(crate) fn listen() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a listener");
        Self { listener, connections: Vec::new(), control: None, done: 0, sealed: Rc::default() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().expect("it is bound")
    }

    /// Intervals sealed so far; stays available after the peers are gone.
    pub(crate) fn sealed(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.sealed)
    }

    /// Connects it to the load thread: it starts the run when the thread is ready, and finishes it
    /// when drained.
    pub(crate) fn hear(&mut self, messages: Receiver<Message>, commands: SyncSender<Command>, requests: u64) {
        self.control = Some(Control { messages, commands, requests });
    }

    /// Responds to all requests, and returns whether a command was sent. The counter excludes this
    /// function, so it must stay separate.
    #[inline(never)]
    pub(crate) fn serve(&mut self, clock: Clock) -> bool {
        let commanded = self.command(clock);
        while let Ok((connection, _)) = self.listener.accept() {
            connection.set_nonblocking(true).expect("a socket");
            // A response leaves immediately, however small.
            connection.set_nodelay(true).expect("a socket");
            self.connections.push(connection);
        }
        self.connections.retain_mut(|connection| {
            let mut asked = [0; 4_096];
            match connection.read(&mut asked) {
                Ok(0) => false,
                Ok(length) => {
                    // One request at a time, without a body.
                    assert!(asked[..length].ends_with(b"\r\n\r\n"), "a whole request arrived");
                    connection.write_all(ANSWER).expect("the load thread reads");
                    true
                }
                Err(error) => error.kind() == ErrorKind::WouldBlock,
            }
        });
        commanded
    }

    /// Returns whether a command was sent.
    fn command(&mut self, clock: Clock) -> bool {
        let mut given = false;
        while let Some(message) = self.message() {
            let command = match message {
                Message::Ready(..) => Command::Start(clock.now()),
                Message::Drained(..) => Command::Finish(clock.now()),
                Message::Sealed(sealed) => {
                    self.take(&sealed);
                    continue;
                }
                Message::Finished(_) | Message::EndRun(_) => continue,
                Message::Failed(_, error) => panic!("{error}"),
            };
            let control = self.control.as_ref().expect("the load thread has sent a message");
            control.commands.try_send(command).expect("a few commands");
            given = true;
        }
        given
    }

    fn message(&self) -> Option<Message> {
        self.control.as_ref()?.messages.try_recv().ok()
    }

    fn take(&mut self, sealed: &SealedInterval) {
        assert_eq!(sealed.accounting, None, "the counters add up");
        self.done += sealed.interval.steps.iter().map(|step| step.counters.done).sum::<u64>();
        self.sealed.set(self.sealed.get() + 1);
    }
}

impl Drop for Peers {
    /// A count of incomplete work would be wrong.
    fn drop(&mut self) {
        while let Some(message) = self.message() {
            if let Message::Sealed(sealed) = message {
                self.take(&sealed);
            }
        }
        let asked = self.control.as_ref().map_or(0, |control| control.requests);
        assert_eq!(self.done, asked, "every request was done");
    }
}
