"""Makes the C library of a sysroot look like an older one.

    scripts/glibc_stubs.py --version 2.28 --triple x86_64-linux-gnu ROOT

A program that is linked against glibc 2.31 asks for the newest version of each symbol, such as
`exp@GLIBC_2.29`. It then does not start with glibc 2.28. glibc keeps every older version. So a
linker cannot tell the library of a version from a later one without its later symbols. This
script replaces each library of ROOT by such a library without code.
"""

import argparse
import re
import subprocess
from pathlib import Path

# What a wheel may link. The dynamic loader is one of them: `__tls_get_addr` is there.
LIBRARIES = ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"]
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
# A line of `objdump -T`: value, flags, section, size, version, name. A version in brackets is one
# that a symbol without a version does not get.
SYMBOL = re.compile(
    r"^[0-9a-f]+ (?P<flags>.{7}) (?P<section>\S+)\s+[0-9a-f]+\s+"
    r"(?P<version>\(?GLIBC_[0-9.]+\)?)\s+(?:0x\S+ )?(?P<name>\S+)$"
)


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def symbols(library: Path, limit: tuple[int, ...]) -> dict[str, tuple[str, bool]]:
    """Of each symbol the newest version up to the limit, and whether it is a function. A linker
    takes no other."""
    listing = subprocess.run(
        ["/usr/lib/llvm-22/bin/llvm-objdump", "-T", str(library)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found: dict[str, tuple[str, bool]] = {}
    for line in listing.splitlines():
        match = SYMBOL.match(line)
        if match is None or match["section"] in ("*UND*", "*ABS*"):
            continue
        version, name = match["version"].strip("()").removeprefix("GLIBC_"), match["name"]
        if number(version) > limit:
            continue
        if name not in found or number(found[name][0]) < number(version):
            found[name] = (version, "O" not in match["flags"])
    return found


def assembly(found: dict[str, tuple[str, bool]]) -> str:
    lines = [".text"]
    for name, (version, is_function) in sorted(found.items()):
        label = f"stub.{name}"
        lines += [
            f".globl {label}",
            f".type {label},@{'function' if is_function else 'object'}",
            f".symver {label},{name}@@GLIBC_{version},remove",
            f"{label}: .quad 0",
            f".size {label},8",
        ]
    return "\n".join(lines) + "\n"


def replace(library: Path, limit: tuple[int, ...], triple: str, work: Path) -> None:
    """Puts a library without code in the place of a library."""
    found = symbols(library, limit)
    versions = sorted({version for version, _ in found.values()}, key=number)
    source, script = work / f"{library.name}.s", work / f"{library.name}.map"
    source.write_text(assembly(found))
    script.write_text("".join(f"GLIBC_{version} {{ local: *; }};\n" for version in versions))
    library.unlink()
    subprocess.run(
        [
            "/usr/lib/llvm-22/bin/clang",
            f"--target={triple}",
            "-fuse-ld=/usr/lib/llvm-22/bin/ld.lld",
            "-nostdlib",
            "-shared",
            f"-Wl,-soname,{library.name}",
            f"-Wl,--version-script={script}",
            str(source),
            "-o",
            str(library),
        ],
        check=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True, help="of glibc, such as 2.28")
    parser.add_argument("--triple", required=True)
    parser.add_argument("root", type=Path)
    arguments = parser.parse_args()
    machine = arguments.triple.split("-")[0]
    work = arguments.root / "stubs"
    work.mkdir(exist_ok=True)
    for name in [*LIBRARIES, LOADERS[machine]]:
        library = arguments.root / "usr/lib" / arguments.triple / name
        # The name is a link to a file with the version in its name.
        target = library.resolve()
        if target != library:
            library.unlink()
            target.rename(library)
        replace(library, number(arguments.version), arguments.triple, work)
    loader = arguments.root / "usr/lib" / LOADERS[machine]
    loader.unlink(missing_ok=True)
    loader.symlink_to(f"{arguments.triple}/{loader.name}")


if __name__ == "__main__":
    main()
