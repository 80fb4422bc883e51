//===-- TritonDialect.td - The tt dialect ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONDIALECT
#define TILE_DIALECT_TRITON_IR_TRITONDIALECT

include "mlir/IR/OpBase.td"

def Triton_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::mlir::triton";
  let summary = "Tile-level GPU kernels over tensors of pointers";
  let description = [{
    The dialect in which a kernel is first written down: one *program* of a
    launch grid computes on whole tensors (tiles), whose elements may be numbers
    or pointers. Nothing here says which thread holds which element; that is
    decided by the tensor encodings that the `ttg` dialect adds later, while the
    operations stay the same.

    Arithmetic comes from `arith` and `math`, control flow from `scf` and `cf`.

    ```mlir
    tt.func public @scale(%x: !tt.ptr<f32>, %n: i32) {
      %pid = tt.get_program_id x : i32
      %c128 = arith.constant 128 : i32
      %base = arith.muli %pid, %c128 : i32
      %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
      %bases = tt.splat %base : i32 -> tensor<128xi32>
      %offsets = arith.addi %bases, %range : tensor<128xi32>
      %limit = tt.splat %n : i32 -> tensor<128xi32>
      %mask = arith.cmpi slt, %offsets, %limit : tensor<128xi32>
      %ptrs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
      %p = tt.addptr %ptrs, %offsets : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      %v = tt.load %p, %mask : tensor<128x!tt.ptr<f32>>
      %d = arith.addf %v, %v : tensor<128xf32>
      tt.store %p, %d, %mask : tensor<128x!tt.ptr<f32>>
      tt.return
    }
    ```
  }];

  let dependentDialects = ["arith::ArithDialect", "cf::ControlFlowDialect", "ub::UBDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

#endif // TILE_DIALECT_TRITON_IR_TRITONDIALECT
