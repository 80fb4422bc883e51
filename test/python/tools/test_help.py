"""The help of every command of `tile` is in one style."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click
import pytest

from tile.cli import main, tile
from tile.profiler.proton import command as proton
from tile.profiler.viewer import command as viewer


def _below(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(words), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _below(found, (*words, name))


ALL = dict([*_below(tile, ("tile",)), ("proton", proton), ("proton-viewer", viewer)])
each = pytest.mark.parametrize("name", ALL)


def _options(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option)]


@each
def test_it_begins_with_one_sentence(name):
    text = inspect.cleandoc(ALL[name].help or "")
    summary = " ".join(text.split("\n\n")[0].split())
    # In the list of commands it stands in one line.
    assert re.fullmatch(r"[A-Z].*[.]", summary), summary
    assert len(summary) <= 90
    # What a command does is said as an order is: `Show`, not `Shows`.
    assert not re.match(r"\w+s ", summary), summary


@each
def test_each_option_has_a_sentence(name):
    for option in _options(ALL[name]):
        assert re.fullmatch(r"[A-Z].*[.]", option.help or "", re.S), (option.opts, option.help)
        assert not re.match(r"(Writes|Prints|Shows|Ends|Runs|Removes|Makes|Gives)\b", option.help)
        assert "[]" not in option.help


@each
def test_short_names_come_first(name):
    for option in _options(ALL[name]):
        lengths = [len(word) for word in option.opts]
        assert lengths == sorted(lengths), option.opts


@each
def test_nothing_is_cut_off(name):
    context = click.Context(ALL[name], info_name=name, help_option_names=["-h", "--help"])
    text = ALL[name].get_help(context)
    assert text.startswith("Usage: ")
    body = text.split("\n", 1)[1]
    assert not re.search(r"[a-z]\.\.\.$", body, re.M), body


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith("tile ")])
def test_both_switches_show_it(name, capsys):
    for switch in ("-h", "--help"):
        assert main([*name.split()[1:], switch]) == 0
        assert capsys.readouterr().out.startswith(f"Usage: {name}")


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith("tile ")])
def test_an_unknown_option_is_bad_usage(name, capsys):
    words = name.split()[1:]
    if words[0] in ("run", "profile", "explain"):  # It may be the program's.
        words.append("no-such-program.py")
        assert main(words) == 2
    else:
        assert main([*words, "--frobnicate"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("tile: error: ") and error.count("\n") == 1, error


def test_targets_are_completed_wherever_there_are_some():
    for name, command in ALL.items():
        for option in _options(command):
            if option.name in ("target", "targets"):
                assert option._custom_shell_complete is not None, name
