//===-- FenceProducts.cpp - Multiply before waiting for loads -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pipelined loop loads operands for the next iteration, multiplies, and
// writes what was loaded to LDS. LLVM's scheduler takes matrix instructions for
// arithmetic like any other: it moves them behind the writes, and what makes
// the loaded words ready before them, with the wait for memory that goes with
// it. Then all operands are in registers at once, and the loads have no product
// to arrive behind. A fence for the scheduler keeps the order.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUFENCEPRODUCTS
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {
/// The first write to LDS behind the last product of `loop`; null if there is
/// no product, or nothing is written behind it.
LocalStoreOp findWriteBehindProducts(scf::ForOp loop) {
  LocalStoreOp first;
  bool hasProduct = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isa<DotOp, DotScaledOp>(op)) {
      hasProduct = true;
      first = {};
    } else if (auto write = dyn_cast<LocalStoreOp>(op);
               write && hasProduct && !first) {
      first = write;
    }
  }
  return first;
}

struct FenceProducts : amd::impl::TritonAMDGPUFenceProductsBase<FenceProducts> {
  void runOnOperation() override {
    getOperation().walk([&](scf::ForOp loop) {
      LocalStoreOp write = findWriteBehindProducts(loop);
      if (!write)
        return;
      OpBuilder b(write);
      ROCDL::SchedBarrier::create(b, write.getLoc(), /*mask=*/0);
      ++numFences;
    });
  }
};
} // namespace
