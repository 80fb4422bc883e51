"""What is native about explicit layouts."""

from __future__ import annotations

from collections.abc import Sequence


def make_cga_layout(
    ctas_per_cga: Sequence[int], cta_split_num: Sequence[int], cta_order: Sequence[int]
) -> list[list[int]]:
    """The bases of the blocks of a cluster: where each power of two of a block's number lies, in
    blocks. A dimension has `ctas_per_cga` blocks; they share it in `cta_split_num` parts, and the
    rest of them have the same parts. The numbers go along the first of `cta_order` first."""
    bases = []
    for dim in cta_order:
        step = 1
        while step < ctas_per_cga[dim]:
            at = step if step < cta_split_num[dim] else 0
            bases.append([at if i == dim else 0 for i in range(len(ctas_per_cga))])
            step *= 2
    return bases


__all__ = ["make_cga_layout"]
