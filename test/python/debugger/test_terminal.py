"""The command `tile debug`, with scripts as the user."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import kernels
import pytest
from reference import sim_only

pytestmark = [sim_only, pytest.mark.nvidia("asks for targets itself")]

HERE = Path(__file__).parent
PTX = HERE.parents[1] / "unit/Simulator/ptx"
PROGRAM = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
import kernels
import numpy as np

x = np.arange(30, dtype=np.float32).reshape(3, 10)
out = np.zeros_like(x)
kernels.rows[(3,)](x, out, 10, 10, BLOCK=16, num_warps=1)
print("sum of column 9:", out[:, 9].sum())
"""


def run(*arguments: str, status: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tile", "debug", *arguments],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def commands(*lines: str) -> list[str]:
    return [word for line in lines for word in ("-e", line)]


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942", "hip:gfx1100"])
def test_a_session(program, target):
    at = kernels.line_of("sum")
    said = run(
        "--target", target,
        *commands(
            f"b {kernels.FILE}:{at} program 1 if i == 1", "c", "p x", "p i", "p y[0:3]", "args",
            "bt", "where x[3]", "rs", "bt", "up", "rn", "locals", "n", "waits", "barriers",
            "watch out_ptr[1, 2]", "delete 1", "c", "info", "rc", "list", "q",
        ),
        program,
    )  # fmt: skip
    assert "program (1, 0, 0), warp 0, event" in said and f"kernels.py:{at} in rows" in said
    assert "x: fp32[16] = [10., 11., 12., 13., 14., 15., 16., 17., 18., 19.,  0." in said
    assert "the mask of its load switched 6 of them off" in said
    assert "\ni = 1\n" in said and "y[0:3] = [11. 12. 13.]" in said
    assert "x_ptr: float32[3, 10] = " in said and "lane 3): " in said
    assert f"#0  {kernels.FILE}:{kernels.line_of('end of scaled')} in scaled" in said
    assert f"#1  {kernels.FILE}:{kernels.line_of('call')} in rows" in said
    assert "watch 2, out_ptr[1, 2]: [0] 0.0 -> 39.0" in said
    assert "no barrier is in use" in said and "the launch begins" in said
    assert f"->{kernels.line_of('first'):8}" in said or "->" in said


def test_the_program_goes_on_without_commands(program):
    said = run(*commands("c", "c"), program)
    assert "sum of column 9: 180.0" in said


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("b", "expected: b [FILE:]LINE"), ("b x:y", "expected: b"), ("p nothing", "no variable"),
        ("p 1 /", "invalid syntax"), ("where x", "there is no tensor"), ("warp 9", "has no warp 9"),
        ("shared nothing", "is no type"), ("registers nothing", "there is no register"),
        ("delete 7", "there is no breakpoint 7"), ("fly", "there is no command `fly`"),
        ("goto x", "an event is a number"), ("watch 3", "is no memory"),
        ("p total", "`total` has no value yet"), ("b 9999", "no statement of this kernel begins"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(program, command, message):
    said = run(*commands(command, "q"), program)
    assert message in said and "Traceback" not in said


def test_other_kernels_are_left_alone(program):
    said = run("--kernel", "nothing", *commands("q"), program)
    assert "launch 1" not in said and "sum of column 9: 180.0" in said


def test_a_file_of_ptx():
    at = next(
        i
        for i, text in enumerate((PTX / "basics.cu").read_text().splitlines(), 1)
        if "out[i] = x[i] + y[i]" in text
    )
    said = run(
        *commands(
            f"b basics.cu:{at} program 2", "c", "bt", "p n", "args", "registers %r1", "i", "i",
            "ri", "asm", "watch out[64:68]", "delete 1", "c", "rc", "rs", "q",
        ),
        str(PTX / "basics.ptx"), "--entry", "vector_add", "--grid", "4", "--block", "32",
        "--array", "x=random:f32:100", "--array", "y=random:f32:100", "--array",
        "out=zeros:f32:100", "--arg", "x", "--arg", "y", "--arg", "out", "--arg", "100",
    )  # fmt: skip
    assert f"basics.cu:{at} in vector_add" in said and "block (2, 0, 0), warp 0" in said
    assert "x: float32[100]" in said and "%r1 = " in said
    assert "watch 2, out[64:68]: [0] 0.0 ->" in said
    assert "the launch begins" in said and "error" not in said.replace("error: `n`", "")


def test_a_file_of_ptx_without_places_steps_by_instructions(tmp_path):
    text = "\n".join(
        line
        for line in (PTX / "basics.ptx").read_text().splitlines()
        if not line.lstrip().startswith((".loc", ".file"))
    )
    path = tmp_path / "plain.ptx"
    path.write_text(text)
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if "vector_add" in line)
    at = next(i for i in range(start, len(lines)) if "st.global" in lines[i]) + 1
    said = run(
        *commands(f"b asm:{at} program 1", "c", "s", "rs", "rs", "q"),
        str(path), "--entry", "vector_add", "--grid", "4", "--block", "32",
        "--arg", "random:f32:100", "--arg", "random:f32:100", "--arg", "zeros:f32:100",
        "--arg", "100",
    )  # fmt: skip
    assert f"assembly:{at} in vector_add" in said and "st.global" in said


def test_a_file_of_amdgcn(tmp_path, program):
    path = tmp_path / "kernel.s"
    compile_ = (
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "import kernels, numpy as np\n"
        "x = np.zeros((1, 16), np.float32)\n"
        "h = kernels.rows[(1,)](x, x.copy(), 16, 16, BLOCK=16, num_warps=1)\n"
        f"open({str(path)!r}, 'w').write(h.asm['amdgcn'])\n"
    )
    import os

    subprocess.run(
        [sys.executable, "-c", compile_],
        env={**os.environ, "TILE_DRIVER": "sim", "TILE_SIM_TARGET": "hip:gfx942"}, check=True,
    )  # fmt: skip
    at = kernels.line_of("load")
    said = run(
        *commands(f"b {kernels.FILE}:{at}", "c", "registers s0", "i", "ri", "rc", "q"),
        str(path), "--grid", "1", "--block", "64", "--arg", "random:f32:16", "--arg",
        "zeros:f32:16", "--arg", "16", "--arg", "16",
    )  # fmt: skip
    assert f"kernels.py:{at} in rows" in said and "s0 = " in said
