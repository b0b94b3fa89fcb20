//! `wavetank fleet unit`.

use wavetank_units::{Code, ExitCode, UserError};

use crate::cli::FleetUnitArgs;
use crate::output;

/// Prints a systemd unit for a permanent agent.
pub(super) fn unit(args: &FleetUnitArgs) -> Result<u8, UserError> {
    if !args.dir.starts_with('/') {
        let message = format!("`{}` is not an absolute path, and a unit has no home folder", args.dir);
        return Err(UserError::usage(Code::BadAgentFolder, message, "--dir /var/lib/wavetank/agent"));
    }
    output::print(&text(args))?;
    Ok(ExitCode::Pass as u8)
}

fn text(args: &FleetUnitArgs) -> String {
    let folder = quoted(&args.dir.replace('%', "%%"));
    let program = quoted(&format!("{}/wavetank", args.dir.replace('%', "%%")));
    let name = quoted(&args.name);
    format!(
        "# /etc/systemd/system/wavetank-agent.service\n\
         [Unit]\n\
         Description=Wavetank agent\n\
         After=network-online.target\n\
         Wants=network-online.target\n\
         \n\
         [Service]\n\
         User={user}\n\
         ExecStart={program} agent serve --dir {folder} --name {name}\n\
         UMask=0077\n\
         LimitNOFILE=1048576\n\
         LimitMEMLOCK=infinity\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n",
        user = args.run_as
    )
}

/// Returns a word of a command line as systemd reads it (systemd.service(5)).
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-%:@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "$$"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_they_must_be() {
        let args =
            FleetUnitArgs { run_as: "load".to_owned(), dir: "/srv/a b%".to_owned(), name: "%H".to_owned() };
        let text = text(&args);
        let line = "ExecStart=\"/srv/a b%%/wavetank\" agent serve --dir \"/srv/a b%%\" --name %H\n";
        assert!(text.contains(line) && text.contains("User=load\n"), "{text}");
    }
}
