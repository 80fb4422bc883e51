"""Runs a program in several ways and says where they disagree."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

import tile
from tile import _C, knobs
from tile._C import sim as _sim
from tile.backends import drivers, find_backend
from tile.runtime.launcher import Launcher, without_tensor_maps
from tile.runtime.runner import make_launch
from tile.tools.tensor_descriptor import HostDescriptor

from . import on_gpu
from .memory import FORGOTTEN, remembered
from .passes import shuffled
from .program import Config, Program
from .validate import ServerEnded, validate
from .values import TYPES

#: Warp instructions after which a program may be endless, and after which it counts as such: few
#: programs execute more than the first.
LIMITS = (5_000_000, 100_000_000)

#: Modes that execute the IR between passes: random programs, those of mode `products`, and random
#: programs with random sequences of passes.
VALIDATING = ("validate", "validate-products", "validate-passes")


@dataclass
class Failure(Exception):
    """A valid program that was refused, did something wrong, or computed something else."""

    #: "compile", "finding", "mismatch", "oracle", "interpreter", "validation" or "crash".
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    @property
    def signature(self) -> str:
        """What stays when the program is made smaller."""
        if self.kind in ("mismatch", "oracle"):
            return self.kind
        if self.kind == "validation":  # The pass.
            return f"{self.kind}: {self.message.partition(':')[0]}"
        return f"{self.kind}: {gist(self.message)}"


class Inconclusive(Exception):
    """The program proves nothing. It needs more shared memory than its target has, or what blocks
    of a cluster do not do together. Or no loop of it is divided where that is the point."""


@dataclass(frozen=True)
class Outcome:
    """Of a program in which nothing is wrong: whether that proves anything, and what kept it from
    doing so as it was meant."""

    proves: bool = True
    why: str = ""
    #: What was executed between passes.
    counts: dict[str, int] = field(default_factory=dict)


def gist(message: str) -> str:
    """What messages have in common that say the same of several programs."""
    lines = [line for line in message.splitlines() if "error:" in line or "Error" in line]
    text = (lines or message.splitlines() or [""])[0]
    text = re.sub(r"<kernel \d+>:\d+:\d+", "", text)
    text = re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"|<[^<>]*>", "_", text)
    return re.sub(r"\[[^\]]*\]|0x[0-9a-f]+|-?\d+", "N", text)[:120]


def prepare(
    program: Program, kernel: Any, values: dict[str, Any], config: Config, limit: int
) -> tuple[Any, dict[str, Any]]:
    """Compiles a program; returns a function that launches it, and the texts of all stages."""
    knobs.runtime.sim_target = config.machine
    simulator = drivers()["sim"]()
    launcher = Launcher(kernel)
    bound, options = launcher.bind(
        **values,
        num_warps=config.num_warps,
        num_stages=config.num_stages,
        **({"num_ctas": config.num_ctas} if config.num_ctas > 1 else {}),
        **dict(config.options),
    )
    compiled = launcher.prepare(simulator, bound, options)
    if "amdgcn" in compiled.asm:
        assemble(compiled.asm["amdgcn"], config)
    first = make_launch(compiled, simulator)
    x, y, z = launcher.grid(program.grid, bound)

    def launch() -> Any:
        """As launches of programs: of another kernel where no tensor map describes arguments."""
        chosen, given, run = compiled, options, first
        while True:
            arguments = launcher.arguments(chosen, bound)
            status = run(x, y, z, 0, arguments, max_instructions=limit, checks=_sim.CHECK_ALL)
            if status.__class__ is not int or status != _C.launch.NO_TENSOR_MAP:
                return status
            without = without_tensor_maps(simulator, chosen, given)
            if without == given:
                return status
            chosen, given = launcher.prepare(simulator, bound, without), without
            run = make_launch(chosen, simulator)

    return launch, compiled.asm


def assemble(text: str, config: Config) -> None:
    """What LLVM prints it should know: the simulator might know more."""
    vendor, name = config.machine.split(":")
    backend = find_backend(tile.GPUTarget(vendor, name, 64 if name.startswith("gfx9") else 32))
    backend.make_hsaco(text, {}, options=backend.parse_options({}))


def is_refused_for_clusters(config: Any, error: Exception) -> bool:
    """Whether the program has what clusters of blocks do not have."""
    return config.num_ctas > 1 and " cluster" in str(error)


def compiled(
    program: Program,
    config: Config | None = None,
    kernel: Any = None,
    limits: tuple[int, ...] = LIMITS,
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The outputs of the compiled program, run in the simulator with all checks, or on the GPU; and
    the texts of its stages."""
    values = program.inputs()
    kernel = kernel or program.kernel()
    try:
        if on_gpu.wanted():
            texts = on_gpu.run(program, kernel, values, config or program.config)
            return outputs(program, values), texts
        launch, texts = prepare(program, kernel, values, config or program.config, limits[0])
    except tile.TileError as error:
        # The second: `spill-offsets` among the faults of LLVM (docs/rationale/llvm-22.md).
        if isinstance(error, tile.OutOfResources) or "'spill-offsets'" in str(error):
            raise Inconclusive(gist(str(error))) from None
        if is_refused_for_clusters(config or program.config, error):
            raise Inconclusive(gist(str(error))) from None
        if on_gpu.ends_process(error):
            raise
        raise Failure("compile", str(error)) from error
    except Exception as error:
        raise Failure("compile", f"{type(error).__name__}: {error}") from error
    try:
        status = launch()
    except tile.TileError as error:
        if limits[1:] and "did not end within" in str(error):
            return compiled(program, config, kernel, limits[1:])
        raise Failure("finding", str(error)) from error
    if status.__class__ is int and status:
        raise Failure("compile", f"the launch ends with status {status}")
    return outputs(program, values), texts


