"""Threads of tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any


def run_threads(work: Callable[[Any], None], arguments: Iterable[Any]) -> None:
    """Calls `work` with each argument, in a thread each; raises what the first raised."""
    errors: list[BaseException] = []

    def call(argument: Any) -> None:
        try:
            work(argument)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(a,)) for a in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
