# RUN: llc -x mir -mtriple=amdgcn-amd-amdhsa -mcpu=gfx1100 -start-before=prologepilog %s -o - | filecheck %s
#
# A spill of six registers at offset 4080 is two instructions. The second one is at 4096, for which
# there is no room in 13 bits with a sign: LLVM writes -4096. With offset 4084 in place of 4076 above
# it takes a register for the address, as it should here.
#
# CHECK: scratch_store_b128 off, v[0:3], off offset:4080
# CHECK-NEXT: scratch_store_b64 off, v[4:5], off offset:-4096
---
name: spill
tracksRegLiveness: true
stack:
  - { id: 0, size: 4076, alignment: 4 }
  - { id: 1, type: spill-slot, size: 24, alignment: 4 }
machineFunctionInfo:
  isEntryFunction: true
  scratchRSrcReg: '$sgpr0_sgpr1_sgpr2_sgpr3'
  stackPtrOffsetReg: '$sgpr32'
  frameOffsetReg: '$sgpr33'
body: |
  bb.0:
    liveins: $vgpr0_vgpr1_vgpr2_vgpr3_vgpr4_vgpr5
    SI_SPILL_V192_SAVE killed $vgpr0_vgpr1_vgpr2_vgpr3_vgpr4_vgpr5, %stack.1, $sgpr32, 0, implicit $exec :: (store (s192) into %stack.1, align 4, addrspace 5)
    S_ENDPGM 0
...
