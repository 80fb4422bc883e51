//===-- TypeConverter.h - Types of tt and ttg in the LLVM dialect -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//   tensor<... x T, layout>  ->  struct of T, one per register of the layout
//   !tt.ptr<T, space>        ->  !llvm.ptr<space>
//   !ttg.memdesc<...>        ->  struct (base pointer, one i32 offset per dim)
//   the same not in shared memory  ->  i32, the address
//   !tt.tensordesc<...>      ->  !llvm.ptr
//   !ttg.async.token         ->  i32
//   8-bit floats             ->  i8
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_TYPECONVERTER_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_TYPECONVERTER_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

namespace mlir::triton {

class TritonGPUToLLVMTypeConverter : public LLVMTypeConverter {
public:
  TritonGPUToLLVMTypeConverter(MLIRContext *context,
                               const LowerToLLVMOptions &options,
                               unsigned sharedAddressSpace);

private:
  unsigned sharedAddressSpace;
};

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_TYPECONVERTER_H