def outputs(program: Program, values: dict[str, Any]) -> dict[str, np.ndarray]:
    found = {a.name: values[a.name] for a in program.arguments if a.role == "output"}
    return {n: v.base if isinstance(v, HostDescriptor) else v for n, v in found.items()}


def interpreted(program: Program, kernel: Any) -> dict[str, np.ndarray]:
    """The outputs of the program as the interpreter runs it."""
    values = program.inputs()
    try:
        # How many lanes a warp has is the machine's.
        machine = {"TILE_SIM_TARGET": program.config.machine}
        with np.errstate(all="ignore"), mock.patch.dict(os.environ, machine):
            kernel.interpret(**values, grid=program.grid, num_warps=program.config.num_warps)
    except Exception as error:
        raise Failure("interpreter", f"{type(error).__name__}: {error}") from error
    return outputs(program, values)


def compare(program: Program, actual: dict[str, Any], expected: dict[str, Any], how: str) -> None:
    """Raises unless all outputs agree."""
    for argument in program.arguments:
        if argument.role != "output":
            continue
        a, b = actual[argument.name], expected[argument.name]
        wrong = differences(a, b, argument.type, argument.tolerance)
        if wrong.size:
            shown = ", ".join(f"[{i}] {a[i]} (expected {b[i]})" for i in wrong[:6])
            raise Failure(
                "mismatch",
                f"{argument.name} differs in {wrong.size} of {a.size} elements ({how}): {shown}",
            )


def take(array: np.ndarray, positions: list[int]) -> np.ndarray:
    """Some elements of an array; zero for those whose position is negative."""
    at = np.array(positions)
    found = array[np.maximum(at, 0)]
    found[at < 0] = 0
    return found


