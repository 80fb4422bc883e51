"""Colour on terminals, unless `NO_COLOR` is set (https://no-color.org)."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

import click

_PARTS = (
    (re.compile(r"^ +\^+$", re.M), {"fg": "red"}),
    (re.compile(r'^  (File "[^"\n]*"|Cell In\[\d+\]), line \d+', re.M), {"bold": True}),
    (re.compile(r"^help:", re.M), {"fg": "green", "bold": True}),
    (re.compile(r"^note:", re.M), {"fg": "cyan", "bold": True}),
    (re.compile(r"^more:", re.M), {"fg": "cyan", "bold": True}),
)


def wants_color(stream: TextIO | None = None) -> bool:
    """Is it a terminal, and does its user want colour?"""
    return (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR")


def findings_in_color(text: str, stream: TextIO | None = None) -> str:
    """A text with findings or errors, coloured where the stream wants colour."""
    if not wants_color(stream):
        return text
    from ..sim.kinds import KINDS

    kind = re.compile(rf"^(error|{'|'.join(KINDS)}):", re.M)
    for pattern, style in ((kind, {"fg": "red", "bold": True}), *_PARTS):
        text = pattern.sub(lambda match, style=style: click.style(match[0], **style), text)
    return text
