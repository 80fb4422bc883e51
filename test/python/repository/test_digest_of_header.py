"""The digest beside a precompiled header, which ccache looks at in place of the header.

If two headers had one digest though they differ, ccache would give an object of other code.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CLANG = Path("/usr/lib/llvm-22/bin/clang++")

pytestmark = pytest.mark.skipif(not CLANG.exists(), reason="needs clang")


class Clone:
    """A checkout with `low.h`, `mid.h` and, on top of the precompiled `low.h`, `top.h`."""

    def __init__(self, folder: Path, **texts: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        files = {"low": "int low();", "mid": "int mid();", "top": '#include "mid.h"\nint top();'}
        for name, text in {**files, **texts}.items():
            (folder / f"{name}.h").write_text(f"{text}\n")

    def compile(self, name: str, below: str = "") -> None:
        command = [CLANG, "-x", "c++-header", f"{self.folder}/{name}.h", "-I", self.folder]
        if below:
            command += ["-include-pch", f"{self.folder}/{below}.pch"]
        subprocess.run([*command, "-o", f"{self.folder}/{name}.o"], check=True)

    def digest(self, name: str, below: str = "") -> str:
        """Of the precompiled header of this name, on top of the one `below`."""
        self.compile(name, below)
        pch = self.folder / f"{name}.pch"
        command = ["cmake", f"-DCLANG={CLANG}", f"-DOBJECT={self.folder}/{name}.o", f"-DPCH={pch}"]
        if below:
            command.append(f"-DBELOW={self.folder}/{below}.pch")
        subprocess.run([*command, "-P", ROOT / "cmake/DigestOfHeader.cmake"], check=True)
        assert pch.read_bytes() == (self.folder / f"{name}.o").read_bytes()
        return Path(f"{pch}.sum").read_text()

    def both(self) -> tuple[str, str]:
        return self.digest("low"), self.digest("top", "low")


def test_clones_share_digests(tmp_path):
    first, second = Clone(tmp_path / "a").both(), Clone(tmp_path / "elsewhere" / "b").both()
    assert first == second
    assert first[0] != first[1]


@pytest.mark.parametrize(
    ("changed", "text", "differ"),
    [
        ("low", "int low(int);", (True, True)),  # And what is on top of it.
        ("mid", "int mid(int);", (False, True)),  # Included by another header.
        ("top", '#include "mid.h"\nint top(int);', (False, True)),
        ("top", '#include "mid.h"\nint top();\n// A comment.', (False, True)),
        ("top", '#include "low.h"\n#include "mid.h"\nint top();', (False, True)),
    ],
)
def test_every_change_is_seen(changed, text, differ, tmp_path):
    before = Clone(tmp_path / "a").both()
    after = Clone(tmp_path / "b", **{changed: text}).both()
    assert tuple(a != b for a, b in zip(before, after, strict=True)) == differ


def test_an_edit_in_place_is_seen(tmp_path):
    """Also one that leaves the size and the time of the file as they are."""
    clone = Clone(tmp_path / "a")
    before = clone.digest("low")
    header = tmp_path / "a" / "low.h"
    stat = header.stat()
    header.write_text("int wol();\n")
    os.utime(header, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert clone.digest("low") != before


def test_what_is_no_precompiled_header_is_an_error(tmp_path):
    (tmp_path / "x.o").write_text("nothing")
    command = ["cmake", f"-DCLANG={CLANG}", f"-DOBJECT={tmp_path}/x.o", f"-DPCH={tmp_path}/x.pch"]
    done = subprocess.run(
        [*command, "-P", ROOT / "cmake/DigestOfHeader.cmake"], capture_output=True, text=True
    )
    assert done.returncode != 0 and "does not say what" in done.stderr
    assert not (tmp_path / "x.pch.sum").exists()
