"""Compiles kernels for targets in several processes, and measures what is not known yet."""

from __future__ import annotations

import functools
import multiprocessing
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import NamedTuple

from tile import _C
from tile.backends import find_backend, parse_target
from tile.errors import TileError

from .kernels import RECORDED, known_kernels
from .rows import REFUSED, Row, compile_text, measure


class Task(NamedTuple):
    kernel: str
    target: str
    #: The text of a row that need not be measured again; empty to measure any.
    known: str


class Result(NamedTuple):
    task: Task
    #: What was measured; only the text and the time where the text is the known one.
    row: Row
    #: Why the kernel, or its machine code, was refused.
    refusal: str = ""


class _Reference:
    """The unit of compile times: what LLVM takes for one text that never changes. A machine that
    is slow, or has other things to do, is slow for both."""

    #: It is taken so many times, and again after so many compiles.
    _TIMES, _EVERY = 3, 20

    def __init__(self) -> None:
        self._text = (RECORDED / "reference.ll").read_text(encoding="utf-8")
        self._backend = find_backend(parse_target("cuda:80"))
        self._options = self._backend.ptx_options(self._backend.parse_options({}))
        self._times: list[float] = []
        self._compiles = 0
        self._take()  # The first one loads what LLVM needs.
        self._times.clear()

    def _take(self) -> None:
        for _ in range(self._TIMES):
            start = time.process_time()
            _C.llvm.emit_ptx(self._text, _C.ir.Context(), self._options)
            self._times.append(time.process_time() - start)

    def unit(self) -> float:
        if self._compiles % self._EVERY == 0:
            self._take()
        self._compiles += 1
        return statistics.median(self._times)


@functools.cache
def _reference() -> _Reference:
    return _Reference()


@functools.cache
def _warm_up(target: str) -> None:
    """The first compile in a process loads what the others use."""
    first = next(iter(known_kernels().values()))
    compile_text(first, parse_target(target))


def run_task(task: Task) -> Result:
    kernel, target = known_kernels()[task.kernel], parse_target(task.target)
    _warm_up(task.target)
    unit = _reference().unit()
    compiled = compile_text(kernel, target)
    ratio = compiled.seconds / unit
    if compiled.text == task.known:
        return Result(task, Row(kernel.name, compile=ratio, text=compiled.text), compiled.refusal)
    try:
        row = measure(compiled, target)
    except TileError as error:  # ptxas refuses it.
        return Result(task, Row(kernel.name, text=REFUSED), str(error).splitlines()[0])
    return Result(task, replace(row, compile=ratio), compiled.refusal)


def run_tasks(tasks: Sequence[Task], jobs: int) -> Iterator[Result]:
    """In the order of `tasks`."""
    cache = tempfile.mkdtemp(prefix="tile-regress-")
    here = {
        "TILE_ALWAYS_COMPILE": "1", "TILE_CACHE_DIR": cache, "TILE_DISABLE_LINE_INFO": "1",
    }  # fmt: skip
    before = {name: os.environ.get(name) for name in here}
    os.environ.update(here)
    # Compilers' contexts and threads are not handed on to processes that are forked.
    new = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(jobs, new) as pool:
            yield from pool.map(run_task, tasks)
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        shutil.rmtree(cache, ignore_errors=True)
