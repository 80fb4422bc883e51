"""Every instruction that LLVM knows for a GPU, as text. Its disassembler is shown all values of the
fields that say which instruction it is. They come in all formats, with registers that suit most of
them."""

from __future__ import annotations

import itertools
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator

LLVM_MC = shutil.which("llvm-mc", path="/usr/lib/llvm-22/bin")

#: Vector registers in a field of 9 bits.
V = 256
#: What follows an instruction with DPP: row_shl:1 of v4, and lanes 7 to 0 of it.
DPP16, DPP8 = 0xFF << 24 | 0x101 << 8 | 4, 0o76543210 << 8 | 4


def scalar() -> Iterator[list[int]]:
    for op in range(256):
        yield [0b101111101 << 23 | 8 << 16 | op << 8 | 4]
    for op in range(128):
        yield [0b10 << 30 | op << 23 | 8 << 16 | 6 << 8 | 4]
        yield [0b10 << 30 | op << 23 | 8 << 16 | 6 << 8 | 255, 0x1234567]
        yield [0b101111110 << 23 | op << 16 | 6 << 8 | 4]
        yield [0b101111111 << 23 | op << 16]
    for op in range(32):
        yield [0b1011 << 28 | op << 23 | 8 << 16 | 5]


def short_vector(gfx9: bool) -> Iterator[list[int]]:
    sdwa = 4 | 6 << 8 | 2 << 11 | 5 << 16 | 6 << 24
    # Some have a constant that is not among their sources: v_fmamk_f32.
    sources = [(V + 4, []), (V + 4, [0x4567]), (250, [DPP16])]
    sources += [(249, [sdwa]), (249, [4 | 6 << 16 | 6 << 24])] if gfx9 else [(233, [DPP8])]
    for source, more in sources:
        for op in range(64):
            yield [op << 25 | 8 << 17 | 6 << 9 | source, *more]
        for op in range(256):
            yield [0b0111111 << 25 | 8 << 17 | op << 9 | source, *more]
            yield [0b0111110 << 25 | op << 17 | 6 << 9 | source, *more]


def long_vector(gfx9: bool) -> Iterator[list[int]]:
    top = (0b110100 if gfx9 else 0b110101) << 26
    sources = [(V + 4, [])] if gfx9 else [(V + 4, []), (250, [DPP16]), (233, [DPP8])]
    for op, (first, more) in itertools.product(range(1024), sources):
        for second, third, carry in itertools.product(
            (V + 6, 6, 0), (V + 10, 20, 0), (0, 106 << 8)
        ):
            yield [top | op << 16 | carry | 8, first | second << 9 | third << 18, *more]
    top = 0b110100111 << 23 if gfx9 else 0b11001100 << 24
    for op, (first, more) in itertools.product(range(128), sources):
        for second, third, high in itertools.product((V + 16, 0), (V + 32, 128, 0), (0, 1)):
            flags = high << 14 | 32
            yield [
                top | op << 16 | flags,
                first | second << 9 | third << 18 | high * 3 << 27,
                *more,
            ]


def memory_of_gfx9() -> Iterator[list[int]]:
    for op, d in itertools.product(range(256), itertools.product((0, 1), repeat=4)):
        fields = 4 * d[0] | 8 * d[1] << 8 | 12 * d[2] << 16 | 20 * d[3] << 24
        yield [0b110110 << 26 | op << 17 | 16, fields]
    for op in range(256):
        for result in (8, 16):
            yield [0b110000 << 26 | op << 18 | 1 << 17 | result << 6 | 2, 16]
    for op, flags in itertools.product(range(128), (0, 1)):
        for segment, address in ((0, 0), (1, 8), (1, 0x7F), (2, 0x7F), (2, 8)):
            for result in (0, 20):
                yield [
                    0b110111 << 26 | op << 18 | flags << 16 | segment << 14 | 16,
                    4 | 8 << 8 | address << 16 | result << 24,
                ]
        for more in (0, 1 << 14, 1 << 16):
            yield [0b111000 << 26 | op << 18 | 1 << 12 | more, 4 | 20 << 8 | 2 << 16 | 30 << 24]


def memory_of_gfx11() -> Iterator[list[int]]:
    for op in range(256):
        yield [0b111101 << 26 | op << 18 | 16 << 6 | 2, 16 | 124 << 25]
        for flags in (0, 1):
            yield [0b111000 << 26 | op << 18 | flags << 14, 4 | 20 << 8 | 5 << 20 | 30 << 24]
    for op, flags in itertools.product(range(128), (0, 1)):
        for segment, address in ((0, 0x7C), (1, 8), (1, 0x7C), (2, 0x7C), (2, 8)):
            yield [
                0b110111 << 26 | op << 18 | segment << 16 | flags << 14 | 16,
                4 | 8 << 8 | address << 16 | 20 << 24,
            ]


def memory_of_gfx12() -> Iterator[list[int]]:
    for op, th in itertools.product(range(256), (0, 1)):
        for segment, address in ((0, 0x7C), (1, 8), (1, 0x7C), (2, 0x7C), (2, 8)):
            vector = (segment == 1) << 17
            first = 0b111011 << 26 | segment << 24 | op << 14 | address
            yield [first, 20 | vector | th << 20 | 8 << 23, 4 | 16 << 8]
        yield [0b110001 << 26 | op << 14 | 124, 20 | 8 << 9 | th << 20 | 1 << 30, 4 | 16 << 8]
        yield [0b111101 << 26 | op << 13 | 16 << 6 | 2, 16 | 124 << 25]


def shared_of_rdna() -> Iterator[list[int]]:
    for op, d in itertools.product(range(256), itertools.product((0, 1), repeat=4)):
        fields = 4 * d[0] | 8 * d[1] << 8 | 12 * d[2] << 16 | 20 * d[3] << 24
        yield [0b110110 << 26 | op << 18 | 16, fields]


def words_of(target: str) -> Iterator[list[int]]:
    gfx9 = target.startswith("gfx9")
    yield from scalar()
    yield from short_vector(gfx9)
    yield from long_vector(gfx9)
    if gfx9:
        yield from memory_of_gfx9()
        return
    yield from memory_of_gfx11() if target.startswith("gfx11") else memory_of_gfx12()
    yield from shared_of_rdna()


def llvm_mc(target: str, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [LLVM_MC, "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", *options]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def instructions(target: str) -> list[str]:
    """One text of each form that LLVM prints, and assembles again."""
    blocks = []
    for words in words_of(target):
        data = b"".join(struct.pack("<I", w & 0xFFFFFFFF) for w in words)
        blocks.append("[" + " ".join(f"0x{b:02x}" for b in data) + "]")
    printed = llvm_mc(target, "\n".join(blocks) + "\n", "--disassemble").stdout.splitlines()
    forms: dict[tuple[str, ...], str] = {}
    for line in printed:
        text = line.split(";")[0].strip()
        if not text or text.startswith(".") or "/*" in text:
            continue
        # Registers of the same kinds, and the same modifiers, are the same form.
        shape = re.sub(r"\d+", "#", text.split(" ", 1)[-1])
        forms.setdefault((text.split()[0], shape), text)
    texts = list(forms.values())
    errors = llvm_mc(target, "\n".join(texts) + "\n").stderr
    refused = {int(n) for n in re.findall(r"^<stdin>:(\d+):\d+: error", errors, re.MULTILINE)}
    return [text for n, text in enumerate(texts, 1) if n not in refused]


def mnemonic(text: str) -> str:
    name = text.split()[0]
    return re.sub(r"_(e64_dpp|e32|e64|dpp|sdwa)$", "", name) if name.startswith("v_") else name