def check_known(program: Program, actual: dict[str, np.ndarray]) -> None:
    """Raises unless outputs that are known without the language are what they must be. The
    interpreter shares the front end with the compiler, and so the mistakes that are made there;
    this does not."""
    inputs = program.inputs()
    for argument in program.arguments:
        # What nothing is written to any more when a program is made smaller says nothing.
        if not argument.known or len(re.findall(rf"\b{argument.name}\b", program.source)) < 2:
            continue
        found = actual[argument.name]
        with np.errstate(all="ignore"):
            expected = eval(argument.known, {"np": np, "take": take, **inputs})
        expected = np.ascontiguousarray(expected).reshape(-1).astype(found.dtype)
        wrong = differences(found, expected, argument.type, argument.tolerance)
        if wrong.size:
            shown = ", ".join(f"[{i}] {found[i]} (expected {expected[i]})" for i in wrong[:6])
            raise Failure("oracle", f"{argument.name} differs in {wrong.size} elements: {shown}")


def differences(a: np.ndarray, b: np.ndarray, type: str, tolerance: float) -> np.ndarray:
    """The positions at which two outputs differ."""
    raw = a.view(f"u{a.itemsize}") != b.view(f"u{b.itemsize}")
    if not raw.any():
        return np.array([], np.int64)
    if TYPES[type].kind != "f":
        return np.flatnonzero(raw)
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        same = (x == y) | (np.isnan(x) & np.isnan(y)) | ~raw
        if tolerance:
            same |= np.abs(x - y) <= tolerance
    return np.flatnonzero(~same)


def plain(config: Config) -> Config:
    """Another configuration, as unlike as can be, to compare with."""
    return Config(
        target=90 if config.target != 90 else 80,
        num_warps=1 if config.num_warps > 2 else 8,
        num_stages=1 if config.num_stages > 1 else 3,
        elsewhere=config.elsewhere,
    )


def specialized(program: Program) -> Program:
    """The program with all of its loops marked, on the GPU that can divide them."""
    if "tl.range(" not in program.source:
        raise Inconclusive("there is no loop")
    config = dataclasses.replace(program.config, target=90, num_ctas=1, elsewhere="")
    return program.replace(source=marked(program.source, lambda: True), config=config)


def marked(source: str, choose: Callable[[], bool]) -> str:
    """The source of a program with those of its loops marked that are chosen."""
    header = re.compile(r"(tl\.range\((?:(?!warp_specialize).)*)(\):)$", re.MULTILINE)
    mark = ", warp_specialize=True"
    return header.sub(lambda m: f"{m[1]}{mark if choose() else ''}{m[2]}", source)


def of_some_blocks(program: Program) -> Program:
    """The program in blocks or, where there are any, in clusters of two, with some of its loops
    marked, or none."""
    chance = random.Random(program.seed)
    ctas = chance.choice((1, 1, 2)) if program.config.machine.startswith("cuda:") else 1
    share = chance.choice((0.0, 0.0, 0.5, 1.0))
    config = dataclasses.replace(program.config, target=90, num_ctas=ctas)
    source = marked(program.source, lambda: chance.random() < share)
    return program.replace(source=source, config=config)


def in_two_groups(program: Program) -> Program:
    """The program with all of its loops marked, whose rows two groups of warps divide if they can
    be divided. Of some, further warps correct the sums."""
    chance = random.Random(program.seed)
    warps = chance.choice((4, 8))
    options = dict(program.config.options) | {
        "row_groups": 2,
        "tensor_memory": True,
        "correction_group": chance.random() < 0.7,
    }
    config = dataclasses.replace(
        program.config, num_ctas=1, num_warps=warps, options=tuple(options.items())
    )
    return program.replace(source=marked(program.source, lambda: True), config=config)


def of_programs(program: Program) -> Program:
    """The program in blocks or pairs, whose groups of warps go on with other programs if they can:
    if its loops are marked, or by default."""
    chance = random.Random(program.seed)
    marks = chance.random() < 0.6
    options = dict(program.config.options) | {"clc": True, "tensor_memory": True}
    config = dataclasses.replace(
        program.config, num_ctas=chance.choice((1, 1, 1, 1, 2)), options=tuple(options.items())
    )
    return program.replace(source=marked(program.source, lambda: marks), config=config)


