//! [`LabSpec`]: the specification of a lab, which `up` sends to the keeper and the keeper to every
//! host.

use serde::{Deserialize, Serialize};
use wavetank_topology::Lab;
use wavetank_units::{Code, UserError, sanitize};

use crate::{LabTag, TaggedProcess};

/// The specification of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabSpec {
    /// The tag of the lab.
    pub mark: LabTag,
    /// The topology file as the user named it, for messages.
    pub file: String,
    /// The lab.
    pub lab: Lab,
    /// The process that the lab is for. The lab goes down when that process ends, however it ends.
    /// `None`: the lab stays until it is taken down.
    pub owner: Option<TaggedProcess>,
}

#[derive(Serialize, Deserialize)]
struct Stored<L> {
    mark: String,
    file: String,
    lab: L,
    owner: Option<TaggedProcess>,
}

impl LabSpec {
    /// Returns the form that is stored and sent: one line of JSON, for processes of the same
    /// program.
    pub(crate) fn written(&self) -> String {
        let Self { mark, file, lab, owner } = self;
        let stored = Stored { mark: mark.to_string(), file: file.clone(), lab, owner: *owner };
        serde_json::to_string(&stored).expect("a lab is maps, lists, texts and numbers")
    }

    /// Reads what [`written`](Self::written) wrote.
    pub(crate) fn read(text: &str) -> Result<Self, UserError> {
        let stored: Stored<Lab> =
            serde_json::from_str(text).map_err(|error| unreadable(&error.to_string()))?;
        let mark = LabTag::parse(&stored.mark).ok_or_else(|| unreadable("its mark is invalid"))?;
        let Stored { file, lab, owner, .. } = stored;
        Ok(Self { mark, file, lab, owner })
    }
}

fn unreadable(why: &str) -> UserError {
    let message = format!("cannot read the lab's specification: {}", sanitize(why));
    UserError::refused(Code::LabState, message, "use the version of wavetank that brought the lab up")
}

#[cfg(test)]
mod tests {
    use wavetank_topology::Lab;

    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let lab =
            Lab { name: "shop".to_owned(), networks: Vec::new(), hosts: Vec::new(), faults: Vec::new() };
        let mark = LabTag::generate("shop-2").expect("a name that fits");
        let owner = Some(TaggedProcess { pid: 7, start: 99 });
        let order = LabSpec { mark, file: "labs/shop.yaml".to_owned(), lab, owner };
        assert_eq!(LabSpec::read(&order.written()), Ok(order));
    }

    #[test]
    fn what_cannot_be_ours_is_refused() {
        for text in [
            "",
            "{}",
            "{\"mark\":\"x\",\"file\":\"\",\"lab\":{\"name\":\"\",\"networks\":[],\"hosts\":[],\"faults\":[]}}",
        ] {
            assert_eq!(LabSpec::read(text).map_err(|error| error.code.as_str()), Err("lab_state"), "{text}");
        }
    }
}
