//===-- TritonBlockPointerOps.td - Block pointers ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONBLOCKPOINTEROPS
#define TILE_DIALECT_TRITON_IR_TRITONBLOCKPOINTEROPS

include "tile/Dialect/Triton/IR/TritonOpBase.td"

/// Wide ones are printed with their type: `[%row : i64, %c0]`.
def TT_BlockOffset : AnyTypeOf<[I32, I64]>;

def TT_MakeTensorPtrOp : TT_Op<"make_tensor_ptr", [
    Pure, SameVariadicOperandSize,
    TypesMatchWith<"base points to the elements of the block", "result", "base",
                   "::mlir::triton::getBlockBaseType($_self)">]> {
  let summary = "Pointer to a block of a strided tensor";
  let description = [{
    Describes a tensor in memory by its base address, shape and strides (in
    elements). It points to the block that starts at `offsets`. The shape of
    the block is the one of the pointee. `order` lists the dimensions from the
    fastest varying one.

    Example:

    ```mlir
    %0 = tt.make_tensor_ptr %base, [%m, %k], [%stride, %c1], [%row, %c0] {order = array<i32: 1, 0>} : <tensor<128x32xf16>>
    ```
  }];
  let arguments = (ins TT_ScalarPtr:$base, Variadic<I64>:$shape,
                       Variadic<I64>:$strides, Variadic<TT_BlockOffset>:$offsets,
                       DenseI32ArrayAttr:$order);
  let results = (outs TT_BlockPtr:$result);
  let assemblyFormat = [{
    $base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[`
    custom<BlockOffsets>($offsets, type($offsets)) `]` attr-dict
    `:` type($result)
  }];
  let builders = [
    OpBuilder<(ins "Value":$base, "ValueRange":$shape, "ValueRange":$strides,
                   "ValueRange":$offsets, "ArrayRef<int32_t>":$blockShape,
                   "ArrayRef<int32_t>":$order)>
  ];
  let hasVerifier = 1;
}

def TT_AdvanceOp : TT_Op<"advance", [
    Pure, AllTypesMatch<["ptr", "result"]>]> {
  let summary = "Block pointer moved by offsets";
  let description = [{
    Adds `offsets` (in elements, one per dimension) to the offsets of `ptr`.

    Example:

    ```mlir
    %0 = tt.advance %p, [%c0, %c32] : <tensor<128x32xf16>>
    ```
  }];
  let arguments = (ins TT_BlockPtr:$ptr, Variadic<TT_BlockOffset>:$offsets);
  let results = (outs TT_BlockPtr:$result);
  let assemblyFormat = [{
    $ptr `,` `[` custom<BlockOffsets>($offsets, type($offsets)) `]` attr-dict
    `:` type($result)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITON_IR_TRITONBLOCKPOINTEROPS
