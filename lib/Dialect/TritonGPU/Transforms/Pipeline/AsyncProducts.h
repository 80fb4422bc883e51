//===-- AsyncProducts.h - Matrix products across iterations -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_PIPELINE_ASYNCPRODUCTS_H
#define TILE_LIB_TRITONGPU_PIPELINE_ASYNCPRODUCTS_H

#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/Transforms/FirstUser.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::gpu {

/// Lets the warp-group dots of `loop` run while the threads go on. Those that
/// do nothing but add to an accumulator of their own run into the next
/// iteration, others until their results are used. `rings` are the buffers that
/// copies of this loop fill, with one to spare for what such a dot still reads.
/// Returns the number of dots.
unsigned makeProductsAsync(scf::ForOp &loop, ArrayRef<Value> rings);

/// Whether that would have dots read what copies filled while the next
/// iteration runs.
bool anyProductCanRunOn(scf::ForOp loop, ArrayRef<Value> rings);

/// Whether there are registers for `values` beside the results of all dots
/// of `loop`, if so many blocks share a multiprocessor.
bool haveRegisters(scf::ForOp loop, ArrayRef<Value> values,
                   RegisterPurpose purpose, unsigned numBlocks = 1);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_ASYNCPRODUCTS_H
