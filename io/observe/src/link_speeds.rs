//! [`link_speeds`]: the network interfaces of this host with a link of a known rate.

use std::fs;
use std::path::Path;

use crate::read;

/// Where the kernel lists interfaces of this network.
const INTERFACES: &str = "/sys/class/net";
/// Bits of a megabit, the unit of `speed`.
const MEGABIT: u64 = 1_000_000;
/// Most interfaces that are listed.
const INTERFACES_MAX: usize = 64;

/// Returns the interfaces with a device and a known rate, in bits per second. Virtual ones report
/// rates that nothing limits them to, and are left out.
pub(crate) fn link_speeds() -> Vec<(String, u64)> {
    let Ok(all) = fs::read_dir(INTERFACES) else { return Vec::new() };
    let names = all.filter_map(|one| one.ok()?.file_name().into_string().ok());
    let mut known: Vec<_> = names.filter_map(|name| speed(Path::new(INTERFACES), name)).collect();
    known.sort();
    known.truncate(INTERFACES_MAX);
    known
}

fn speed(all: &Path, name: String) -> Option<(String, u64)> {
    let folder = all.join(&name);
    // The link `device` leads to the hardware. Unknown speeds are -1.
    let megabits = read::number(folder.join("speed")).filter(|_| folder.join("device").exists())?;
    (megabits > 0).then_some((name, megabits.saturating_mul(MEGABIT)))
}

#[cfg(test)]
mod tests {
    use wavetank_testkit::TestDir;

    use super::*;

    #[test]
    fn only_hardware_with_a_known_speed_counts() {
        let dir = TestDir::new();
        let interface = |name: &str, text: &str, device: bool| {
            let folder = dir.path().join(name);
            fs::create_dir_all(if device { folder.join("device") } else { folder.clone() })
                .expect("a folder");
            fs::write(folder.join("speed"), text).expect("a file");
            speed(dir.path(), name.to_owned())
        };
        assert_eq!(interface("eth0", "1000\n", true), Some(("eth0".to_owned(), 1_000_000_000)));
        assert_eq!(interface("eth1", "-1\n", true), None);
        assert_eq!(interface("veth0", "10000\n", false), None);
        assert!(link_speeds().iter().all(|(_, rate)| *rate > 0));
    }
}
