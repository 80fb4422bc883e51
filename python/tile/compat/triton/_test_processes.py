"""Tests that run in a process of their own: what they do to the device ends with it."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_TIMEOUT = "TRITON_TEST_PROCESS_TIMEOUT"


@dataclass
class ProcessResult:
    """How a call ended: what it raised, and what the process wrote to stderr meanwhile."""

    exc: BaseException | None
    driver_stderr_output: str


def _picklable(error: BaseException) -> BaseException:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _call(fn: Callable, args: tuple, kwargs: dict, env: dict[str, str]) -> ProcessResult:
    """Calls a function; its variables and what stderr is are put back after it."""
    environment = dict(os.environ)
    error: BaseException | None = None
    with tempfile.TemporaryFile() as file:
        stderr = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            os.environ.update(env)
            fn(*args, **kwargs)
        except BaseException as raised:  # Also what pytest raises to skip a test.
            error = _picklable(raised)
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            os.environ.clear()
            os.environ.update(environment)
        file.seek(0)
        return ProcessResult(error, file.read().decode(errors="replace"))


def _serve(pipe: Any, preload_module: str | None) -> None:
    """What a process does: one call after the other, until one fails."""
    if preload_module is not None:
        importlib.import_module(preload_module)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        result = _call(*task)
        pipe.send(result)
        if result.exc is not None:
            return


class _Worker:
    def __init__(self, preload_module: str | None) -> None:
        # A child of `fork` would have what the parent did to the device.
        context = multiprocessing.get_context("spawn")
        self.pipe, end = context.Pipe()
        self.process = context.Process(target=_serve, args=(end, preload_module), daemon=True)
        self.process.start()
        end.close()

    def call(self, fn: Callable, args: tuple, kwargs: dict, env: dict) -> ProcessResult:
        seconds = float(os.environ.get(_TIMEOUT, "600"))
        self.pipe.send((fn, args, kwargs, env))
        if not self.pipe.poll(seconds):
            self.process.kill()
            name = getattr(fn, "__name__", repr(fn))
            raise TimeoutError(f"test subprocess {name} exceeded {seconds:g} seconds")
        try:
            return self.pipe.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            return ProcessResult(RuntimeError(f"the process ended with the code {code}"), "")

    def close(self) -> None:
        self.pipe.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class ReplenishingProcessPool:
    """A process that has imported a module, and serves calls until one fails; then another one
    takes its place."""

    def __init__(self, preload_module: str | None) -> None:
        self.preload_module = preload_module
        self._worker: _Worker | None = _Worker(preload_module)

    def run(self, fn: Callable, args: tuple, kwargs: dict, env: dict) -> ProcessResult:
        worker = self._worker or _Worker(self.preload_module)
        self._worker = None
        try:
            result = worker.call(fn, args, kwargs, env)
        except BaseException:
            worker.process.kill()
            worker.close()
            raise
        if result.exc is None:
            self._worker = worker
        else:
            worker.close()
            self._worker = _Worker(self.preload_module)  # It starts while this process goes on.
        return result

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None


_pool: ReplenishingProcessPool | None = None


@contextmanager
def use_process_pool(preload_module: str) -> Iterator[ReplenishingProcessPool]:
    """`run_in_process` uses one process for many calls inside."""
    global _pool
    before, _pool = _pool, ReplenishingProcessPool(preload_module)
    try:
        yield _pool
    finally:
        _pool.close()
        _pool = before


def run_in_process(
    client_fn: Callable,
    args: tuple = (),
    kwargs: dict[str, Any] | None = None,
    env: dict[str, str] | None = None,
) -> ProcessResult:
    """Calls a function in another process, with these variables set. It has as many seconds as
    TRITON_TEST_PROCESS_TIMEOUT says."""
    if _pool is not None:
        return _pool.run(client_fn, args, kwargs or {}, env or {})
    worker = _Worker(None)
    try:
        return worker.call(client_fn, args, kwargs or {}, env or {})
    finally:
        worker.close()
