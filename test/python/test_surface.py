"""The public names: those users know, and the page that lists ours."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import tile
import tile.language as tl
from tile.tools import surface

PAGE = Path(__file__).parents[2] / "docs" / "language.md"

#: Signatures that programs rely on, as (owner, name, parameters).
KNOWN = [
    (tl, "load", "pointer mask other boundary_check padding_option cache_modifier eviction_policy volatile"),  # noqa: E501
    (tl, "store", "pointer value mask boundary_check cache_modifier eviction_policy"),
    (tl, "dot", "input other acc input_precision allow_tf32 max_num_imprecise_acc out_dtype"),
    (tl, "reduce", "input axis combine_fn keep_dims"),
    (tl, "associative_scan", "input axis combine_fn reverse"),
    (tl, "sum", "input axis keep_dims dtype"),
    (tl, "max", "input axis return_indices return_indices_tie_break_left keep_dims"),
    (tl, "argmax", "input axis tie_break_left keep_dims"),
    (tl, "cumsum", "input axis reverse dtype"),
    (tl, "make_block_ptr", "base shape strides offsets block_shape order"),
    (tl, "make_tensor_descriptor", "base shape strides block_shape padding_option"),
    (tl, "atomic_add", "pointer val mask sem scope"),
    (tl, "atomic_cas", "pointer cmp val sem scope"),
    (tl, "inline_asm_elementwise", "asm constraints args dtype is_pure pack"),
    (tl, "where", "condition x y"),
    (tl, "cast", "input dtype fp_downcast_rounding bitcast"),
    (tl, "sort", "x dim descending"),
    (tl, "topk", "x k dim"),
    (tile, "autotune", "configs key prune_configs_by reset_to_zero restore_value pre_hook post_hook warmup rep "  # noqa: E501
     "use_cuda_graph do_bench cache_results"),
]  # fmt: skip


@pytest.mark.parametrize(("owner", "name", "parameters"), KNOWN, ids=[k[1] for k in KNOWN])
def test_signatures(owner, name, parameters):
    function = getattr(owner, name)
    signature = inspect.signature(getattr(function, "fn", function))
    assert list(signature.parameters) == parameters.split()


def test_every_public_function_says_what_it_does():
    silent = [
        name
        for name in tl.__all__
        if callable(getattr(tl, name)) and not inspect.getdoc(getattr(tl, name))
    ]
    assert not silent


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == surface.render(), "run `tile surface -o docs/language.md`"
