"""The kernels of the IR corpus, written as programs: TTIR no longer than there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from corpus.programs import PROGRAMS
from frontend import TARGET, make_module, operations

from tile import _C
from tile.backends import find_backend

CORPUS = Path(__file__).parents[2] / "lit" / "Corpus"


def compiled(name: str) -> str:
    """What `make_ttir` makes of a program."""
    fn, types, constants = PROGRAMS[name]
    names = [n for n in fn.arg_names if n not in constants]
    arguments = dict(zip(names, types.split(), strict=True))
    signature = {n: t.removesuffix(":16") for n, t in arguments.items()}
    attrs = {n: {"tt.divisibility": 16} for n, t in arguments.items() if t.endswith(":16")}
    module = make_module(fn, signature, constants, attrs)
    backend = find_backend(TARGET)
    module = backend.make_ttir(module, {}, options=backend.parse_options({}))
    if name == "desc_copy":  # The file there is for a GPU without descriptors.
        pipeline = "triton-rewrite-tensor-descriptor-to-pointer,canonicalize,cse,canonicalize"
        _C.passes.PassManager.parse(pipeline, module.context).run(module)
    return str(module)


def test_every_kernel_of_the_corpus_is_written():
    assert sorted(PROGRAMS) == sorted(p.stem for p in CORPUS.glob("*.ttir"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_more_operations_than_in_the_corpus(name):
    ours = operations(compiled(name))
    theirs = operations((CORPUS / f"{name}.ttir").read_text())
    more = Counter(ours) - Counter(theirs)
    assert len(ours) <= len(theirs), f"{len(ours)} operations, {len(theirs)} there; more {more}"
