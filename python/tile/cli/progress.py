"""What a terminal shows while something takes longer than two seconds.

It goes to stderr, so that what a command prints can be read by programs. Elsewhere than on a
terminal nothing is shown.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

DELAY = 2.0

T = TypeVar("T")


def _is_shown() -> bool:
    return sys.stderr.isatty()


def track(items: Sequence[T], what: str) -> Iterator[T]:
    """The items, with a bar from two seconds on that says how many are done."""
    if not _is_shown():
        yield from items
        return
    start, progress = time.monotonic(), None
    try:
        for done, item in enumerate(items):
            if progress is None and time.monotonic() - start > DELAY:
                progress, task = _bar(what, len(items))
            if progress is not None:
                progress.update(task, completed=done)
            yield item
    finally:
        if progress is not None:
            progress.stop()


def _bar(what: str, total: int):
    from rich.console import Console
    from rich.progress import Progress

    progress = Progress(console=Console(stderr=True), transient=True)
    progress.start()
    return progress, progress.add_task(what, total=total)


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Says from two seconds on what is being done, and for how long already. This is for work of
    which nobody knows how long it takes."""
    if not _is_shown():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task(what, total=None)
    timer = threading.Timer(DELAY, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        progress.stop()
