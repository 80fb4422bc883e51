"""A process of ptxas, which may start before its input is there.

ptxas takes 10 to 15 ms until it reads its input: it is large, and makes its tables. That is half of
what most kernels take. So a compile starts it first, and makes the PTX meanwhile. The input is a
named pipe then, which ptxas waits for.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator

#: Seconds after which ptxas is ended.
_PATIENCE = 600
#: Seconds between two looks whether it has come to its input.
_PAUSE = 0.0002


class Assembly:
    """One run of ptxas. With no text it waits for `feed`."""

    def __init__(self, command: list[str], ptx: str | None = None) -> None:
        self.command = command
        self.folder = tempfile.TemporaryDirectory(prefix="tile-ptxas-")
        self.source = os.path.join(self.folder.name, "kernel.ptx")
        self.binary = os.path.join(self.folder.name, "kernel.cubin")
        if ptx is None:
            os.mkfifo(self.source)
        else:
            self._write(self.source, ptx)
        try:
            self.process = subprocess.Popen(
                [*command, self.source, "-o", self.binary],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
        except OSError:
            self.folder.cleanup()
            raise

    @staticmethod
    def _write(path: str, ptx: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(ptx)

    def feed(self, ptx: str) -> None:
        """Hands over the text. ptxas opens its input twice. The second time it finds a file."""
        pipe = self._open_pipe()
        if pipe is None:  # It has ended, and says why.
            return
        _open_pipes.add(pipe)
        try:
            with contextlib.suppress(BrokenPipeError), open(pipe, "w", encoding="utf-8") as stream:
                file = f"{self.source}.file"
                self._write(file, ptx)
                os.replace(file, self.source)
                stream.write(ptx)
        finally:
            _open_pipes.discard(pipe)

    def _open_pipe(self) -> int | None:
        """The pipe's other end, as soon as ptxas has opened the pipe. None where it has ended."""
        until = time.monotonic() + _PATIENCE
        while self.process.poll() is None and time.monotonic() < until:
            try:
                pipe = os.open(self.source, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                time.sleep(_PAUSE)
            else:
                os.set_blocking(pipe, True)
                return pipe
        return None

    def finish(self) -> tuple[int, str, bytes]:
        """How it ended, what it said, and the cubin."""
        try:
            log, _ = self.process.communicate(timeout=_PATIENCE)
            code = self.process.returncode
            cubin = b""
            if code == 0:
                with open(self.binary, "rb") as file:
                    cubin = file.read()
            return code, log, cubin
        finally:
            self.end()

    def end(self) -> None:
        """Ends it where it has not ended, and takes its files away."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.folder.cleanup()


#: Pipes through which text goes right now.
_open_pipes: set[int] = set()


def _close_pipes() -> None:
    """In a process that another thread has forked: ptxas would wait for its end of the pipe."""
    for pipe in _open_pipes:
        os.close(pipe)
    _open_pipes.clear()


os.register_at_fork(after_in_child=_close_pipes)

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
    if waiting is None or waiting.command != command:
        return Assembly(command, ptx).finish()
    _waiting.assembly = None
    try:
        waiting.feed(ptx)
    except BaseException:
        waiting.end()
        raise
    return waiting.finish()
