"""The public names: those users know, and the page that lists ours."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import tile
import tile.language as tl
import tile.testing
import tile.tools.tensor_descriptor
from tile.tools import surface

PAGE = Path(__file__).parents[3] / "docs" / "language.md"

#: What programs written for Triton use: a line a name, with parameters and defaults.
LINES = (Path(__file__).parent / "triton_surface.txt").read_text().splitlines()
ROOTS = {
    "tile": tile, "tl": tl, "testing": tile.testing, "libdevice": tl.extra.libdevice,
    "tensor_descriptor": tile.tools.tensor_descriptor,
}  # fmt: skip
#: Ours take more, or are made by us only.
DIFFERENT = {
    "tile.CompilationError": "made of a message and places",
    "tile.Config": "takes keywords of older releases, too",
    "tile.InterpreterError": "made of a message",
    "tile.OutOfResources": "may name the kernel",
    "tile.compile": "may stop at a stage",
    "tensor_descriptor.TensorDescriptor": "may round to tf32, as in later versions",
    "tensor_descriptor.TensorDescriptor.from_tensor": "the same",
    "tl.reduce": "may be under a mask",
    "tl.tensor.reduce": "may be under a mask",
    "tl.associative_scan": "may be under a mask",
    "tl.tensor.associative_scan": "may be under a mask",
    "tl.cat": "takes a dimension, as later versions do",
    "tl.cumprod": "takes the type of the result, as later versions do",
    "tl.tensor.cumprod": "the same",
    "tl.fdiv": "may be approximate, as in later versions",
    "tl.topk": "takes the direction, as later versions do",
    "tl.tensor_descriptor_type": "has names of its own",
    "tl.tuple": "may be empty",
    "tl.tuple_type": "knows no fields",
    "tl.tensor_descriptor.gather": "names its arguments",
    "tl.tensor_descriptor.scatter": "names its arguments",
    "tl.tensor_descriptor.load": "may say what the L2 cache should keep",
    "tl.tensor_descriptor.store": "the same",
    **{
        f"{root}.atomic_{kind}": "the same"
        for root in ("tl", "tl.tensor", "tl.tensor_descriptor")
        for kind in ("add", "and", "cas", "max", "min", "or", "xchg", "xor")
    },
    "tl.tensor_descriptor.block_type": "is an attribute of instances",
    "tl.dtype.KIND": "an enumeration",
    "tl.dtype.SIGNEDNESS": "an enumeration",
}


def _resolve(name: str) -> Any:
    root, *path = name.split(".")
    value = ROOTS[root]
    for part in path:
        value = getattr(value, part)
    return value


def _parameters(value: Any, bound: bool) -> list[str]:
    arity = getattr(value, "__tile_arity__", None)
    if arity is not None:
        return [f"arg{i}" for i in range(arity)]
    result: list[str] = []
    for p in inspect.signature(getattr(value, "fn", value)).parameters.values():
        default = getattr(p.default, "value", p.default)
        text = "" if default is p.empty else f"={int(default) if default is False else default}"
        if p.kind is p.KEYWORD_ONLY and not any(r.startswith("*") for r in result):
            result.append("*")
        result.append({p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name + text)
    return result[1:] if bound or result[:1] == ["self"] else result


def _spell(parameters: Iterable[str]) -> list[str]:
    return [
        p.replace("tile.language.", "").replace("=False", "=0").replace("\n", "\\n")
        for p in parameters
        if p
    ]


@pytest.mark.parametrize("root", sorted({line.split(".")[0] for line in LINES}))
def test_names_and_signatures(root):
    wrong = []
    for line in LINES:
        name, _, rest = line.partition("(")
        if not name.startswith(root + ".") or name in DIFFERENT:
            continue
        try:
            value = _resolve(name)
        except AttributeError:
            wrong.append(f"{name} is missing")
            continue
        if not rest:
            continue
        known = _spell(rest.removesuffix(")").split(", "))
        # A method of tensors may be a function of tensors: what is before the dot comes first.
        ours = [_spell(_parameters(value, bound)) for bound in (False, True)]
        if known not in (ours if name.startswith("tl.t") else ours[:1]):
            wrong.append(f"{name}({', '.join(known)}) is ({', '.join(ours[0])})")
    assert not wrong, "\n".join(wrong)


def test_every_public_function_says_what_it_does():
    silent = [
        name
        for name in tl.__all__
        if callable(getattr(tl, name)) and not inspect.getdoc(getattr(tl, name))
    ]
    assert not silent


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == surface.render(), "run `tile surface -o docs/language.md`"


def test_the_page_of_examples_is_of_today():
    page = PAGE.with_name("api.md")
    assert page.read_text() == surface.render_examples(), (
        "run `tile surface --examples -o docs/api.md`"
    )
