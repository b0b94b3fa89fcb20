//! Scripts of `wavetank fleet up`, for POSIX shells. In each of them `$d` is the agent's folder.

use wavetank_units::shell_quoted;

use super::agent_settings::{AgentSettings, SETTINGS, agent_file};
use super::program_file::ProgramFile;

/// Starts each line that a script writes for us: startup files of shells may write lines, too.
pub(super) const MARK: &str = "wavetank-up";

/// What a host has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FoundFiles {
    /// System and architecture, as `uname -sm` prints them.
    pub(super) system: String,
    /// Size in bytes and SHA-256 of the program.
    pub(super) program: Option<(u64, String)>,
    /// The same of a half copy.
    pub(super) part: Option<(u64, String)>,
    /// SHA-256 of the settings with which `fleet up` started its agent.
    pub(super) settings: Option<String>,
}

/// Returns the name of a half copy. It has the names of the file and of the host, because hosts may
/// share a folder.
fn part_name(program: &ProgramFile, host: &str) -> String {
    let host: String = host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("wavetank.{}.{host}.part", &program.digest[..16])
}

/// Prints what the host has, and the greeting of its agent.
pub(super) fn probe(program: &ProgramFile, host: &str) -> String {
    let (part, settings) = (part_name(program, host), agent_file(host, SETTINGS));
    format!(
        "echo \"{MARK} system $(uname -sm)\"\n\
         command -v sha256sum >/dev/null || {{ echo 'sha256sum is missing' >&2; exit 3; }}\n\
         f() {{ [ -f \"$2\" ] && echo \"{MARK} $1 $(wc -c <\"$2\") $(sha256sum <\"$2\")\"; }}\n\
         f program \"$d/wavetank\"\n\
         f part \"$d/{part}\"\n\
         f settings \"$d/{settings}\"\n\
         [ -x \"$d/wavetank\" ] && \"$d/wavetank\" agent hello --dir \"$d\" 2>/dev/null\n\
         exit 0"
    )
}

/// Returns what a probe found.
pub(super) fn found_files(output: &str) -> FoundFiles {
    let mut found = FoundFiles::default();
    for line in output.lines().filter_map(|line| line.strip_prefix(MARK)) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let file = |size: &str, digest: &str| Some((size.parse().ok()?, digest.to_owned()));
        match words.as_slice() {
            ["system", names @ ..] => found.system = names.join(" "),
            ["program", size, digest, ..] => found.program = file(size, digest),
            ["part", size, digest, ..] => found.part = file(size, digest),
            ["settings", _, digest, ..] => found.settings = Some((*digest).to_owned()),
            _ => {}
        }
    }
    found
}

/// Completes the half copy from standard input, of which the first `offset` bytes are there, and
/// puts it into place.
pub(super) fn copy(program: &ProgramFile, host: &str, offset: u64) -> String {
    let (part, digest) = (part_name(program, host), &program.digest);
    let empty = if offset == 0 { ": >\"$p\" || exit 1\n" } else { "" };
    format!(
        "umask 077\n\
         mkdir -p \"$d\" || exit 1\n\
         p=$d/{part}\n\
         {empty}\
         cat >>\"$p\" || exit 1\n\
         s=$(sha256sum <\"$p\")\n\
         [ \"${{s%% *}}\" = {digest} ] || {{ rm -f \"$p\"; echo 'the copy is damaged' >&2; exit 3; }}\n\
         chmod 755 \"$p\" && mv -f \"$p\" \"$d/wavetank\""
    )
}

/// Puts a private file with this SHA-256 into the agent's folder, from standard input.
pub(super) fn put(name: &str, digest: &str) -> String {
    format!(
        "umask 077\n\
         mkdir -p \"$d\" || exit 1\n\
         p=$d/{name}.part\n\
         cat >\"$p\" || exit 1\n\
         s=$(sha256sum <\"$p\")\n\
         [ \"${{s%% *}}\" = {digest} ] || {{ rm -f \"$p\"; echo 'the copy is damaged' >&2; exit 3; }}\n\
         chmod 600 \"$p\" && mv -f \"$p\" \"$d/{name}\""
    )
}

/// Starts an agent in a session of its own and prints its greeting. With `restart`, an agent that
/// runs is ended first.
pub(super) fn start(settings: &AgentSettings, version: &str, restart: bool) -> String {
    let stop = if restart {
        let name = shell_quoted(&settings.name);
        format!("\"$d/wavetank\" agent stop --dir \"$d\" --name {name} >/dev/null || exit 7\n")
    } else {
        String::new()
    };
    format!(
        "v=$(\"$d/wavetank\" --version 2>&1) || {{\n\
         echo \"cannot execute $d/wavetank, perhaps because of a noexec mount: $v\" >&2; exit 6; }}\n\
         [ \"$v\" = {version} ] || {{ echo \"$d/wavetank calls itself $v\" >&2; exit 6; }}\n\
         {stop}\
         printf %s {settings} >\"$d/{file}\" || exit 1\n\
         setsid nohup \"$d/wavetank\" agent serve --dir \"$d\" {options} \
         </dev/null >>\"$d/agent.log\" 2>&1 &\n\
         \"$d/wavetank\" agent hello --dir \"$d\" --wait 20s --pid $! || {{\n\
         tail -n 3 \"$d/agent.log\" >&2; exit 8; }}",
        version = shell_quoted(version),
        options = settings.options(),
        file = agent_file(&settings.name, SETTINGS),
        settings = shell_quoted(&settings.text()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_startup_files_are_left_out() {
        let output = "Welcome\nwavetank-up system Linux x86_64\nwavetank-up program 12 abc  -\n\
            wavetank-up part x y\nwavetank-up part 3 de -\nwavetank-up settings 7 1f -\n{}\n";
        let expected = FoundFiles {
            system: "Linux x86_64".to_owned(),
            program: Some((12, "abc".to_owned())),
            part: Some((3, "de".to_owned())),
            settings: Some("1f".to_owned()),
        };
        assert_eq!(found_files(output), expected);
        assert_eq!(found_files(""), FoundFiles::default());
    }
}
