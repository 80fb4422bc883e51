//===-- PackedArithOps.td - Arithmetic on pairs ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_PACKEDARITHOPS_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_PACKEDARITHOPS_TD

include "tile/Dialect/Triton/IR/TritonTypes.td"
include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithKind.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUOpBase.td"

// Not a TTNG_Op: it does nothing to memory.
def TTNG_PackedArithOp : Op<TritonNvidiaGPU_Dialect, "packed_arith", [
    Pure, Elementwise, SameOperandsAndResultShape,
    SameOperandsAndResultEncoding, TensorSizeTrait,
    VerifyTensorLayoutsTrait]> {
  let summary = "Arithmetic on several neighbouring elements at once";
  let description = [{
    Computes every element of the result from those of the operands, and rounds
    once. Elements that neighbour each other in a thread take one instruction
    together, where the machine has such a one. `fma` has three operands, all others
    have two. `min` and `max` give the other operand where one is a NaN.

    The operands and the result are of f32, f16 or bf16, all alike. Other
    combinations, also of 8-bit floats, are for sm_107, for which tile has no code.

    Example:

    ```mlir
    %s = ttnvgpu.packed_arith add %a, %b : (tensor<256xf32, #blocked>, tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked>
    %f = ttnvgpu.packed_arith fma %a, %b, %c : (tensor<256xf16, #blocked>, tensor<256xf16, #blocked>, tensor<256xf16, #blocked>) -> tensor<256xf16, #blocked>
    ```
  }];
  let arguments = (ins TTNG_PackedArithKind:$kind, Variadic<TT_Tensor>:$args);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat =
    "$kind $args attr-dict `:` functional-type($args, $result)";
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_PACKEDARITHOPS_TD
