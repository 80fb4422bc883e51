"""Discardable attributes are declared: dialects verify them, and nobody spells one by hand."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tile import _C

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts/check_attributes.py"


def load():
    spec = importlib.util.spec_from_file_location("check_attributes", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_attributes"] = module
    spec.loader.exec_module(module)
    return module


ATTRIBUTES = load().find_attributes()

#: For each kind of value, what is right and what is wrong.
VALUES = {
    "Unit": (["unit"], ["1 : i32", '"x"']),
    "Flag": (["unit", "true"], ["1 : i32"]),
    "Count": (["0 : i32", "3 : i32"], ["-1 : i32", "1 : i64", "unit", "1.0 : f32"]),
    "Positive": (["1 : i32"], ["0 : i32", "1 : i64"]),
    "PowerOfTwo": (["4 : i32", "1 : i32"], ["3 : i32", "0 : i32", "-4 : i32", '"4"']),
    "Integer": (["-1 : i32", "1 : i64"], ["unit", "[1]"]),
    "NotNegative": (["0 : i32", "1 : i64"], ["-1 : i32", "unit"]),
    "Facts": (
        ["16 : i32", "16 : i64", "dense<[16, 8]> : tensor<2xi32>", "array<i32: 8>"],
        ["0 : i32", "-8 : i32", "unit", "array<i32: 0>"],
    ),
    "Partitions": (["0 : i32", "array<i32: 0, 1>"], ["unit", "0 : i64", "array<i64: 0>"]),
    "PartitionLists": (["[array<i32: 0>, array<i32: 0, 1>]", "[]"], ["[0 : i32]", "unit"]),
    "Offsets": (["0 : i32", "[0 : i32, 16 : i32]"], ["-1 : i32", "[-1 : i32]", "unit"]),
    "Indices": (["array<i32: 0, 1>", "array<i32>"], ["1 : i32", "array<i64: 0>"]),
    "String": (['"cuda:90"'], ['""', "unit"]),
    "Integers": (["[2 : i32, 0 : i32]", "[]"], ["1 : i32", '["a"]']),
    "Strings": (['["a", "b"]', "[]"], ["[1 : i32]", '"a"']),
    "Dictionary": (["{a = 1 : i32}"], ["unit"]),
}

TEXT = """
module attributes {{MODULE}} {{
  tt.func public @kernel(%p: !tt.ptr<f32> {{ARGUMENT}}, %n: i32) -> (i32 {{RESULT}})
      attributes {{FUNCTION}} {{
    %c0 = arith.constant {{OPERATION}} 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {{
      scf.yield
    }} LOOP
    %x = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #ttg.shared_memory, mutable>
    tt.return %n : i32
  }}
}}
""".replace("{{", "{").replace("}}", "}")
SHARED = "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"


def verify(holder: str, name: str, value: str) -> str:
    """What verification says of this attribute there; empty if it is content."""
    dictionary = f'{{"{name}"}}' if value == "unit" else f'{{"{name}" = {value}}}'
    text = SHARED + TEXT
    holder = holder.replace("Any", "Operation")
    for key in ("Module", "Argument", "Result", "Function", "Operation", "Loop"):
        text = text.replace("{" + key.upper() + "}", dictionary if key == holder else "{}")
        text = text.replace(f"}} {key.upper()}", f"}} {dictionary}" if key == holder else "}")
    context = _C.ir.Context()
    for dialect in ("tt", "ttg", "ttnvgpu", "amdg", "proton", "tti"):
        context.load_dialect(dialect)
    try:
        _C.ir.Module.parse(text, context).verify()
    except _C.ir.MLIRError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_values(name):
    attribute = ATTRIBUTES[name]
    right, wrong = VALUES[attribute.value]
    for value in right:
        # About an argument that is no tensor there is one fact.
        if attribute.holder == "Argument" and value.startswith(("dense", "array")):
            continue
        assert verify(attribute.holder, name, value) == "", value
    for value in wrong:
        assert f"'{name}'" in verify(attribute.holder, name, value), value


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_places(name):
    attribute = ATTRIBUTES[name]
    value = VALUES[attribute.value][0][0]
    places = {"Module", "Function", "Loop", "Operation", "Argument", "Result"}
    right = {
        "Any": places,
        "Operation": places - {"Argument", "Result"},
    }.get(attribute.holder, {attribute.holder})
    for place in places:
        complaint = verify(place, name, value)
        assert (f"expected '{name}'" in complaint) == (place not in right), place


def test_names_of_others_are_left_alone():
    for name in ("tt.something", "ttg.other", "loop.more", "tile.else"):
        assert verify("Any", name, "unit") == ""


def check(root: Path) -> list[str]:
    run = subprocess.run(
        [sys.executable, root / "scripts/check_attributes.py"], capture_output=True, text=True
    )
    assert (run.returncode != 0) == bool(run.stderr)
    return run.stderr.splitlines()


def test_tree_spells_no_attribute():
    assert check(ROOT) == []


#: A tree that is right: an attribute, a pass that reads it, a front end that writes it; and one
#: that has an owner, whom passes ask.
TREE = {
    "include/A.td": 'def A : Dialect {\n  let name = "tt";\n}\n',
    "third_party/b/B.td": 'def B : Dialect {\n  let name = "ttg";\n}\n',
    "include/Names.h": 'inline constexpr llvm::StringLiteral kLatencyAttr = "tt.latency";\n'
    'inline constexpr StringLiteral kNumStagesAttr = "tt.num_stages";\n',
    "lib/IR/DeclaredAttributes.cpp": '{kLatencyAttr, Is::Count, On::Operation, "Stages."},\n'
    '{kNumStagesAttr, Is::Count, On::Loop, "Iterations."},\n',
    "lib/Analysis/LoopSchedule.cpp": "int LoopPlan::getNumStages() const {\n"
    "  return getI32(loop, kNumStagesAttr);\n}\n"
    "void LoopPlan::setNumStages(int value) {\n  setI32Attr(loop, kNumStagesAttr, value);\n}\n",
    "lib/Pass.cpp": '// "tt.latency"\nop->getAttr(kLatencyAttr);\n',
    "lib/Asks.cpp": "return LoopPlan(loop).getNumStages() > 1;\n",
    "lib/Decides.cpp": "LoopPlan(loop).setNumStages(1);\n",
    "python/tile/front.py": 'op.set_attribute("tt.latency", 1)\ncreate("tt.load")\n',
    "docs/generated/tt.md": "### `tt.load` (triton::LoadOp)\n",
}

#: What is wrong with a file instead, and what is said of it.
PLANTED = {
    "spelled": (
        "lib/Pass.cpp", 'op->setAttr("tt.latency", x);\n',
        'lib/Pass.cpp:1: write kLatencyAttr instead of "tt.latency"',
    ),
    "undeclared": (
        "lib/Pass.cpp", '\nop->setAttr("ttg.late", x);\n',
        'lib/Pass.cpp:2: "ttg.late" is no declared attribute (docs/howto/add-a-pass.md)',
    ),
    "constant of a pass": (
        "lib/Pass.cpp", 'static constexpr llvm::StringLiteral kLatencyAttr = "tt.latency";\n',
        'lib/Pass.cpp:1: write kLatencyAttr instead of "tt.latency"',
    ),
    "owned": (
        "lib/Pass.cpp", "\nop->hasAttr(kNumStagesAttr);\n",
        "lib/Pass.cpp:2: ask LoopSchedule.h instead of naming kNumStagesAttr",
    ),
    "no row": (
        "include/Other.h", 'inline constexpr StringLiteral kLateAttr =\n    "loop.late";\n',
        '"loop.late" (kLateAttr) has no row in an IR/DeclaredAttributes.cpp',
    ),
    "two constants": (
        "include/Other.h", 'inline constexpr StringLiteral kOtherAttr = "tt.latency";\n',
        '"tt.latency" is spelled twice: kLatencyAttr, kOtherAttr',
    ),
    "two names": (
        "third_party/x/Other.h", 'inline constexpr StringLiteral kLatencyAttr = "tt.latency";\n',
        "kLatencyAttr is declared more than once: tt.latency, tt.latency",
    ),
    "Python": (
        "python/tile/front.py", 'op.set_attribute("tt.latency", 1)\nset_attribute("tt.late", 1)\n',
        'python/tile/front.py:2: "tt.late" is no declared attribute, and no operation',
    ),
    "page": (
        "docs/generated/attributes.md", "",
        "docs/generated/attributes.md is not up to date: run make docs",
    ),
}  # fmt: skip


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    page = tmp_path / "docs/generated/attributes.md"
    command = [sys.executable, tmp_path / "scripts/check_attributes.py", "--write", page]
    subprocess.run(command, check=True)
    return tmp_path


def test_small_tree(tree):
    assert check(tree) == []
    rows = (tree / "docs/generated/attributes.md").read_text().splitlines()
    row = "| `tt.latency` | any operation | i32, not negative | Stages. | `front.py` | `Pass.cpp` |"
    assert row in rows
    row = (
        "| `tt.num_stages` | loop | i32, not negative | Iterations. | `Decides.cpp` | `Asks.cpp` |"
    )
    assert row in rows


@pytest.mark.parametrize("mistake", PLANTED)
def test_planted(tree, mistake):
    name, text, message = PLANTED[mistake]
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)
    assert f"error: {message}" in check(tree)


def test_messages_are_no_reads(tree):
    (tree / "lib/Other.cpp").write_text("error << gpu::kLatencyAttr;\n")
    assert check(tree) == []
