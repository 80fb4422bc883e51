"""What bench/quality counts in machine code: loops, dots in tensor memory, barriers."""

from __future__ import annotations

from measured import quality

nvidia, loops = quality("nvidia"), quality("loops")

#: A loop around two dots. The code that asks a barrier again lies behind the end of the kernel,
#: and the loop's branch has its condition as an operand.
TEXT = """
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0020*/                   UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], idesc[UR11], UP0 ;
        /*0030*/                   UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], idesc[UR11], UP0 ;
        /*0040*/                   UTCBAR [UR10], URZ ;
        /*0050*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR16], R5 ;
        /*0060*/              @!P2 BRA `(.L_x_2) ;
.L_x_3:
        /*0070*/                   BRA.U UP1, `(.L_x_1) ;
        /*0080*/                   LDTM.x64 R4, tmem[UR4] ;
        /*0090*/                   EXIT ;
.L_x_2:
        /*00a0*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR16], R5 ;
        /*00b0*/              @!P2 BRA `(.L_x_2) ;
        /*00c0*/                   BRA `(.L_x_3) ;
.L_x_4:
        /*00d0*/                   BRA `(.L_x_4);
        /*00e0*/                   NOP;
"""


def test_a_loop_with_products_in_tensor_memory():
    found = nvidia.sass_counts(TEXT)
    assert found["sass"] == 13
    assert found["in_tensor_memory"]
    # Seven instructions, and three that ask again.
    assert found["loop"] == 10 / 2
    assert found["loop_barriers"] == 3 / 2
    assert found["tcgen05"] == 3 / 2


def test_products_in_registers_are_not_compared_with_those_in_tensor_memory():
    ours = nvidia.sass_counts(TEXT)
    peer = nvidia.sass_counts(TEXT.replace("UTCHMMA", "HMMA.16816.F32"))
    assert "tcgen05" not in peer
    assert nvidia.is_comparable("registers", ours, peer)
    assert not nvidia.is_comparable("loop", ours, peer)


def test_inner_loops_without_what_is_looked_for_are_part_of_the_outer():
    branches = {2: (2, True), 5: (1, True)}
    assert loops.innermost_loops(7, branches) == [[2]]
    assert loops.innermost_loops(7, branches, of=[4]) == [[1, 2, 3, 4, 5]]


def test_columns_of_tensor_memory():
    text = "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], 128;"
    assert nvidia.tensor_memory_columns(text) == 128
    assert nvidia.tensor_memory_columns("ret;") is None


def test_resident_blocks():
    """Registers, threads, shared memory and columns of tensor memory each allow so many."""
    ptx = ".visible .entry kernel(\n)\n.reqntid 128\n{"

    def blocks(target: str, shared: int, registers: int, columns: int | None = None) -> int:
        found = {"registers": registers, "columns": columns}
        return nvidia.resident_blocks(ptx, target, found, shared)

    assert blocks("sm_100a", 0, 32) == 16
    assert blocks("sm_100a", 0, 126) == 4
    # A kibibyte more for each block.
    assert blocks("sm_120a", 33280, 126) == 2
    assert blocks("sm_120a", 32768, 126) == 3
    assert blocks("sm_100a", 0, 126, columns=256) == 2
    assert "blocks" in nvidia.MORE_IS_BETTER and nvidia.granules(100)["shared"] == 128
