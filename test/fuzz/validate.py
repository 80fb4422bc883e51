"""Executes programs after each pass: `tile-reference` runs the IR itself, on whole tensors.

Results must stay the same from pass to pass, and be those of the interpreter. What is asynchronous
happens as late as its wait allows, so a use before the wait shows as a wrong value.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tile import _C, knobs
from tile.backends import drivers, find_backend
from tile.compiler import pipelines
from tile.runtime.arguments import take_apart
from tile.runtime.launcher import Launcher
from tile.tools.tensor_descriptor import HostDescriptor

from .passes import shuffled_pipelines
from .program import Program

TOOL = Path(__file__).resolve().parents[2] / "build/bin/tile-reference"
#: Another one, such as that of a build with sanitizers.
TOOL = Path(os.environ.get("TILE_REFERENCE_TOOL", TOOL))

#: The types of MLIR that arrays of a type hold.
ELEMENTS = {
    "fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64", "fp8e5": "f8E5M2",
    "fp8e4nv": "f8E4M3FN", "fp8e4b8": "f8E4M3FNUZ", "fp8e5b16": "f8E5M2FNUZ",
    "fp8e4b15": "f8E4M3B11FNUZ",
}  # fmt: skip


@dataclass
class Report:
    """What came out for one program."""

    #: "finished", "different", "fault", "unknown", "limit" or "refused".
    status: str
    why: str = ""
    #: The pass after which results differ, and how.
    guilty: str = ""
    difference: str = ""
    #: After which passes results differed until another one, and how.
    mended: tuple[str, ...] = ()
    #: Elements of outputs that depend on something undefined, from the beginning.
    undefined: dict[str, int] = field(default_factory=dict)
    #: What the passes said that refused the program.
    refused: str = ""
    #: Modules that were executed, and those of them that were not to the end.
    versions: int = 0
    partial: int = 0
    operations: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    #: Whether functions were computed as other ones, which the interpreter does not know.
    stand_ins: bool = False
    #: How many programs of the grid were executed: not all of large ones.
    programs: int = 0
    outputs: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        return self.status == "finished" and not self.partial and not self.refused

    def counts(self) -> dict[str, int]:
        """What adds up over programs."""
        return {
            "modules": self.versions,
            "modules in part": self.partial,
            "operations": self.operations,
            **{f"unknown {name}": count for name, count in self.skipped.items()},
            **{f"mended after {text.partition(':')[0]}": 1 for text in self.mended},
        }


class ServerEnded(Exception):
    """`tile-reference` crashed, or a pass in it."""


class Server:
    """A running `tile-reference`."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [str(TOOL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            status = self.process.wait()
            server.cache_clear()
            raise ServerEnded(f"tile-reference ended with status {status}")
        return json.loads(line)


@functools.cache
def server() -> Server:
    """The one that all programs of this process ask."""
    started = Server()
    atexit.register(started.process.kill)
    return started


@contextlib.contextmanager
def captured() -> Iterator[list[str]]:
    """Collects the pipelines that stages would run, and runs none."""
    texts: list[str] = []

    def capture(module: Any, pipeline: str, kernel: str) -> Any:
        texts.append(pipeline)
        return module

    usual = pipelines.run_pipeline
    pipelines.run_pipeline = capture
    try:
        yield texts
    finally:
        pipelines.run_pipeline = usual


def front_end(
    program: Program, values: dict[str, Any], shuffle: bool = False
) -> tuple[str, list[str], list[tuple[str, Any]]]:
    """The module as the front end writes it, the pipelines that make `ttgir` of it, and what a
    launch passes: types and values."""
    config = program.config
    knobs.runtime.sim_target = config.machine
    simulator = drivers()["sim"]()
    launcher = Launcher(program.kernel())
    bound, options = launcher.bind(
        **values,
        num_warps=config.num_warps,
        num_stages=config.num_stages,
        **({"num_ctas": config.num_ctas} if config.num_ctas > 1 else {}),
        **dict(config.options),
        # What a launch would choose.
        **({"overlapping_arguments": True} if any(a.view for a in program.arguments) else {}),
    )
    source, target, chosen = launcher.source(simulator, bound, options)
    backend = find_backend(target)
    parsed = backend.parse_options(chosen)
    module = source.make_ir(parsed, _C.ir.Context())
    metadata = {"name": source.name, "hash": ""}  # As of a launch.
    with captured() as texts:
        backend.make_ttir(module, metadata, options=parsed)
        backend.make_ttgir(module, metadata, options=parsed)
    if shuffle:
        texts[1:] = shuffled_pipelines(program.seed, config.machine, parsed)
    types: list[str] = []
    passed: list[Any] = []
    for name, value in zip(launcher.fn.arg_names, bound, strict=True):
        take_apart(source.signature[name], source.signature[name], types)
        take_apart(source.signature[name], value, passed)
    return module.str(), texts, list(zip(types, passed, strict=True))


