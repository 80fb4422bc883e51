//===-- TritonAtomicOps.td - Atomic read-modify-writes --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONATOMICOPS
#define TILE_DIALECT_TRITON_IR_TRITONATOMICOPS

include "tile/Dialect/Triton/IR/TritonOpBase.td"

def TT_AtomicRMWOp : TT_Op<"atomic_rmw", [
    SameOperandsAndResultShape, SameOperandsAndResultEncoding, TT_CustomEffects,
    TypesMatchWith<"value type matches the pointee of 'ptr'",
                   "ptr", "val", "::mlir::triton::getLoadedType($_self)">,
    OptionalTypesMatchWith<"mask is an i1 of the shape of 'ptr'",
                   "ptr", "mask", "::mlir::triton::getMaskType($_self)">,
    AllTypesMatch<["val", "result"]>]> {
  let summary = "Atomic read-modify-write";
  let description = [{
    Replaces each value that `ptr` points to by its combination with `val`, in
    one indivisible step, and returns the value from before. Where `mask` is
    false nothing is accessed and the result is undefined. `sem` orders the
    operation among others, `scope` says with respect to which threads.

    Example:

    ```mlir
    %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<256x!tt.ptr<f32>>, tensor<256xf32>, tensor<256xi1>) -> tensor<256xf32>
    ```
  }];
  let arguments = (ins TT_RMWOpAttr:$atomic_rmw_op, TT_PtrLike:$ptr,
                       TT_Type:$val, Optional<TT_BoolLike>:$mask,
                       TT_MemSemanticAttr:$sem, TT_MemSyncScopeAttr:$scope);
  let results = (outs TT_Type:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict
    `:` functional-type(operands, $result)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_AtomicCASOp : TT_Op<"atomic_cas", [
    SameOperandsAndResultShape, SameOperandsAndResultEncoding, TT_CustomEffects,
    TypesMatchWith<"value type matches the pointee of 'ptr'",
                   "ptr", "val", "::mlir::triton::getLoadedType($_self)">,
    AllTypesMatch<["cmp", "val", "result"]>]> {
  let summary = "Atomic compare-and-swap";
  let description = [{
    Stores `val` where the value in memory equals `cmp` (bit by bit), in one
    indivisible step, and returns the value from before.

    Example:

    ```mlir
    %0 = tt.atomic_cas acq_rel, gpu, %lock, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_Type:$cmp, TT_Type:$val,
                       TT_MemSemanticAttr:$sem, TT_MemSyncScopeAttr:$scope);
  let results = (outs TT_Type:$result);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict
    `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITON_IR_TRITONATOMICOPS
