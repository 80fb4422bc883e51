"""The table of mistakes: each is found, with its kind alone; its twin is clean in any order."""

from __future__ import annotations

import re

import pytest
from blackwell_mistakes import AROUND, MISTAKES


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name):
    mistake = MISTAKES[name]
    run = AROUND[mistake.around]
    report = run(mistake.wrong, raise_on_finding=False, max_instructions=200_000)
    assert {f["kind"] for f in report.findings} == {mistake.kind}, report.messages
    text = "\n".join(report.messages)
    assert re.search(re.escape(mistake.says), text), text


@pytest.mark.parametrize("name", MISTAKES)
def test_twin(name):
    mistake = MISTAKES[name]
    for seed in range(4):
        AROUND[mistake.around](mistake.right, schedule_seed=seed)


def test_there_are_many():
    assert len(MISTAKES) >= 100
    assert len({m.kind for m in MISTAKES.values()}) >= 16