def bits_of(type: str, value: Any) -> int:
    """A parameter as the bits that the kernel gets."""
    if isinstance(value, np.ndarray):
        return value.ctypes.data
    if type.startswith("*"):
        return value.data_ptr() if hasattr(value, "data_ptr") else int(value or 0)
    if type.startswith(("fp", "bf")):
        wide = {"fp64": "<d", "fp16": "<e"}.get(type, "<f")
        bits = int.from_bytes(struct.pack(wide, value), "little")
        return bits >> 16 if type == "bf16" else bits
    return int(value) & (2**64 - 1)


def roots(values: dict[str, Any]) -> list[np.ndarray]:
    """The arrays of the arguments, without those that are parts of others."""
    found: dict[int, np.ndarray] = {}
    for value in values.values():
        array = value.base if isinstance(value, HostDescriptor) else value
        if isinstance(array, np.ndarray) and array.size:
            known = found.get(array.ctypes.data)
            if known is None or known.nbytes < array.nbytes:
                found[array.ctypes.data] = array
    ends = 0
    whole = []
    for address, array in sorted(found.items()):
        if address + array.nbytes > ends:
            whole.append(array)
            ends = address + array.nbytes
    return whole


@dataclass(frozen=True)
class Output:
    """An array that must be the same after each pass."""

    name: str
    array: np.ndarray
    #: The type of its elements in MLIR.
    type: str
    tolerance: float = 0.0


def execute(
    text: str,
    passes: list[str],
    arrays: list[np.ndarray],
    arguments: list[int],
    outputs: list[Output],
    grid: tuple[int, ...] = (1,),
) -> Report:
    """Executes a module before and after passes. The arrays hold afterwards what the first
    execution wrote to them."""
    with tempfile.NamedTemporaryFile(prefix="tile-reference-") as data:
        for array in arrays:
            data.write(array.tobytes())
        data.flush()
        request = {
            "module": text,
            "pipelines": passes,
            "data": data.name,
            "memory": [{"address": a.ctypes.data, "size": a.nbytes} for a in arrays],
            "arguments": arguments,
            "grid": [*grid, 1, 1][:3],
            "outputs": [
                {
                    "name": output.name,
                    "address": output.array.ctypes.data,
                    "size": output.array.nbytes,
                    "type": output.type,
                    "tolerance": output.tolerance,
                }
                for output in outputs
            ],
        }
        answer = server().ask(request)
        after = np.fromfile(data.name, np.uint8)
    at = 0
    for array in arrays:
        np.ndarray(array.nbytes, np.uint8, array)[...] = after[at : at + array.nbytes]
        at += array.nbytes
    return Report(
        status=answer["status"],
        why=answer.get("why", ""),
        guilty=answer.get("pass", ""),
        difference=answer.get("difference", ""),
        mended=tuple(answer.get("mended", ())),
        undefined=answer.get("undefined", {}),
        refused=answer.get("refused", ""),
        versions=answer.get("versions", 0),
        partial=answer.get("partial", 0),
        operations=answer.get("operations", 0),
        skipped=answer.get("skipped", {}),
        stand_ins=answer.get("stand_ins", False),
        programs=answer.get("programs", 0),
        outputs={output.name: output.array for output in outputs},
    )


def validate(program: Program, shuffle: bool = False, more: tuple[str, ...] = ()) -> Report:
    """Runs the passes of a program, and the program after each of them; `more` are run at the
    end."""
    values = program.inputs()
    text, passes, parameters = front_end(program, values, shuffle)
    outputs = []
    for argument in program.arguments:
        if argument.role == "output":
            value = values[argument.name]
            array = value.base if isinstance(value, HostDescriptor) else value
            element = ELEMENTS.get(argument.type, f"i{8 * array.itemsize}")
            outputs.append(Output(argument.name, array, element, argument.tolerance))
    if folder := os.environ.get("TILE_FUZZ_SAVE"):
        Path(folder, f"{program.seed}.mlir").write_text(text)
    return execute(
        text,
        [*passes, *more],
        roots(values),
        [bits_of(*parameter) for parameter in parameters],
        outputs,
        program.grid,
    )
