//! [`Planner`] for balancers in the kernel: the program that is started stands beside what passes packets on.

use std::path::PathBuf;

use wavetank_plan::UserError;
use wavetank_topology::render::{keepalived_said, nft_said};
use wavetank_topology::{Ipvs, KEEPALIVED_CONFIG, OwnProgram, Rendered, Service, Steering, keepalived};

use super::plan::{Check, Plan, Planner, text, write};
use super::process::Launch;
use super::program::Program;
use crate::routing::{STATE_FILE, director_words, ipvs_words};

impl Planner<'_> {
    /// Direct routing or NAT: `nft` checks the rules, and a director, our own program, loads them and keeps them.
    pub(super) fn steering(&self, service: &Service, steering: Steering<'_>) -> Result<Plan, UserError> {
        let nft = Program::NFT.find(&OwnProgram::default())?;
        let folder = self.folder(service)?;
        let rules = steering.rules();
        write(&folder.join(&rules.path), rules.text.as_bytes())?;
        let words = [text(&nft), "--check".to_owned(), "--file".to_owned(), rules.path.clone()].to_vec();
        let mut director = vec!["/proc/self/exe".to_owned()];
        director.extend(director_words(self.folder, &service.name));
        let launch = |words, name, sockets| Launch {
            folder: folder.clone(),
            words,
            name,
            environment: Vec::new(),
            sockets,
        };
        Ok(Plan {
            check: Some(Check {
                launch: launch(words, None, &[]),
                rendered: rules,
                own: None,
                said: nft_said,
            }),
            // It writes the file when the rules are in the kernel, which is what a start waits for.
            launches: vec![launch(director, Some("wavetank"), &[STATE_FILE])],
            counters: Some(STATE_FILE),
            version: Program::NFT.version(&nft),
        })
    }

    /// IPVS: keepalived, with our configuration or the user's.
    pub(super) fn ipvs(&self, service: &Service, work: &Ipvs) -> Result<Plan, UserError> {
        let binary = Program::KEEPALIVED.find(&work.own)?;
        let folder = self.folder(service)?;
        let (rendered, own) = match &work.own.config {
            None => (keepalived(service, work), None),
            Some(own) => {
                let mut rendered = Rendered::new(KEEPALIVED_CONFIG);
                rendered.line(own.text.trim_end_matches('\n'), None);
                (rendered, Some(own.name.clone()))
            }
        };
        write(&folder.join(KEEPALIVED_CONFIG), rendered.text.as_bytes())?;
        let launch = |check| {
            let words = std::iter::once(text(&binary)).chain(ipvs_words(&folder, check)).collect();
            Launch { folder: folder.clone(), words, name: None, environment: Vec::new(), sockets: &[] }
        };
        let check = Check { launch: launch(true), rendered, own, said: keepalived_said };
        let version = Program::KEEPALIVED.version(&binary);
        Ok(Plan { launches: vec![launch(false)], check: Some(check), counters: None, version })
    }

    /// The only folder of a service without copies.
    fn folder(&self, service: &Service) -> Result<PathBuf, UserError> {
        let folders = self.folders(service)?;
        Ok(folders.into_iter().next().expect("a service has at least one copy"))
    }
}
