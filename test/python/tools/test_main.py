"""The command `tile`."""

from __future__ import annotations

import click
import pytest

from tile.__main__ import main
from tile.cli import run_command


def test_lists_its_tools(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "layout       Show which thread owns" in capsys.readouterr().out
    assert main([]) == 2


def test_runs_a_tool(capsys: pytest.CaptureFixture[str]) -> None:
    encoding = (
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>"
    )
    assert main(["layout", encoding, "--shape", "4", "--format", "bases"]) == 0
    assert " - lane=1 -> (1)" in capsys.readouterr().out


def test_unknown_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lay-out"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("tile: error: no command 'lay-out'; there are: ")
    assert error.endswith("did you mean `layout`?\n")


@pytest.mark.parametrize(
    ("group", "known"), [("cache", "clear, ls, prune, stats, verify"), ("autotune", "clear, show")]
)
def test_unknown_command_of_a_group(group, known, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([group, "claer"]) == 2
    error = capsys.readouterr().err
    assert error == (
        f"tile: error: no command 'claer'; there are: {known}; did you mean `clear`?\n"
    )
    assert main([group, "--nothing"]) == 2
    assert "No such option '--nothing'" in capsys.readouterr().err


@pytest.mark.parametrize("group", ["cache", "autotune"])
def test_a_group_alone_lists_its_commands(group, capsys: pytest.CaptureFixture[str]) -> None:
    main([group])
    alone = capsys.readouterr()
    assert main([group, "--help"]) == 0
    assert alone.out.splitlines() == capsys.readouterr().out.splitlines()
    assert len(alone.out.splitlines()) > 8 and alone.err == ""


@pytest.mark.parametrize(
    "command", ["run", "debug", "explain", "sim", "compile", "link", "profile", "view", "layout"]
)
def test_a_command_without_arguments_says_what_is_missing(
    command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command]) == 2
    error = capsys.readouterr().err
    assert error.startswith("tile: error: Missing ") and len(error.splitlines()) == 1


def test_an_interrupted_program_says_where_its_kernel_was(capsys):
    @click.command()
    def command() -> None:
        raise KeyboardInterrupt("File k.py, line 3")

    assert run_command(command, [], "tile") == 130
    assert "File k.py, line 3" in capsys.readouterr().err
