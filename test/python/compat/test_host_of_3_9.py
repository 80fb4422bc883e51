"""The host's side of Triton 3.9 is here: every class and function, with what they are called
with."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

from tile import compat
from tile.compat.unbuilt import Unbuilt

LINES = [
    line
    for line in Path(__file__).with_name("host_3_9.txt").read_text().splitlines()
    if not line.startswith("#")
]
MADE = "only the compiler makes them"
BACKENDS = "for backends of Triton's own interface"
#: What is not in tile, or not with these parameters, and why.
ABSENT = {
    "triton.backends.compiler.BaseBackend.add_stages": BACKENDS,
    "triton.backends.compiler.BaseBackend.supports_native_tensor_specialization": BACKENDS,
    "triton.backends.driver.DriverBase.allocate_default_profile_scratch": BACKENDS,
    "triton.backends.driver.DriverBase.map_python_to_cpp_type": BACKENDS,
    "triton.backends.driver.GPUDriver.allocate_default_profile_scratch": BACKENDS,
    "triton.backends.driver.GPUDriver.assemble_tensormap_to_arg": BACKENDS,
    "triton.compiler.compiler.CompiledKernel": MADE,
    "triton.compiler.errors.CompilationError": MADE,
    "triton.compiler.errors.CompileTimeAssertionFailure": MADE,
    "triton.compiler.errors.UnsupportedLanguageConstruct": MADE,
    "triton.profiler.language.Event": MADE,
    "triton.runtime.errors.InterpreterError": MADE,
    "triton.runtime.errors.PTXASError": MADE,
    "triton.runtime.jit.BoundConstexprFunction": MADE,
    "triton.runtime.jit.JITCallable.type": MADE,
    "triton.runtime.jit.JitFunctionInfo": MADE,
    "triton.runtime.jit.JITFunction.repr": "each function has its own",
    "triton.runtime.jit.KernelInterface.run": "classes that derive from it define it",
}
_IM2COL = "triton.experimental.gluon.nvidia.hopper.TensorDescriptorIm2Col"
for _name in ("element_strides", "pixel_box_lower_corner", "pixel_box_upper_corner"):
    ABSENT[f"{_IM2COL}.{_name}"] = "each descriptor has its own"


@pytest.fixture(scope="module", autouse=True)
def switch():
    compat.install()
    yield
    compat.uninstall()


def find(path: str) -> Any:
    parts = path.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            value = getattr(value, name)
        return value
    raise AttributeError(path)


def names(parameters: list[str]) -> list[str]:
    return [p.strip("*") for p in parameters if p.strip("*") != "self"]


def difference(line: str) -> str | None:
    """What is missing."""
    path, called, rest = line.partition("(")
    try:
        value = find(path)
    except AttributeError:
        return "missing"
    if isinstance(value, Unbuilt):
        return "not built"
    if not called:
        return None
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        return "no signature"
    wanted = names([p for p in rest.rstrip(")").split(", ") if p])
    rests = {p.name for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    if rests - set(wanted):
        return None
    ours = names([p.name for p in parameters])
    # Programs give them by position, too.
    return None if [p for p in ours if p in wanted] == wanted else f"takes {ours}"


@pytest.mark.parametrize("line", LINES)
def test_name_and_parameters(line):
    found, reason = difference(line), ABSENT.get(line.partition("(")[0])
    assert bool(found) == bool(reason), f"{found}; listed as absent: {reason}"


def test_lists_are_whole():
    assert len(LINES) == len(set(LINES)) and len(LINES) > 300
    assert set(ABSENT) <= {line.partition("(")[0] for line in LINES}
