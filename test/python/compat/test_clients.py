"""Public clients of Triton on the simulator, as far as they are installed: a small
part of what `test/clients/run.py` runs. torch is no dependency of the tests."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from reference import sim_only

RUN = Path(__file__).parents[2] / "clients" / "run.py"
#: Some seconds in all: pointwise, a reduction, a dot, indices, gradients.
INDUCTOR = "add softmax sum_rows linear_relu embedding layer_norm:backward own_kernels".split()


def run(tmp_path, client: str, *matches: str) -> dict:
    out = tmp_path / "out.json"
    command = [sys.executable, str(RUN), "--clients", client, "--out", str(out), "--exact"]
    subprocess.run([*command, "--match", ",".join(matches)], check=False, capture_output=True)
    (found,) = json.loads(out.read_text())["clients"]
    return found


@sim_only
@pytest.mark.nvidia("torch chooses kernels by the vendor that it was built for")
def test_torch_compile(tmp_path):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed: `pip install torch` runs torch.compile's kernels too")
    found = run(tmp_path, "inductor", *INDUCTOR)
    assert {c["name"]: c["error"] for c in found["cases"]} == dict.fromkeys(INDUCTOR)


@sim_only
def test_an_operator_of_torch():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed: `pip install torch` runs this example too")
    example = RUN.parents[2] / "examples" / "torch_op.py"
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("ok   torch.ops") == 2, done.stderr


@sim_only
def test_a_client_that_is_not_installed_is_skipped_with_a_word(tmp_path):
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("torch is installed")
    assert run(tmp_path, "inductor", "add")["skipped"] == "torch is not installed"


TOY = """
import os
from types import SimpleNamespace

PACKAGE = "numpy"


def wrong():
    raise ValueError("wrong")


def note(name):
    with open(os.environ["TOY_RUNS"], "a") as runs:
        print(name, file=runs)


RUNS = {"dies": lambda: os._exit(3), "wrong": wrong, **dict.fromkeys("abcdef", lambda: None)}


def cases(device):
    return [
        SimpleNamespace(
            name=name, run=lambda n=name, r=run: (note(n), r()), devices=("cpu",), limit=60
        )
        for name, run in RUNS.items()
    ]
"""


def test_processes_share_the_cases_of_a_client(tmp_path, monkeypatch):
    (tmp_path / "toy.py").write_text(TOY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("TOY_RUNS", str(tmp_path / "runs"))
    out = tmp_path / "out.json"
    command = [
        sys.executable,
        str(RUN),
        "--clients",
        "toy",
        "--jobs",
        "2",
        "--resume",
        "--out",
        out,
    ]
    expected = {
        **dict.fromkeys("abcdef"),
        "dies": "ended the process",
        "wrong": "ValueError: wrong",
    }
    for match in ("dies,wrong,a,b,c", ""):
        subprocess.run([*command, "--match", match], check=False, capture_output=True)
        (found,) = json.loads(out.read_text())["clients"]
        outcomes = {c["name"]: c["error"] for c in found["cases"]}
        assert outcomes.items() <= expected.items()
    assert outcomes == expected
    # Each was run once, by one of the processes of one of the runs.
    assert sorted((tmp_path / "runs").read_text().split()) == sorted(expected)
