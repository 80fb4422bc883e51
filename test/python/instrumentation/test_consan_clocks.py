"""The checks that kernels call under `consan`, compiled for the host, against enumeration.

Random programs of a few groups of warps access buffers by themselves and by their engines, and wait
for each other at mbarriers. The reference is a graph of what comes before what, in which each path
is followed.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "lib" / "Target" / "device" / "concurrency.c"
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")

PARTITIONS, BARRIERS, UNITS, GROUPS = 3, 2, 3, 4
SELF, COPY, STORE = 0, 1, 2
#: Where the allocations are: one with all units, and one with all mbarriers.
BUFFERS, MBARRIERS, UNIT_BYTES = 1024, 8192, 64


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = tmp_path_factory.mktemp("consan") / "libchecks.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-DCONSAN_ON_HOST", f"-I{ROOT / 'include'}"]
    subprocess.run([*command, str(SOURCE), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


class Checked:
    """A block of which the checks keep the state."""

    def __init__(self, library: Any, counts: list[int]) -> None:
        self.library = library
        actors = 4 * PARTITIONS + BARRIERS
        words = 8 + PARTITIONS * (8 + GROUPS + actors) + 2 * 5
        words += UNITS * (3 + 2 * 4 * PARTITIONS) + BARRIERS * (8 + 3 * actors + PARTITIONS)
        self.state = (ctypes.c_uint32 * words)()
        for thread in range(5):
            self("begin", thread, 5, PARTITIONS, BARRIERS, 2, UNITS, GROUPS)
        self("start")
        self("alloc", 0, BUFFERS, UNITS * UNIT_BYTES, UNIT_BYTES, 0, 0)
        self("alloc", 1, MBARRIERS, BARRIERS * 8, 8, 0, BARRIERS)
        for number, count in enumerate(counts):
            assert not self("init", 0, 1, 1, MBARRIERS + 8 * number, count)
        self("fork", 1, PARTITIONS - 1)

    def __call__(self, name: str, *arguments: int) -> int:
        function = getattr(self.library, f"tile_consan_{name}")
        function.restype = ctypes.c_uint32
        return function(self.state, *map(ctypes.c_uint32, arguments))

    def access(self, p: int, unit: int, engine: int, writes: bool, site: int) -> int:
        place = (0, 1, BUFFERS + unit * UNIT_BYTES, UNIT_BYTES, 1, 1)
        return self("access", p, *place, engine, int(writes), site)

    def transfer(self, p: int, unit: int, barrier: int, site: int) -> int:
        place = (0, 1, BUFFERS + unit * UNIT_BYTES, UNIT_BYTES, 1, 1)
        return self("transfer", p, *place, 1, 1, MBARRIERS + 8 * barrier, 16, site, 1)

    def at(self, name: str, p: int, barrier: int, *more: int) -> int:
        return self(name, p, 1, 1, MBARRIERS + 8 * barrier, *more)


class Graph:
    """What comes before what: for each node those that come right before it."""

    def __init__(self) -> None:
        self.before: list[set[int]] = []
        #: Per unit, the accesses: node, whether it writes.
        self.accesses: dict[int, list[tuple[int, bool]]] = {u: [] for u in range(UNITS)}

    def node(self, before: set[int]) -> int:
        self.before.append(set(before))
        return len(self.before) - 1

    def reaches(self, first: int, last: int) -> bool:
        seen, todo = set(), [last]
        while todo:
            node = todo.pop()
            if node == first:
                return True
            if node not in seen:
                seen.add(node)
                todo += self.before[node]
        return False

    def is_right(self, issue: int, unit: int, writes: bool) -> bool:
        """Whether an access is, which begins with a node."""
        earlier = self.accesses[unit]
        written = writes or any(w for _, w in earlier)
        return written and all(self.reaches(x, issue) for x, w in earlier if w or writes)

    def access(self, issue: int, done: int, unit: int, writes: bool) -> bool:
        """The same of one that is done with another node."""
        right = self.is_right(issue, unit, writes)
        self.accesses[unit].append((done, writes))
        return right


class Barrier:
    """An mbarrier that ends its phases as the hardware does."""

    def __init__(self, count: int) -> None:
        self.count = self.pending = count
        self.bytes = 0
        self.phases = 0
        #: Of each phase what came before its end.
        self.arrived: list[set[int]] = [set()]

    def change(self, arrivals: int, bytes: int, node: int) -> None:
        self.arrived[-1].add(node)
        self.pending -= arrivals
        self.bytes += bytes
        if not self.pending and not self.bytes:
            self.phases += 1
            self.pending = self.count
            self.arrived.append(set())


def run(checks: Any, seed: int) -> bool:
    """One program; whether there was something to find."""
    rng = random.Random(seed)
    counts = [rng.randint(1, 2) for _ in range(BARRIERS)]
    block, graph = Checked(checks, counts), Graph()
    barriers = [Barrier(count) for count in counts]
    start = graph.node(set())
    last = [start] * PARTITIONS
    # Of each partition: accesses of copies that are in no group, groups, and stores.
    copies: list[list[int]] = [[] for _ in range(PARTITIONS)]
    groups: list[list[list[int]]] = [[] for _ in range(PARTITIONS)]
    stores: list[list[int]] = [[] for _ in range(PARTITIONS)]
    # Some programs do more to order things, and most leave out what is not in order.
    chatty, careful = rng.random(), rng.choice([0.0, 0.8, 0.97])

    def step(p: int, *more: int) -> int:
        last[p] = graph.node({last[p], *more})
        return last[p]

    for site in range(1, 120):
        p, unit = rng.randrange(PARTITIONS), rng.randrange(UNITS)
        number = rng.randrange(BARRIERS)
        barrier = barriers[number]
        what = rng.choice(["access", "copy", "store", "transfer"])
        if rng.random() < chatty:
            what = rng.choice(
                ["commit", "wait copy", "wait store", "arrive", "arrive of copies", "wait"]
            )
        writes = what in ("copy", "transfer") or (what == "access" and rng.random() < 0.4)
        if what in ("access", "copy", "store", "transfer") and rng.random() < careful:
            if not graph.is_right(last[p], unit, writes):
                continue
        code, right = 0, True
        if what == "access":
            node = step(p)
            right = graph.access(node, node, unit, writes)
            code = block.access(p, unit, SELF, writes, site)
        elif what in ("copy", "store"):
            issue = step(p)
            done = graph.node({issue})
            right = graph.access(issue, done, unit, what == "copy")
            (copies if what == "copy" else stores)[p].append(done)
            engine = COPY if what == "copy" else STORE
            block("issue", p, engine)
            code = block.access(p, unit, engine, what == "copy", site)
        elif what == "commit":
            groups[p].append(copies[p])
            copies[p] = []
            block("commit", p)
        elif what == "wait copy":
            left = rng.randrange(GROUPS)
            ended = groups[p][: max(0, len(groups[p]) - left)]
            step(p, *(node for group in ended for node in group))
            block("wait", p, COPY, left)
        elif what == "wait store":
            left = rng.randrange(3)
            step(p, *stores[p][: max(0, len(stores[p]) - left)])
            block("wait", p, STORE, left)
        elif what == "transfer":
            # Announced by the same thread just before.
            node = step(p)
            issue = step(p)
            done = graph.node({issue})
            right = graph.access(issue, done, unit, True)
            if barrier.pending == 1:
                barrier.pending, barrier.bytes = 0, 16
                barrier.arrived[-1].add(node)
                barrier.change(0, -16, done)
            else:
                barrier.arrived[-1] |= {node, done}
                barrier.pending -= 1
            code = block.at("arrive", p, number, 1, 16, 0, 1)
            code = code or block.transfer(p, unit, number, site)
        elif what == "arrive":
            barrier.change(1, 0, step(p))
            code = block.at("arrive", p, number, 1, 0, 0, 1)
        elif what == "arrive of copies":
            # All that the partition has started, in groups or not, comes before the end.
            done = graph.node({step(p), *copies[p], *(n for group in groups[p] for n in group)})
            barrier.change(1, 0, done)
            code = block.at("arrive", p, number, 1, 0, 1, 1)
        elif what == "wait":
            # One that passes: that of the phase before the running one, or an older one.
            parity = (barrier.phases + 1) & 1
            seen = {n for phase in barrier.arrived[: barrier.phases] for n in phase}
            code = block.at("wait_begin", p, number, parity, 1)
            step(p, *seen)
            code = code or block.at("wait_end", p, number, parity, 1)
        assert bool(code) == (not right), (seed, site, what, code & 0xFF, right)
        if code:
            return True
    return False


@pytest.mark.parametrize("first", range(0, 4000, 500))
def test_what_is_not_ordered_is_found_and_nothing_else(checks: Any, first: int) -> None:
    found = sum(run(checks, seed) for seed in range(first, first + 500))
    assert 100 < found < 490


def test_clocks_do_not_know_the_future(checks: Any) -> None:
    """A wait that passes because of the phase before knows nothing of a copy that goes on."""
    block = Checked(checks, [1, 1])
    assert not block.at("arrive", 0, 0, 1, 16, 0, 1)
    assert not block.transfer(0, 0, 0, 7)
    # Parity 1 is that of the phase before the first one.
    block.at("wait_begin", 0, 0, 1, 1)
    block.at("wait_end", 0, 0, 1, 1)
    code = block.access(0, 0, SELF, False, 8)
    assert code >> 8 == 7
    block.at("wait_begin", 0, 0, 0, 1)
    block.at("wait_end", 0, 0, 0, 1)
    assert not block.access(0, 0, SELF, False, 8)
