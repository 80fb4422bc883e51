"""One process compiles a kernel while others wait.

The lock belongs to an open file, so it ends with the process that holds it, however that ends. A
process may fail to get the lock: the cache is read only, the file system has no locks, or the
holder takes too long. Then two processes do the same work, and no harm is done.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from ... import knobs
from .manager import folder_of

try:
    import fcntl
except ImportError:  # Windows: two processes may compile the same kernel.
    fcntl = None  # type: ignore[assignment]

FOLDER = ".locks"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05
#: The files of locks that this process holds.
_held: set[int] = set()


def _close_in_child() -> None:
    # A child that lives on would hold its parent's locks.
    for descriptor in _held:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


@contextlib.contextmanager
def exclusive(key: str) -> Iterator[None]:
    """Holds the lock of a key."""
    path = os.path.join(knobs.cache.dir, FOLDER, folder_of(key))
    descriptor = None if fcntl is None else _acquire(path)
    try:
        yield
    finally:
        if descriptor is not None and descriptor in _held:
            # Removed while it is held: whoever opened it meanwhile sees that and opens anew.
            with contextlib.suppress(OSError):
                os.unlink(path)
            _held.discard(descriptor)
            os.close(descriptor)


def _acquire(path: str) -> int | None:
    """The open file that holds the lock, None where it cannot be had."""
    end = time.monotonic() + knobs.cache.lock_timeout
    pause = _FIRST_PAUSE
    while True:
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return None
        _held.add(descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_current(descriptor, path):
                return descriptor
            busy = False
        except BlockingIOError:
            busy = True
        except OSError:  # No locks on this file system.
            with contextlib.suppress(OSError):
                os.unlink(path)
            _forget(descriptor)
            return None
        except BaseException:
            _forget(descriptor)
            raise
        _forget(descriptor)
        if busy:
            if time.monotonic() >= end:
                return None
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _forget(descriptor: int) -> None:
    _held.discard(descriptor)
    os.close(descriptor)


def _is_current(descriptor: int, path: str) -> bool:
    """Whether the file is still the one under its name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


def is_held(path: str) -> bool:
    """Whether a process holds this lock."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:  # No locks, and so no holder.
        return False
    finally:
        os.close(descriptor)
