"""What else libraries read and call: backends, globals, tools, modules of C, hooks by class."""

from __future__ import annotations

import enum
import shutil
from pathlib import Path

import numpy as np
import pytest
from reference import poisoned, sim_only
from scaling import scale_kernel

import tile
import tile.language as tl
from tile.backends import GPUTarget
from tile.compat.additions.language import core
from tile.compiler import make_backend
from tile.compiler.errors import CompilationError


def test_backends_by_name():
    """Libraries ask each which kinds of devices there are."""
    from tile.compat.triton.backends import DriverBase, backends

    assert set(backends) == {"amd", "nvidia", "cpu"}
    for name, target in (("nvidia", ("cuda", 90, 32)), ("amd", ("hip", "gfx942", 64))):
        assert issubclass(backends[name].driver, DriverBase)
        assert isinstance(make_backend(GPUTarget(*target)), backends[name].compiler)
        assert backends[name].driver.is_active() in (True, False)


def test_parameters():
    kernel = tile.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=[0])(scale_kernel.fn)
    params = {p.name: p for p in kernel.params}
    assert [p.num for p in kernel.params] == [0, 1, 2, 3, 4] and kernel.constexprs == [4]
    assert params["n"].do_not_specialize and params["n"].do_not_specialize_on_alignment
    assert params["x_ptr"].do_not_specialize_on_alignment
    assert not params["x_ptr"].do_not_specialize and not params["out_ptr"].do_not_specialize
    assert params["BLOCK"].annotation == "constexpr" and not params["BLOCK"].has_default


def test_foreign_builtins_see_constants():
    def next_power(n, *, _builder=None):
        assert isinstance(n, tl.constexpr) and _builder is not None
        return tl.constexpr(1 << (n.value - 1).bit_length())

    next_power.__triton_builtin__ = True
    holder = tile.jit

    @holder
    def kernel(out_ptr, N: tl.constexpr):
        SIZE: tl.constexpr = next_power(N)
        tl.store(out_ptr + tl.arange(0, SIZE), SIZE)

    if tile.knobs.interpreting():
        pytest.skip("the compiler's")
    out = poisoned(16, "i32")
    kernel.simulate(out, N=9, grid=(1,))
    assert out.tolist() == [16] * 16


def described(value) -> str:
    name = type(value).__name__
    if isinstance(value, (tuple, list)):
        return f"tuple({', '.join(map(described, value))})"
    return f"{name}<{described(value.value)}>" if isinstance(value, tl.constexpr) else name


class Mode(enum.Enum):
    FIRST = 1


@tile.jit
def identity(x):
    return x


MODE = tl.constexpr(Mode.FIRST)
#: What a function of the language is given, and what it sees, as the functions of Triton 3.9 do.
SEEN = {
    "C": "constexpr<int>",
    "C + 1": "constexpr<int>",
    "-1": "constexpr<int>",
    "1.5": "constexpr<float>",
    "C > 1": "constexpr<bool>",
    "not C": "constexpr<bool>",
    "'text'": "constexpr<str>",
    "S": "constexpr<str>",
    "None": "constexpr<NoneType>",
    "MODE": "constexpr<Mode>",
    "(1, C)": "tuple(constexpr<int>, constexpr<int>)",
    "(C, n)": "tuple(constexpr<int>, tensor)",
    "[1, 2]": "tuple(constexpr<int>, constexpr<int>)",
    "((1, n), 'a')": "tuple(tuple(constexpr<int>, tensor), constexpr<str>)",
    "n": "tensor",
    "tl.arange(0, C)": "tensor",
    "tl.arange(0, C).shape": "tuple(constexpr<int>)",
    "tl.arange(0, C).shape[0]": "constexpr<int>",
    "tl.float32": "dtype",
    "identity": "JITFunction",
}
seen: list[str] = []


def look(value, note: tl.constexpr = None, _semantic=None):
    seen.append(described(value))
    assert note is None or isinstance(note, tl.constexpr)
    return value


