//! The internal commands by which this program starts itself again for a lab. They are not part of
//! the command line: help, completions and manual do not list them.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use wavetank_units::UserError;

use crate::exec::{ExecRequest, ExecRole};
use crate::host_handle::HostHandle;
use crate::{LabFolder, LabTag, config_check, host, routing, supervisor};

/// The internal command of this process.
#[derive(Debug)]
enum Inner {
    Keeper { folder: LabFolder },
    Host { folder: LabFolder, name: String },
    Trial { folder: LabFolder, name: String },
    Enter { folder: LabFolder, sent: ExecRequest, words: Vec<OsString> },
    Errand { errand: ExecRole, sent: ExecRequest, words: Vec<OsString> },
    Director { folder: PathBuf, service: String },
}

/// Runs `argv` if it is one of the lab's internal commands, and returns the exit code; `None` if it
/// is not.
pub fn run_internal_command(argv: &[OsString]) -> Option<Result<u8, UserError>> {
    Some(match read(argv)? {
        Inner::Keeper { folder } => supervisor::run(folder).map(|()| 0),
        Inner::Host { folder, name } => host::run(&folder, &name).map(|()| 0),
        Inner::Trial { folder, name } => config_check::run(&folder, &name).map(|()| 0),
        Inner::Enter { folder, sent, words } => {
            HostHandle::to(&folder, &sent.host).and_then(|way| way.enter(&sent, &words))
        }
        Inner::Errand { errand, sent, words } => errand.run(&sent, &words),
        Inner::Director { folder, service } => routing::run(&folder, &service).map(|()| 0),
    })
}

/// Parses these forms:
/// - `PROGRAM lab-keeper --mark MARK --folder FOLDER`, `lab-host … --host NAME` and `lab-trial`
///   likewise
/// - `lab-enter … --host NAME --socket PATH -- WORDS`
/// - `lab-director --folder HOST-FOLDER --service NAME`
/// - `lab-errand --mark MARK WHAT --host NAME --socket PATH -- WORDS`
///
/// The mark comes first, where a search for a lab's processes finds it. The last two are processes
/// of a host and die with it.
fn read(argv: &[OsString]) -> Option<Inner> {
    let (command, rest) = argv.get(1..)?.split_first()?;
    if command == "lab-director" {
        return director(rest);
    }
    let (mark, rest) = value(rest, "--mark")?;
    let mark = LabTag::parse(mark.to_str()?)?;
    if command == "lab-errand" {
        return errand(mark, rest);
    }
    let (folder, rest) = value(rest, "--folder")?;
    let folder =
        LabFolder::from_argument(PathBuf::from(folder)).filter(|folder| folder.name() == mark.name())?;
    let name = |(name, rest): (&OsString, &[OsString])| Some((name.to_str()?.to_owned(), rest.to_owned()));
    match command.to_str()? {
        "lab-keeper" if rest.is_empty() => Some(Inner::Keeper { folder }),
        word @ ("lab-host" | "lab-trial") => {
            let (name, rest) = value(rest, "--host").and_then(name)?;
            let inner =
                if word == "lab-host" { Inner::Host { folder, name } } else { Inner::Trial { folder, name } };
            rest.is_empty().then_some(inner)
        }
        "lab-enter" => {
            let (sent, words) = sent(mark, rest)?;
            Some(Inner::Enter { folder, sent, words })
        }
        _ => None,
    }
}

fn errand(mark: LabTag, words: &[OsString]) -> Option<Inner> {
    let (what, rest) = words.split_first()?;
    let errand = ExecRole::parse(what)?;
    let (sent, words) = sent(mark, rest)?;
    Some(Inner::Errand { errand, sent, words })
}

/// Parses `--host NAME --socket PATH -- WORDS`.
fn sent(mark: LabTag, words: &[OsString]) -> Option<(ExecRequest, Vec<OsString>)> {
    let (host, rest) = value(words, "--host")?;
    let (socket, rest) = value(rest, "--socket")?;
    let (dashes, words) = rest.split_first()?;
    let sent = ExecRequest { mark, host: host.to_str()?.to_owned(), socket: PathBuf::from(socket) };
    (dashes == "--").then(|| (sent, words.to_owned()))
}

fn director(words: &[OsString]) -> Option<Inner> {
    let (folder, rest) = value(words, "--folder")?;
    let (service, rest) = value(rest, "--service")?;
    let service = service.to_str()?.to_owned();
    rest.is_empty().then(|| Inner::Director { folder: PathBuf::from(folder), service })
}

fn value<'w>(words: &'w [OsString], option: &str) -> Option<(&'w OsString, &'w [OsString])> {
    match words {
        [name, value, rest @ ..] if name == OsStr::new(option) => Some((value, rest)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, expected: Option<&str>) {
        let argv: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let said = read(&argv).map(|inner| match inner {
            Inner::Keeper { folder } => format!("keeper of {}", folder.name()),
            Inner::Host { folder, name } => format!("host {name} of {}", folder.name()),
            Inner::Trial { folder, name } => format!("trial of {name} of {}", folder.name()),
            Inner::Director { folder, service } => format!("director {service} in {}", folder.display()),
            Inner::Enter { folder, sent: ExecRequest { host, socket, .. }, words } => {
                format!("into {host} of {} by {}: {words:?}", folder.name(), socket.display())
            }
            Inner::Errand { errand, sent: ExecRequest { mark, host, socket }, words } => {
                format!("{errand:?} in {host} of {} by {}: {words:?}", mark.name(), socket.display())
            }
        });
        assert_eq!(said.as_deref(), expected, "{words}");
    }

    #[test]
    fn only_whole_sentences_are_ours() {
        let reported = "--mark wavetank-shop-0badcafe --folder /run/wavetank/labs/shop";
        check(&format!("wavetank lab-keeper {reported}"), Some("keeper of shop"));
        check(&format!("wavetank lab-host {reported} --host lb1"), Some("host lb1 of shop"));
        check(&format!("wavetank lab-trial {reported} --host lb1"), Some("trial of lb1 of shop"));
        check(&format!("wavetank lab-trial {reported} --host lb1 more"), None);
        check(
            &format!("wavetank lab-enter {reported} --host lb1 --socket /x -- ip a"),
            Some("into lb1 of shop by /x: [\"ip\", \"a\"]"),
        );
        check(&format!("wavetank lab-enter {reported} --host lb1 --socket /x ip a"), None);
        check(&format!("wavetank lab-enter {reported} --host lb1 -- ip a"), None);
        check(
            "wavetank lab-errand --mark wavetank-shop-0badcafe --go --host lb1 --socket /x -- ip a",
            Some("Go in lb1 of shop by /x: [\"ip\", \"a\"]"),
        );
        check("wavetank lab-errand --go --host lb1 --socket /x -- ip a", None);
        check(
            "wavetank lab-errand --mark wavetank-shop-0badcafe --stay --host lb1 --socket /x -- ip a",
            None,
        );
        check(&format!("wavetank lab-keeper {reported} --host lb1"), None);
        check("wavetank lab-keeper --mark wavetank-shop-0badcafe --folder /run/wavetank/labs/other", None);
        check("wavetank lab-keeper", None);
        check(
            "wavetank lab-director --folder /labs/shop/hosts/lb1 --service web",
            Some("director web in /labs/shop/hosts/lb1"),
        );
        check("wavetank lab-director --folder /labs/shop/hosts/lb1", None);
        check("wavetank lab-director --folder /labs/shop/hosts/lb1 --service web more", None);
        check("wavetank lab up shop.yaml", None);
        check("wavetank", None);
    }
}