def find_lack(text: str, needed: str) -> str:
    """What the IR lacks of what a mode is about."""
    before, groups, _ = text.partition(f"{needed}(")
    if not groups:
        return f"there is no {needed}"
    if "clc_" in text and "scf.while" in before:
        return "groups of warps end with their program"
    return ""


def easier(program: Program) -> Iterator[Program]:
    """The program in one block, and with nothing copied ahead: what a target has room for that
    refuses it as it is."""
    config = program.config
    if config.num_ctas > 1:
        config = dataclasses.replace(config, num_ctas=1)
        yield program.replace(config=config)
    source = re.sub(r", num_stages=\d+", "", program.source)
    alone = program.replace(source=source, config=dataclasses.replace(config, num_stages=1))
    if alone != program:
        yield alone


def check(program: Program, mode: str = "interpret") -> Outcome:
    """Runs a program; raises `Failure` if anything is wrong, and says whether that proves anything.

    Modes: "interpret" compares with the interpreter, "cross" with another configuration, "compile"
    only executes. The others do what "interpret" does: "passes" with a random sequence of passes,
    "cluster" for programs of two blocks. "specialized" and "partitions" are for programs with loops
    whose loads get warps of their own. "products" is for what "partitions" runs in blocks and
    clusters, divided or not. "groups" is for attention whose rows two groups of warps divide.
    "programs" is for tiles of dots, where groups of warps go on with other programs.
    "gluon" is for programs that say their layouts, "python" for those of integers, which Python
    runs as well. "undefined" is for those that use what masked
    loads leave undefined, "shapes" for those whose extents are no powers of two. The modes of
    `VALIDATING` execute the IR between the passes instead of what they make of it. What a target
    refuses is made easier, if the mode is not about what goes then.
    """
    if mode in VALIDATING:
        return check_passes(program, mode)
    if mode in ("shapes", "python"):  # The generator knows; it runs like others.
        mode = "interpret"
    try:
        _check(program, mode)
        return Outcome()
    except Inconclusive as reason:
        why = str(reason)
    if mode == "products":
        program, mode = of_some_blocks(program), "interpret"
    if mode == "interpret":
        for other in easier(program):
            with contextlib.suppress(Inconclusive):
                _check(other, mode)
                return Outcome(why=why)
    return Outcome(False, why)


def check_passes(program: Program, mode: str) -> Outcome:
    """Executes a program between passes: all results must be those of the interpreter."""
    if mode == "validate-products":
        program = of_some_blocks(program)
    try:
        report = validate(program, shuffle=mode == "validate-passes")
    except tile.TileError as error:
        if is_refused_for_clusters(program.config, error):
            return Outcome(False, gist(str(error)))
        raise Failure("compile", str(error)) from error
    except ServerEnded as error:
        raise Failure("crash", str(error)) from error
    if report.status == "different":
        raise Failure("validation", f"{report.guilty}: {report.difference}")
    if report.undefined and not report.skipped:
        raise Failure("validation", f"the front end: undefined elements, {report.undefined}")
    if report.status in ("fault", "refused") or report.refused:
        raise Failure("compile", report.refused or report.why)
    whole_grid = report.programs == np.prod(program.grid)
    if report.status == "finished" and not (report.skipped or report.stand_ins) and whole_grid:
        expected = interpreted(program, program.kernel())
        compare(program, report.outputs, expected, "the IR vs. the interpreter")
    return Outcome(report.is_whole, "" if report.is_whole else gist(report.why), report.counts())


