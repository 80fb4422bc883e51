"""What docs/install.md names is there."""

from __future__ import annotations

import importlib.util
import json
import re

from pages import DOCS, ROOT

PAGE = (DOCS / "install.md").read_text()
PROJECT = (ROOT / "pyproject.toml").read_text()


def test_the_extras_are_those_of_the_package():
    section = PROJECT.split("[project.optional-dependencies]")[1].split("\n[")[0]
    there = set(re.findall(r"^(\w+) = ", section, re.M)) - {"test"}
    assert set(re.findall(r"^\| `\[(\w+)\]` \|", PAGE, re.M)) == there


def test_the_pythons_are_those_of_the_package():
    (first, last) = re.search(r"^\| Python \| (3\.\d+) to (3\.\d+) \|", PAGE, re.M).groups()
    named = re.findall(r"Python :: (3\.\d+)", PROJECT)
    assert (first, last) == (named[0], named[-1])
    assert f'requires-python = ">={first}"' in PROJECT


def test_the_commands_are_targets_of_make():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    named = re.findall(r"`make (\w+)|^make (\w+)", PAGE, re.M)
    assert {a or b for a, b in named} == {"build", "wheel", "release"}
    assert {"build", "wheel", "site", "tutorials"} <= set(targets)


def test_the_wheels_are_those_that_a_release_makes():
    release = (ROOT / "scripts" / "release.sh").read_text()
    made = re.search(r"for made in (.*); do", release)[1]
    made = re.findall(r'"(\S+) (\S+)"', made)
    (first, last) = re.search(r"^\| Python \| (3\.\d+) to (3\.\d+) \|", PAGE, re.M).groups()
    # The last wheel serves all that follow.
    assert [python for python, machine in made if machine == "x86_64"] == ["3.10", "3.11", "3.12"]
    assert {machine for _, machine in made} == {"x86_64", "aarch64"} and made[0][0] == first
    assert 'wheel.py-api = "cp312"' in PROJECT
    tags = [
        f"cp3{minor}-" + (f"cp3{minor}" if minor < 12 else "abi3") + f"-manylinux_2_28_{machine}"
        for python, machine in made
        for minor in [min(int(python[2:]), 12)]
    ]
    assert re.findall(r"^\| `tile_compiler-\*-(.*)\.whl` \|", PAGE, re.M) == tags
    tried = re.search(r"for version in ([\d. ]+); do\n  scripts/smoke.sh ", release)[1]
    tried = [*tried.split(), *re.findall(r"smoke_elsewhere.sh python(3\.\d+)", release)]
    assert tried == [f"3.{n}" for n in range(int(first[2:]), int(last[2:]) + 1)]


def test_the_oldest_system_is_what_wheels_are_checked_for():
    (glibc,) = set(re.findall(r"glibc (2\.\d+) or later", PAGE + (ROOT / "README.md").read_text()))
    assert f"\nglibc={glibc}\n" in (ROOT / "scripts" / "sysroot.sh").read_text()
    assert f"--glibc {glibc} " in (ROOT / "scripts" / "wheel.sh").read_text()
    tag = "manylinux_" + glibc.replace(".", "_")
    assert f'"{tag}_$machine"' in (ROOT / "scripts" / "wheel.sh").read_text() and f"`{tag}`" in PAGE


def test_each_licence_of_what_is_linked_in_is_there():
    names = {path.name for path in (ROOT / "licenses").iterdir()}
    check = (ROOT / "scripts" / "check_wheel.py").read_text()
    assert set(re.findall(r'"([\w-]+\.txt)"', check)) == names
    assert 'license-files = ["LICENSE", "licenses/*.txt"]' in PROJECT
    for name in names:
        assert "opyright" in (ROOT / "licenses" / name).read_text(), name


def test_containers_are_of_the_system_that_is_supported():
    system = re.search(r"^\| system to build on \| Debian (\d+)", PAGE, re.M)[1]
    files = [ROOT / "Dockerfile", ROOT / ".devcontainer" / "devcontainer.json"]
    for file in files:
        text = file.read_text()
        assert set(re.findall(r"debian:(\d+)", text)) == {system} and "make build" in text
    json.loads(files[1].read_text())
    # What is copied before the source, to set up.
    for line in re.findall(r"^COPY (.+) (?:\./|scripts/|python/)$", files[0].read_text(), re.M):
        assert all((ROOT / name).exists() for name in line.split())


def test_the_dockerfile_has_what_can_be_done_without_docker(tmp_path):
    spec = importlib.util.spec_from_file_location(
        "try_dockerfile", ROOT / "scripts/try_dockerfile.py"
    )
    without = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(without)
    found = without.instructions((ROOT / "Dockerfile").read_text())
    assert {name for name, _ in found} == {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "CMD"}
    (system,) = [rest for name, rest in found if name == "FROM"]
    assert system in without.SUITES
    runs = [rest for name, rest in found if name == "RUN"]
    assert runs[-2:] == ["scripts/setup.sh", "make build"]
    # All of the source is copied, and nothing that was built.
    without.copy(["."], tmp_path)
    there = {path.name for path in tmp_path.iterdir()}
    assert {"Makefile", "lib", "python", "scripts", "CMakeLists.txt"} <= there
    assert not there & {"build", "dist", ".venv", ".setup", ".git"}
    assert (tmp_path / "scripts/setup.sh").stat().st_mode & 0o100
