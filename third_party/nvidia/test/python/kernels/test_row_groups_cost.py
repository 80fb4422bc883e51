"""Whether two groups of warps divide the rows of attention: the choice is that of the model of time
for what the compiler makes."""

from __future__ import annotations

import pytest
from reference import poisoned, sim_only
from test_row_groups import FLOAT8, attention, operands, partitions

from tile.runtime.driver import driver
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = sim_only

#: Choices between what takes the same time but for so much are free.
FREE = 0.08


@pytest.fixture(autouse=True)
def target(monkeypatch) -> None:
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:100")


def launch(kind: str, keys: int, d: int, bn: int, **options):
    """One program: its kernel, and the seconds that the model expects."""
    q, k, v = operands(kind, 256, keys, d)
    out, sums = poisoned((256, d), "fp16" if kind in FLOAT8 else kind), poisoned(256, "fp32")
    blocks = ((q, [256, d]), (k, [bn, d]), (v, [bn, d]), (out, [256, d]))
    arguments = (TensorDescriptor.from_tensor(x, block) for x, block in blocks)
    with driver.active.ranking():
        kernel = attention[(1,)](
            *arguments, sums, d**-0.5, 256, keys, d, 256, bn, False, 1, num_warps=8, **options
        )
    return kernel, driver.active.last_report.roofline("B200", 148)["expected"]


def count_step(kind: str, d: int, bn: int, **options) -> float:
    """What an iteration more takes."""
    few, many = (launch(kind, n * bn, d, bn, **options)[1] for n in (4, 12))
    return (many - few) / 8


@pytest.mark.parametrize(
    ("kind", "d", "bn", "stages"),
    [("fp16", 64, 64, 2), ("bf16", 128, 64, 2), ("fp16", 128, 32, 2), ("e4m3", 128, 64, 2),
     ("fp16", 64, 64, 3), ("bf16", 128, 64, 3), ("fp16", 64, 128, 2), ("e4m3", 128, 128, 2)],
)  # fmt: skip
def test_choice_is_that_of_the_model(kind, d, bn, stages):
    one, two = (count_step(kind, d, bn, num_stages=stages, row_groups=n) for n in (1, 2))
    kernel, _ = launch(kind, 4 * bn, d, bn, num_stages=stages)
    has_two = 4 in partitions(kernel)[1:]
    assert has_two == (two < one) or abs(one - two) < FREE * one, (one, two)


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("d", [64, 128])
def test_corrections_pay(d, stages):
    """Warps that correct sums save more than they cost."""
    with_them, without = (
        count_step("fp16", d, 64, num_stages=stages, row_groups=2, correction_group=corrects)
        for corrects in (True, False)
    )
    assert with_them < without


@pytest.mark.parametrize("d", [64, 128])
def test_scores_ahead_pay(d):
    for options in ({"row_groups": 1}, {"row_groups": 2}):
        ahead, behind = (
            count_step("fp16", d, 64, num_stages=3, disable_passes=disabled, **options)
            for disabled in ("", "triton-nvidia-start-dots-ahead")
        )
        assert ahead < behind
