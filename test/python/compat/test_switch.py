"""The switch: what turns it on, and that nothing else does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tile

PACKAGE = Path(tile.__file__).parents[1]
HOOK = f"import site; site.addsitedir({str(PACKAGE)!r})\n"
SHOW = "import triton, triton.language as tl, tile; print(triton.__version__, tl is tile.language)"


def run(code: str, **environment: str) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TILE_COMPAT")}
    # -S: without the site packages, in which a hook or a triton may be.
    path = os.pathsep.join([str(PACKAGE), *(p for p in sys.path if p.endswith("site-packages"))])
    clean["PYTHONPATH"] = path
    result = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, env=clean | environment
    )
    return result.stdout + result.stderr[-2000:]


def fake_triton(folder: Path, version: str = "9.9") -> str:
    """A triton that is not tile."""
    (folder / "triton").mkdir()
    (folder / "triton" / "__init__.py").write_text(f"__version__ = {version!r}\n")
    (folder / "triton" / "language.py").write_text("")
    return str(folder)


def test_import_turns_it_on():
    assert run(f"import tile.compat\n{SHOW}") == "3.9.0 True\n"


def test_variable_turns_it_on():
    assert run(HOOK + SHOW, TILE_COMPAT="1") == "3.9.0 True\n"


@pytest.mark.parametrize("value", ["", "0"])
def test_hook_is_inert_without_the_variable(value, tmp_path):
    code = f"import sys; sys.path.insert(0, {fake_triton(tmp_path)!r})\n" + HOOK
    code += "import triton; print(triton.__version__, 'tile' in sys.modules)"
    assert run(code, TILE_COMPAT=value) == "9.9 False\n"


def test_hook_loads_tile_only_for_triton():
    code = HOOK + "import sys, json; print('tile' in sys.modules, 'torch' in sys.modules)"
    assert run(code, TILE_COMPAT="1") == "False False\n"


def test_children_inherit_it():
    inner = HOOK + SHOW
    code = f"import tile.compat, subprocess, sys\nsubprocess.run([sys.executable, '-c', {inner!r}])"
    assert run(code) == "3.9.0 True\n"


def test_version_is_a_knob():
    assert run(f"import tile.compat\n{SHOW}", TILE_COMPAT_VERSION="3.9.1") == "3.9.1 True\n"


def test_distribution_package():
    distribution = str(Path(__file__).parents[3] / "python" / "triton-distribution")
    code = f"import sys; sys.path.insert(0, {distribution!r})\n{SHOW}\n"
    code += "import tile.compat; print(tile.compat.doctor().other)"
    assert run(code) == "3.9.0 True\nNone\n"


def test_metadata_says_that_it_is_installed():
    code = "import tile.compat, importlib.metadata as m; print(m.version('triton'))"
    assert run(code) == "3.9.0\n"


def test_another_triton_does_no_harm(tmp_path):
    code = f"import sys; sys.path.insert(0, {fake_triton(tmp_path)!r})\n"
    found = run(code + "import tile.compat\nprint(tile.compat.doctor())\n" + SHOW)
    assert "gives: tile" in found and f"another triton: {tmp_path}" in found
    assert found.endswith("3.9.0 True\n")


def test_doctor_tells_of_a_triton_that_was_first(tmp_path):
    code = f"import sys; sys.path.insert(0, {fake_triton(tmp_path)!r})\nimport triton\n"
    found = run(code + "import tile.compat\nprint(tile.compat.doctor())")
    assert "another triton is in use already" in found
    assert f"gives: {tmp_path}" in found and "imported before tile.compat" in found


def test_install_refuses_a_triton_that_was_first(tmp_path):
    code = f"import sys; sys.path.insert(0, {fake_triton(tmp_path)!r})\nimport triton\n"
    code += "import tile.compat\ntile.compat.install()"
    assert "TileError: another triton is in use already" in run(code)


def test_uninstall_leaves_nothing():
    code = (
        "import tile.compat, sys, tile.language as tl\n"
        "import triton.language.core, triton.experimental.gluon\n"
        "triton.language.core.CONSTEXPR_0\n"
        "tile.compat.uninstall()\n"
        "print([m for m in sys.modules if m.split('.')[0] == 'triton'], "
        "hasattr(tl.core, 'CONSTEXPR_0'), hasattr(tl, 'str_to_ty'))"
    )
    assert run(code) == "[] False False\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["missing.py"], "there is no program missing.py"),
        (["."], "there is no program ."),
        (["-m", "missing"], "there is no module missing"),
        (["-m", "missing.part"], "there is no module missing.part"),
        (["-m"], "-m needs the name of a module"),
    ],
)
def test_programs_that_are_not_there_are_one_line(arguments, text, tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "tile.compat", *arguments],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (2, f"tile.compat: error: {text}\n")


def test_command_runs_programs_beside_their_files(tmp_path):
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, triton, beside; print(triton.__version__, beside.VALUE, sys.argv[1:])"
    )
    for command in ([str(program), "a"], ["-m", "program", "a"]):
        result = subprocess.run(
            [sys.executable, "-m", "tile.compat", *command],
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
        assert result.stdout == "3.9.0 7 ['a']\n", result.stderr


def test_programs_that_are_not_built_say_so():
    code = "import runpy; runpy.run_module('triton.tools.build_extern', run_name='__main__')"
    assert run(HOOK + code, TILE_COMPAT="1") == (
        "triton.tools.build_extern is not built in tile yet\n"
    )


KERNEL = """
import triton
import triton.language as tl

@triton.jit
def scale(p, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(p + i, tl.load(p + i, mask=i < n) * 2, mask=i < n)
"""


def test_tools_that_are_programs(tmp_path):
    """`python -m triton.tools.compile`, as build scripts call it, and what links its output."""
    (tmp_path / "kernels.py").write_text(KERNEL)
    signature = "*fp32:16, i32, 64"
    for program, *arguments in (
        ("compile", str(tmp_path / "kernels.py"), "--kernel-name", "scale", "--signature",
         signature, "--grid", "(n + 63) / 64, 1, 1", "--target", "cuda:90:32", "--out-path",
         str(tmp_path / "out"), "--num-warps", "2", "--num-stages", "2"),
        ("link", "--out", str(tmp_path / "linked"), "--prefix", "my_"),
    ):  # fmt: skip
        headers = [*map(str, tmp_path.glob("out.*.h"))]
        code = f"import sys, runpy; sys.argv = {[program, *arguments, *headers]!r}\n"
        code += f"runpy.run_module('triton.tools.{program}', run_name='__main__', alter_sys=True)"
        printed = run(HOOK + code, TILE_COMPAT="1").split()
        assert len(printed) == 2 and all(Path(path).is_file() for path in printed), printed
    assert "CUresult my_scale_default(CUstream stream, CUdeviceptr p, int32_t n);" in (
        (tmp_path / "linked.h").read_text()
    )
