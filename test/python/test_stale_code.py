"""What runs is the code that exists: after reloads, edits of files, and new values
of the names that a kernel refers to."""

from __future__ import annotations

import importlib
import sys
import textwrap

import numpy as np
import pytest

import tile

pytestmark = pytest.mark.both_ways


class Module:
    """A module in a file, to be edited and imported again."""

    def __init__(self, folder, name: str) -> None:
        self.path = folder / f"{name}.py"
        self.name = name
        self.module = None

    def write(self, text: str) -> None:
        self.path.write_text("import tile\nimport tile.language as tl\n" + textwrap.dedent(text))
        importlib.invalidate_caches()

    def load(self):
        if self.module is None:
            self.module = importlib.import_module(self.name)
        else:
            self.module = importlib.reload(self.module)
        return self.module


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    # Files are written faster than the time stamps of byte code tell apart.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = []

    def make(name: str = "edited_kernels") -> Module:
        made.append(Module(tmp_path, name))
        return made[-1]

    yield make
    for each in made:
        sys.modules.pop(each.name, None)


def value_of(kernel) -> int:
    out = np.zeros(1, np.int32)
    kernel[(1,)](out)
    return int(out[0])


def test_reload_runs_the_new_text(module):
    source = module()
    source.write("@tile.jit\ndef kernel(out):\n    tl.store(out, 1)\n")
    assert value_of(source.load().kernel) == 1
    source.write("# A line more.\n\n@tile.jit\ndef kernel(out):\n    tl.store(out, 2)\n")
    assert value_of(source.load().kernel) == 2


def test_an_edit_without_reload_changes_nothing(module):
    source = module()
    source.write("@tile.jit\ndef kernel(out):\n    tl.store(out, 1)\n")
    kernel = source.load().kernel
    source.write("\n\n@tile.jit\ndef kernel(out):\n    tl.store(out, 2)\n")
    assert value_of(kernel) == 1


def test_functions_made_after_an_edit_have_the_text_that_was_imported(module):
    source = module()
    text = """
    @tile.jit
    def first(out):
        tl.store(out, 1)

    def make():
        @tile.jit
        def kernel(out):
            tl.store(out, {})
        return kernel
    """
    source.write(text.format(1))
    make = source.load().make
    source.write("\n\n\n" + text.format(2))
    assert value_of(make()) == 1
    assert value_of(source.load().make()) == 2


def test_a_kernel_of_before_a_reload_stays_as_it_was(module):
    source = module()
    source.write("@tile.jit\ndef kernel(out):\n    tl.store(out, 1)\n")
    old = source.load().kernel
    source.write("\n\n@tile.jit\ndef kernel(out):\n    tl.store(out, 2)\n")
    new = source.load().kernel
    assert (value_of(old), value_of(new)) == (1, 2)


def test_errors_show_the_line_that_was_compiled(module):
    source = module()
    source.write("@tile.jit\ndef kernel(out):\n    tl.store(out, tl.arange(0, 3))\n")
    kernel = source.load().kernel
    source.write("\n# Nothing of this is compiled.\n\n\n")
    with pytest.raises(tile.CompilationError, match=r"tl.store\(out, tl.arange\(0, 3\)\)"):
        value_of(kernel)
