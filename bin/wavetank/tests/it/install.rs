//! The files of an installation in addition to the program, used as users do: completions by their
//! shell, manual pages by the formatter of `man`.

use wavetank_testkit::{Program, skip};

fn wavetank(words: &[&str]) -> Program {
    Program::new(env!("CARGO_BIN_EXE_wavetank")).args(words)
}

/// Returns what bash offers after `line`, with the script of `wavetank completions bash` loaded.
fn offered(line: &str) -> Option<String> {
    let bash = Program::foreign("bash")?;
    let script = wavetank(&["completions", "bash"]).run();
    script.expect_exit(0);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wavetank.bash");
    std::fs::write(&file, script.stdout).expect("a file");
    let ask = format!(
        "source '{}' && COMP_WORDS=({line}) && COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) && \
         _wavetank wavetank \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\" && \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        file.display()
    );
    let answer = bash.args(["--norc", "-c", &ask]).run();
    answer.expect_exit(0);
    Some(answer.stdout)
}

#[test]
fn bash_completes_commands_and_options() {
    let Some(commands) = offered("wavetank rep") else { return skip("completions in bash", "no bash") };
    assert_eq!(commands, "report\n");
    let options = offered("wavetank run --conn").expect("bash was there");
    assert_eq!(options, "--connections\n--connect-timeout\n--connect-to\n");
    let codes = offered("wavetank explain connect_").expect("bash was there");
    assert_eq!(codes, "connect_refused\nconnect_timeout\nconnect_unreachable\n");
}

#[test]
fn the_formatter_of_man_has_no_complaint() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("a path in UTF-8");
    let made = wavetank(&["man", place]).run();
    made.expect_exit(0);
    let Some(groff) = Program::foreign("groff") else { return skip("manual pages", "no groff") };
    for page in made.stdout.lines() {
        let read = groff.clone().args(["-man", "-Kutf8", "-Tutf8", "-ww", "-z", page]).run();
        read.expect_exit(0);
        assert_eq!(read.stderr, "", "{page}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_one_clear_line() {
    let refused = wavetank(&["man", "/dev/null/folder"]).run();
    refused.expect_exit(2);
    assert!(refused.stderr.starts_with("error: cannot"), "{refused}");
    assert!(refused.stderr.contains("hint: "), "{refused}");
    wavetank(&["completions", "tcsh"]).run().expect_exit(2);
}

#[test]
fn a_disk_that_is_full_is_reported_without_talk_of_runs() {
    let Some(shell) = Program::foreign("sh") else { return skip("a full disk", "no sh") };
    let program = wavetank(&["completions", "bash"]);
    let line = format!("'{}' completions bash >/dev/full", program.arguments()[0]);
    let refused = shell.args(["-c", &line]).run();
    refused.expect_exit(2);
    assert!(refused.stderr.starts_with("error: cannot write to stdout: No space left"), "{refused}");
    assert!(refused.stderr.contains("hint: ") && !refused.stderr.contains("wavetank report"), "{refused}");
}
