"""How configurations are compared, and where choices are kept."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import knobs
from .cache.manager import get_cache_manager

#: Times that differ by less are the same: the configuration listed first is chosen.
_TIE = 0.005
#: In a first short look, what takes this much longer than the best is not looked at again.
_HOPELESS = 1.5
#: Whose median is as good as that of more: of short kernels thousands fit into the usual time.
ENOUGH_CALLS = 200
_ENDING = ".autotune.json"
UNUSABLE = float("inf")


def choose(timings: dict[Any, list[float]]) -> Any:
    """The best configuration; among equals the one that is listed first."""
    best = min(times[0] for times in timings.values())
    return next(c for c, times in timings.items() if times[0] <= best * (1 + _TIE))


def compare(
    configs: list[Any],
    look: Callable[[Any], list[float]] | None,
    measure: Callable[[Any], list[float]],
    report: Callable[[Any, list[float]], None],
) -> dict[Any, list[float]]:
    """Measures configurations; those that a short `look` finds hopeless only that once."""
    timings: dict[Any, list[float]] = {}
    if look is not None and len(configs) > 2:
        timings = {config: look(config) for config in configs}
        limit = _HOPELESS * min(times[0] for times in timings.values())
        configs = [config for config in configs if timings[config][0] <= limit]
        for config in timings.keys() - set(configs):
            report(config, timings[config])
    for config in configs:
        if timings.get(config, [0.0])[0] != UNUSABLE:
            timings[config] = measure(config)
        report(config, timings[config])
    return timings


def compile_ahead(compiles: dict[Any, Callable[[], Any]]) -> dict[Any, Any]:
    """What compiles return, run in threads. What goes wrong there goes wrong again when it
    matters."""
    from concurrent.futures import ThreadPoolExecutor  # Not part of what `import tile` costs.

    pool = ThreadPoolExecutor(max_workers=min(16, os.cpu_count() or 1))
    done = {}
    try:
        for key, future in [(k, pool.submit(compile)) for k, compile in compiles.items()]:
            with contextlib.suppress(Exception):
                done[key] = future.result()
    finally:
        pool.shutdown(cancel_futures=True)
    return done


def same_code(kernels: dict[Any, Any]) -> dict[Any, Any]:
    """The configurations that came to the same code as an earlier one, launched alike: that one.
    A kernel without dots in its loops, say, has no stages to choose the number of."""
    first: dict[Any, Any] = {}
    twins = {}
    for config, kernel in kernels.items():
        code = getattr(kernel, "assembly", None)
        if code is None:
            continue
        launched = (kernel.num_warps, kernel.shared, config.num_ctas, repr(config.kwargs))
        key = (code, config.maxnreg, *launched)
        if key in first:
            twins[config] = first[key]
        else:
            first[key] = config
    return twins


def said_in_a_line(error: BaseException) -> str:
    """What an error says, without the lines of the kernel that it shows."""
    if (message := getattr(error, "error_message", None)) is None:
        message = str(error)
    lines = [line for line in message.splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def spelled(times: list[float] | None) -> str:
    """The median as a person reads it."""
    if times is None:
        return "cannot run"
    return f"{times[0]:.4g} ms" if times[0] >= 1 else f"{times[0] * 1e3:.4g} us"


@contextlib.contextmanager
def progress(name: str, count: int) -> Iterator[Callable[[Any, list[float]], None]]:
    """Shows on a terminal how far tuning is; prints each result where that is wanted."""

    def tell(config: Any, times: list[float]) -> None:
        if knobs.autotuning.print:
            text = spelled(None if times[0] == UNUSABLE else times)
            print(f"Autotuning {name}: {config}: {text}")

    bar = _bar(name, count)
    if bar is None:
        yield tell
        return
    with bar:

        def advance(config: Any, times: list[float]) -> None:
            bar.advance(bar.tasks[0].id)
            tell(config, times)

        yield advance


def _bar(name: str, count: int) -> Any:
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        return None
    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task(f"tuning {name}", total=count)
    return bar


@dataclass
class Choice:
    """What was chosen for one key of one kernel, and why."""

    kernel: str
    key: str
    device: str
    #: "measured" on a device, or "estimated" from the simulator's counters.
    how: str
    best: str
    #: Median, 20% and 80% in milliseconds of each configuration; None for one that cannot run.
    configs: dict[str, list[float] | None] = field(default_factory=dict)
    seconds: float = 0.0
    made: float = 0.0

    def timings(self, configs: list[Any]) -> dict[Any, list[float]]:
        known = {str(config): config for config in configs}
        return {
            known[text]: [UNUSABLE] * 3 if times is None else times
            for text, times in self.configs.items()
            if text in known
        }


def make_choice(
    kernel: str, key: Any, device: str, how: str, timings: dict[Any, list[float]], seconds: float
) -> Choice:
    """The record of a choice."""
    configs = {str(c): None if times[0] == UNUSABLE else times for c, times in timings.items()}
    best = str(choose(timings))
    return Choice(kernel, repr(key), device, how, best, configs, seconds, time.time())


class ChoiceFile:
    """Where the choice of a kernel for a key is kept."""

    def __init__(self, kernel: str, parts: list[str]) -> None:
        self.name = kernel[:200] + _ENDING
        self.key = hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def read(self) -> Choice | None:
        path = get_cache_manager(self.key).get_file(self.name)
        return None if path is None else read_choice(path)

    def write(self, choice: Choice) -> None:
        """A cache that cannot be written is no error."""
        record = asdict(choice)
        text = json.dumps({**record, "sum": _sum(record)}, indent=1)
        with contextlib.suppress(OSError):
            get_cache_manager(self.key).put(text, self.name, binary=False)


def _sum(record: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def read_choice(path: str | Path) -> Choice | None:
    """The choice in a file; None where it is damaged."""
    try:
        record = json.loads(Path(path).read_bytes())
        if record.pop("sum") != _sum(record):
            return None
        return Choice(**record)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def choices() -> Iterator[tuple[Path, Choice]]:
    """All choices in the cache."""
    for path in sorted(Path(knobs.cache.dir).glob(f"*/*{_ENDING}")):
        choice = read_choice(path)
        if choice is not None:
            yield path, choice


def estimate(report: Any) -> float:
    """Milliseconds that a launch would take on a GPU, by the cost model."""
    return 1e3 * report.roofline()["expected"]
