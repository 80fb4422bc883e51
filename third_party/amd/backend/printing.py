"""What kernels print: the buffer that they write to, and the text of what is in it.

The buffer starts with the bytes that are taken and the bytes there are. Each record is the number
of a format, of those that the metadata of the code lists, and the arguments, all of them in a
multiple of four bytes.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np

_HEADER = struct.Struct("<II")
#: Bytes for what one launch prints.
_CAPACITY = 1 << 20
_CONVERSION = re.compile(r"%(%|[-+ #0]*\d*(?:\.\d+)?(?:hh|h|ll|l)?([a-zA-Z]))")


@dataclass(frozen=True)
class Format:
    """One call of printf: the sizes of its arguments, and the text."""

    sizes: tuple[int, ...]
    text: str

    @staticmethod
    def parse(entry: str) -> tuple[int, Format]:
        """`number:arguments:size of each:text`, as in the metadata."""
        number, count, rest = entry.split(":", 2)
        *sizes, text = rest.split(":", int(count))
        escapes = {r"\n": "\n", r"\72": ":", r"\\": "\\"}
        text = re.sub(r"\\(?:n|72|\\)", lambda m: escapes[m[0]], text)
        return int(number), Format(tuple(map(int, sizes)), text)

    def render(self, data: bytes) -> str:
        """The text with arguments, as C makes it."""
        places = iter(np.cumsum((0, *self.sizes)).tolist())
        sizes = iter(self.sizes)

        def convert(match: re.Match) -> str:
            kind = match[2]
            if kind is None:
                return "%"
            place, size = next(places), next(sizes)
            bits = data[place : place + size]
            if kind in "fFeEgG":
                return match[0] % struct.unpack("<d", bits)
            value = int.from_bytes(bits, "little", signed=kind in "id")
            if kind == "p":
                return f"{value:#x}"
            return re.sub(r"hh|h|ll|l", "", match[0]) % value

        return _CONVERSION.sub(convert, self.text)


def _unquote(text: str) -> str:
    """A string of YAML."""
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text.startswith('"'):
        return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text[1:-1])
    return text


class PrintBuffer:
    """The buffer of one launch."""

    def __init__(self, formats: dict[int, Format], pointer_offset: int) -> None:
        self.formats = formats
        #: Where its address is among the arguments of the kernel.
        self.pointer_offset = pointer_offset
        self.memory = np.zeros(_HEADER.size + _CAPACITY, np.uint8)
        self.memory[: _HEADER.size] = np.frombuffer(_HEADER.pack(0, _CAPACITY), np.uint8)

    @staticmethod
    def of(assembly: str) -> PrintBuffer | None:
        """The buffer for a kernel; None if it does not print."""
        _, _, text = assembly.partition(".amdgpu_metadata")
        listed = re.search(r"^amdhsa\.printf:\n((?: +- .*\n)+)", text, re.M)
        hidden = re.search(
            r"\.offset:\s+(\d+)\s+\.size:\s+8\s+\.value_kind:\s+hidden_printf_buffer", text
        )
        if listed is None or hidden is None:
            return None
        entries = re.findall(r"^ +- (.*)$", listed[1], re.M)
        return PrintBuffer(dict(Format.parse(_unquote(e)) for e in entries), int(hidden[1]))

    def text(self) -> str:
        """All that was printed."""
        data = self.memory.tobytes()
        taken, _ = _HEADER.unpack_from(data)
        at, end = _HEADER.size, _HEADER.size + taken
        lines = []
        while at < end:
            (number,) = struct.unpack_from("<I", data, at)
            # A thread that was stopped before it wrote what it had taken.
            if number not in self.formats:
                break
            format = self.formats[number]
            at += 4
            lines.append(format.render(data[at : at + sum(format.sizes)]))
            at += sum(format.sizes)
        return "".join(lines)

    @property
    def assertion(self) -> str:
        """What a kernel that was stopped says of it."""
        lines = self.text().splitlines()
        return next((line for line in lines if line.endswith("' failed")), "")
