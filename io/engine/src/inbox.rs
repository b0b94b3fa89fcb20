//! [`Inbox`]: the messages of one connection that no request awaits, and [`InboxBudget`], which
//! limits those of all connections.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use wavetank_wire::messages::Operation;

/// The number of messages that are kept for later requests.
const MESSAGES_MAX: usize = 16;
/// The number of their bytes. One larger message is kept as well.
const BYTES_MAX: usize = 1 << 20;
/// The maximum size of all messages that the inboxes of one load thread keep at a time.
const BUDGET_BYTES: usize = 1 << 30;

/// The memory for all messages of a load thread that no request awaits.
#[derive(Clone, Debug)]
pub(crate) struct InboxBudget(Rc<Cell<usize>>);

impl InboxBudget {
    /// Allows `bytes` in all.
    fn new(bytes: usize) -> Self {
        Self(Rc::new(Cell::new(bytes)))
    }
}

impl Default for InboxBudget {
    fn default() -> Self {
        Self::new(BUDGET_BYTES)
    }
}

/// A message that no request awaits.
#[derive(Debug, Default)]
pub(crate) struct Message {
    /// Its field lines.
    pub(crate) fields: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// The body exceeded the budget and was not kept.
    pub(crate) overflowed: bool,
    taken: Taken,
}

/// Bytes taken from a budget, which are returned when this is dropped.
#[derive(Debug, Default)]
struct Taken {
    bytes: usize,
    budget: Option<InboxBudget>,
}

impl Taken {
    /// Takes more bytes. Returns whether the budget had them.
    fn take(&mut self, bytes: usize, budget: &InboxBudget) -> bool {
        let Some(left) = budget.0.get().checked_sub(bytes) else { return false };
        budget.0.set(left);
        self.bytes += bytes;
        self.budget.get_or_insert_with(|| budget.clone());
        true
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(InboxBudget(left)) = &self.budget {
            left.set(left.get() + self.bytes);
        }
    }
}

impl Message {
    const fn bytes(&self) -> usize {
        self.fields.len() + self.body.len()
    }
}

/// Messages that arrived while no request awaited one, the oldest first. Beyond the limits the
/// oldest is discarded.
#[derive(Default)]
pub(crate) struct Inbox {
    messages: VecDeque<Message>,
    bytes: usize,
    /// The number of messages, the oldest ones, that had arrived when the current request was sent.
    earlier: usize,
    /// A message that no request awaits yet, or only waits for, as far as it has arrived.
    pub(crate) partial: Option<Message>,
    budget: InboxBudget,
}

impl Inbox {
    /// Creates an empty one, with messages from `budget`.
    pub(crate) fn new(budget: InboxBudget) -> Self {
        Self { messages: VecDeque::new(), bytes: 0, earlier: 0, partial: None, budget }
    }

    /// Whether it has no complete message.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Appends bytes to the message that has begun. Returns whether there is one.
    pub(crate) fn extend_partial(&mut self, bytes: &[u8]) -> bool {
        let Some(partial) = &mut self.partial else { return false };
        if !partial.overflowed && partial.taken.take(bytes.len(), &self.budget) {
            partial.body.extend_from_slice(bytes);
        } else {
            (partial.overflowed, partial.body, partial.taken) = (true, Vec::new(), Taken::default());
        }
        true
    }

    /// Adds a message.
    pub(crate) fn push(&mut self, message: Message) {
        self.bytes += message.bytes();
        self.messages.push_back(message);
        while self.messages.len() > MESSAGES_MAX || (self.bytes > BYTES_MAX && self.messages.len() > 1) {
            self.pop();
        }
    }

    /// Passes all messages to `each`, and the one that has begun.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(&Message)) {
        while let Some(message) = self.pop() {
            each(&message);
        }
        if let Some(partial) = self.partial.take() {
            each(&partial);
        }
    }

    /// Takes the oldest message.
    pub(crate) fn pop(&mut self) -> Option<Message> {
        self.earlier = self.earlier.saturating_sub(1);
        self.remove(0)
    }

    /// Whether it has an answer for an operation that begins. If the operation sends something, no
    /// message that is here answers it.
    pub(crate) fn may_answer(&mut self, operation: Operation<'_>) -> bool {
        if operation != Operation::WaitOn {
            self.earlier = if operation.only_waits() { 0 } else { self.messages.len() };
        }
        operation.only_waits() && self.messages.len() > self.earlier
    }

    /// Takes the oldest message that may answer the current request.
    pub(crate) fn pop_recent(&mut self) -> Option<Message> {
        self.remove(self.earlier)
    }

    fn remove(&mut self, place: usize) -> Option<Message> {
        let message = self.messages.remove(place)?;
        self.bytes -= message.bytes();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(inbox: &mut Inbox, body: &[u8]) {
        inbox.partial = Some(Message::default());
        assert!(inbox.extend_partial(body));
    }

    fn finish(inbox: &mut Inbox) {
        let message = inbox.partial.take().expect("a message has begun");
        inbox.push(message);
    }

    #[test]
    fn earlier_messages_answer_no_request() {
        let mut inbox = Inbox::default();
        let add = |inbox: &mut Inbox, body: &[u8]| {
            receive(inbox, body);
            finish(inbox);
        };
        let recent = |inbox: &mut Inbox| inbox.pop_recent().map(|message| message.body);
        add(&mut inbox, b"1");
        assert!(!inbox.may_answer(Operation::Close(b"")));
        assert_eq!(recent(&mut inbox), None);
        add(&mut inbox, b"2");
        assert_eq!(recent(&mut inbox), Some(b"2".to_vec()));
        for _ in 0..MESSAGES_MAX {
            add(&mut inbox, b"3");
        }
        assert_eq!(recent(&mut inbox), Some(b"3".to_vec()), "the earlier one was discarded");
        assert!(inbox.may_answer(Operation::Wait));
        add(&mut inbox, b"4");
        assert_eq!(recent(&mut inbox), Some(b"3".to_vec()), "a request that only waits takes the oldest");
    }

    #[test]
    fn all_inboxes_share_a_budget() {
        let budget = InboxBudget::new(10);
        let [mut first, mut second] = [(); 2].map(|()| Inbox::new(budget.clone()));
        assert!(!first.extend_partial(b"x"), "no message has begun");
        receive(&mut first, b"1234567");
        finish(&mut first);
        receive(&mut second, b"123");
        assert_eq!(budget.0.get(), 0);
        assert!(second.extend_partial(b"4") && second.extend_partial(b"5"));
        finish(&mut second);
        assert_eq!(budget.0.get(), 3, "what does not fit is given up");
        let message = second.pop().expect("a message");
        assert!(message.overflowed && message.body.is_empty());
        let message = first.pop().expect("a message");
        assert!(!message.overflowed && message.body == b"1234567");
        drop(message);
        receive(&mut first, b"0123456789");
        drop(first);
        assert_eq!(budget.0.get(), 10, "a closed connection returns its share");
    }
}
