//! Checks whether this machine can make a lab's networks. Every feature is tried in a temporary
//! namespace. There is no other way to find out about kernel configuration, loadable modules and
//! container restrictions.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use wavetank_topology::{FaultKind, Host, Interface, Lab, Link};
use wavetank_units::{Code, UserError};

use super::setting::Setting;
use super::tool::{Refusal, Tool};
use super::{confine, etc, group, scratch_namespace, setting, shaping, ssh};
use crate::file_error::with_place;

/// A feature of the kernel: whether the lab needs it, and how it is tried.
struct Feature {
    /// The text after "the kernel cannot …".
    what: &'static str,
    hint: &'static str,
    tool: Tool,
    text: String,
}

/// The purpose of `nft` in a lab, for messages.
const LOSES: &str = "makes links lose packets";

/// Reports everything that the lab needs and the machine lacks, together.
pub(super) fn check(lab: &Lab, file: &str) -> Result<(), UserError> {
    let mut errors = programs(lab);
    for host in &lab.hosts {
        errors.extend(confine::check(host, file).err());
        errors.extend(group::check(host, file).err());
    }
    if errors.is_empty() {
        errors = scratch_namespace::in_scratch_namespace(|| Ok(lacks(lab, file)))?;
    }
    UserError::combine(errors).map_or(Ok(()), Err)
}

/// Checks whether packets can be lost, for faults that were not known when the lab was brought up.
pub(super) fn check_loss() -> Result<(), UserError> {
    Tool::NFT.required(LOSES)?;
    scratch_namespace::in_scratch_namespace(|| {
        Tool::IP.batch("link add port type veth peer name trial0\n").map_err(Refusal::into_error)?;
        loss().tried()
    })
}

/// Returns an error for each missing program.
fn programs(lab: &Lab) -> Vec<UserError> {
    let any = |wish: fn(&Link) -> bool| cables(lab).any(|(_, interface)| wish(&interface.link));
    let mut wanted = vec![(Tool::IP, "makes the lab's links and addresses")];
    if any(|link| link.rate_bits.is_some() || link.delay.is_some()) {
        wanted.push((Tool::TC, "makes links slow"));
    }
    if needs_packet_loss(lab) {
        wanted.push((Tool::NFT, LOSES));
    }
    if ssh::is_enabled(lab) {
        wanted.push((Tool::SSHD, "is required by a host (`sshd`)"));
        wanted.push((Tool::SSH_KEYGEN, "makes the keys for `sshd`"));
    }
    wanted.into_iter().filter_map(|(tool, why)| tool.required(why).err()).collect()
}

/// Runs in the temporary namespace: returns unavailable features and settings.
fn lacks(lab: &Lab, file: &str) -> Vec<UserError> {
    if let Some(error) = ends(lab).err().or_else(|| ipv6(lab, file)) {
        return vec![error];
    }
    let mut errors: Vec<UserError> = features(lab).into_iter().filter_map(|one| one.tried().err()).collect();
    if let Some(first) = cables(lab).find(|(_, interface)| interface.link.delay.is_some()) {
        errors.extend(delayed(first, file).err());
    }
    errors.extend(own_etc().err());
    errors.extend(settings(lab, file));
    errors
}

/// A kernel without IPv6 has none of its settings.
fn ipv6(lab: &Lab, file: &str) -> Option<UserError> {
    let host = lab.hosts.iter().find(|host| setting::speaks_ipv6(host))?;
    if Path::new("/proc/sys/net/ipv6").exists() {
        return None;
    }
    let place = host.interfaces.first().map_or(host.place, |interface| interface.place);
    let message = format!("`{}` has an IPv6 address, but this kernel has no IPv6", host.name);
    let hint = "boot without ipv6.disable=1 (CONFIG_IPV6), or use only IPv4 networks in the lab";
    Some(with_place(file, place, UserError::refused(Code::LabKernel, message, hint)))
}

/// Creates the ends of the lab's cables under their names, for trying settings of interfaces.
fn ends(lab: &Lab) -> Result<(), UserError> {
    let names: BTreeSet<&str> = cables(lab).map(|(_, interface)| interface.name.as_str()).collect();
    let mut text = "link add trial type bridge\n".to_owned();
    for (place, name) in names.iter().chain(&["trial0"]).enumerate() {
        writeln!(text, "link add port{place} type veth peer name {name}")
            .expect("writing to a String cannot fail");
    }
    let what = "join networks (bridges and virtual cables)";
    Feature { what, hint: "modprobe bridge; modprobe veth", tool: Tool::IP, text }.tried()
}

fn features(lab: &Lab) -> Vec<Feature> {
    let mut features = Vec::new();
    let slow = Link { rate_bits: Some(1_000_000), delay: None, loss_ppm: 0 };
    if cables(lab).any(|(_, interface)| interface.link.rate_bits.is_some()) {
        features.push(Feature {
            what: "limit a link's rate (no tbf)",
            hint: "modprobe sch_tbf (CONFIG_NET_SCH_TBF), or leave `rate` out",
            tool: Tool::TC,
            text: shaping::outgoing("trial0", &slow),
        });
    }
    if needs_packet_loss(lab) {
        features.push(loss());
    }
    features
}

