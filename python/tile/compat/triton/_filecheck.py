"""Kernels that say in comments what their IR must be.

FileCheck, a program of LLVM, compares the two. It is looked for under its own name, as
`FileCheck-22` and the like, and where TILE_FILECHECK says. If it is not there, the package
`filecheck` of PyPI stands in for it, if that is installed.
"""

from __future__ import annotations

import functools
import glob
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tile import _C
from tile.backends import GPUTarget
from tile.compat.spelling import respell
from tile.compiler import make_backend
from tile.errors import CompilerToolError

from ._call_keeper import CallKeeper, callers_first

#: For which kernels are compiled, if a test does not say.
stub_target = GPUTarget("cuda", 100, 32)


class MatchError(ValueError):
    """The IR is not what the comments say."""

    def __init__(self, message: str, module_str: str) -> None:
        super().__init__(message)
        self.module_str = module_str

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.module_str}"


@functools.lru_cache(maxsize=1)
def _find_filecheck() -> list[str]:
    """The command that compares, without the names of files."""
    folders = [*os.get_exec_path(), *glob.glob("/usr/lib/llvm-*/bin")]
    named = [path for folder in folders for path in glob.glob(f"{folder}/FileCheck-[0-9]*")]
    candidates = [os.environ.get("TILE_FILECHECK"), shutil.which("FileCheck"), *sorted(named)[::-1]]
    for path in filter(None, candidates):
        return [path, "--dump-input-context=50"]
    if importlib.util.find_spec("filecheck"):
        return [sys.executable, "-m", "filecheck"]
    raise CompilerToolError(
        "there is no FileCheck: install the tools of LLVM or the package filecheck, or set "
        "TILE_FILECHECK to its path"
    )


def run_filecheck(name: str, module_str: str, check_template: str) -> None:
    """Compares a text with the `CHECK` comments in another one; MatchError where they differ."""
    if not re.search(r"CHECK[A-Z-]*:", check_template):
        raise ValueError(f"`{name}` has no comment with a CHECK")
    with tempfile.TemporaryDirectory() as folder:
        text, checks = Path(folder, "module.mlir"), Path(folder, "checks.txt")
        text.write_text(module_str, encoding="utf-8")
        checks.write_text(check_template, encoding="utf-8")
        command = [*_find_filecheck(), str(checks), "--input-file", str(text)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr or done.stdout or "FileCheck failed"
        raise MatchError(f"`{name}`: {said}", module_str)


class _Driver:
    """Says for what a kernel is to be compiled."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    def get_current_target(self) -> GPUTarget:
        return self.target


def run_parser(
    kernel_fn: Any,
    args: Any = (),
    kwargs: dict[str, Any] = {},  # noqa: B006 Not changed.
    target: GPUTarget = stub_target,
) -> Any:
    """The module that the front end makes of a kernel for these arguments."""
    launcher = kernel_fn.launcher()
    values, options = launcher.bind(*args, **kwargs)
    source, target, options = launcher.source(_Driver(target), values, options)
    source.make_generator = functools.partial(CallKeeper, source.fn)
    module = source.make_ir(make_backend(target).parse_options(options), _C.ir.Context())
    module.verify()
    return module


def run_filecheck_test(
    kernel_fn: Any,
    args: Any = (),
    kwargs: dict[str, Any] = {},  # noqa: B006 Not changed.
    target: GPUTarget = stub_target,
) -> None:
    """Compares what the front end makes of a kernel with the comments in it."""
    text = callers_first(respell(str(run_parser(kernel_fn, args, kwargs, target))))
    run_filecheck(kernel_fn.__name__, text, inspect.getsource(kernel_fn.fn))


def filecheck_test(fn: Any) -> Any:
    """A test of a kernel without parameters that has such comments."""

    @functools.wraps(fn)
    def test_fn() -> None:
        run_filecheck_test(fn)

    return test_fn
