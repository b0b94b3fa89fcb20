//! [`Sockstat`]: the kernel's own counts of sockets, `/proc/net/sockstat` and `sockstat6`.
//!
//! Both are sums of counters that the kernel keeps anyway. They cost the same with a million
//! sockets as with ten. The kernel would walk `/proc/net/tcp` socket by socket.

/// Counts of TCP sockets. `inuse`, `inuse6` and `tw` cover the network namespace, the others the
/// whole host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sockstat {
    /// IPv4 sockets in use, without `TIME_WAIT`.
    pub inuse: u64,
    /// The same for IPv6.
    pub inuse6: u64,
    /// Sockets that no process holds any more.
    pub orphan: u64,
    /// Connections in `TIME_WAIT`.
    pub tw: u64,
    /// Sockets in any state.
    pub alloc: u64,
    /// Pages of memory for queued data.
    pub mem_pages: u64,
}

/// Parses `sockstat` (`TCP: inuse 6 orphan 0 tw 2 alloc 9 mem 1`) and `sockstat6` (`TCP6: inuse
/// 0`). Missing values are 0: kernels without IPv6 have no second file.
pub fn sockstat(text: &str, text6: &str) -> Sockstat {
    let [inuse, orphan, tw, alloc, mem_pages] =
        ["inuse", "orphan", "tw", "alloc", "mem"].map(|name| value(text, "TCP:", name));
    Sockstat { inuse, inuse6: value(text6, "TCP6:", "inuse"), orphan, tw, alloc, mem_pages }
}

/// Returns the number after `name` in the line that starts with `title`. It goes by name, since
/// kernels add columns.
fn value(text: &str, title: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(title)).unwrap_or_default();
    let mut words = line.split_whitespace().skip_while(|word| *word != name).skip(1);
    words.next().and_then(|word| word.parse().ok()).unwrap_or(0)
}
