//! [`Host`] and [`Inventory`]: hosts, their groups, and how ssh reaches them.

/// What a host does in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostRole {
    /// It sends load.
    #[default]
    Load,
    /// It is observed: a balancer, a server, or a switch with a shell.
    Observe,
}

/// A host that ssh reaches. What is `None` is left to the user's own ssh configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// The name that people use, and that reports show.
    pub name: String,
    /// Name or address to connect to, if it differs from the name.
    pub address: Option<String>,
    /// Login name.
    pub user: Option<String>,
    /// Port of the SSH server.
    pub port: Option<u16>,
    /// File with the private key.
    pub identity: Option<String>,
    /// Hosts to jump through, as `ssh -J` takes them.
    pub jump: Option<String>,
    /// What it does.
    pub role: HostRole,
    /// Weight of its share of the load; `None`: by calibration, else by cores.
    pub weight: Option<u32>,
    /// Source addresses of its connections, as `--source` takes them.
    pub sources: Option<String>,
    /// What it is under observation, such as `balancer`.
    pub observed_as: Option<String>,
}

impl Host {
    /// Returns a host about which only the name is known.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

/// Hosts in the order of their file, and groups of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// All hosts, each once.
    pub hosts: Vec<Host>,
    /// Groups by name, each with the names of its hosts, those of its subgroups included.
    pub groups: Vec<(String, Vec<String>)>,
}

impl Inventory {
    /// Returns the host of this name.
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// Returns the names of the hosts in a group.
    pub fn group(&self, name: &str) -> Option<&[String]> {
        self.groups.iter().find(|(group, _)| group == name).map(|(_, hosts)| hosts.as_slice())
    }
}
