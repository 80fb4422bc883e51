"""What Python may set a setting to: what its variable may be, and what stands for that."""

from __future__ import annotations

import enum
from pathlib import Path

import numpy as np
import pytest

import tile
from tile import knobs, settings

GROUPS = knobs.groups()
KNOBS = [
    pytest.param(group, name, id=f"{group_name}.{name}")
    for group_name, group in GROUPS.items()
    for name, knob in group.settings().items()
    if knob.honoured
]
HOOKS = [
    pytest.param(group, name, id=f"{group_name}.{name}")
    for group_name, group in GROUPS.items()
    for name, value in vars(type(group)).items()
    if not name.startswith("_") and (value is None or isinstance(value, settings.Hook))
]


class One(enum.IntEnum):
    ONE = 1


#: Values beside text. Each stands for a text that the variable may be.
VALUES = [
    (True, "1"), (False, "0"), (0, "0"), (1, "1"), (2, "2"), (-1, "-1"), (1.5, "1.5"),
    (np.True_, "1"), (np.int64(7), "7"), (np.float32(0.5), "0.5"), (np.array(3), "3"),
    (np.str_("on"), "on"), (One.ONE, "1"), (Path("/some/file"), "/some/file"),
    (10**30, str(10**30)),
]  # fmt: skip
TEXTS = [
    "",
    "1",
    "0",
    "maybe",
    "on",
    "Off",
    "-3",
    "64M",
    "1e999",
    "nan",
    "ttir",
    "warnings",
    "3.6.0",
]


def from_environment(group, name: str, text: str, monkeypatch):
    """What a variable of this text gives; None where it is refused."""
    knob = group.settings()[name]
    with monkeypatch.context() as patch:
        patch.setenv(knob.names[0], text)
        try:
            return (getattr(group, name),)
        except tile.TileError:
            return None


@pytest.mark.parametrize(("group", "name"), KNOBS)
def test_as_the_variable(group, name, monkeypatch):
    """A value is taken, and means the same, exactly if the variable may be that."""
    for value, text in (*VALUES, *zip(TEXTS, TEXTS, strict=True)):
        expected = from_environment(group, name, text, monkeypatch)
        with group.scope():
            if expected is None:
                with pytest.raises(tile.TileError, match=f"^the setting `{name}` takes .*, not "):
                    setattr(group, name, value)
                assert name not in vars(group)
            else:
                setattr(group, name, value)
                assert repr(getattr(group, name)) == repr(expected[0]), (value, text)


@pytest.mark.parametrize(("group", "name"), KNOBS)
def test_what_no_variable_says(group, name):
    for value in (b"1", [], {}, (1,), object(), np.ones(3), np.bytes_(b"1"), 1j):
        with group.scope(), pytest.raises(tile.TileError, match=f"^the setting `{name}` takes "):
            setattr(group, name, value)


@pytest.mark.parametrize(("group", "name"), KNOBS)
def test_none_is_taken(group, name):
    with group.scope():
        setattr(group, name, None)
        assert getattr(group, name) is None


@pytest.mark.parametrize(("group", "name"), HOOKS)
def test_hooks_are_functions(group, name):
    with group.scope():
        for value in (3, "print", [print]):
            with pytest.raises(tile.TileError, match=f"^the setting `{name}` takes a function"):
                setattr(group, name, value)
        setattr(group, name, print)
        assert getattr(group, name) is print
        setattr(group, name, None)
        assert getattr(group, name) is None


def test_all_kinds_are_here():
    assert len(KNOBS) > 50 and len(HOOKS) > 10
