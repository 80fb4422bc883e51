//===-- InlineProgramLoop.cpp - Programs that do not overlap --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A loop over programs was made so that it is divided among warps. Where it was
// not, the kernel becomes again what runs one program.
//
// A loop that was divided is not pipelined: the number of the next program is
// not known early.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ProgramLoop.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "triton-nvidia-inline-program-loop"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAINLINEPROGRAMLOOP
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

class InlineProgramLoopPass
    : public nvidia_gpu::impl::TritonNvidiaInlineProgramLoopBase<
          InlineProgramLoopPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (!loop->hasAttr(kOverProgramsAttrName))
        return;
      if (loop->getParentOfType<gpu::WarpSpecializeOp>())
        gpu::LoopPlan(loop).setNumStages(1);
      else
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      remark::missed(loop.getLoc(),
                     remark::RemarkOpts::name("programs-do-not-overlap")
                         .category(DEBUG_TYPE))
          << "the next program begins when this one has ended, as warps are "
             "not divided for both";
      inlineBody(loop);
      ++numLoops;
    }
  }

private:
  /// Puts the work of the first iteration in the place of the loop.
  static void inlineBody(scf::ForOp loop) {
    loop->walk([](CLCProgramIdOp ask) {
      OpBuilder builder(ask);
      Value number =
          GetProgramIdOp::create(builder, ask.getLoc(), ask.getDim());
      ask.replaceAllUsesWith(number);
      ask.erase();
    });
    IRRewriter rewriter(loop);
    Operation *yield = loop.getBody()->getTerminator();
    SmallVector<Value> arguments{loop.getLowerBound()};
    llvm::append_range(arguments, loop.getInitArgs());
    rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
    rewriter.replaceOp(loop, yield->getOperands());
    rewriter.eraseOp(yield);
  }
};

} // namespace