/// The feature is tried at `trial0`.
fn loss() -> Feature {
    Feature {
        what: "lose packets (no rules of nftables at both sides of an interface, or no random numbers in them)",
        hint: "Linux 5.16 with CONFIG_NF_TABLES_NETDEV, CONFIG_NETFILTER_EGRESS, CONFIG_NFT_NUMGEN; or leave `loss`, `cut` \
               and `drop` out",
        tool: Tool::NFT,
        text: format!("table netdev trial {{\n{}}}\n", shaping::losing("trial0", 1)),
    }
}

/// Delay requires netem, which many small kernels do not have.
fn delayed((host, interface): (&Host, &Interface), file: &str) -> Result<(), UserError> {
    let link = Link { rate_bits: None, loss_ppm: 0, ..interface.link };
    // A separate device, because the other one may have a rate by now.
    let made = Tool::IP.batch("link add port type veth peer name trial1\n");
    made.and_then(|()| Tool::TC.batch(&shaping::outgoing("trial1", &link))).map_err(|refusal: Refusal| {
        let message = format!(
            "the link of `{}` cannot have a delay: this kernel has no netem ({})",
            host.name, refusal.said
        );
        let hint =
            "modprobe sch_netem (CONFIG_NET_SCH_NETEM), or leave `delay` out: rate and loss do not need it";
        with_place(file, interface.place, UserError::refused(Code::LabKernel, message, hint))
    })
}

/// Tries whether a host can have its own `/etc`, the way a host does it, in this thread's own mount
/// namespace.
fn own_etc() -> Result<(), UserError> {
    let apart = || -> std::io::Result<()> {
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        mount("wavetank", "/run", "tmpfs", MountFlags::empty(), None)?;
        Ok(())
    };
    apart().map_err(|error| {
        let message = format!("cannot mount a host's own folders: {error}");
        UserError::refused(
            Code::LabKernel,
            message,
            "mounts are forbidden here; a container needs CAP_SYS_ADMIN",
        )
    })?;
    etc::mount_overlay()
}

/// Returns settings that the kernel rejects, each once even if several hosts have it.
fn settings(lab: &Lab, file: &str) -> Vec<UserError> {
    let mut tried = BTreeSet::new();
    let all = lab.hosts.iter().flat_map(Setting::for_host);
    let fresh = all.filter(|setting| tried.insert(setting.command_line()));
    let errors = fresh.filter_map(|setting| setting.apply(file).err());
    errors.collect()
}

/// Whether packets get lost in the lab, permanently or by a fault. A fault must not turn out to be
/// impossible in the middle of a run.
pub(super) fn needs_packet_loss(lab: &Lab) -> bool {
    cables(lab).any(|(_, interface)| interface.link.loss_ppm > 0)
        || lab.faults.iter().any(|fault| fault_needs_packet_loss(&fault.what))
}

/// Whether packets get lost by a fault.
pub(super) const fn fault_needs_packet_loss(what: &FaultKind) -> bool {
    matches!(what, FaultKind::Cut { .. } | FaultKind::Drop { .. })
}

fn cables(lab: &Lab) -> impl Iterator<Item = (&Host, &Interface)> {
    lab.hosts.iter().flat_map(|host| host.interfaces.iter().map(move |interface| (host, interface)))
}

impl Feature {
    fn tried(self) -> Result<(), UserError> {
        let done = match self.tool {
            Tool::NFT => self.tool.rules(&self.text),
            _ => self.tool.batch(&self.text),
        };
        done.map_err(|refusal| {
            let message =
                format!("this kernel cannot {}: `{}` says: {}", self.what, refusal.tool.name(), refusal.said);
            UserError::refused(Code::LabKernel, message, self.hint)
        })
    }
}

#[cfg(test)]
mod tests {
    use wavetank_topology::{Input, MachineFacts, read};

    use super::*;

    /// Checks whether a lab of one host with `network` and `faults` needs packet loss.
    #[track_caller]
    fn check(network: &str, faults: &str, expected: bool) {
        let text = format!(
            "wavetank_lab: 1\nname: x\nnetworks: {{net: 10.30.0.0/24}}\nhosts:\n  a1: {{networks: {{net: {network}}}, \
             services: [{{serve: {{listen: 80}}}}]}}\nfaults: [{faults}]\n"
        );
        let files = |_: &str| Err("no such file".to_owned());
        let input = Input {
            name: "lab.yaml",
            bytes: text.as_bytes(),
            files: &files,
            machine: MachineFacts::default(),
        };
        let reading = read(&input);
        let reported = wavetank_grammar::render(&reading.diagnostics, "lab.yaml", &reading.text);
        assert_eq!(
            needs_packet_loss(&reading.lab.unwrap_or_else(|| panic!("{reported}"))),
            expected,
            "{text}"
        );
    }

    #[test]
    fn faults_need_what_links_need() {
        check("{}", "", false);
        check("{loss: 1%}", "", true);
        check("{}", "{when: 1s, host: a1, cut: net}", true);
        check("{}", "{when: 1s, host: a1, drop: net, share: 5%}", true);
        check("{}", "{when: 1s, host: a1, kill: serve}", false);
    }
}