def _check_undefined(program: Program) -> None:
    """Whether undefined elements matter is known from the same program with numbers in their place;
    the simulator and the interpreter must say so, too."""
    # With `debug=True` they are no longer undefined.
    options = tuple(o for o in program.config.options if o[0] != "debug")
    program = program.replace(config=dataclasses.replace(program.config, options=options))
    outputs = []
    for byte in FORGOTTEN:
        variant = program.replace(source=remembered(program.source, byte))
        if variant.source == program.source:
            raise Inconclusive("no load leaves anything undefined")
        if re.search(r"^ *u\d+ = .*mask=\([^<]* < 0\)", program.source, re.MULTILINE):
            raise Inconclusive("a load that is never done is none")
        try:
            outputs.append(interpreted(variant, variant.kernel()))
        except Failure as failure:
            # A quotient by zero, or an index that is none.
            raise Inconclusive(gist(str(failure))) from None
    matters = any(
        differences(now[a.name], outputs[0][a.name], a.type, 0).size
        for now in outputs[1:]
        for a in program.arguments
        if a.role == "output"
    )
    texts: dict[str, Any] = {}
    try:
        _must_tell(matters, lambda: texts.update(compiled(program)[1]), "undefined-lanes")
    except Failure:
        if lost := _lost_loads(texts.get("amdgcn", "")):
            raise Inconclusive(f"LLVM gave loads the line of something else: {lost}") from None
        raise
    # Conditions are taken for what matters there, whatever comes of them.
    _must_tell(matters, lambda: interpreted(program, program.kernel()), "undefined", "stored")


def _lost_loads(assembly: str) -> list[str]:
    """The listed loads of AMD's code of which no load has the line. LLVM drops it where it moves a
    load to another block, and takes the line of a conversion that it merges with the load."""
    listed = re.findall(r"; undefined lanes: (\d+:\d+) ", assembly)
    found, place = set(), ""
    for line in assembly.splitlines():
        if loc := re.match(r"\s*\.loc\s+\d+ (\d+) (\d+)", line):
            place = f"{loc[1]}:{loc[2]}"
        elif re.match(r"\s*\w+_load_", line):
            found.add(place)
    return [place for place in listed if place not in found]


def _must_tell(matters: bool, run: Callable[[], Any], word: str, only: str = "") -> None:
    """A run must say that undefined elements matter where they do, and nowhere else."""
    try:
        run()
        told, message = False, "nothing was found"
    except Failure as failure:
        if word not in failure.message:
            raise
        told, message = True, failure.message
    if told != matters and only in message:
        raise Failure(
            "undefined", f"undefined elements {'' if matters else 'do not '}matter: {message}"
        )


def _check(program: Program, mode: str, needed: str = "") -> None:
    if mode == "passes":
        knobs.compilation.always_compile = True
        with shuffled(program.seed, program.config.machine):
            _check(program, "interpret")
        return
    if mode == "cluster":
        config = dataclasses.replace(program.config, target=90, num_ctas=2)
        return _check(program.replace(config=config), "interpret")
    if mode == "products":
        return _check(of_some_blocks(program), "interpret")
    if mode == "groups":
        return _check(in_two_groups(program), "interpret", "partition1")
    if mode == "programs":
        return _check(of_programs(program), "interpret", "ttg.warp_specialize")
    if mode in ("specialized", "partitions"):
        return _check(specialized(program), "interpret", "ttg.warp_specialize")
    if mode == "undefined":
        return _check_undefined(program)
    if mode == "gluon":
        knobs.runtime.sim_target = program.config.machine  # Layouts are for its lanes.
        return _check(program, "interpret")
    if mode == "interpret":
        kernel = program.kernel()
        expected = interpreted(program, kernel)
        actual, texts = compiled(program, kernel=kernel)
        compare(program, actual, expected, f"{program.config} vs. the interpreter")
        check_known(program, expected)
        if needed and (lack := find_lack(texts["ttgir"], needed)):
            raise Inconclusive(lack)
        return
    actual, _ = compiled(program)
    if mode == "cross":
        other = plain(program.config)
        compare(program, actual, compiled(program, other)[0], f"{program.config} vs. {other}")
