"""Helper of test_cache_processes.py: forks processes that share a cache, from one that has
imported everything. Prints what the children report as JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable

import numpy as np

import tile
import tile.language as tl
from tile.compiler.stages import StagedCompile
from tile.runtime.cache import CacheEntry, FileCacheManager
from tile.runtime.cache.lock import exclusive

KEY = "ab" * 32


@tile.jit
def scale(x_ptr, out_ptr, n, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * FACTOR, mask=mask)


def run_kernels() -> dict:
    """Runs three kernels; reports what was compiled here and whether results are right."""
    built = []
    run = StagedCompile._run

    def counted(self):
        built.append(self.key)
        return run(self)

    StagedCompile._run = counted
    x = np.arange(50, dtype=np.float32)
    right = True
    for factor in (2, 3, 4):
        out = np.full(64, -1, np.float32)
        scale[(1,)](x, out, 50, FACTOR=factor, BLOCK=64)
        right &= (out[:50] == x * factor).all() and (out[50:] == -1).all()
    return {"built": built, "right": bool(right)}


def fork(child: Callable[[], object]) -> tuple[int, int]:
    """Starts a process; returns its number, and where it writes what `child` returns."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(writer, json.dumps(child()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    return process, reader


def collect(children: list[tuple[int, int]]) -> list:
    results = []
    for process, reader in children:
        with os.fdopen(reader, "rb") as file:
            text = file.read()
        _, status = os.waitpid(process, 0)
        results.append(json.loads(text) if text else {"signal": os.WTERMSIG(status)})
    return results


def cold(count: int) -> list:
    return collect([fork(run_kernels) for _ in range(count)])


def killed_while_writing() -> list:
    """Each child dies at another file that it writes; then one compiles in peace."""
    results = []
    for survivor in range(8):

        def child(survivor: int = survivor):
            replace, calls = os.replace, []

            def fatal(source, target):
                calls.append(target)
                if len(calls) > survivor:
                    os.kill(os.getpid(), signal.SIGKILL)
                replace(source, target)

            os.replace = fatal
            return run_kernels()

        results += collect([fork(child)])
    return [*results, *collect([fork(run_kernels)])]


def holder_of_the_lock() -> int:
    """A process that has the lock, and keeps it."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        with exclusive(KEY):
            os.write(writer, b"x")
            time.sleep(100)
    os.read(reader, 1)
    return process


def killed_with_the_lock() -> dict:
    """How long the next process waits for a lock whose holder is dead."""
    process = holder_of_the_lock()
    start = time.monotonic()
    with exclusive("cd" * 32):
        other = time.monotonic() - start
    os.kill(process, signal.SIGKILL)
    start = time.monotonic()
    with exclusive(KEY):
        pass
    os.waitpid(process, 0)
    return {"other": other, "waited": time.monotonic() - start}


def hung_holder() -> dict:
    """A holder that does not finish is waited for until the time is over."""
    process = holder_of_the_lock()
    start = time.monotonic()
    entry = CacheEntry(KEY, "k")
    made = entry.load_or_build(lambda: None, lambda: "made")
    waited = time.monotonic() - start
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return {"made": made, "waited": waited}


def forked_while_compiling() -> dict:
    """A child that outlives its parent's compile does not keep the lock."""
    with exclusive(KEY):
        process = os.fork()
        if process == 0:
            time.sleep(100)
            os._exit(0)
    start = time.monotonic()
    with exclusive(KEY):
        waited = time.monotonic() - start
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return {"waited": waited}


def forked_after_use() -> list:
    """Children of a process that has launched kernels launch them, and new ones."""
    run_kernels()

    def child() -> dict:
        x, out = np.arange(50, dtype=np.float32), np.zeros(64, np.float32)
        scale[(1,)](x, out, 50, FACTOR=os.getpid(), BLOCK=64)
        return {**run_kernels(), "new": bool((out[:50] == x * os.getpid()).all())}

    return collect([fork(child) for _ in range(4)])


def writers_and_readers() -> list:
    """Some write an entry over and over while others read it: sound, or not there."""
    end = time.monotonic() + 1.5
    contents = {"ptx": "p" * 50_000, "cubin": b"c" * 50_000}

    def write():
        entry, count = CacheEntry(KEY, "k"), 0
        while time.monotonic() < end:
            entry.store({"hash": KEY}, contents)
            count += 1
            time.sleep(0.003)
        return {"wrote": count}

    def read():
        entry, count, torn = CacheEntry(KEY, "k"), 0, 0
        while time.monotonic() < end:
            found = entry.load()
            if found is None:
                continue
            for stage, file in found[1].items():
                data = contents[stage]
                try:
                    torn += file.read() != (data if isinstance(data, bytes) else data.encode())
                except Exception as error:
                    torn += type(error).__name__ != "Damaged"
            count += 1
        return {"read": count, "torn": torn}

    return collect([fork(write) for _ in range(2)] + [fork(read) for _ in range(2)])


def main() -> None:
    results = globals()[sys.argv[1]](*map(int, sys.argv[2:]))
    root = FileCacheManager("x").cache_dir
    left = [
        name
        for folder, folders, files in os.walk(os.path.dirname(root))
        for name in (*files, *folders)
        if name.startswith((".tmp-", ".trash-")) or folder.endswith(".locks")
    ]
    print(json.dumps({"results": results, "left": left}))


if __name__ == "__main__":
    main()
