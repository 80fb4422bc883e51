# ruff: noqa: E501  (PTX text reads better unbroken)
"""The `tile-sim` program: arguments, .npy files, reports, exit status."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from ptxlib import HEADER

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("TILE_SIM_PROGRAM", ROOT / "build" / "bin" / "tile-sim"))
PTX = ROOT / "test" / "unit" / "Simulator" / "ptx"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="tile-sim is not built")

# out[i] = x[i] * scale + (double) offset + low byte of tag, for i < n; a null x counts as zeros.
KERNEL = (
    HEADER
    + """
.visible .entry affine(.param .u64 x, .param .u64 out, .param .f32 scale, .param .f64 offset,
                       .param .s32 n, .param .u8 tag)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .f64 %fd<4>; .reg .pred %p<4>; .reg .b16 %h;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.s32 %r5, [n]; setp.ge.s32 %p1, %r4, %r5; @%p1 bra DONE;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; ld.param.f32 %f1, [scale]; ld.param.f64 %fd1, [offset];
  mov.f32 %f2, 0f00000000; setp.eq.u64 %p2, %rd1, 0; @%p2 bra ZERO;
  mad.wide.s32 %rd3, %r4, 4, %rd1; ld.global.f32 %f2, [%rd3];
ZERO:
  mul.f32 %f2, %f2, %f1; cvt.rn.f32.f64 %f3, %fd1; add.f32 %f2, %f2, %f3;
  ld.param.u8 %h, [tag]; cvt.rn.f32.u16 %f3, %h; add.f32 %f2, %f2, %f3;
  mad.wide.s32 %rd4, %r4, 4, %rd2; st.global.f32 [%rd4], %f2;
