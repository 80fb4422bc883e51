"""Says whether a wheel runs where its tag will promise it.

    scripts/check_wheel.py WHEEL --machine x86_64 --glibc 2.28 [--limit-mb 36]

`auditwheel` compares the versions of the symbols, and the libraries, with what manylinux allows. It
does not look at symbols without a version, which a module gets if the library that it was linked
against lacks them. Those must be Python's own.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

#: What `tile help` prints.
PAGES = Path(__file__).resolve().parents[1] / "docs" / "diagnostics"
#: The licences of what is linked in. Each is in the folder of the same name.
LICENSES = ["GCC.txt", "LLVM.txt", "nanobind.txt", "robin-map.txt", "zlib.txt", "zstd.txt"]


def undefined(module: bytes) -> list[str]:
    """The symbols without a version that a module must find elsewhere, but for Python's."""
    elf = ELFFile(io.BytesIO(module))
    table, versions = elf.get_section_by_name(".dynsym"), elf.get_section_by_name(".gnu.version")
    found = []
    for number, symbol in enumerate(table.iter_symbols()):
        if symbol["st_shndx"] != "SHN_UNDEF" or symbol["st_info"]["bind"] != "STB_GLOBAL":
            continue
        has_version = versions.get_symbol(number)["ndx"] not in ("VER_NDX_LOCAL", "VER_NDX_GLOBAL")
        if not has_version and not re.match(r"_?Py", symbol.name):
            found.append(symbol.name)
    return found


def lowest_tag(wheel: Path) -> str:
    """The oldest manylinux that a wheel fits, as auditwheel says it."""
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True)
    said = " ".join((done.stdout + done.stderr).split())
    tags = re.findall(r'platform tag: "(\w+)"', said)
    if done.returncode or not tags:
        raise SystemExit(f"error: auditwheel fails: {said}")
    return tags[0]


def problems(wheel: Path, machine: str, glibc: str, limit_mb: int) -> list[str]:
    found = []
    tag = lowest_tag(wheel)
    print(f"==> auditwheel: {tag}")
    match = re.fullmatch(rf"manylinux_2_(\d+)_{machine}", tag)
    if not match or int(match[1]) > int(glibc.split(".")[1]):
        found.append(f"it needs {tag}, which is more than glibc {glibc}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for name in (n for n in names if n.endswith(".so")):
            if wrong := undefined(archive.read(name)):
                named = ", ".join(wrong[:5]) + f" and {len(wrong) - 5} others" * (len(wrong) > 5)
                found.append(f"{name} needs {named}, which no library has")
        for license in LICENSES:
            if not any(name.endswith(f"/licenses/licenses/{license}") for name in names):
                found.append(f"it has no notice {license}")
        for page in (p.name for p in PAGES.glob("*.md")):
            if f"tile/pages/diagnostics/{page}" not in names:
                found.append(f"it has no page {page}, which `tile help` prints")
    size = wheel.stat().st_size / 1e6
    if size > limit_mb:
        found.append(f"it has {size:.1f} MB, which is more than {limit_mb}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--machine", required=True)
    parser.add_argument("--glibc", required=True, help="The newest that it may need, as in 2.28.")
    parser.add_argument("--limit-mb", type=int, default=10**6)
    arguments = parser.parse_args()
    found = problems(arguments.wheel, arguments.machine, arguments.glibc, arguments.limit_mb)
    for problem in found:
        print(f"error: {arguments.wheel.name}: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
