"""Each example runs by itself from the root of the repository, and says what it checked."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest
from pages import ROOT, settings_of_a_newcomer
from reference import sim_only

pytestmark = sim_only

#: Those that run all others, and what the examples share.
NOT_ALONE = {"device.py", "demo.py"}
EXAMPLES = [
    example
    for folder in (ROOT / "examples", ROOT / "examples" / "gluon")
    for example in sorted(folder.glob("*.py"))
    if example.name not in NOT_ALONE and "run_examples(" in example.read_text()
]


def test_the_examples_are_found():
    assert len(EXAMPLES) >= 21


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda example: str(example.relative_to(ROOT / "examples"))
)
def test_an_example_says_what_it_checked(example: Path, monkeypatch, capsys):
    settings_of_a_newcomer(monkeypatch)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [str(example.parent), *sys.path])
    monkeypatch.setattr(sys, "argv", [str(example)])
    # One for AMD's GPUs chooses a target, which is to be forgotten.
    monkeypatch.setenv("TILE_SIM_TARGET", "")
    monkeypatch.delenv("TILE_SIM_TARGET")
    before = set(sys.modules)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(example.relative_to(ROOT)), run_name="__main__")
    # Examples of one folder have names that those of the other have, too.
    for name in set(sys.modules) - before:
        if "examples" in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    printed = capsys.readouterr().out
    assert ended.value.code == 0, printed
    (checked,) = re.findall(r"^compared with NumPy: (\d+) results, 0 differ$", printed, re.M)
    assert int(checked) == len(re.findall("^ok ", printed, re.M)) > 0


def test_a_wrong_result_is_a_failure(monkeypatch, capsys):
    settings_of_a_newcomer(monkeypatch)
    monkeypatch.setattr(sys, "path", [str(ROOT / "examples"), *sys.path])
    from device import run_examples
    from vector_add import add

    def wrong(device) -> None:
        import numpy as np

        x, out = np.ones(10, np.float32), np.zeros(10, np.float32)
        device.check("wrong", add(x, x, out), out, x)

    with pytest.raises(SystemExit) as ended:
        run_examples(wrong)
    for name in ("device", "vector_add"):
        del sys.modules[name]
    assert ended.value.code == 1
    assert "compared with NumPy: 1 results, 1 differ" in capsys.readouterr().out