def marked(value, note=None, *, _builder=None):
    return look(value, note)


marked.__triton_builtin__ = True
LOOKS = {"extern": core.extern(look), "builtin": core.builtin(look), "marked": marked}


@pytest.mark.compiled
@pytest.mark.parametrize("how", LOOKS)
@pytest.mark.parametrize("given", SEEN)
def test_what_functions_of_the_language_see(given, how, tmp_path):
    """By position, by name, and as the value of a parameter that is annotated."""
    file = tmp_path / "program.py"
    file.write_text(
        "def kernel(p, n, C: tl.constexpr, S: tl.constexpr):\n"
        f"    x = look({given})\n"
        f"    y = look(value={given})\n"
        "    look(1, S)\n"
        "    tl.store(p, n)\n"
    )
    scope = {"tl": tl, "look": LOOKS[how], "MODE": MODE, "identity": identity}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    out = poisoned(1, "i32")
    seen.clear()
    tile.jit(scope["kernel"])[(1,)](out, 5, C=4, S="word")
    assert seen == [SEEN[given], SEEN[given], "constexpr<int>"] and out[0] == 5


@pytest.mark.compiled
def test_mistakes_in_functions_of_the_language():
    """They are the mistakes of who wrote the function, and so says the error."""

    @core.extern
    def wrong(x, path: tl.constexpr, _semantic=None):
        return path.no_such_thing

    @tile.jit
    def kernel(p):
        tl.store(p, wrong(tl.load(p), "file"))

    with pytest.raises(CompilationError, match=r"`wrong` raised AttributeError: .*no_such_thing"):
        kernel[(1,)](poisoned(1, "i32"))

    @tile.jit
    def called_wrongly(p):
        tl.store(p, wrong(tl.load(p)))

    with pytest.raises(CompilationError, match=r"`wrong` raised TypeError: .*path"):
        called_wrongly[(1,)](poisoned(1, "i32"))


class Unwilling:
    """A global such as torch's modules of operators: whatever it is asked for, it raises."""

    def __getattr__(self, name):
        raise RuntimeError(f"no member called {name}")


unwilling = Unwilling()


@tile.jit
def beside_unwilling(out_ptr):
    if False:
        unwilling  # noqa: B018
    tl.store(out_ptr, 3)


def test_globals_are_not_asked_what_they_are():
    assert len(beside_unwilling.cache_key) > 20


C_SOURCE = """
#include <Python.h>
static PyObject *twice(PyObject *self, PyObject *number) {
  return PyNumber_Multiply(number, PyLong_FromLong(FACTOR));
}
static PyMethodDef methods[] = {{"twice", twice, METH_O, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "built", 0, -1, methods};
PyMODINIT_FUNC PyInit_built(void) { return PyModule_Create(&module); }
"""


def test_modules_of_c(tmp_path, monkeypatch):
    """A program that brings a launcher of its own has it built."""
    from tile.compat.triton.runtime import build

    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    flags = {"ccflags": ["-DFACTOR=2"]}
    assert build.compile_module_from_src(C_SOURCE, "built", **flags).twice(21) == 42
    first = build.compile_so_from_src(C_SOURCE, "built", **flags)
    assert build.compile_so_from_src(C_SOURCE, "built", **flags) == first
    path = tmp_path / "built.c"
    path.write_text(C_SOURCE)
    other = build.compile_module_from_file(str(path), "built", None, None, None, ["-DFACTOR=3"])
    assert other.twice(21) == 63
    Path(first).unlink()  # It is in use: its bytes must stay.
    Path(first).write_bytes(b"no library")
    assert build.compile_module_from_src(C_SOURCE, "built", **flags).twice(4) == 8
    with pytest.raises(tile.errors.CompilerToolError, match="cannot build broken"):
        build.compile_so_from_src("int f( {", "broken")
    third = build.compile_so_from_src(C_SOURCE, "built", ccflags=["-DFACTOR=3"])
    seen = []

    def build_myself(name, src, srcdir, library_dirs, include_dirs, libraries):
        seen.append((name, Path(src).read_text(), library_dirs, include_dirs, libraries))
        path = Path(srcdir, "mine.so")
        path.write_bytes(Path(third).read_bytes())
        return str(path)

    with tile.knobs.build.scope():
        tile.knobs.build.impl = build_myself
        made = build.compile_module_from_src(C_SOURCE, "built", ["a"], None, ["m"])
        assert made.twice(5) == 15
    assert seen == [("built", C_SOURCE, ["a"], [], ["m"])] and tile.knobs.build.impl is None
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(tile.errors.CompilerToolError, match="there is no compiler"):
        build.compile_so_from_src("int g;", "none")


