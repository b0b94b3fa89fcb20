//! Invalid command lines of `runs`.

use wavetank_units::ExitCode::Usage;

use super::bad_input::check;

#[test]
fn words_of_runs() {
    check(&[
        ("runs shwo", "command_unknown", Usage, "runs has no command `shwo`", "wavetank runs show"),
        ("runs show", "no_run", Usage, "no run", "latest"),
        (
            "runs prune b3cef3 --yes",
            "word_surplus",
            Usage,
            "unexpected argument `b3cef3`",
            "runs prune --failed; to remove",
        ),
        ("runs show a b", "word_surplus", Usage, "unexpected argument `b`", "runs show latest"),
        ("runs pack a b", "word_surplus", Usage, "unexpected argument `b`", "runs pack latest"),
        ("runs unpack a b", "word_surplus", Usage, "unexpected argument `b`", "runs unpack FILE.wtrun"),
        ("runs unpack", "no_file", Usage, "no packed run", "runs unpack FILE.wtrun"),
        ("runs list 7f3a21", "word_surplus", Usage, "`7f3a21`", "wavetank runs show"),
        ("runs -n 0", "zero", Usage, "-n", "more than zero"),
        ("runs --status good", "value_unknown", Usage, "--status `good`", "pass"),
        ("runs --tag build", "bad_tag", Usage, "--tag `build`", "build=1234"),
        ("runs prune", "prune_what", Usage, "no option selects the runs to remove", "--keep 20"),
        ("runs prune --yes", "prune_what", Usage, "no option selects the runs to remove", "--keep 20"),
        ("runs prune --older-than 30", "unit_missing", Usage, "--older-than", "30s"),
        ("runs prune --size-max 10", "unit_missing", Usage, "--size-max", "10B"),
    ]);
}
