# ruff: noqa: E501  (PTX text reads better unbroken)
"""The timeline of kernels with tensor memory: dots, copies and commits, and who waits for them."""

from __future__ import annotations

from blackwell_mistakes import (
    COMMIT,
    COMMIT2,
    COMMIT_BOTH,
    LD,
    MMA2,
    SYNC,
    WAIT,
    WAIT2,
    WAITLD,
    copy,
    mma,
    run_one,
    run_pair,
    scaled,
)

TENSOR, COMMITS = 101, 102


def spans(report, cta=0):
    events = report.timeline()["traceEvents"]
    return [e for e in events if e["ph"] == "X" and e["pid"] == cta]


def test_products_follow_each_other_and_a_commit_waits_for_them():
    body = f"{mma()} {mma()} @%first {COMMIT} {WAIT} {LD} {WAITLD}"
    events = spans(run_one(body, timelines=1))
    products = [e for e in events if e["name"] == "tcgen05.mma"]
    assert [e["tid"] for e in products] == [TENSOR, TENSOR]
    assert [e["dur"] for e in products] == [16, 16]  # of 32 columns
    assert products[1]["ts"] >= products[0]["ts"] + 16
    done = products[1]["ts"] + products[1]["dur"]
    (commit,) = [e for e in events if e["name"] == "tcgen05.commit"]
    assert commit["tid"] == COMMITS
    assert commit["ts"] + commit["dur"] >= done > commit["ts"]
    waits = [e for e in events if e["name"] == "wait: mbarrier"]
    assert {e["tid"] for e in waits} == {0, 1, 2, 3}
    assert all(e["ts"] + e["dur"] == commit["ts"] + commit["dur"] for e in waits)
    names = [e["args"]["name"] for e in run_one(body, timelines=1).timeline()["traceEvents"] if e["ph"] == "M"]  # fmt: skip
    assert "tcgen05.commit" in names


def test_copies_and_scaled_products_take_turns():
    body = f"{copy('%t+64')} {copy('%t+72')} {scaled()} @%first {COMMIT} {WAIT}"
    work = [e for e in spans(run_one(body, timelines=1)) if e["tid"] == TENSOR]
    assert [e["name"] for e in work] == ["tcgen05.cp", "tcgen05.cp", "tcgen05.mma"]
    ends = [e["ts"] + e["dur"] for e in work]
    assert all(next_one["ts"] >= end for end, next_one in zip(ends, work[1:], strict=False))


def test_loads_overlap_with_the_next_product():
    """The first dot is read while the second one runs, which is waited for later."""
    body = f"{mma()} @%first {COMMIT} {WAIT} {SYNC} {mma('%t+32', add='!%always')} @%first {COMMIT2} {LD} {WAITLD} {WAIT2}"
    events = spans(run_one(body, timelines=1))
    second = [e for e in events if e["name"] == "tcgen05.mma"][1]
    waits = [e["tid"] for e in events if e["name"] == "wait: tcgen05.ld"]
    assert sorted(waits) == [0, 1, 2, 3]
    assert second["dur"] == 16


def test_a_pair_works_in_both():
    body = f"{MMA2} {COMMIT_BOTH} {WAIT}"
    report = run_pair(body, timelines=1)
    one, other = ([e for e in spans(report, cta) if e["tid"] == TENSOR] for cta in (0, 1))
    assert [(e["ts"], e["dur"]) for e in one] == [(e["ts"], e["dur"]) for e in other] != []
    assert [e["pid"] for e in spans(report, 1) if e["name"] == "wait: mbarrier"]


def test_kernels_without_tensor_memory_have_no_commits():
    report = run_one(LD + WAITLD, timelines=1)
    names = [e["args"].get("name") for e in report.timeline()["traceEvents"] if e["ph"] == "M"]
    assert "tcgen05.commit" not in names
