"""The commands of `tile`."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from machines import run_on
from reference import sim_only

import tile
from tile.cli import main
from tile.cli import tile as tile_command
from tile.compiler import ASTSource
from tile.runtime.tuning import ChoiceFile, make_choice

pytestmark = sim_only


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@tile.jit
def nothing(p):
    pass


def fill_cache() -> Path:
    kernel = tile.compile(
        ASTSource(nothing, {"p": "*fp32"}), tile.GPUTarget("cuda", 90, 32), stop_at="ptx"
    )
    from tile.runtime.cache import FileCacheManager

    return Path(FileCacheManager(kernel.hash).cache_dir)


def test_cache(capsys, folder):
    entry = fill_cache()
    assert main(["cache", "ls"]) == 0
    assert any(
        line.startswith("nothing ") and str(entry) in line
        for line in capsys.readouterr().out.splitlines()
    )
    for name, count in (("nothing", 1), ("another", 0)):
        assert main(["cache", "ls", name]) == 0
        assert capsys.readouterr().out.count(str(entry)) == count
    assert main(["cache", "stats"]) == 0
    text = capsys.readouterr().out
    assert "kernels  1" in text and "limit    10.0 GiB" in text and str(folder) in text
    assert main(["cache", "verify"]) == 0
    assert "1 kernels checked, 0 damaged" in capsys.readouterr().out
    (entry / "nothing.ptx").write_text("")
    assert main(["cache", "verify"]) == 1
    assert "nothing.ptx is damaged" in capsys.readouterr().out
    assert main(["cache", "verify", "--remove"]) == 0
    assert not entry.exists()
    entry = fill_cache()
    assert main(["cache", "prune", "--limit", "10M"]) == 0
    assert entry.exists()
    assert main(["cache", "prune", "--limit", "1K"]) == 0
    assert not entry.exists()
    fill_cache()
    assert main(["cache", "clear", "--yes"]) == 0
    assert "removed 1 entries" in capsys.readouterr().out or not list(folder.glob("[!.]*/*"))


def test_a_cache_that_cannot_be_read(capsys, folder):
    folder.write_text("")
    for command in ("ls", "stats", "verify"):
        assert main(["cache", command]) == 1
        assert capsys.readouterr().err == f"tile: error: {folder}: Not a directory\n"


def test_autotune(capsys):
    timings = {
        "BLOCK: 64": [1.5, 1.4, 1.6],
        "BLOCK: 128": [1.0, 0.9, 1.1],
        "Y": [0.00125] * 3,
        "X": [float("inf")] * 3,
    }
    for name, how in (("matmul", "measured"), ("softmax", "estimated")):
        choice = make_choice(name, (128, "fp16"), "cuda:90", how, timings, 2.0)
        ChoiceFile(name, [name]).write(choice)
    assert main(["autotune", "show", "softmax"]) == 0
    text = capsys.readouterr().out
    assert "softmax" in text and "matmul" not in text and "no GPU was there" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["*", "Y", "1.25", "us"] in rows and ["BLOCK:", "128", "1", "ms"] in rows
    assert ["X", "cannot", "run"] in rows
    assert main(["autotune", "clear", "softmax"]) == 0
    assert main(["autotune", "show"]) == 0
    text = capsys.readouterr().out
    assert "softmax" not in text and "matmul" in text


@pytest.mark.parametrize("command", [["tile", "run"], ["tile.compat"]])
def test_errors_of_a_program_are_its_own(tmp_path, command):
    (tmp_path / "program.py").write_text("def fails():\n    1 / 0\n\nfails()\n")
    done = subprocess.run(
        [sys.executable, "-m", *command, str(tmp_path / "program.py")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    text = done.stderr
    files = re.findall(r'File "([^"]*)", line (\d+)', text)
    assert files == [(str(tmp_path / "program.py"), line) for line in ("4", "2")]
    assert text.splitlines()[-1] == "ZeroDivisionError: division by zero"


PROGRAM_WITH_A_MISTAKE = """
import numpy as np
import tile
import tile.language as tl

@tile.jit
def fails(x):
    tl.store(x + tl.arange(0, 8), {value})

