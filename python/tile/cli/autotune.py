"""`tile autotune`"""

from __future__ import annotations

import dataclasses
import shutil
import time

import click

from ..runtime.tuning import choices, spelled
from .complete import tuned
from .group import Group
from .table import print_json, show, with_json


@click.group("autotune", cls=Group)
def command() -> None:
    """Look at what autotuning chose."""


@command.command("show")
@click.argument("kernel", required=False, shell_complete=tuned)
@with_json
def show_(kernel: str | None, as_json: bool) -> None:
    """Show what was chosen for kernels, and why."""
    wanted = [c for _, c in choices() if kernel is None or c.kernel == kernel]
    if as_json:
        print_json([dataclasses.asdict(choice) for choice in wanted])
        return
    if not wanted:
        print("nothing was tuned" if kernel is None else f"nothing was tuned for `{kernel}`")
    for choice in wanted:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(choice.made))
        title = (
            f"{choice.kernel}  key {choice.key}  {choice.how} for {choice.device} on {when} in "
            f"{choice.seconds:.1f} s"
        )
        if choice.how == "estimated":
            title += " (from the simulator's counters: no GPU was there)"
        times = sorted(choice.configs.items(), key=lambda c: c[1][0] if c[1] else float("inf"))
        show(
            ("", "configuration", "time"),
            [("*" * (text == choice.best), text, spelled(t)) for text, t in times],
            title,
        )


@command.command("clear")
@click.argument("kernel", required=False, shell_complete=tuned)
def clear_(kernel: str | None) -> None:
    """Forget what was chosen for kernels."""
    gone = [path for path, choice in choices() if kernel is None or choice.kernel == kernel]
    for path in gone:
        shutil.rmtree(path.parent, ignore_errors=True)
    print(f"removed {len(gone)} choice{'s' * (len(gone) != 1)}")
