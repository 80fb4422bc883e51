# ruff: noqa: E501  (PTX text reads better unbroken)
"""`tile sim` for those who write CUDA: what it asks for, names as in their source, exit statuses."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from ptxlib import HEADER

from tile.cli import color, main

# As nvcc names things: store(int*, int), and shared(int*) with a static and a dynamic array.
KERNELS = HEADER + """.extern .shared .align 4 .b8 dyn[];
.visible .entry _Z5storePii(.param .u64 _Z5storePii_param_0, .param .u32 _Z5storePii_param_1)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [_Z5storePii_param_0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
.visible .entry _Z6sharedPi(.param .u64 _Z6sharedPi_param_0)
.reqntid 64, 1, 1
{
  .reg .b32 %r<8>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, dyn; mad.lo.s32 %r3, %r1, 4, %r2;
  st.shared.u32 [%r3], %r1;
  ret;
}
"""  # fmt: skip


@pytest.fixture
def run(tmp_path, capfd):
    path = tmp_path / "kernels.ptx"
    path.write_text(KERNELS)

    def run(*options: str, status: int = 0, file=path) -> str:
        assert main(["sim", str(file), *options]) == status
        said = capfd.readouterr()
        return said.err if status == 2 else said.out

    return run


def test_it_asks_for_the_block(run):
    text = run("--entry", "store", "--arg", "zeros:s32:64", "--arg", "1", status=2)
    assert text.startswith("tile: error: how many threads has a block? Say it with --block")
    # A kernel that says itself how many it must have needs none.
    text = run("--entry", "shared", "--arg", "null", "--dynamic-shared", "256")
    assert "block (64, 1, 1)" in text


def test_kernels_are_named_as_in_the_source(run):
    args = ["--block", "64", "--arg", "zeros:s32:64", "--arg", "1"]
    for name in ("store", "store(int*, int)", "_Z5storePii"):
        run("--entry", name, *args)
    text = run(*args, status=2)
    assert "choose a kernel with --entry: store(int*, int), shared(int*)" in text
    text = run("--entry", "stor", *args, status=2)
    assert "there is no kernel 'stor'" in text and "did you mean `store`?" in text


def test_arrays_keep_their_names(run):
    args = ["--entry", "store", "--block", "64", "--array", "counts=zeros:s32:60"]
    text = run(*args, "--arg", "counts", "--arg", "1", status=1)
    assert "past the end of 'counts' (240 bytes" in text and "element [60] of int32[60]" in text
    line = KERNELS[: KERNELS.index("st.global")].count("\n") + 1
    assert f"line {line}, in store(int*, int)\n    st.global.u32 [%rd3], %r1;\n    ^" in text
    assert "help: compare the index with the size of the array before the store" in text
    text = run("--entry", "store", "--block", "64", "--arg", "zeros:s32:60", "--arg", "1", status=1)
    assert "past the end of 'argument 0'" in text


def test_it_points_at_dynamic_shared(run):
    text = run("--entry", "shared", "--arg", "null", status=1)
    assert "help: give the launch the bytes of its `extern __shared__` array: `--dynamic-shared N`" in text  # fmt: skip


def test_missing_arguments_are_listed(run):
    text = run("--entry", "store", "--block", "64", "--arg", "null", status=2)
    assert "'store(int*, int)' takes 2 arguments, 1 were given: it takes" in text
    assert "_Z5storePii_param_0 (.u64), _Z5storePii_param_1 (.u32)" in text


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("k.cu", b"int x;", r"is CUDA source: compile it by `nvcc -ptx -lineinfo \S*k.cu`, then run `tile sim k.ptx`"),
        ("k.cubin", b"\x7fELF\0", "is machine code, which the simulator does not run"),
        ("k.hip", b"int x;", "is HIP source: compile it by `hipcc"),
        ("program", b"\x7fELF\0", r"is no text: .* `cuobjdump -ptx \S*program > program.ptx`"),
        ("k.ptx", b"\x7fELF\0", "is no text"),
        ("k.ptx", b"\xff", "cannot read"),
        ("k.py", b"", "is a Python program: run it by `tile run"),
    ],
)  # fmt: skip
def test_other_files_get_a_sentence(run, tmp_path, name, data, text):
    path = tmp_path / "other" / name
    path.parent.mkdir()
    path.write_bytes(data)
    assert re.search(text, run(file=path, status=2))


@pytest.mark.parametrize(
    "options",
    [
        ["--block", "2048"],
        ["--block", "x"],
        ["--check", "race"],
        ["--gpu", "B52"],
        ["--cluster", "2"],
        ["--suppressions", "missing"],
    ],
)
def test_bad_usage_has_a_status_of_its_own(run, options):
    args = ["--entry", "store", "--arg", "zeros:s32:64", "--arg", "1", "--block", "64", *options]
    assert run(*args, status=2).count("\n") == 1


def test_color_is_for_terminals(monkeypatch):
    text = '  File "k.cu", line 3, in k\n    x;\n    ^\nrace: two\nnote: three\nhelp: four\nother: five'
    assert color.findings_in_color(text) == text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = color.findings_in_color(text)
    assert re.sub(r"\x1b\[\d*m", "", shown) == text
    for part in ("race:", "note:", "help:", "    ^"):
        assert re.search(rf"\x1b\[\d+m{re.escape(part)}\x1b\[0m", shown), part
    assert "other:" in shown.splitlines()[-1] and "\x1b" not in shown.splitlines()[-1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert color.findings_in_color(text) == text


def test_results_are_kept_where_arrays_have_names(run, tmp_path):
    out = tmp_path / "o.npy"
    run("--entry", "store", "--block", "64", "--array", "o=zeros:s32:64", "--arg", "o", "--arg", "1", "--out", f"o={out}")  # fmt: skip
    assert (np.load(out) == np.arange(64)).all()


def test_it_needs_no_package_of_an_extra(run, monkeypatch):
    from tile import pages

    # None in the table of modules: an import fails.
    for name in ("jinja2", "ml_dtypes"):
        monkeypatch.setitem(sys.modules, name, None)
    pages._environment.cache_clear()
    args = ["--entry", "store", "--block", "64", "--arg", "zeros:s32:64", "--arg", "1"]
    assert "no findings" in run(*args)
    assert "pip install jinja2" in run(*args, "--html", "page.html", status=2)