fails[(1,)](np.zeros(4, np.float32))
"""


@pytest.mark.parametrize(("value", "kind"), [("1.0", "out-of-bounds:"), ("1.0 @ 2", "error:")])
@pytest.mark.parametrize("no_color", ["", "1"])
def test_errors_are_coloured_on_a_terminal(tmp_path, value, kind, no_color):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM_WITH_A_MISTAKE.format(value=value))
    terminal, end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tile", "run", str(path)], stderr=end, stdout=subprocess.DEVNULL,
        env={**os.environ, "NO_COLOR": no_color, "TILE_DRIVER": "sim"},
    ) as process:  # fmt: skip
        os.close(end)
        text = b""
        try:
            while part := os.read(terminal, 65536):
                text += part
        except OSError:  # The other end is closed.
            pass
    os.close(terminal)
    assert process.returncode == 1
    shown = text.decode()
    assert kind in shown
    assert (f"\x1b[31m\x1b[1m{kind}\x1b[0m" in shown) == (not no_color)
    assert ("\x1b" in shown) == (not no_color)


def test_knobs(capsys, monkeypatch):
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TILE_CACHE_LOCK_TIMEOUT", "soon")
    assert main(["knobs"]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "True" in rows["compilation.always_compile"].split()
    assert "TRITON_ALWAYS_COMPILE" in rows["compilation.always_compile"].split()[3]
    assert rows["compilation.override"].split()[2:4] == ["False", "default"]
    assert "wrong: TILE_CACHE_LOCK_TIMEOUT is 'soon'" in rows["cache.lock_timeout"]
    assert "amd.use_in_thread_transpose" not in rows
    assert main(["knobs", "--all"]) == 0
    assert "amd.use_in_thread_transpose" in capsys.readouterr().out


@pytest.mark.nvidia("names the default target")
def test_env(capsys, monkeypatch):
    run_on("cuda:90", monkeypatch)
    assert main(["env"]) == 0
    text = capsys.readouterr().out
    for part in ("driver in use", "sim, for cuda:90: TILE_DRIVER says so", "self test", "passed",
                 "ptxas", "libdevice", tile.__version__):  # fmt: skip
        assert part in text
    monkeypatch.setenv("TILE_PTXAS_PATH", "/nowhere/ptxas")
    assert main(["env", "--no-test"]) == 0
    assert "/nowhere/ptxas, which does not exist" in capsys.readouterr().out


PROGRAM = """
import sys
import numpy as np
import tile
import tile.language as tl
from beside import BLOCK

@tile.jit
def fill(p, N: tl.constexpr):
    tl.store(p + tl.arange(0, N), 3)

p = np.zeros(BLOCK, np.int32)
kernel = fill[(1,)](p, N=BLOCK)
print(sys.argv[1:], p.sum(), type(kernel).__name__, getattr(kernel, "_metadata", {}).get("arch"))
"""


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    for name in ("TILE_DRIVER", "TILE_SIM_TARGET"):
        environment.pop(name, None)
    return subprocess.run(
        [sys.executable, "-m", "tile", "run", *arguments],
        env=environment, cwd=cwd, capture_output=True, text=True,
    )  # fmt: skip


def test_run(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "beside.py").write_text("BLOCK = 16\n")
    done = run("--target", "cuda:80", "program.py", "-x", "1", cwd=tmp_path)
    assert done.stdout == "['-x', '1'] 48 CompiledKernel 80\n", done.stderr
    done = run("--interpret", "program.py", cwd=tmp_path)
    assert done.stdout == "[] 48 InterpretedKernel None\n", done.stderr
    assert run("missing.py", cwd=tmp_path).stderr == "tile: error: there is no program missing.py\n"


def test_listings_as_json(capsys, folder):
    def listed(*line: str):
        assert main([*line, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert listed("cache", "ls") == [] and listed("autotune", "show") == []
    entry = fill_cache()
    (one,) = listed("cache", "ls")
    assert one["kernels"] == ["nothing"] and one["folder"] == str(entry) and one["bytes"] > 0
    stats = listed("cache", "stats")
    assert stats["kernels"] == 1 and stats["bytes"] == one["bytes"]
    choice = make_choice("softmax", (1,), "cuda:90", "measured", {"X": [1.0] * 3}, 2.0)
    ChoiceFile("softmax", ["softmax"]).write(choice)
    (one,) = listed("autotune", "show")
    assert one["kernel"] == "softmax" and one["configs"] == {"X": [1.0] * 3}
    assert any(row["setting"] == "cache.dir" for row in listed("knobs"))
    assert listed("env", "--no-test")["tile"] == tile.__version__


def test_nothing_is_said_in_words(capsys, folder):
    assert main(["cache", "ls"]) == 0
    assert capsys.readouterr().out == f"there is nothing in the cache {folder}\n"
    fill_cache()
    assert main(["cache", "ls", "softmax"]) == 0
    assert capsys.readouterr().out == f"there is no kernel `softmax` in the cache {folder}\n"


def test_kernels_in_the_cache_are_completed(folder):
    fill_cache()
    (name,) = completed("tile cache ls no", "plain")
    assert name == "nothing"


def test_help_fits_a_screen(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 25
    for command in ("run", "compile", "link", "cache", "autotune", "layout", "knobs", "env"):
        assert f"  {command} " in text
    for command in ("run", "sim", "compile", "link", "cache", "knobs", "env"):
        assert main([command, "--help"]) == 0
        assert len(capsys.readouterr().out.splitlines()) <= 36


def test_completion(capsys):
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert "_TILE_COMPLETE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tile ca", "plain,cache"),
        ("tile run --target cuda:9", "plain,cuda:90"),
        ("tile compile -t hip:gfx94", "plain,hip:gfx942"),
        ("tile run --driver s", "plain,sim"),
        ("tile run pro", "file,pro"),
        ("tile run program.py dat", "file,dat"),
        ("tile sim --html re", "file,re"),
        ("tile compile ker", "file,ker"),
        ("tile link out.h out", "file,out"),
    ],
)
def test_completions(words, expected):
    kind, _, expected = expected.partition(",")
    assert completed(words, kind) == [expected]


def completed(words: str, kind: str) -> list[str]:
    environment = {
        **os.environ, "COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")),
        "_TILE_COMPLETE": "bash_complete",
    }  # fmt: skip
    program = "from tile.cli import tile; tile.main(prog_name='tile')"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    return [line.removeprefix(f"{kind},") for line in done.stdout.split()]


def test_errors(capsys):
    assert main(["cache", "frobnicate"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("tile: error: no command 'frobnicate'; there are: clear, ls,")
    assert main(["compile", "x.py"]) == 2
    assert "Missing option" in capsys.readouterr().err


KERNEL = """
import tile
@tile.jit
def nothing(p):
    pass
