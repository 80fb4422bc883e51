"""`tile cache`"""

from __future__ import annotations

import time

import click

from .. import knobs
from ..runtime.cache import clear, entries, prune
from ..runtime.cache.entry import verify
from ..settings import bytes_of
from .complete import kernels
from .group import Group
from .progress import track, working
from .table import print_json, show, size, with_json


@click.group("cache", cls=Group)
def command() -> None:
    """Look at the cache of compiled kernels; tidy it."""


@command.command()
@click.argument("kernel", required=False, shell_complete=kernels)
@with_json
def ls(kernel: str | None, as_json: bool) -> None:
    """List kernels, those used last first."""
    now = time.time()
    wanted = [entry for entry in entries() if kernel is None or kernel in entry.kernels]
    known = sorted(wanted, key=lambda entry: -entry.last_use)
    if as_json:
        print_json(
            [
                {
                    "kernels": list(entry.kernels), "bytes": entry.size,
                    "last_use": entry.last_use, "folder": str(entry.path),
                }
                for entry in known
            ]
        )  # fmt: skip
        return
    if not known:
        what = "nothing" if kernel is None else f"no kernel `{kernel}`"
        print(f"there is {what} in the cache {knobs.cache.dir}")
        return
    show(
        ("kernel", "size", "last used", "folder"),
        [
            (
                ", ".join(entry.kernels) or "(a choice or a version)",
                size(entry.size),
                _ago(now - entry.last_use),
                entry.path,
            )
            for entry in known
        ],
    )


def _ago(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit} ago"
    return "just now"


@command.command()
@with_json
def stats(as_json: bool) -> None:
    """Say how large the cache is."""
    known = list(entries())
    limit = knobs.cache.size_limit
    if as_json:
        print_json(
            {
                "folder": str(knobs.cache.dir), "kernels": sum(len(e.kernels) for e in known),
                "bytes": sum(e.size for e in known), "limit": limit,
            }
        )  # fmt: skip
        return
    print(f"folder   {knobs.cache.dir}")
    print(f"kernels  {sum(len(entry.kernels) for entry in known)}")
    print(f"size     {size(sum(entry.size for entry in known))}")
    print(f"limit    {size(limit) if limit else 'none'}")


def _bytes(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    try:
        size = None if text is None else bytes_of(text)
    except ValueError:
        size = -1
    if size is not None and size < 0:
        raise click.BadParameter(f"a size is written as 500M, not {text!r}")
    return size


@command.command("prune")
@click.option(
    "--limit", callback=_bytes, help="Bytes, as in 500M; by default the limit of the cache."
)
def prune_(limit: int | None) -> None:
    """Remove what was not used for the longest time."""
    with working("Removing what was not used"):
        count, freed = prune(knobs.cache.size_limit if limit is None else limit)
    print(f"removed {count} entries, {size(freed)}")


@command.command("clear")
@click.confirmation_option(prompt="Remove all compiled kernels?")
def clear_() -> None:
    """Remove all entries."""
    with working("Removing all entries"):
        count, freed = clear()
    print(f"removed {count} entries, {size(freed)}")


@command.command("verify")
@click.option("--remove", is_flag=True, help="Remove what is damaged.")
@with_json
def verify_(remove: bool, as_json: bool) -> int:
    """Read every file, and say what is damaged."""
    import shutil

    checked, wrong = 0, {}
    for entry in track(list(entries()), "Reading the cache"):
        checked += len(entry.kernels)
        if lines := verify(entry.path):
            wrong[entry.path] = lines
            if remove:
                shutil.rmtree(entry.path, ignore_errors=True)
    if as_json:
        damaged = {str(path): lines for path, lines in wrong.items()}
        print_json({"checked": checked, "damaged": damaged, "removed": remove})
    else:
        for line in (line for lines in wrong.values() for line in lines):
            print(line)
        outcome = f"{len(wrong)} damaged" + " and removed" * (remove and bool(wrong))
        print(f"{checked} kernels checked, {outcome}")
    return 1 if wrong and not remove else 0
