"""The cache on disk: what is kept, under which key, and what happens to damage."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
import tile.language as tl
from tile import knobs
from tile.compiler import ASTSource
from tile.compiler.stages import StagedCompile
from tile.runtime import cache
from tile.runtime.cache.entry import CacheEntry, Damaged, verify

pytestmark = sim_only

TARGET = tile.GPUTarget("cuda", 90, 32)
KEY = "00" * 32


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@tile.jit
def fill(out_ptr, value, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, value, mask=offsets < n)


SIGNATURE = {"out_ptr": "*fp32", "value": "fp32", "n": "i32"}


def compile_fill(block: int = 64, **options) -> tile.compiler.CompiledKernel:
    return tile.compile(
        ASTSource(fill, SIGNATURE, {"BLOCK": block}), target=TARGET, options=options, stop_at="ptx"
    )


@pytest.fixture
def builds(monkeypatch) -> list[str]:
    """The names of the kernels that are compiled."""
    names = []
    run = StagedCompile._run

    def counted(self):
        names.append(self.src.name)
        return run(self)

    monkeypatch.setattr(StagedCompile, "_run", counted)
    return names


def files_of(folder: Path) -> list[Path]:
    return sorted(p for p in folder.glob("[!.]*/*") if p.is_file())


def test_one_folder_a_key_with_the_names_users_know(folder, builds):
    kernel = compile_fill()
    entry = folder / cache.folder_of(kernel.hash)
    assert sorted(p.name for p in entry.iterdir()) == [
        "__grp__fill.json", "fill.json", "fill.llir", "fill.ptx", "fill.source", "fill.ttgir",
        "fill.ttir",
    ]  # fmt: skip
    group = json.loads((entry / "__grp__fill.json").read_text())["child_paths"]
    assert group["fill.ptx"] == str(entry / "fill.ptx")
    assert json.loads((entry / "fill.json").read_text())["num_warps"] == 4
    assert "tt.func public @fill" in (entry / "fill.source").read_text()
    again = compile_fill()
    assert builds == ["fill"]
    assert list(again.asm) == list(kernel.asm)
    assert dict(again.asm) == dict(kernel.asm)
    assert again._metadata == kernel._metadata


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


DAMAGE = {
    "emptied": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "last byte gone": lambda data: data[:-1],
    "first byte": lambda data: flip(data, 0),
    "middle byte": lambda data: flip(data, len(data) // 2),
    "last byte": lambda data: flip(data, len(data) - 1),
    "grown": lambda data: data + b"\0",
    "deleted": None,
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_repaired(folder, builds, how):
    sound = dict(compile_fill().asm)
    files = [f for f in files_of(folder) if "fill." in f.name and f.name != "fill.source"]
    contents = {f: f.read_bytes() for f in files}
    assert len(files) == 6
    for file in files:
        damaged = DAMAGE[how]
        if damaged is None:
            file.unlink()
        else:
            file.write_bytes(damaged(contents[file]))
        assert dict(compile_fill().asm) == sound, file.name
        assert builds.pop() == "fill" or file.name.startswith("__grp__")
        assert {f: f.read_bytes() for f in files} == contents, f"{file.name} was not repaired"
        builds[:] = ["fill"]


def test_every_byte_of_a_record_counts(folder):
    """No flipped bit of an entry goes unnoticed: it is sound, or not there."""
    entry = CacheEntry(KEY, "k")
    entry.store({"name": "k", "hash": KEY, "shared": 1024}, {"ptx": "text", "cubin": b"\1\2\3"})
    metadata, stages = entry.load()
    assert metadata == {"name": "k", "hash": KEY, "shared": 1024}
    assert {n: s.read() for n, s in stages.items()} == {"ptx": b"text", "cubin": b"\1\2\3"}
    for file in files_of(folder):
        data = file.read_bytes()
        for at in range(len(data)):
            file.write_bytes(data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :])
            found = entry.load()
            if found is None:
                continue
            assert found[0] == metadata, (file.name, at)
            try:
                read = {n: s.read() for n, s in found[1].items()}
            except Damaged:
                continue
            assert read == {"ptx": b"text", "cubin": b"\1\2\3"}, (file.name, at)
        file.write_bytes(data)


def test_an_entry_under_another_key_is_foreign(folder, builds):
    kernel = compile_fill()
    entry = folder / cache.folder_of(kernel.hash)
    other = StagedCompile(ASTSource(fill, SIGNATURE, {"BLOCK": 32}), TARGET, {}, "ptx", None)
    entry.rename(folder / cache.folder_of(other.key))
    assert "64" not in other.kernel().asm["ttir"]
    assert builds == ["fill", "fill"]


def test_a_cache_that_was_moved_still_works(folder, builds, monkeypatch):
    kernel = compile_fill()
    ptx = kernel.asm["ptx"]
    folder.rename(folder.parent / "elsewhere")
    monkeypatch.setenv("TILE_CACHE_DIR", str(folder.parent / "elsewhere"))
    assert compile_fill().asm["ptx"] == ptx
    assert builds == ["fill"]


def test_a_stage_lost_while_the_program_runs(folder):
    compile_fill()
    kernel = compile_fill()
    for file in files_of(folder):
        file.unlink()
    assert ".entry fill" in kernel.asm["ptx"]
    assert (folder / cache.folder_of(kernel.hash) / "fill.ptx").exists()


def test_binaries_alone(folder, monkeypatch):
    monkeypatch.setenv("TRITON_STORE_BINARY_ONLY", "1")
    compile_fill()
    names = {f.name for f in files_of(folder)}
    assert names == {"__grp__fill.json", "fill.json", "fill.ptx"}
    assert ".entry fill" in compile_fill().asm["ptx"]


def test_always_compile(builds, monkeypatch):
    compile_fill()
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    compile_fill()
    assert len(builds) == 2


def test_what_ptxas_is_told_is_in_the_key(monkeypatch):
    def key() -> str:
        return StagedCompile(ASTSource(fill, SIGNATURE, {"BLOCK": 64}), TARGET, {}, None, None).key

    keys = {key()}
    for name, value in (
        ("PTXAS_OPTIONS", "-O1"), ("DISABLE_PTXAS_OPT", "1"), ("TRITON_MOCK_PTX_VERSION", "81"),
        ("TRITON_DEFAULT_FP_FUSION", "0"), ("TRITON_DISABLE_LINE_INFO", "1"),
        ("TRITON_F32_DEFAULT", "ieee"), ("TRITON_FORCE_DISABLE_FP_FUSION", "1"),
    ):  # fmt: skip
        with monkeypatch.context() as context:
            context.setenv(name, value)
            keys.add(key())
    assert len(keys) == 7
    with monkeypatch.context() as context:
        context.setenv("TILE_CACHE_SIZE_LIMIT", "5G")
        assert key() in keys


def test_the_compilers_key_is_not_a_time_stamp():
    """Touching the installed files changes nothing; editing them would."""
    from tile.compiler import key as module

    before = module.compiler_key()
    path = Path(module.__file__)
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**9))
    try:
        module.compiler_key.cache_clear()
        assert module.compiler_key() == before
    finally:
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert len(tile._C.build_id()) >= 40


def test_the_key_of_ptxas_is_its_version(nvidia_tools, tmp_path, monkeypatch):
    tools = nvidia_tools

    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        script = tmp_path / folder / "ptxas"
        script.write_text("#!/bin/sh\necho release 99.1, V99.1.7\n")
        script.chmod(0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(tmp_path / "a" / "ptxas"))
    first = tools.ptxas_version()
    monkeypatch.setenv("TILE_PTXAS_PATH", str(tmp_path / "b" / "ptxas"))
    assert tools.ptxas_version() == first == "release 99.1, V99.1.7"


def test_the_version_of_a_large_program_is_remembered(nvidia_tools, tmp_path, monkeypatch, folder):
    tools = nvidia_tools
    from tile.runtime.cache import remember

    calls = tmp_path / "calls"
    program = tmp_path / "ptxas"
    program.write_text(f"#!/bin/sh\necho x >> {calls}\necho V1\nexit 0\n" + "#" * (1 << 17))
    program.chmod(0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(program))
    for _ in range(3):
        remember._remembered.cache_clear()
        tools._version.cache_clear()
        assert tools.ptxas_version() == "V1"
    assert calls.read_text() == "x\n"
    program.write_text(program.read_text().replace("V1", "V2"))
    os.utime(program, (1, 1))
    assert tools.ptxas_version() == "V2"


# Sizes.


def store(key: int, size: int, age: float) -> CacheEntry:
    entry = CacheEntry(f"{key:064x}", "k")
    entry.store({"hash": entry.key}, {"ptx": "x" * size})
    for file in Path(entry.manager.cache_dir).iterdir():
        stamp = time.time() - age
        os.utime(file, (stamp, stamp))
    return entry


def test_what_was_not_used_longest_leaves(folder):
    entries = [store(i, 1000, age=10_000 * (9 - i)) for i in range(8)]
    assert entries[0].load() is not None  # This one is used now.
    total = sum(e.size for e in cache.entries())
    removed, freed = cache.prune(total * 3 // 4)
    assert removed == 3 and freed > 3000
    assert entries[0].load() is not None and entries[7].load() is not None
    assert entries[1].load() is None and entries[2].load() is None
    assert sum(e.size for e in cache.entries()) == total - freed


def test_a_clock_that_ran_ahead_keeps_nothing_for_ever(folder):
    ahead = store(1, 1000, age=-(10**8))
    ahead.load()
    store(2, 1000, age=0)
    assert abs(Path(ahead.manager.cache_dir, "k.json").stat().st_mtime - time.time()) < 100


def test_the_limit_is_kept_while_compiling(folder, monkeypatch):
    monkeypatch.setenv("TILE_CACHE_SIZE_LIMIT", "20K")
    for i in range(40):
        store(i, 2000, age=1000 - i)
    assert sum(e.size for e in cache.entries()) <= 20 * 1024 * 1.2
    monkeypatch.setenv("TILE_CACHE_SIZE_LIMIT", "0")
    for i in range(40):
        store(i, 2000, age=0)
    assert len(list(cache.entries())) == 40


def test_what_dead_processes_left_is_swept(folder):
    store(1, 10, 0)
    left = [folder / cache.folder_of(f"{1:064x}") / ".tmp-1-abc", folder / ".locks" / "dead"]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
        os.utime(path, (1, 1))
    (folder / ".trash-abc").mkdir()
    cache.prune(1 << 30)
    assert not any(p.exists() for p in (*left, folder / ".trash-abc"))
    assert CacheEntry(f"{1:064x}", "k").load() is not None


def test_clear_and_verify(folder):
    kernel = compile_fill()
    entry = str(folder / cache.folder_of(kernel.hash))
    assert verify(entry) == []
    Path(entry, "fill.llir").write_text("other")
    assert verify(entry) == [f"{entry}/fill.llir is damaged"]
    assert cache.clear()[0] >= 1
    assert list(cache.entries()) == []


# Caches that cannot be written.


def test_a_cache_that_cannot_be_written_costs_time_only(folder, monkeypatch):
    folder.write_text("not a folder")
    out = poisoned(64, "fp32")
    fill[(1,)](out, 3.5, 64, BLOCK=64)
    np.testing.assert_array_equal(out, 3.5)


def test_a_full_disk_costs_time_only(folder, builds, monkeypatch):
    import errno

    def full(source, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr(os, "replace", full)
        assert ".entry fill" in compile_fill().asm["ptx"]
    assert not files_of(folder), "temporary files stay behind"
    assert ".entry fill" in compile_fill().asm["ptx"]
    assert len(builds) == 2


def test_ctrl_c_while_writing_leaves_nothing(folder, monkeypatch):
    def interrupted(source, target):
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compile_fill()
    assert not files_of(folder)
    assert not list((folder / ".locks").iterdir())
    assert ".entry fill" in compile_fill().asm["ptx"]


@pytest.mark.parametrize("stage", ["ttir", "llir", "ptx"])
def test_ctrl_c_while_compiling(folder, monkeypatch, stage):
    """Nothing is kept, nobody waits for a lock, and the next compile is whole."""
    run = StagedCompile._run_stage

    def interrupted(self, name, *arguments):
        if name == stage:
            raise KeyboardInterrupt
        return run(self, name, *arguments)

    with monkeypatch.context() as context:
        context.setattr(StagedCompile, "_run_stage", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compile_fill()
    assert not files_of(folder)
    assert not list((folder / ".locks").iterdir())
    assert ".entry fill" in compile_fill().asm["ptx"]


# Dumps and overrides.


@pytest.mark.nvidia("names its stages")
def test_dump_edit_override(tmp_path, monkeypatch, folder):
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path / "override"))
    out = poisoned(64, "fp32")
    fill[(1,)](out, 3.0, 64, BLOCK=64)  # In the cache now.
    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    fill.forget_kernels()
    fill[(1,)](out, 3.0, 64, BLOCK=64)
    (ttgir,) = (tmp_path / "dump").glob("*/fill.ttgir")
    assert sorted(p.name for p in ttgir.parent.iterdir()) == [
        "fill.llir", "fill.ptx", "fill.ttgir", "fill.ttir",
    ]  # fmt: skip
    (tmp_path / "dump").rename(tmp_path / "override")
    (edited,) = (tmp_path / "override").glob("*/fill.ttgir")
    for other in edited.parent.iterdir():
        if other != edited:
            other.unlink()
    text = edited.read_text()
    assert "tt.splat %value" in text
    lines = text.replace("tt.splat %value", "tt.splat %seven").splitlines(True)
    at = next(i for i, line in enumerate(lines) if "tt.func public" in line)
    lines.insert(at + 1, "    %seven = arith.constant 7.0 : f32\n")
    edited.write_text("".join(lines))
    monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", "1")
    fill.forget_kernels()
    fill[(1,)](out, 3.0, 64, BLOCK=64)
    np.testing.assert_array_equal(out, 7.0)
    # What was overridden is not what the plain kernel finds in the cache.
    monkeypatch.delenv("TRITON_KERNEL_OVERRIDE")
    fill.forget_kernels()
    fill[(1,)](out, 3.0, 64, BLOCK=64)
    np.testing.assert_array_equal(out, 3.0)


def test_ir_override_of_a_launch(tmp_path, folder):
    plain = compile_fill()
    path = tmp_path / "mine.ptx"
    path.write_text(plain.asm["ptx"].replace("// -- Begin function fill", "// mine"))
    kernel = compile_fill(ir_override=str(path))
    assert kernel.asm["ptx"] == path.read_text() and kernel.hash != plain.hash
    # As Triton's code has it: a pointer to scratch memory behind the parameters.
    more = re.sub(r"(fill_param_\d+)(\n\))", r"\1,\n\t.param .u64 more\2", plain.asm["ptx"])
    assert more != plain.asm["ptx"]
    (tmp_path / "more.ptx").write_text(more)
    with pytest.raises(tile.TileError, match=r"`fill` takes 4 parameters, but a launch passes 3"):
        compile_fill(ir_override=str(tmp_path / "more.ptx"))
    with pytest.raises(tile.TileError, match=r"its ending must be a stage, one of ttir, ttgir"):
        compile_fill(ir_override="mine.txt")
    with pytest.raises(tile.TileError, match="cannot read"):
        compile_fill(ir_override=str(tmp_path / "missing.ttir"))


# Managers of the user's.


class Watched(cache.FileCacheManager):
    seen: tuple[str, ...] = ()

    def put_group(self, filename, group):
        type(self).seen += (filename,)
        return super().put_group(filename, group)


def test_a_cache_manager_of_the_users(monkeypatch, builds):
    monkeypatch.setenv("TRITON_CACHE_MANAGER", f"{__name__}:Watched")
    compile_fill()
    compile_fill()
    assert Watched.seen == ("fill.json",) and builds == ["fill"]
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "triton.runtime.cache:FileCacheManager")
    assert type(cache.get_cache_manager(KEY)) is cache.FileCacheManager
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "nowhere:Class")
    with pytest.raises(tile.TileError, match="TILE_CACHE_MANAGER names nowhere:Class"):
        compile_fill(32)


def test_file_cache_manager():
    manager = cache.FileCacheManager(KEY)
    assert manager.get_file("a.txt") is None and manager.get_group("g") is None
    path = manager.put("text", "a.txt", binary=False)
    assert manager.get_file("a.txt") == path and Path(path).read_text() == "text"
    manager.put_group("g", {"a.txt": path})
    assert manager.get_group("g") == {"a.txt": path}
    Path(path).unlink()
    assert manager.get_group("g") is None, "a group without one of its files"
    with knobs.cache.scope():
        knobs.cache.dir = ""
        with pytest.raises(tile.TileError, match="no folder for the cache"):
            cache.FileCacheManager(KEY)