DONE: ret;
}
"""
)


def run(*args, status=0):
    done = subprocess.run(
        [str(PROGRAM), *map(str, args)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout if status < 2 else done.stderr


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "affine.ptx"
    path.write_text(KERNEL)
    return path


def arguments(x, scale="2", offset="0.5", n="100", tag="3", out="zeros:f32:100"):
    return [f"--arg={a}" for a in (x, out, scale, offset, n, tag)]


def test_arrays_come_from_files_and_go_back(kernel, tmp_path):
    x = np.arange(100, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    out = tmp_path / "out.npy"
    text = run(
        kernel, "--entry", "affine", "--grid", "2", "--block=64", *arguments(tmp_path / "x.npy"), "--out", f"1={out}"
    )  # fmt: skip
    got = np.load(out)
    assert got.dtype == np.float32 and (got == x * 2 + 3.5).all()
    assert "affine" in text and "grid (2, 1, 1)" in text


def test_numbers_take_the_parameters_type(kernel, tmp_path):
    out = tmp_path / "out.npy"
    for scale, offset, tag, want in [
        ("-1", "1e3", "255", 1255.0),
        ("0.25", "-2", "0x10", 14.0),
        ("inf", "0", "0", np.nan),
        ("3", "0x10", "-1", 271.0),
    ]:
        run(kernel, *arguments("null", scale, offset, "1", tag, "zeros:f32:4x2"), "--out", f"1={out}")  # fmt: skip
        got = np.load(out)
        assert got.shape == (4, 2)
        np.testing.assert_equal(got[0, 0], np.float32(want))
        assert (got.ravel()[1:] == 0).all()


def test_every_dtype_of_file_survives(kernel, tmp_path):
    for dtype in "u1 i1 u2 i2 f2 u4 i4 f4 u8 i8 f8".split():
        array = np.arange(24, dtype=dtype).reshape(2, 3, 4)
        np.save(tmp_path / "a.npy", array)
        run(kernel, *arguments("null", n="0", out=tmp_path / "a.npy"), "--out", f"1={tmp_path / 'b.npy'}")  # fmt: skip
        back = np.load(tmp_path / "b.npy")
        assert back.dtype == array.dtype and (back == array).all()
    np.save(tmp_path / "scalar.npy", np.float32(7))
    run(kernel, *arguments("null", n="0", out=tmp_path / "scalar.npy"), "--out", f"1={tmp_path / 'b.npy'}")  # fmt: skip
    assert np.load(tmp_path / "b.npy") == np.float32(7)


def test_json_report(kernel):
    data = json.loads(
        run(
            kernel, *arguments("null"), "--grid", "4", "--json", "--threads", "2", "--check", "none"
        )
    )
    assert data["ok"] and data["grid"] == [4, 1, 1] and data["block"] == [32, 1, 1]
    assert data["counters"]["global_store_bytes"] == 400
    assert data["roofline"]["gpu"] == "H200"
    assert "A100 at least" in run(kernel, *arguments("null"), "--gpu", "A100")


def test_list(kernel):
    text = run(kernel, "--list")
    assert "affine" in text and ".f64 offset (8 bytes at 24)" in text
    text = run(PTX / "basics.ptx", "--list")
    assert "vector_add" in text and "softmax" in text


def test_cluster_and_dynamic_shared(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(
        HEADER
        + ".extern .shared .align 16 .b8 dyn[];\n.visible .entry k(.param .u64 out)\n{\n"
        + ".reg .b32 %r<8>; .reg .b64 %rd<4>; mov.u32 %r1, %dynamic_smem_size; mov.u32 %r2, %cluster_nctaid.y;"
        + "mov.u32 %r3, dyn; st.shared.b32 [%r3+508], 0; ld.param.u64 %rd1, [out]; st.global.b32 [%rd1], %r1;"
        + "st.global.b32 [%rd1+4], %r2; ret;\n}\n"
    )
    out = tmp_path / "o.npy"
    run(path, "--grid=1,2,1", "--cluster", "1,2", "--dynamic-shared", "512", "--block", 1, "--arg", "zeros:u32:2", "--out", f"0={out}")  # fmt: skip
    assert np.load(out).tolist() == [512, 2]
    text = run(path, "--block", 1, "--arg", "zeros:u32:2", status=1)
    assert "out-of-bounds" in text


def test_findings_set_the_exit_status(kernel):
    text = run(kernel, *arguments("null", out="zeros:f32:99"), "--grid", "4", status=1)
    assert "out-of-bounds" in text and "'out' (396 bytes" in text


def test_output_of_a_failed_launch_is_still_written(kernel, tmp_path):
    out = tmp_path / "o.npy"
    run(kernel, *arguments("null", out="zeros:f32:32"), "--grid", "4", "--threads", "1", "--out", f"1={out}", status=1)  # fmt: skip
    assert (np.load(out) == 3.5).all()


def test_instruction_budget(tmp_path):
    path = tmp_path / "loop.ptx"
    path.write_text(HEADER + ".visible .entry spin()\n{\nL: bra L;\n}\n")
    text = run(path, "--max-instructions", "1000", status=1)
    assert "instruction-budget" in text and "did not end within 1000" in text
    assert "line 6" in text or ":6" in text


BAD = [
    ([], "takes 6 arguments, 0 were given"),
    (["--entry", "nothing"], "no kernel 'nothing'"),
    (["--grid", "0"], "bad value '0' for --grid"),
    (["--grid", "1,2,3,4"], "bad value '1,2,3,4' for --grid"),
    (["--grid", "-1"], "bad value '-1' for --grid"),
    (["--block", "x"], "bad value 'x' for --block"),
    (["--check", "races,nothing"], "bad value 'races,nothing' for --check"),
    (["--max-instructions", "many"], "bad value 'many' for --max-instructions"),
    (["--dynamic-shared", "-5"], "bad value '-5' for --dynamic-shared"),
    (["--out", "one=x.npy"], "bad value 'one=x.npy' for --out"),
    (["--weird", "1"], "unknown option '--weird'"),
    (["--gpu", "B52"], "unknown GPU 'B52'; known are H200"),
    (["--grid"], "--grid needs a value"),
    (["second.ptx"], "more than one file"),
    ([*arguments("null"), "--block", "2048"], "more than 1024 threads"),
    ([*arguments("null"), "--cluster", "2"], "not a multiple of the cluster"),
    ([*arguments("null"), "--dynamic-shared", "1000000"], "bytes of shared memory"),
    ([*arguments("null"), "--out", "2=x.npy"], "argument 2 is not an array"),
    (arguments("missing.npy"), "argument 0: missing.npy: not a .npy file"),
    (arguments("pointer"), "argument 0: 'pointer' is neither a number nor null"),
    (arguments("1.5"), r"argument 0: parameter 'x' (.u64) does not take a float"),
    (arguments("null", scale="two"), "argument 2: 'two' is neither a number"),
    (arguments("null", scale="null"), "argument 2: parameter 'scale' is not a pointer"),
    (arguments("null", n="1.5"), "argument 4: parameter 'n' (.s32) does not take a float"),
    (arguments("null", n="4294967296"), "argument 4: 4294967296 does not fit into parameter 'n'"),
    (arguments("null", tag="256"), "argument 5: 256 does not fit"),
    (arguments("null", tag="-129"), "argument 5: -129 does not fit"),
    (arguments("null", n="zeros:f32:4"), "argument 4: parameter 'n' is not a pointer"),
    (arguments("null", out="zeros:c8:4"), "should be zeros:TYPE:SHAPE"),
    (arguments("null", out="zeros:f24:4"), "unknown element type 'f24'"),
    (arguments("null", out="zeros:f32:4y"), "bad shape"),
    (arguments("null", out="zeros:f32:99999999999x99999999999"), "bad shape"),
]


@pytest.mark.parametrize(("args", "message"), BAD, ids=[m for _, m in BAD])
def test_bad_input_is_one_clear_line(kernel, args, message):
    text = run(kernel, *args, status=2)
    assert message in text and text.count("\n") == 1


def test_bad_files(kernel, tmp_path):
    assert "no file given" in run("--grid", "1", status=2)
    assert "cannot read" in run(tmp_path / "missing.ptx", status=2)
    assert "usage: tile-sim" in run("--help")
    broken = tmp_path / "broken.ptx"
    broken.write_text(KERNEL.replace("mul.f32", "mull.f32"))
    text = run(broken, *arguments("null"), status=2)
    assert text.startswith(f"{broken}:") and "unknown instruction 'mull'" in text
    several = run(PTX / "basics.ptx", status=2)
    assert "several kernels: choose one with --entry" in several
    npy = tmp_path / "a.npy"
    for make, message in [
        (lambda: npy.write_bytes(b"\x93NUMPY\x01\x00\x10\x00{}"), "is not supported"),
        (lambda: np.save(npy, np.asfortranarray(np.ones((3, 4)))), "C order"),
        (lambda: np.save(npy, np.ones(4, ">f4")), "element type '>f4' is not supported"),
        (lambda: np.save(npy, np.array(["a"])), "is not supported"),
        (lambda: (np.save(npy, np.ones(100)), npy.write_bytes(npy.read_bytes()[:-8])), "too short"),
    ]:
        make()
        assert message in run(kernel, *arguments(npy), status=2)
    unwritable = tmp_path / "folder" / "x.npy"
    assert "cannot write" in run(kernel, *arguments("null"), "--out", f"1={unwritable}", status=2)
