"""Caches that machines share."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest
from reference import sim_only

import tile
from tile import knobs
from tile.runtime import cache
from tile.runtime.cache import remote
from tile.runtime.cache.entry import CacheEntry

pytestmark = sim_only
KEY = "12" * 32
ASM = {"ptx": "text", "cubin": bytes(range(256))}


@pytest.fixture(autouse=True)
def machines(tmp_path, monkeypatch):
    """`machines("a")` goes on with the disk of another machine."""

    def use(name: str) -> None:
        monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / name))

    use("a")
    monkeypatch.setattr(remote, "_failed", set())
    return use


def check_sharing(machines) -> None:
    CacheEntry(KEY, "k").store({"hash": KEY, "shared": 7}, ASM)
    machines("b")
    metadata, stages = CacheEntry(KEY, "k").load()
    assert metadata == {"hash": KEY, "shared": 7}
    assert {n: f.read() for n, f in stages.items()} == {"ptx": b"text", "cubin": ASM["cubin"]}
    assert CacheEntry("34" * 32, "k").load() is None


def test_a_shared_folder(machines, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_REMOTE_CACHE_BACKEND", "tile.runtime.cache:FileRemoteCacheBackend")
    with pytest.raises(tile.TileError, match="TILE_REMOTE_CACHE_DIR names the folder"):
        cache.get_cache_manager(KEY)
    monkeypatch.setenv("TILE_REMOTE_CACHE_DIR", str(tmp_path / "shared"))
    check_sharing(machines)
    # Damage over there is repaired from here.
    (file,) = (tmp_path / "shared").glob("*/k.cubin")
    file.write_bytes(b"broken")
    machines("c")
    assert CacheEntry(KEY, "k").load()[1]["ptx"].read() == b"text"
    with pytest.raises(cache.Damaged):
        CacheEntry(KEY, "k").load()[1]["cubin"].read()
    CacheEntry(KEY, "k").store({"hash": KEY}, ASM)
    assert file.read_bytes() == ASM["cubin"]


def test_a_remote_cache_that_fails_costs_time_only(machines, monkeypatch, capfd):
    monkeypatch.setenv("TRITON_REMOTE_CACHE_BACKEND", f"{__name__}:Broken")
    CacheEntry(KEY, "k").store({"hash": KEY}, ASM)
    assert CacheEntry(KEY, "k").load()[1]["ptx"].read() == b"text"
    assert capfd.readouterr().err.count("going on without the cache") == 1


def test_a_class_that_is_set_in_python(tmp_path, monkeypatch):
    kept = {}

    class InMemory:
        def __init__(self, key):
            self.key = key

        def get(self, filenames):
            return {name: kept[name] for name in filenames if name in kept}

        def put(self, filename, data):
            kept[filename] = data

    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path))
    monkeypatch.setattr(knobs.cache, "remote_manager_class", InMemory)
    manager = cache.RemoteCacheManager("key")
    path = manager.put(b"binary", "kernel.cubin")
    manager.put_group("kernel.json", {"kernel.cubin": path})
    Path(path).unlink()
    group = manager.get_group("kernel.json")
    assert group is not None and Path(group["kernel.cubin"]).read_bytes() == b"binary"
    kept.clear()
    Path(path).unlink()
    assert manager.get_group("kernel.json") is None


class Broken(cache.RemoteCacheBackend):
    def get(self, filenames):
        raise ConnectionError("nobody there")

    def put(self, filename, data):
        raise ConnectionError("nobody there")


@pytest.fixture
def redis_server(tmp_path):
    pytest.importorskip("redis")
    # Debian has one program under several names; what it is called decides what it does.
    program = shutil.which("redis-server") or shutil.which("redis-check-rdb")
    if program is None:
        pytest.skip("no redis-server")
    server = tmp_path / "redis-server"
    server.symlink_to(os.path.realpath(program))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [str(server), "--port", str(port), "--save", "", "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield port, process
    finally:
        process.kill()
        process.wait()


def test_redis(machines, monkeypatch, redis_server, capfd):
    port, process = redis_server
    monkeypatch.setenv("TRITON_REDIS_PORT", str(port))
    monkeypatch.setenv("TRITON_REDIS_HOST", "127.0.0.1")
    monkeypatch.setenv(
        "TRITON_REMOTE_CACHE_BACKEND", "triton.runtime.cache:RedisRemoteCacheBackend"
    )
    monkeypatch.setenv("TRITON_REDIS_KEY_FORMAT", "kernels/{filename}/{key}")
    check_sharing(machines)
    import redis

    server = redis.Redis("127.0.0.1", port)
    assert f"kernels/k.ptx/{KEY}".encode() in server.keys()
    process.kill()
    process.wait()
    machines("c")
    assert CacheEntry(KEY, "k").load() is None
    assert "going on without the cache" in capfd.readouterr().err
