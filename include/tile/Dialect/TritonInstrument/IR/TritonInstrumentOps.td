//===-- TritonInstrumentOps.td - Checks of sanitizers ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONINSTRUMENT_IR_TRITONINSTRUMENTOPS_TD
#define TILE_DIALECT_TRITONINSTRUMENT_IR_TRITONINSTRUMENTOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "tile/Dialect/TritonInstrument/IR/TritonInstrumentDialect.td"

// No other operation reads or writes it, so a check orders nothing else.
def TTI_State : Resource<"::mlir::triton::instrument::State">;

def TTI_CheckOp : Op<TritonInstrument_Dialect, "check",
                     [MemoryEffects<[MemWrite<TTI_State>]>]> {
  let summary = "Call a check of a sanitizer";
  let description = [{
    One thread of the group of warps calls a function of the library of checks. A
    buffer is passed as its address in shared memory. The result of the call is 0,
    or a code. The kernel stops with the message of that code, as with that of an
    assertion. With `everyThread`, all threads call it, and the number of the
    thread comes behind the first argument.

    Example:
    ```mlir
    tti.check "tile_consan_dealloc"(%state, %c0) : !tt.ptr<i8>, i32
    tti.check "tile_consan_end"(%state, %c1) codes [10] messages ["deadlock"] : !tt.ptr<i8>, i32
    ```
  }];
  let arguments = (ins
    StrAttr:$function,
    Variadic<AnyType>:$args,
    UnitAttr:$everyThread,
    DefaultValuedAttr<DenseI32ArrayAttr, "{}">:$codes,
    DefaultValuedAttr<StrArrayAttr, "{}">:$messages);
  let assemblyFormat = [{
    $function `(` $args `)` (`everyThread` $everyThread^)?
    (`codes` $codes^ `messages` $messages)? attr-dict `:` type($args)
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITONINSTRUMENT_IR_TRITONINSTRUMENTOPS_TD
