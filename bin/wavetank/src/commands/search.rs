//! `wavetank search URL|FILE`: run after run, until the highest load is known that still meets the thresholds.

mod aim;
mod course;
mod doc;
mod level;
mod verdict;

use wavetank_plan::{ExitCode, UserError};
use wavetank_record::SearchDoc;

use super::run_file::refused;
use crate::cli::{Goal, OutputFormat, SearchArgs, without_values};
use crate::experiment::{Loaded, Names, Rows, with_whole_names};
use crate::run::out_file::open_all;
use crate::run::{Host, Talk, output};
use aim::{Aim, of_file, of_url};
use course::conduct;

/// Find it, and tell it. What can be found wrong before anything is sent is an error.
pub(crate) fn search(mut args: SearchArgs) -> Result<u8, UserError> {
    let host = Host::look()?;
    let mut talk = Talk::new(args.quiet);
    match args.goal.clone() {
        Goal::Url(url) => {
            let aim = of_url(&url, &args, &host)?;
            told(&aim, &args, &host, &mut talk)
        }
        Goal::File(file) => {
            let options = with_whole_names(args.options.clone());
            let mut loaded = Loaded::read(&file, &options, Rows::Now)?;
            let Some(experiment) = loaded.experiment.take() else {
                return refused(&loaded, args.format, &args.out);
            };
            // It is of the file's own load; levels are as long as percentiles need.
            loaded.diagnostics.forget("percentile_undecided");
            args.command = without_values(&args.command, &file.set, &experiment.redact);
            let names = Names::new(&experiment);
            let aim = of_file(&file, &loaded, &experiment, &names, (&args, &host))?;
            if !loaded.diagnostics.is_empty() {
                talk.say(loaded.rendered().trim_end());
            }
            told(&aim, &args, &host, &mut talk)
        }
    }
}

fn told(aim: &Aim<'_>, args: &SearchArgs, host: &Host, talk: &mut Talk) -> Result<u8, UserError> {
    if args.out.iter().map(|out| out.format).chain([args.format]).any(OutputFormat::is_of_one_run) {
        return Err(output::not_of_searches());
    }
    let files = open_all(&args.out)?;
    let (doc, folder) = conduct(aim, args, host, talk)?;
    let delivered = output::deliver_search(&doc, args.format, files, args.language);
    if let Some(kept) = folder {
        talk.say(&kept);
    }
    end(&doc, delivered, talk)
}

/// A search that found nothing has said enough with its code; what was not written is told all the same.
fn end(doc: &SearchDoc, delivered: Result<(), UserError>, talk: &mut Talk) -> Result<u8, UserError> {
    match delivered {
        Err(error) if doc.answer.exit != ExitCode::Pass as u8 => {
            talk.warn(&error.to_string());
            Ok(doc.answer.exit)
        }
        delivered => delivered.map(|()| doc.answer.exit),
    }
}
