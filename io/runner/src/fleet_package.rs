//! [`FleetPackage`]: what the agents of a fleet get with their offers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wavetank_journey::data::Table;
use wavetank_journey::value::Values;
use wavetank_plan::Plan;
use wavetank_record::{PackageVariable, PlanPackage};
use wavetank_units::UserError;

use super::controller::LoadSide;
use super::fleet_load::FleetLoad;
use super::fleet_run::FleetRun;

/// A fleet, and the plan that its agents carry out.
pub(crate) struct FleetPackage {
    fleet: FleetRun,
    package: PlanPackage,
}

impl FleetPackage {
    /// The complete `plan`, with the rows of its data. `samples_hosts`: agents sample their hosts.
    pub(crate) fn new(load: FleetLoad, plan: &Plan, tables: &[Table], samples_hosts: bool) -> Self {
        let FleetLoad { fleet, automatic_threads, automatic_engine, checks_reach } = load;
        let package = PlanPackage {
            plan: plan.clone(),
            tables: tables.to_vec(),
            automatic_threads,
            automatic_engine,
            checks_reach,
            samples_hosts,
            sources: fleet.sources(),
            variables: Vec::new(),
        };
        Self { fleet, package }
    }

    /// Returns what carries out the load. `variables` are those that the run's `before` has set.
    ///
    /// # Errors
    /// If the package is too large.
    pub(crate) fn into_side(mut self, variables: &[(String, Values)]) -> Result<LoadSide, UserError> {
        self.package.variables = variables.iter().map(packed).collect();
        let text = STANDARD.encode(self.package.encode()?);
        Ok(LoadSide::Fleet(self.fleet, text))
    }
}

fn packed((name, values): &(String, Values)) -> PackageVariable {
    let values_of = values.iter().map(|value| (value.kind, value.text.to_vec()));
    PackageVariable { name: name.clone(), list: values.is_list(), values: values_of.collect() }
}

/// Returns a package's variables as sessions take them.
pub(crate) fn unpacked(variables: Vec<PackageVariable>) -> Vec<(String, Values)> {
    let one = |variable: PackageVariable| {
        let mut values = Values::default();
        if variable.list {
            values.set_list();
        }
        for (kind, text) in &variable.values {
            values.push(*kind, text);
        }
        (variable.name, values)
    };
    variables.into_iter().map(one).collect()
}
