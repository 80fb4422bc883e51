"""ptxas that starts before its input is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import tile
import tile.language as tl
from tile import _C
from tile.backends import backends, parse_target
from tile.compiler import ASTSource
from tile.errors import CompilerToolError

tools = sys.modules[backends()["nvidia"].__module__].tools
ptxas_process = tools.ptxas_process
HOPPER = _C.targets.lookup("cuda:90")
needs_ptxas = pytest.mark.skipif(tools.ptxas_path() is None, reason="needs ptxas")


def _write_ptx(count: int, name: str = "kernel") -> str:
    stores = "".join(f"  st.global.b64 [%a+{8 * i}], %a;\n" for i in range(count))
    return (
        f".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry {name}(.param .u64 p)\n"
        f"{{\n  .reg .b64 %a;\n  ld.param.b64 %a, [p];\n{stores}  ret;\n}}\n"
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where files for ptxas are."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def _write_ptxas(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    path = folder / "ptxas"
    path.write_text(f"#!/bin/sh\n{body}\n")
    os.chmod(path, 0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(path))


@needs_ptxas
@pytest.mark.parametrize("count", [1, 20, 4000])  # 140 KB are more than a pipe holds.
def test_it_makes_the_same(count, folder):
    ptx = _write_ptx(count)
    expected = tools.run_ptxas(ptx, 90, None)
    with tools.starting_ptxas(HOPPER, False, None):
        process = ptxas_process._waiting.assembly.process
        assert tools.run_ptxas(ptx, 90, None) == expected
        assert process.returncode == 0 and ptxas_process._waiting.assembly is None
        # The next one starts when it is wanted.
        assert tools.run_ptxas(_write_ptx(3), 90, None) != expected
    assert not list(folder.iterdir())


@needs_ptxas
def test_it_says_the_same_of_errors(folder):
    ptx = _write_ptx(3).replace("st.global", "st.nowhere")
    with pytest.raises(CompilerToolError) as plain:
        tools.run_ptxas(ptx, 90, None)
    with (
        tools.starting_ptxas(HOPPER, False, None),
        pytest.raises(CompilerToolError) as early,
    ):
        tools.run_ptxas(ptx, 90, None)
    texts = [re.sub(r"tile-ptxas-\w+", "", str(e.value)) for e in (plain, early)]
    assert texts[0] == texts[1] and "st.nowhere" in texts[0]
    assert not list(folder.iterdir())


@needs_ptxas
def test_another_command_starts_its_own(folder):
    with tools.starting_ptxas(HOPPER, True, None):
        waiting = ptxas_process._waiting.assembly
        assert tools.run_ptxas(_write_ptx(1), 90, None)[0]
        assert ptxas_process._waiting.assembly is waiting and waiting.process.poll() is None
    assert waiting.process.returncode is not None and not list(folder.iterdir())


@needs_ptxas
def test_it_ends_with_an_error_of_the_compile(folder):
    with pytest.raises(ZeroDivisionError), tools.starting_ptxas(HOPPER, False, None):
        waiting = ptxas_process._waiting.assembly
        raise ZeroDivisionError
    assert waiting.process.returncode is not None and not list(folder.iterdir())
    assert ptxas_process._waiting.assembly is None


@needs_ptxas
def test_a_compile_within_a_compile(folder):
    with tools.starting_ptxas(HOPPER, False, None):
        outer = ptxas_process._waiting.assembly
        with tools.starting_ptxas(HOPPER, False, None):
            assert ptxas_process._waiting.assembly is not outer
            tools.run_ptxas(_write_ptx(1), 90, None)
        assert ptxas_process._waiting.assembly is outer
        tools.run_ptxas(_write_ptx(2), 90, None)
        assert outer.process.returncode == 0
    assert not list(folder.iterdir())


@pytest.mark.parametrize("count", [1, 4000])
@pytest.mark.parametrize(
    "body", ["echo fatal: no; exit 3", 'read line < "$3"; echo fatal: no; exit 3']
)
def test_one_that_ends_before_it_reads(body, count, tmp_path, monkeypatch):
    """At once, and after its first line."""
    _write_ptxas(tmp_path, monkeypatch, body)
    with (
        tools.starting_ptxas(HOPPER, False, None),
        pytest.raises(CompilerToolError, match="fatal: no"),
    ):
        tools.run_ptxas(_write_ptx(count), 90, None)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("count", [1, 4000])
def test_one_that_wants_a_file(count, early, tmp_path, monkeypatch):
    """It runs again."""
    pause = "" if early else "sleep 0.3\n"
    body = pause + '[ -f "$3" ] && cat "$3" > "$5" || { echo fatal: no file; exit 1; }'
    _write_ptxas(tmp_path, monkeypatch, body)
    ptx = _write_ptx(count)
    with tools.starting_ptxas(HOPPER, False, None):
        waiting = ptxas_process._waiting.assembly
        if early:
            assert waiting.process.wait(20) == 1
        assert tools.run_ptxas(ptx, 90, None)[0].decode() == ptx
    assert waiting.process.returncode == int(early)


_WAITS = """
import sys
from tile import _C
from tile.backends import backends
tools = sys.modules[backends()["nvidia"].__module__].tools
with tools.starting_ptxas(_C.targets.lookup("cuda:90"), False, None):
    print(tools.ptxas_process._waiting.assembly.process.pid, flush=True)
    sys.stdin.read()
