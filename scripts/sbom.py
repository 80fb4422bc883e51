"""Writes what a release consists of, as CycloneDX: the wheels, and what is linked into them.

    scripts/sbom.py dist/*.whl dist/*.tar.gz -o dist/tile_compiler.cdx.json

Versions are those of the packages that are installed where the wheels are built. The licences stand
in the folder `licenses`, which is in each wheel, too.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import subprocess
from pathlib import Path

import tomllib
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

ROOT = Path(__file__).parents[1]
RUNTIME = "GPL-3.0-or-later WITH GCC-exception-3.1"
#: What is linked in: its name, the Debian package that brings it, its licence.
LINKED = [
    ("LLVM and MLIR", "libmlir-22-dev", "Apache-2.0 WITH LLVM-exception"),
    ("zlib", "zlib1g-dev", "Zlib"),
    ("zstd", "libzstd-dev", "BSD-3-Clause"),
    ("libstdc++", "libstdc++-12-dev", RUNTIME),
]


def debian_version(package: str) -> str:
    command = ["dpkg-query", "-W", "-f=${Version}", package]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linked() -> list[Component]:
    found = []
    for name, package, license in LINKED:
        version = debian_version(package)
        found.append(
            Component(
                name=name,
                version=version,
                type=ComponentType.LIBRARY,
                bom_ref=f"{package}@{version}",
                licenses=[LicenseExpression(license)],
                purl=PackageURL("deb", "debian", package, version),
            )
        )
    # The headers of nanobind bring a hash table of another project.
    version = importlib.metadata.version("nanobind")
    for name, license in (("nanobind", "BSD-3-Clause"), ("robin-map", "MIT")):
        found.append(
            Component(
                name=name,
                version=version if name == "nanobind" else None,
                type=ComponentType.LIBRARY,
                bom_ref=f"{name}@{version}",
                licenses=[LicenseExpression(license)],
                purl=PackageURL("pypi", None, "nanobind", version),
            )
        )
    # The unwinder: scripts/sysroot.sh says why it is an older one.
    found.append(
        Component(
            name="libgcc",
            version="10",
            type=ComponentType.LIBRARY,
            bom_ref="libgcc@10",
            licenses=[LicenseExpression(RUNTIME)],
        )
    )
    return found


def make(files: list[Path]) -> Bom:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    license = LicenseExpression(project["license"])
    whole = Component(
        name=project["name"],
        version=project["version"],
        type=ComponentType.LIBRARY,
        bom_ref=f"{project['name']}@{project['version']}",
        licenses=[license],
        description=project["description"],
        purl=PackageURL("pypi", None, project["name"], project["version"]),
    )
    bom = Bom()
    bom.metadata.component = whole
    parts = linked()
    for part in parts:
        bom.components.add(part)
    archives = []
    for file in files:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        archive = Component(
            name=file.name,
            version=project["version"],
            type=ComponentType.FILE,
            bom_ref=file.name,
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
            licenses=[license],
        )
        bom.components.add(archive)
        archives.append(archive)
        if file.name.startswith("tile_compiler-") and file.suffix == ".whl":
            bom.register_dependency(archive, parts)
    bom.register_dependency(whole, archives)
    return bom


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    bom = make(sorted(arguments.files))
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)
    arguments.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
