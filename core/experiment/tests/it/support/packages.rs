//! What an agent receives of a plan is the plan. Every helper that makes plans checks this.

use wavetank_experiment::LoweredPlan;
use wavetank_journey::value::JsonType;
use wavetank_plan::{
    AutomaticChoices, DataPlan, HostFacts, Plan, PlanShare, Table, TableBuilder, adapt_to_host,
    lacking_for_share,
};
use wavetank_record::PlanPackage;
use wavetank_units::UserError;

const AUTOMATIC: AutomaticChoices = AutomaticChoices { threads: true, engine: true };

/// Checks both that the plan is read back, and that its own host changes nothing in it.
#[track_caller]
pub(crate) fn check_sent(name: &str, lowered: &LoweredPlan, host: &HostFacts) {
    check_package(name, &lowered.plan);
    let adapted = adapt_to_host(&lowered.plan, PlanShare::WHOLE, host, AUTOMATIC);
    assert_eq!(adapted.as_ref(), Ok(&lowered.plan), "{name}");
    let codes = |errors: &[UserError]| errors.iter().map(|error| error.code).collect::<Vec<_>>();
    let again = lacking_for_share(&lowered.plan, PlanShare::WHOLE, host, AUTOMATIC);
    assert_eq!(codes(&again), codes(&lowered.lacking), "{name}: {again:#?}");
}

/// Checks that the plan is read back as it was encoded. Data has one row in the package, because
/// tests do not read the files of all data.
#[track_caller]
pub(crate) fn check_package(name: &str, plan: &Plan) {
    let mut plan = plan.clone();
    let tables = plan.shared.data.iter_mut().map(one_row).collect();
    let package = PlanPackage {
        plan,
        tables,
        automatic_threads: true,
        automatic_engine: false,
        checks_reach: true,
        samples_hosts: true,
        variables: Vec::new(),
        sources: Vec::new(),
    };
    let bytes = package.encode().unwrap_or_else(|error| panic!("{name}: {error}"));
    let read = PlanPackage::decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(read == package, "{name}: {read:#?}\ninstead of\n{package:#?}");
}

fn one_row(data: &mut DataPlan) -> Table {
    if data.columns.is_empty() {
        data.columns.push("column of a file that is not read".to_owned());
    }
    let columns: Vec<&str> = data.columns.iter().map(String::as_str).collect();
    let mut table = TableBuilder::new(&data.name, &columns).expect("columns of a good file");
    for column in &columns {
        table.push(JsonType::Text, column).expect("is short");
    }
    data.rows = 1;
    table.finish().expect("one row")
}