"""


@needs_ptxas
def test_it_ends_with_a_process_that_is_killed():
    with subprocess.Popen(
        [sys.executable, "-c", _WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        status = Path(f"/proc/{int(parent.stdout.readline())}/status")
        assert "State:\tZ" not in status.read_text()
        parent.kill()
    until = time.monotonic() + 20
    while status.exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_one_that_cannot_run(tmp_path, monkeypatch):
    path = tmp_path / "ptxas"
    path.write_text("no program")
    monkeypatch.setenv("TILE_PTXAS_PATH", str(path))
    with (
        tools.starting_ptxas(HOPPER, False, None),
        pytest.raises(CompilerToolError, match="cannot run"),
    ):
        tools.run_ptxas(_write_ptx(1), 90, None)


@needs_ptxas
def test_a_process_that_is_forked_meanwhile(folder, monkeypatch):
    """ptxas reads until no process has the pipe open for writing."""
    children = []

    class Forking(ptxas_process.Assembly):
        def _write(self, path, ptx):
            super()._write(path, ptx)
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            children.append(child)

    monkeypatch.setattr(ptxas_process, "Assembly", Forking)
    try:
        with tools.starting_ptxas(HOPPER, False, None):
            assert tools.run_ptxas(_write_ptx(1), 90, None)[1]["n_spills"] == 0
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
    assert len(children) == 1


@tile.jit
def copy(x_ptr, y_ptr):
    at = tl.arange(0, 128)
    tl.store(y_ptr + at, tl.load(x_ptr + at))


@needs_ptxas
@pytest.mark.parametrize("arch", [75, 80, 86, 89, 90, 100, 120])
@pytest.mark.parametrize("line_info", [False, True])
def test_compiles_start_it(arch, line_info, monkeypatch):
    """With the command that it gets then."""
    runs = []
    assemble = ptxas_process.assemble

    def noted(command, ptx):
        runs.append(ptxas_process._waiting.assembly.command == command)
        return assemble(command, ptx)

    monkeypatch.setattr(ptxas_process, "assemble", noted)
    source = ASTSource(copy, {"x_ptr": "*fp32", "y_ptr": "*fp32"})
    options = {"line_info": line_info}
    with tile.knobs.compilation.scope():
        tile.knobs.compilation.always_compile = True
        tile.compile(source, parse_target(f"cuda:{arch}"), options)
        assert runs == [True]
        tile.compile(source, parse_target(f"cuda:{arch}"), options, stop_at="ptx")
    assert runs == [True]


def test_compiles_that_stop_before_start_none(monkeypatch):
    monkeypatch.setattr(ptxas_process, "started", None)
    source = ASTSource(copy, {"x_ptr": "*fp32", "y_ptr": "*fp32"})
    with tile.knobs.compilation.scope():
        tile.knobs.compilation.always_compile = True
        tile.compile(source, parse_target("cuda:90"), stop_at="ptx")
