//! Sending: what is kept, when it is encrypted, and when it has been sent.

use std::sync::Arc;

use super::Tls;
use super::stream::{PIECE_BYTES, Stream, TlsStage};
use crate::Errno;
use crate::driver::{CloseReason, ConnId, Driver, Event, SendStatus};

/// Bytes that are encrypted and handed over before other connections have their turn.
const GO_BYTES: usize = 256 * 1024;

impl<D: Driver> Tls<D> {
    /// Hands the ciphertext in `out` to the inner driver.
    pub(super) fn flush_ciphertext(&mut self, conn: ConnId) -> Result<(), Errno> {
        if self.out.filled().is_empty() {
            return Ok(());
        }
        let sent = self.inner.send(conn, self.out.filled());
        self.out.clear();
        if sent? == SendStatus::Pending
            && let Some(stream) = self.streams.get(conn)
        {
            stream.inner_pending = true;
        }
        Ok(())
    }

    /// Sends bytes, or keeps those that cannot be sent now. `shared` holds the same bytes if they
    /// need not be copied.
    pub(super) fn send_tls(
        &mut self,
        conn: ConnId,
        bytes: &[u8],
        shared: Option<&Arc<[u8]>>,
    ) -> Result<SendStatus, Errno> {
        let Some(stream) = self.streams.get(conn) else { return Err(Errno(libc::ENOTCONN)) };
        if stream.goodbye_said {
            return Err(Errno(libc::EPIPE));
        }
        // After the peer has sent its end, this side may still respond.
        let ready = stream.stage != TlsStage::Shaking && stream.is_flushed();
        if ready && bytes.len() <= PIECE_BYTES {
            self.out.clear();
            if !stream.write(bytes, &mut self.out) {
                return Err(self.cannot_encrypt(conn));
            }
            self.accepted_bytes += bytes.len() as u64;
            self.flush_ciphertext(conn)?;
        } else {
            let bytes = shared.map_or_else(|| Arc::from(bytes), Arc::clone);
            stream.extra().unsent.push_back((bytes, 0));
            if ready {
                self.send_some(conn)?;
            }
        }
        let Some(stream) = self.streams.get(conn) else { return Err(Errno(libc::ENOTCONN)) };
        stream.flush_owed = !stream.is_flushed();
        Ok(if stream.flush_owed { SendStatus::Pending } else { SendStatus::All })
    }

    /// Encrypts waiting bytes and hands them over: as many as the inner driver takes, up to the
    /// fair share.
    fn send_some(&mut self, conn: ConnId) -> Result<(), Errno> {
        let mut left = GO_BYTES;
        loop {
            let Some(stream) = self.streams.get(conn) else { return Ok(()) };
            if stream.inner_pending || !stream.has_unsent() {
                return Ok(());
            }
            if left == 0 {
                self.sending.push_back(conn);
                return Ok(());
            }
            self.out.clear();
            let Some(len) = stream.write_piece(&mut self.out) else { return Err(self.cannot_encrypt(conn)) };
            left = left.saturating_sub(PIECE_BYTES);
            self.accepted_bytes += len as u64;
            self.flush_ciphertext(conn)?;
        }
    }

    /// Ends the connection: the library sends no more, and the inner driver does not report this.
    #[cold]
    fn cannot_encrypt(&mut self, conn: ConnId) -> Errno {
        let errno = Errno(libc::EPIPE);
        if self.streams.peek(conn).is_some_and(|stream| stream.stage != TlsStage::Over) {
            self.reported.push_back(Event::Ended(conn, CloseReason::Broken(errno)));
        }
        errno
    }

    /// Continues the first connection with an interrupted long send.
    pub(super) fn resume_next_sending(&mut self) {
        if let Some(conn) = self.sending.pop_front() {
            self.resume_sending(conn);
        }
    }

    /// Sends the waiting bytes after an obstacle has gone, and reports when all are sent.
    pub(super) fn resume_sending(&mut self, conn: ConnId) {
        let shaking = self.streams.peek(conn).is_none_or(|stream| stream.stage == TlsStage::Shaking);
        if shaking {
            return;
        }
        if self.send_some(conn).is_err() {
            // The code that found the failure reports the end.
            return;
        }
        let Some(stream) = self.streams.get(conn) else { return };
        if !stream.is_flushed() {
            return;
        }
        if std::mem::take(&mut stream.flush_owed) {
            self.reported.push_back(Event::Flushed(conn));
        }
        // An idle connection holds nothing.
        let finish = stream.extra.as_ref().is_some_and(|extra| extra.finish);
        if stream.extra.as_ref().is_some_and(|extra| extra.ended.is_none()) {
            stream.extra = None;
        }
        if finish && !stream.goodbye_said {
            self.send_close_notify(conn);
            self.inner.shut_down_sending(conn);
        }
    }

    /// Sends `close_notify`, if all bytes sent before it are with the kernel. Otherwise it would
    /// announce a complete transfer falsely.
    pub(super) fn send_close_notify(&mut self, conn: ConnId) {
        let Some(stream) = self.streams.get(conn) else { return };
        if stream.goodbye_said || stream.stage == TlsStage::Shaking || !stream.is_flushed() {
            return;
        }
        let Stream { machine: Some(machine), rest, goodbye_said, .. } = stream else { return };
        *goodbye_said = true;
        self.out.clear();
        if machine.write_close_notify(rest, &mut self.out) {
            // If this fails, the connection has ended, and the peer cannot be informed.
            let _ = self.flush_ciphertext(conn);
        }
    }
}
