"""What LLVM can assemble for a GPU, and the simulator does not know, is written down."""

from __future__ import annotations

import re
from pathlib import Path

import asmlib
import pytest
from instruction_set import LLVM_MC, instructions, mnemonic

import tile.sim

UNKNOWN = Path(__file__).with_name("unknown_instructions.txt")

#: Forms of instructions that are there, which are refused.
REFUSED = re.compile(
    r"s_c?branch\w*|s_(load|buffer_load|set|get)\w+ .*hwreg|s_barrier_(signal|wait)|s_sendmsg_rtn"
    r"|s_waitcnt_(vm|vs|lgkm)cnt (?!null)|v_mfma\w+ .*(cbsz|abid|blgp)"
    r"|v_cmpx?_class_f16\w+ .*\|[vs]6|v_wmma_b?f16_16x16x16_b?f16 .*op_sel_hi"
    r"|v_pk_fmac_f16_(dpp|sdwa)|v_movrel\w+_dpp|s_set_gpr_idx_on|v_dot2_b?f16_b?f16.*\|"
    r"|buffer_load_[us]\w+ .* lds|global_load_async_to_lds_\w+ .* offset:"
)


def listed(target: str) -> set[str]:
    """Mnemonics that the file names for a target."""
    sections = re.split(r"^\[(\w+)\]$", UNKNOWN.read_text(), flags=re.MULTILINE)
    return set(dict(zip(sections[1::2], sections[2::2], strict=True))[target].split())


def refusal(texts: list[str], target: str) -> str:
    """Why a kernel with these instructions, of which it executes none, is refused."""
    text = asmlib.kernel("@", [], target)
    head = text[: text.index("op:\n") + 4]
    tail = text[text.index("\ts_endpgm\n") :]
    body = "s_endpgm\n" + "\n".join(texts) + "\n"
    try:
        tile.sim.launch(head + body + tail, "op", 1, 32, [])
    except tile.TileError as error:
        return str(error)
    return ""


@pytest.mark.skipif(LLVM_MC is None, reason="needs llvm-mc")
@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"])
def test_every_form_is_known_or_listed(target):
    texts, unknown = instructions(target), listed(target)
    assert len(texts) > 3000
    known = [t for t in texts if mnemonic(t) not in unknown and not REFUSED.match(t)]
    assert refusal(known, target) == ""
    for name in unknown:
        text = next(t for t in texts if mnemonic(t) == name)
        assert "unknown instruction" in refusal([text], target), text
