"""A process of ptxas, which may start before its input is there.

ptxas takes 10 to 15 ms until it reads its input: it is large, and makes its tables. That is half of
what most kernels take. So a compile starts it first, and makes the PTX meanwhile. Its input is a
link to its standard input then. Where this process ends, ptxas reads an empty text, and ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

#: Seconds after which ptxas is ended.
_PATIENCE = 600
#: This side of the pipes from which processes wait for text.
_pipes: set[Any] = set()


def _close_pipes() -> None:
    """In a process that is forked meanwhile: ptxas reads until no process has the pipe open."""
    for pipe in _pipes:
        with contextlib.suppress(OSError):
            pipe.close()
    _pipes.clear()


os.register_at_fork(after_in_child=_close_pipes)


class Assembly:
    """One run of ptxas. Without a text it waits for one."""

    def __init__(self, command: list[str], ptx: str | None = None) -> None:
        self.command = command
        self.waits = ptx is None
        self.folder = tempfile.TemporaryDirectory(prefix="tile-ptxas-")
        self.source = os.path.join(self.folder.name, "kernel.ptx")
        self.binary = os.path.join(self.folder.name, "kernel.cubin")
        try:
            if ptx is None:
                os.symlink("/proc/self/fd/0", self.source)
            else:
                self._write(self.source, ptx)
            self.process = subprocess.Popen(
                [*command, self.source, "-o", self.binary],
                stdin=subprocess.PIPE if self.waits else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
        except OSError:
            self.folder.cleanup()
            raise
        # Without its buffer, whose lock another thread may have.
        self.pipe = self.process.stdin.buffer.raw if self.process.stdin else None
        if self.pipe:
            _pipes.add(self.pipe)

    @staticmethod
    def _write(path: str, ptx: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(ptx)

    def finish(self, ptx: str) -> tuple[int, str, bytes]:
        """How it ended, what it said, and the cubin of the text."""
        try:
            if self.waits:
                # ptxas opens its input twice. The second time it finds a file. Where it has not
                # come to the first time yet, it never reads from the pipe.
                file = f"{self.source}.file"
                self._write(file, ptx)
                os.replace(file, self.source)
            log, _ = self.process.communicate(ptx if self.waits else None, timeout=_PATIENCE)
            cubin = b""
            if self.process.returncode == 0:
                with open(self.binary, "rb") as made:
                    cubin = made.read()
            return self.process.returncode, log, cubin
        finally:
            self.end()

    def end(self) -> None:
        """Ends it where it has not ended, and takes its files away."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        _pipes.discard(self.pipe)
        self.folder.cleanup()


#: For each thread, the process that waits.
_waiting = threading.local()


@contextlib.contextmanager
def started(command: list[str]) -> Iterator[None]:
    """Has such a process wait, which the first run of that command takes. It ends with the block
    where none does."""
    before = getattr(_waiting, "assembly", None)
    try:
        _waiting.assembly = Assembly(command)
    except OSError:  # Who needs it will say so.
        _waiting.assembly = None
    try:
        yield
    finally:
        rest, _waiting.assembly = _waiting.assembly, before
        if rest is not None:
            rest.end()


def assemble(command: list[str], ptx: str) -> tuple[int, str, bytes]:
    """Runs ptxas on a text: how it ended, what it said, and the cubin."""
    waiting = getattr(_waiting, "assembly", None)
    if waiting is not None and waiting.command == command:
        _waiting.assembly = None
        with contextlib.suppress(OSError):
            code, log, cubin = waiting.finish(ptx)
            if code == 0:
                return code, log, cubin
        # Another ptxas may want its input to be a file from the start.
    return Assembly(command, ptx).finish(ptx)
