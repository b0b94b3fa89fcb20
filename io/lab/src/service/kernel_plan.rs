//! [`Planner`] for balancers in the kernel. The started program only controls the kernel, which
//! forwards the packets.

use std::path::PathBuf;

use wavetank_topology::render::{KEEPALIVED_OUTPUT, NFT_OUTPUT};
use wavetank_topology::{CustomProgram, Ipvs, KEEPALIVED_CONFIG, NftBalancer, Rendered, Service, keepalived};
use wavetank_units::UserError;

use super::counters::CounterSource;
use super::plan::{Check, Planner, ServicePlan, text, write};
use super::process::Launch;
use super::program::Program;
use crate::routing::{STATE_FILE, director_args, keepalived_args};

impl Planner<'_> {
    /// Plans direct routing or NAT: `nft` checks the rules. A director, our own program, loads and
    /// maintains them.
    pub(super) fn steering(
        &self,
        service: &Service,
        steering: NftBalancer<'_>,
    ) -> Result<ServicePlan, UserError> {
        let nft = Program::NFT.find(&CustomProgram::default())?;
        let folder = self.folder(service)?;
        let rules = steering.rules();
        write(&folder.join(&rules.path), rules.text.as_bytes())?;
        let words = [text(&nft), "--check".to_owned(), "--file".to_owned(), rules.path.clone()].to_vec();
        let mut director = vec!["/proc/self/exe".to_owned()];
        director.extend(director_args(self.folder, &service.name));
        let launch = |words, name, sockets| Launch {
            folder: folder.clone(),
            words,
            name,
            environment: Vec::new(),
            sockets,
        };
        Ok(ServicePlan {
            check: Some(Check {
                launch: launch(words, None, &[]),
                rendered: rules,
                own: None,
                parser: NFT_OUTPUT,
            }),
            // The director writes the file when the rules are in the kernel. The start waits for
            // that file.
            launches: vec![launch(director, Some("wavetank"), &[STATE_FILE])],
            counters: Some(CounterSource::Socket(STATE_FILE)),
            version: Program::NFT.version(&nft),
            ..ServicePlan::default()
        })
    }

    /// Plans IPVS: keepalived, with our configuration or the user's.
    pub(super) fn ipvs(&self, service: &Service, work: &Ipvs) -> Result<ServicePlan, UserError> {
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
            let words = std::iter::once(text(&binary)).chain(keepalived_args(&folder, check)).collect();
            Launch { folder: folder.clone(), words, name: None, environment: Vec::new(), sockets: &[] }
        };
        let check = Check { launch: launch(true), rendered, own, parser: KEEPALIVED_OUTPUT };
        let version = Program::KEEPALIVED.version(&binary);
        let launches = vec![launch(false)];
        Ok(ServicePlan { launches, check: Some(check), version, ..ServicePlan::default() })
    }

    /// Returns the only folder of a service without copies.
    fn folder(&self, service: &Service) -> Result<PathBuf, UserError> {
        let folders = self.folders(service)?;
        Ok(folders.into_iter().next().expect("a service has at least one copy"))
    }
}
