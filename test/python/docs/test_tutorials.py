"""The tutorials run, and their pages show what they are made of."""

from __future__ import annotations

import pytest
from pages import ROOT, load_script, settings_of_a_newcomer
from reference import sim_only

pytestmark = sim_only

TUTORIALS = load_script("tutorials")
without_numbers = load_script("from_wheel").without_numbers
PROGRAMS = TUTORIALS.programs()


def test_there_are_twelve():
    assert len(PROGRAMS) == 12
    index = (TUTORIALS.FOLDER / "index.md").read_text()
    assert [p.name for p in PROGRAMS if f"]({p.stem}.md)" not in index] == []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_tutorial_runs_and_its_page_is_of_today(program, monkeypatch):
    settings_of_a_newcomer(monkeypatch)
    monkeypatch.chdir(ROOT)
    page = program.with_suffix(".md").read_text()
    made = TUTORIALS.run(program)
    assert without_numbers(made) == without_numbers(page), (
        f"run `python scripts/tutorials.py {program.stem}`"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n# %%\n", "does not begin"),
        ("", "does not begin"),
        ("# %% [markdown]\n# # T\n# text\nx = 1\n", "line 2: text that is no comment: x = 1"),
    ],
)
def test_a_program_of_another_form_is_refused(text, message, tmp_path, monkeypatch):
    monkeypatch.setattr(TUTORIALS, "ROOT", tmp_path)
    program = tmp_path / "program.py"
    program.write_text(text)
    with pytest.raises(ValueError, match=message):
        TUTORIALS.run(program)


def test_what_differs_in_each_run_is_left_out():
    text = f"at 0x55d8746bb4d8 in {ROOT}/docs/x.py\ninstructions 3 in 0.012 s\n2.5 s in 3\n"
    assert (
        TUTORIALS.repeatable(text) == "at 0x... in docs/x.py\ninstructions 3 in ... s\n2.5 s in 3"
    )


def test_output_stands_behind_its_part(tmp_path, monkeypatch):
    monkeypatch.setattr(TUTORIALS, "ROOT", tmp_path)
    program = tmp_path / "program.py"
    program.write_text("# %% [markdown]\n# # Title\n#\n# Words.\n\n# %%\nprint(1)\n\n# %%\nx = 2\n")
    assert TUTORIALS.run(program) == (
        "# Title\n\nThis page is made of a program. Run it: `python program.py`.\n\nWords.\n\n"
        "```python\nprint(1)\n```\n\nOutput:\n\n```text\n1\n```\n\n```python\nx = 2\n```\n"
    )