def test_classes_of_hooks_and_listeners(tmp_path, monkeypatch):
    from tile import compat

    compat.install()  # Other tests turn it off.
    from tile.compat.additions import knobs as names

    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))

    class Listener(names.CompilationListener):
        told = None

        def __call__(self, **facts):
            self.told = facts

    class Load(names.InitHandleHook):
        calls = 0

        def __call__(self, module, function, name, metadata_group, hash):
            self.calls += 1

    listener, load = Listener(), Load()
    kernel = tile.jit(scale_kernel.fn)  # Other tests have compiled and loaded the other one.
    with tile.knobs.compilation.scope(), tile.knobs.runtime.scope():
        tile.knobs.compilation.listener = listener
        tile.knobs.runtime.kernel_load_end_hook = load
        x = np.zeros(8, np.float32)
        kernel[(1,)](x, x, 8, 2.0, 8)
    assert isinstance(listener.told["times"], names.CompileTimes) and load.calls == 1
    assert isinstance(listener.told["metadata"]["target"], GPUTarget)


def test_tools_are_files_too():
    """Programs run them by their paths."""
    import subprocess
    import sys
    from pathlib import Path

    for name in ("compile", "link"):
        path = Path(tile.tools.__path__[0], f"{name}.py")
        done = subprocess.run([sys.executable, path, "--help"], capture_output=True, text=True)
        assert done.returncode == 0 and f"tile {name}" in done.stdout


def test_folders_with_headers(tmp_path, monkeypatch):
    from tile.compat.triton.backends.nvidia import driver

    (tmp_path / "include").mkdir()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert str(tmp_path / "include") not in driver.include_dirs
    (tmp_path / "include" / "cuda.h").touch()
    assert driver.include_dirs[0] == str(tmp_path / "include")


@sim_only
def test_times_from_the_profiler(monkeypatch):
    """Of the kernels alone: those of both launches, in each call."""
    from tile.compat.additions import testing as names

    x = np.zeros(256, np.float32)

    def twice():
        scale_kernel[(4,)](x, x, 256, 2.0, 64)
        scale_kernel[(4,)](x, x, 256, 2.0, 64)

    def once():
        scale_kernel[(4,)](x, x, 256, 2.0, 64)

    with pytest.warns(UserWarning, match="do_bench_proton measures nothing"):
        one = names.do_bench_proton(once)
        all_of_two = names.do_bench_proton(twice, return_mode="all")
        quantiles = names.do_bench_proton(twice, quantiles=[0.2, 0.8])
    assert one > 0 and all_of_two == pytest.approx([2 * one]) and len(quantiles) == 2
    with (
        pytest.warns(UserWarning),
        pytest.raises(tile.TileError, match="cudagraph_proton needs an NVIDIA GPU"),
    ):
        names.do_bench_cudagraph_proton(once)
    monkeypatch.setattr(tile.knobs.proton, "disable", True)
    with pytest.warns(UserWarning), pytest.raises(tile.TileError, match="profiler is turned off"):
        names.do_bench_proton(once)
