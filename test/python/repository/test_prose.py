"""scripts/check_prose.py reads the English of every kind of file, and finds what breaks a rule."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

check_prose = pytest.importorskip("check_prose")
extract = check_prose.extract

#: How many exceptions there may be in all. Only a new rule may need some.
MOST_EXCEPTIONS = 0


def test_exceptions_do_not_grow():
    exceptions = check_prose.read_exceptions()
    assert sum(exceptions.values()) <= MOST_EXCEPTIONS
    assert [name for name, _ in exceptions if not (ROOT / name).is_file()] == []


def words(paragraphs) -> list[str]:
    return [" ".join(" ".join(line for _, line in p).split()) for p in paragraphs]


def test_comments_of_cpp():
    text = (
        "//===-- X.cpp - Head ---===//\n"
        "// Two lines are\n// one paragraph.\n//\n// Another one.\n"
        "int f(char c = '\"'); // Beside code.\n"
        "int g();  // Of another line,\n"
        "          // and its next.\n"
        "int h();  // Apart.\n"
        'const char *kText = "// no comment"; const char *kRaw = R"(// nor this)";\n'
        "/* A block\n * of lines. */\n"
        "  // NOLINTNEXTLINE(x)\n"
    )
    found = words(extract.from_cpp(text))
    assert found == [
        "Two lines are one paragraph.",
        "Another one.",
        "Beside code.",
        "Of another line, and its next.",
        "Apart.",
        "A block of lines.",
    ]
    assert extract.from_cpp(text)[0] == [(2, "Two lines are"), (3, "one paragraph.")]


def test_descriptions_of_tablegen():
    text = (
        "// A comment.\n"
        'def X : Pass<"x"> {\n  let summary = "Does " "it";\n'
        "  let description = [{\n    First.\n\n    ```mlir\n    code\n    ```\n  }];\n"
        "  let code = [{ // not read }];\n}\n"
    )
    assert words(extract.from_tablegen(text)) == ["Does it", "First.", "A comment."]
    assert extract.from_tablegen(text)[1] == [(5, "First.")]


def test_comments_and_docstrings_of_python():
    text = (
        '"""Head."""\nx = "# no"  # Beside.\n\n\n'
        'def f():\n    """Says\n    this."""\n    # noqa: X\n'
    )
    assert words(extract.from_python(text)) == ["Beside.", "Head.", "Says this."]
    assert extract.from_python(text)[2] == [(6, "Says"), (7, "this.")]


def test_code_in_docstrings_is_left_out():
    text = '"""Head.\n\n    x = f()\n    y = g()\n\nText.\n"""\n'
    assert words(extract.from_python(text)) == ["Head.", "Text."]
    assert extract.from_python(text)[1] == [(6, "Text.")]


def test_rows_of_a_table_in_a_comment_stand_apart():
    text = "// Fields:\n//   size    a number,\n//           which is even\n//   name    a word\n"
    assert words(extract.from_cpp(text)) == ["Fields:", "a number, which is even", "a word"]


def test_programs_in_comments_are_left_out():
    text = "// Done so:\n//\n//   loop { (a (b)); }\n//   end\n//\n// Text.\n"
    assert words(extract.from_cpp(text)) == ["Done so:", "Text."]


def test_fences_in_comments():
    text = "# Lies so:\n#\n# ```text\n# a a a | b\n# ```\n# And goes on.\n"
    assert words(extract.from_python(text)) == ["Lies so:", "And goes on."]


def test_pages():
    text = (
        "# Head\n\nText with `a (b)` and [a link](x.md).\n\n| a | b |\n|---|---|\n\n"
        "```\ncode\n```\n- One\n- Two\n"
    )
    head, text, *rest = words(extract.from_markdown(text))
    assert head == "Head" and rest == ["a", "b", "One", "Two"]
    assert text.endswith("and a link.") and "(" not in text


def sentence(count: int) -> str:
    return " ".join(f"word{number}" for number in range(count)) + ". "


#: A text that breaks a rule, and its twin that does not.
PAIRS = {
    "sentence-length": (sentence(31), sentence(30)),
    "sentence-length of a text": ("Short. " + sentence(31) + "Short.", 40 * "One. "),
    "nested-brackets": ("A text (with a bracket (in it)).", "A text (with one) and (with two)."),
    "nested-brackets of calls": ("See (there (here)).", "The layout of f(g(x)), (see f(x))."),
    "words": ("Products that run late.", "A cartesian product, and the product of both."),
    "words of loops": ("It loads in each turn.", "It takes turns, and turns to the left."),
    "words of clusters": ("Blocks meet at a barrier.", "Lines meet."),
    "lexical_illusions": ("This is is wrong.", "8192^3 384 and 3, 3."),
}


@pytest.mark.parametrize("name", PAIRS)
def test_rules(name):
    bad, good = PAIRS[name]
    rule = name.split()[0]

    def found(text: str) -> list[str]:
        paragraphs = extract.from_markdown(text.strip())
        return [finding.rule for finding in check_prose.check_paragraphs("x.md", paragraphs)]

    assert rule in found(bad)
    assert found(good) == []


def test_a_finding_says_its_line():
    paragraphs = extract.from_cpp("int x;\n\n// A line.\n// These products run.\n")
    (finding,) = check_prose.check_paragraphs("x.cpp", paragraphs)
    assert str(finding).startswith('x.cpp:4: "products": write "dot"')
