//! The shared parts of scenarios, and the actions before and after the load, in `plan.yaml`.

use serde::{Deserialize, Serialize};
use wavetank_plan::{DataPlan, PlannedEvent, SharedPlan};

use super::exact_quantity::{exact_duration, read_duration};
use super::names::{name_of, one_of};
use super::text::ROW_CHOICES;
use crate::DecodeError;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SharedYaml {
    data: Vec<DataYaml>,
    counts: Vec<String>,
    rendezvous: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct DataYaml {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    row: String,
    columns: Vec<String>,
    rows: u64,
    sha256: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EventYaml {
    when: String,
    host: String,
    run: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    lasts: Option<String>,
}

impl SharedYaml {
    pub(super) fn new(shared: &SharedPlan) -> Self {
        let SharedPlan { data, counts, rendezvous, descriptors: _ } = shared;
        Self {
            data: data.iter().map(DataYaml::new).collect(),
            counts: counts.clone(),
            rendezvous: rendezvous.clone(),
        }
    }

    pub(super) fn read(&self) -> Result<SharedPlan, DecodeError> {
        Ok(SharedPlan {
            data: self.data.iter().map(DataYaml::read).collect::<Result<_, _>>()?,
            counts: self.counts.clone(),
            rendezvous: self.rendezvous.clone(),
            descriptors: Vec::new(),
        })
    }
}

impl DataYaml {
    fn new(data: &DataPlan) -> Self {
        let DataPlan { name, file, row, columns, rows, sha256 } = data.clone();
        Self { name, file, row: name_of(row, &ROW_CHOICES).to_owned(), columns, rows, sha256 }
    }

    fn read(&self) -> Result<DataPlan, DecodeError> {
        let Self { name, file, row, columns, rows, sha256 } = self.clone();
        Ok(DataPlan { name, file, row: one_of(&row, &ROW_CHOICES)?, columns, rows, sha256 })
    }
}

impl EventYaml {
    pub(super) fn new(event: &PlannedEvent) -> Self {
        let PlannedEvent { when, host, run, undo, lasts } = event.clone();
        Self { when: exact_duration(when), host, run, undo, lasts: lasts.map(exact_duration) }
    }

    pub(super) fn read(&self) -> Result<PlannedEvent, DecodeError> {
        let Self { when, host, run, undo, lasts } = self.clone();
        let lasts = lasts.as_deref().map(read_duration).transpose()?;
        Ok(PlannedEvent { when: read_duration(&when)?, host, run, undo, lasts })
    }
}
