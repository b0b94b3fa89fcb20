//! [`PlanPackage`]: a plan with everything in it, as bytes for agents on other hosts.
//!
//! `plan.yaml` has no secrets, long bodies or rows, so no agent can run it. A package has them all.
//! It is not a stored format: only a program of the same version reads it, and it is never written
//! to the archive.
//!
//! Layout: the magic, the length of the version in one byte, the version, the SHA-256 of the rest,
//! and the rest in postcard's encoding.

mod limits;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wavetank_plan::{DataPlan, GrpcPlan, JsonType, Plan, ScenarioMix, SourcesPlan, Table};
use wavetank_units::{Code, UserError, quantity::show_size, sanitize};

use crate::DecodeError;
use limits::{Limited, Limits};

/// Largest package, in bytes. The controller encodes no larger one, and agents read none.
pub const PACKAGE_BYTES_MAX: usize = 256 << 20;

/// The first bytes of a package.
const MAGIC: &[u8; 8] = b"WTNKPLAN";
/// Version of the program that writes and reads.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Length of the checksum, in bytes.
const CHECKSUM_BYTES: usize = 32;

/// A plan and what goes with it, complete. Its bytes contain secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent choices of the user")]
pub struct PlanPackage {
    /// The plan, with its secrets and bodies.
    pub plan: Plan,
    /// The rows of each of the plan's data sources, in the plan's order.
    pub tables: Vec<Table>,
    /// The user gave no number of threads, so that each agent uses one per CPU.
    pub automatic_threads: bool,
    /// The user gave no engine, so that each agent uses the best one of its host.
    pub automatic_engine: bool,
    /// Each agent first checks that it can connect to the targets.
    pub checks_reach: bool,
    /// Each agent samples its host. In a lab its keeper does that.
    pub samples_hosts: bool,
    /// The source addresses of agents that have their own, by name.
    pub sources: Vec<(String, SourcesPlan)>,
    /// Variables that the run's `before` has set, which all sessions start with.
    pub variables: Vec<PackageVariable>,
}

/// A variable and its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageVariable {
    /// Its name.
    pub name: String,
    /// Whether it is a list, even with one value.
    pub list: bool,
    /// The type and text of each value.
    pub values: Vec<(JsonType, Vec<u8>)>,
}

impl PlanPackage {
    /// Returns the package as bytes, for [`decode`](Self::decode) in a program of the same version.
    ///
    /// # Errors
    /// The package has more than [`PACKAGE_BYTES_MAX`] bytes (exit 5).
    pub fn encode(&self) -> Result<Vec<u8>, UserError> {
        let mut bytes = header();
        let checksum_at = bytes.len();
        bytes.extend([0; CHECKSUM_BYTES]);
        let mut bytes = postcard::to_extend(self, bytes)
            .map_err(|error| refused(&format!("its encoding failed ({error})"), "report this as a bug"))?;
        if bytes.len() > PACKAGE_BYTES_MAX {
            let (size, most) = (show_size(bytes.len() as u64), show_size(PACKAGE_BYTES_MAX as u64));
            let reason = format!("with its bodies and rows it has {size}, and {most} is the maximum");
            return Err(refused(&reason, "use smaller bodies, or fewer rows and columns of data"));
        }
        let checksum = Sha256::digest(&bytes[checksum_at + CHECKSUM_BYTES..]);
        bytes[checksum_at..checksum_at + CHECKSUM_BYTES].copy_from_slice(&checksum);
        Ok(bytes)
    }

