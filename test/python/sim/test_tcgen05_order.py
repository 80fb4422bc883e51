# ruff: noqa: E501  (PTX text reads better unbroken)
"""Order of work on tensor memory beside the table of mistakes: assumptions, a ring of buffers."""

from __future__ import annotations

import numpy as np
import pytest
from blackwell_mistakes import (
    AFTER,
    BEFORE,
    COMMIT,
    COMMIT2,
    LD,
    ST,
    SYNC,
    WAIT,
    WAIT2,
    WAITLD,
    WAITST,
    copy,
    kernel,
    mma,
    scaled,
)  # fmt: skip
from tensor_memory import wait

import tile.sim


def run(body, begin="", **options):
    return tile.sim.launch(kernel(body, begin), "op", 1, 128, [np.zeros(128, np.uint32)], **options)


def test_no_fence_at_the_start():
    """Everybody's stores reach the asynchronous proxy through everybody's fence."""
    body = f"{mma()} @%first {COMMIT} {WAIT}"
    run(body)
    with pytest.raises(tile.sim.SimulationError, match="missing-proxy-fence"):
        run(body, begin="// none")


# What an assumption makes a mistake of: name: (assumption, mistake, twin)
ASSUMED = {
    "a completed product needs a fence": (
        "tensor-fences", f"{mma()} @%first {COMMIT} {WAIT} {LD} {WAITLD}", f"{mma()} @%first {COMMIT} {WAIT} {AFTER} {LD} {WAITLD}"),
    "a completed store needs two fences": (
        "tensor-fences", f"{ST} {WAITST} {SYNC} {mma()} @%first {COMMIT} {WAIT} {AFTER}",
        f"{ST} {WAITST} {BEFORE} {SYNC} {AFTER} {mma()} @%first {COMMIT} {WAIT} {AFTER}"),
    "scale factors that a product still reads": (
        "tensor-copies-wait", f"{copy('%t+64')} {copy('%t+72')} {scaled()} {copy('%t+64')} @%first {COMMIT} {WAIT}",
        f"{copy('%t+64')} {copy('%t+72')} {scaled()} @%first {COMMIT} {WAIT} {copy('%t+64')} @%first {COMMIT2} {WAIT2}"),
}  # fmt: skip


@pytest.mark.parametrize("name", ASSUMED)
def test_assumptions(name):
    """Open in public texts: by default neither is a mistake."""
    assumption, wrong, right = ASSUMED[name]
    run(right, assumptions=[assumption])
    run(wrong)
    with pytest.raises(tile.sim.SimulationError, match=r"missing-tcgen05-fence|async-race"):
        run(wrong, assumptions=[assumption])


def test_unknown_assumption():
    with pytest.raises(tile.errors.TileError, match="unknown assumption 'everything'"):
        run(LD + WAITLD, assumptions=["everything"])


def ring(freed):
    """Warp 0's first thread multiplies what warp 1's first thread loads into one buffer, three times."""
    load = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar+16], 4096; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%out], 4096, [%bar+16];"
    turns = range(3)
    loads = "".join(
        (wait(f"FREE{i}", "%bar+8", (i - 1) % 2) if i and freed else "") + load for i in turns
    )
    products = "".join(
        f"{wait(f'FULL{i}', '%bar+16', i % 2)} {mma(predicate='')} {COMMIT2}" for i in turns
    )
    return f"""@!%first bra MADE; mbarrier.init.shared::cta.b64 [%bar+16], 1; fence.mbarrier_init.release.cluster; MADE: {SYNC}
@!%third bra LOADED; {loads} LOADED:
@!%first bra MULTIPLIED; {products} {COMMIT} MULTIPLIED:
{WAIT}"""


@pytest.mark.parametrize("seed", range(6))
def test_a_commit_frees_a_buffer(seed):
    """The next copy comes behind the last one, which the dot came behind: the commit passes that on."""
    source = np.zeros(1024, np.float32)
    tile.sim.launch(kernel(ring(True)), "op", 1, 128, [source], schedule_seed=seed)
    with pytest.raises(tile.sim.SimulationError):
        tile.sim.launch(kernel(ring(False)), "op", 1, 128, [source], max_instructions=100000, schedule_seed=seed)  # fmt: skip
