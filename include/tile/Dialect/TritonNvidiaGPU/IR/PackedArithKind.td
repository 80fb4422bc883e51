//===-- PackedArithKind.td - What packed_arith computes ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_PACKEDARITHKIND_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_PACKEDARITHKIND_TD

include "mlir/IR/EnumAttr.td"

def TTNG_PackedArithKind : I32EnumAttr<
    "PackedArithKind", "what is computed of several elements at once", [
    I32EnumAttrCase<"ADD", 0, "add">,
    I32EnumAttrCase<"SUB", 1, "sub">,
    I32EnumAttrCase<"MUL", 2, "mul">,
    I32EnumAttrCase<"FMA", 3, "fma">,
    I32EnumAttrCase<"MIN", 4, "min">,
    I32EnumAttrCase<"MAX", 5, "max">]> {
  let cppNamespace = "::mlir::triton::nvidia_gpu";
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_PACKEDARITHKIND_TD