    /// Reads what [`encode`](Self::encode) wrote. Whatever the bytes are, it does not panic and
    /// takes at most about 2 GiB of memory.
    ///
    /// # Errors
    /// The bytes are no package, are one of another version, or are damaged.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        if bytes.len() > PACKAGE_BYTES_MAX {
            let most = show_size(PACKAGE_BYTES_MAX as u64);
            return Err(unreadable(&format!("it has more than {most}; send a smaller plan")));
        }
        Self::decode_content(checked_content(bytes)?)
    }

    /// The part of [`decode`](Self::decode) after the checksum, which tests change.
    #[doc(hidden)]
    pub fn decode_content(content: &[u8]) -> Result<Self, DecodeError> {
        let limits = Limits::default();
        let mut reader = postcard::Deserializer::from_bytes(content);
        let package = Self::deserialize(Limited::new(&mut reader, &limits)).map_err(|error| {
            unreadable(&limits.exceeded().map_or_else(|| format!("{error}; send it again"), str::to_owned))
        })?;
        match reader.finalize() {
            Ok([]) => package.consistent(),
            _ => Err(unreadable("bytes follow its end; send it again")),
        }
    }

    /// Returns the package if its parts belong together.
    fn consistent(self) -> Result<Self, DecodeError> {
        let data = &self.plan.shared.data;
        let fits = |(data, table): (&DataPlan, &Table)| {
            table.columns().eq(data.columns.iter().map(String::as_str))
                && u64::from(table.rows()) == data.rows
        };
        if data.len() != self.tables.len() || !data.iter().zip(&self.tables).all(fits) {
            return Err(unreadable("its rows are not those of its plan; send it again"));
        }
        if !has_all_parts(&self.plan) {
            let reason = "it refers to a target or scenario that it does not have; send it again";
            return Err(unreadable(reason));
        }
        Ok(self)
    }
}

/// Returns whether phases, steps and selections refer to scenarios and targets of the plan.
fn has_all_parts(plan: &Plan) -> bool {
    let Plan { targets, scenarios, phases, around, .. } = plan;
    let within = |mix: &ScenarioMix, count: usize| mix.parts().iter().all(|part| usize::from(part.0) < count);
    let hooks = [&around.before, &around.after].into_iter().flatten().map(Box::as_ref);
    let mut steps = scenarios.iter().chain(hooks).flat_map(|scenario| &scenario.steps);
    let mut picks = targets.iter().filter_map(|target| target.pick.as_ref());
    phases.iter().all(|phase| within(&phase.mix, scenarios.len()))
        && steps.all(|step| {
            let described = |call: &GrpcPlan| usize::from(call.descriptors) < plan.shared.descriptors.len();
            step.target < targets.len() && step.grpc.as_ref().is_none_or(described)
        })
        && picks.all(|pick| within(&pick.of, targets.len()))
}

/// Returns the bytes before the checksum.
fn header() -> Vec<u8> {
    let length = u8::try_from(VERSION.len()).expect("a version is short");
    [MAGIC.as_slice(), &[length], VERSION.as_bytes()].concat()
}

/// Returns the bytes after the header and checksum, if both are right.
fn checked_content(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    let short = || unreadable("it ends too early; send it again");
    let after_magic = bytes.strip_prefix(MAGIC).ok_or_else(|| {
        unreadable("it does not begin as one; start the same version of wavetank on all hosts")
    })?;
    let (length, rest) = after_magic.split_first().ok_or_else(short)?;
    let (version, rest) = rest.split_at_checked(usize::from(*length)).ok_or_else(short)?;
    if version != VERSION.as_bytes() {
        let version = sanitize(&String::from_utf8_lossy(version)).into_owned();
        return Err(unreadable(&format!(
            "it is from version {version}, and this is version {VERSION}; install the same version on all hosts"
        )));
    }
    let (checksum, content) = rest.split_at_checked(CHECKSUM_BYTES).ok_or_else(short)?;
    if Sha256::digest(content).as_slice() != checksum {
        return Err(unreadable("it was damaged on its way; send it again"));
    }
    Ok(content)
}

fn unreadable(reason: &str) -> DecodeError {
    DecodeError::new(format!("cannot read the plan package: {reason}"))
}

fn refused(reason: &str, hint: &str) -> UserError {
    UserError::refused(Code::PlanPackage, format!("cannot send the plan to agents: {reason}"), hint)
}
