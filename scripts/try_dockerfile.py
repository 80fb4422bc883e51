#!/usr/bin/env python3
"""Does what the Dockerfile says in a folder, where there is no docker (as root, with mmdebstrap).

    scripts/try_dockerfile.py FOLDER                          # all of it
    scripts/try_dockerfile.py FOLDER --until "scripts/setup.sh"   # up to this command, with it

FOLDER becomes the system's root. It must not exist yet.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: The releases of Debian, as tags of its image name them.
SUITES = {"debian:12": "bookworm", "debian:13": "trixie"}
#: Where that image installs from.
MIRRORS = (
    "deb http://deb.debian.org/debian {} main",
    "deb http://deb.debian.org/debian {}-updates main",
    "deb http://deb.debian.org/debian-security {}-security main",
)


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, each with its arguments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    found = []
    for line in filter(str.strip, joined.splitlines()):
        name, _, rest = line.strip().partition(" ")
        found.append((name, rest.strip()))
    return found


def left_out() -> list[str]:
    """The patterns of .dockerignore."""
    return [line.strip() for line in (ROOT / ".dockerignore").read_text().splitlines() if line]


def is_left_out(path: Path) -> bool:
    name = path.relative_to(ROOT).as_posix()
    parts = [name, *(p.as_posix() for p in Path(name).parents)]
    return any(
        fnmatch.fnmatch(part, pattern.removeprefix("**/"))
        or (pattern.startswith("**/") and fnmatch.fnmatch(Path(part).name, pattern[3:]))
        for pattern in left_out()
        for part in parts
    )


def copy(sources: list[str], target: Path) -> None:
    for source in sources:
        start = ROOT / source
        files = [start] if start.is_file() else tracked()
        for file in files:
            if is_left_out(file):
                continue
            to = target / (file.relative_to(ROOT) if start.is_dir() else file.name)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, to)


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    return [ROOT / name for name in listed if name and (ROOT / name).is_file()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--until", help="the last RUN that is done begins so")
    options = parser.parse_args()
    root: Path = options.folder.resolve()
    environment = {**os.environ, "HOME": "/root"}
    work = Path("/")
    for name, rest in instructions((ROOT / "Dockerfile").read_text()):
        print(f"==> {name} {rest}", flush=True)
        if name == "FROM":
            suite = SUITES[rest]
            command = ["mmdebstrap", "--quiet", "--variant=apt", suite, str(root)]
            subprocess.run([*command, *(mirror.format(suite) for mirror in MIRRORS)], check=True)
            # What docker gives a container: the network's names, and a few devices.
            for file in ("/etc/resolv.conf", "/etc/hosts"):
                shutil.copy(file, root / "etc")
            for device, minor in (("null", 3), ("zero", 5), ("random", 8), ("urandom", 9)):
                if not (root / "dev" / device).exists():
                    os.mknod(root / "dev" / device, 0o20666, os.makedev(1, minor))
        elif name == "WORKDIR":
            work = Path(rest)
            (root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            *sources, target = rest.split()
            copy(sources, root / str(work / target).lstrip("/"))
        elif name == "ENV":
            variable, _, value = rest.partition("=")
            environment[variable] = os.path.expandvars(value)
        elif name == "RUN":
            inside = f"cd {work} && {rest}"
            # Where a proxy stands between, its certificate is among this machine's.
            certificates = Path("/etc/ssl/certs/ca-certificates.crt")
            if (root / "etc/ssl/certs").is_dir() and certificates.exists():
                shutil.copy(certificates, root / "etc/ssl/certs")
            subprocess.run(
                ["chroot", str(root), "/bin/sh", "-c", inside], env=environment, check=True
            )
            if options.until and rest.startswith(options.until):
                return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