"""


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("run --target vax:1 k.py", "no backend compiles for 'vax'; the known targets are cuda, h"),
        ("run --target cuda:1 k.py", "unknown target cuda:1: known ones are cuda:75, "),
        ("sim nothing.ptx", "cannot read 'nothing.ptx': "),
        ("sim k.py", "'k.py' is a Python program: run it by `tile run k.py`"),
        (
            "compile k.py -n nothing -s *fp32 -g q -o out -t cuda:90",
            "asks for 'q', which is no par",
        ),
        ("compile k.py -n nothing -s *fp32 -g 1 -o out -t hip:gfx942", "which cannot load hip:gfx"),
        ("compile k.py -n nothing -s *fp32 -g 1 -o k.py/out -t cuda:90", "k.py: "),
        ("link out.h -o all", "cannot read out.h: "),
        ("run missing.py", "there is no program missing.py"),
        ("debug missing.py", "there is no program missing.py"),
        ("explain -m missing", "there is no module missing"),
        ("profile missing.py", "there is no program missing.py"),
        ("view k.py", "k.py is no profile: "),
        ("view missing.hatchet", "missing.hatchet: No such file"),
        ("explain k.py", "k.py launched no kernel in the simulator"),
        ("debug k.py", "k.py launched no kernel in the simulator"),
        ("cache prune --limit banana", "a size is written as 500M, not 'banana'"),
        ("cache prune --limit=-5", "a size is written as 500M, not '-5'"),
        ("completion", "Missing argument"),
        ("layout x", "cannot read 'x': "),
    ],
)
def test_what_is_wrong_is_said_in_a_line(line, text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("k.py").write_text(KERNEL)
    status = main(line.split())
    said = capsys.readouterr()
    # 2 is for commands that are written wrong; the rest is about what they name.
    usage = ("missing.", "-m missing", "sim ", "completion")
    if any(part in line for part in usage) and "view" not in line:
        assert status == 2
    else:
        assert status in (1, 2)
    assert said.out == "" and text in said.err
    assert said.err.startswith("tile") and said.err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} <= {"k.py", "cache", "__pycache__"}


@pytest.mark.parametrize("text", ["[]", "[1]", '{"a": 1}', "[{}]", "3"])
def test_files_that_are_no_profile(text, tmp_path, capsys):
    path = tmp_path / "x.hatchet"
    path.write_text(text)
    assert main(["view", str(path)]) == 1
    said = capsys.readouterr()
    assert said.err == f"tile: error: {path} is no profile: it has no tree of frames\n"


#: Commands that print a list, a table or facts.
LISTINGS = [
    "cache ls", "cache stats", "cache verify", "autotune show", "knobs", "env", "help", "layout",
    "surface", "view", "explain", "sim",
]  # fmt: skip
#: Those that print none.
OTHERS = [
    "run", "debug", "compile", "link", "profile", "cache clear", "cache prune", "autotune clear",
    "completion",
]  # fmt: skip


def commands(group, before=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


def test_every_listing_has_json():
    """A new command is put into one of the lists above."""
    known = dict(commands(tile_command))
    assert sorted(known) == sorted(LISTINGS + OTHERS)
    for name in LISTINGS:
        assert any("--json" in option.opts for option in known[name].params), name


def test_nothing_was_tuned(capsys):
    assert main(["autotune", "show", "softmax"]) == 0
    assert capsys.readouterr().out == "nothing was tuned for `softmax`\n"


def test_the_command_starts_quickly():
    start = time.process_time()
    assert main(["--help"]) == 0
    assert time.process_time() - start < 0.5
