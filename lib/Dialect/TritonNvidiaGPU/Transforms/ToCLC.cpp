//===-- ToCLC.cpp - Kernels that take over the work of others -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The whole kernel becomes the body of a loop over programs. The first program
// is the one that the block was started for.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPUTOCLC
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

constexpr int64_t kAnswerWords = 2;
constexpr int kAnswerBytes = 16;

/// The numbers that a program has: one for each axis that it asks for.
struct Axis {
  ProgramIDDim dim;
  SmallVector<GetProgramIdOp> asks;
};

/// A kernel that is to become a loop.
class Kernel {
public:
  explicit Kernel(FuncOp function) : function(function) {}

  LogicalResult rewrite() {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError(
          "expected a kernel of one block, as a loop is "
          "to run it again");
    collectAxes();
    Block &entry = function.getBody().front();
    auto loop = createLoop(entry);
    Block *body = loop.getAfterBody();
    // All but the return, and but what the loop begins with.
    body->getOperations().splice(body->end(), entry.getOperations(),
                                 std::next(loop->getIterator()),
                                 entry.getTerminator()->getIterator());
    for (auto [axis, number] : llvm::zip(axes, body->getArguments()))
      for (GetProgramIdOp ask : axis.asks) {
        ask.replaceAllUsesWith(number);
        ask.erase();
      }
    askForNext(loop);
    return success();
  }

private:
  void collectAxes() {
    function.walk([&](GetProgramIdOp ask) {
      auto *axis = llvm::find_if(
          axes, [&](const Axis &axis) { return axis.dim == ask.getAxis(); });
      if (axis == axes.end())
        axis = &axes.emplace_back(Axis{ask.getAxis(), {}});
      axis->asks.push_back(ask);
    });
    llvm::sort(axes,
               [](const Axis &a, const Axis &b) { return a.dim < b.dim; });
  }

  /// An empty loop at the start of the kernel. It carries the numbers of the
  /// program, and whether there is one.
  scf::WhileOp createLoop(Block &entry) {
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    Location loc = function.getLoc();
    SmallVector<Value> inits;
    for (const Axis &axis : axes)
      inits.push_back(GetProgramIdOp::create(builder, loc, axis.dim));
    inits.push_back(arith::ConstantIntOp::create(builder, loc, 1, 1));
    SmallVector<Type> types =
        llvm::map_to_vector(inits, [](Value value) { return value.getType(); });
    SmallVector<Location> locations(types.size(), loc);
    auto loop = scf::WhileOp::create(builder, loc, types, inits);
    Block *before =
        builder.createBlock(&loop.getBefore(), {}, types, locations);
    scf::ConditionOp::create(builder, loc, before->getArguments().back(),
                             before->getArguments());
    builder.createBlock(&loop.getAfter(), {}, types, locations);
    return loop;
  }

  /// The body asks at its start, and reads the answer at its end.
  void askForNext(scf::WhileOp loop) {
    Block *body = loop.getAfterBody();
    OpBuilder builder = OpBuilder::atBlockBegin(body);
    Location loc = loop.getLoc();
    MLIRContext *context = builder.getContext();
    unsigned numBlocks = gpu::lookupNumCTAs(loop);
    // Each block of a cluster has the answer.
    auto blocks = gpu::CTALayoutAttr::get(context, {numBlocks}, {1}, {0});
    unsigned lanes = gpu::lookupThreadsPerWarp(loop),
             warps = gpu::lookupNumWarps(loop);
    auto registers = gpu::BlockedEncodingAttr::get(
        context, {unsigned(kAnswerWords)}, {lanes}, {warps}, {0}, blocks);
    auto shared = gpu::SwizzledSharedEncodingAttr::get(
        context, /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1, {0}, blocks);
    Type word = builder.getI64Type();
    auto asked = CLCTryCancelSyncOp::create(
        builder, loc, RankedTensorType::get({kAnswerWords}, word, registers));
    auto buffer = gpu::LocalAllocOp::create(
        builder, loc,
        gpu::MemDescType::get({kAnswerWords}, word, shared,
                              gpu::SharedMemorySpaceAttr::get(context),
                              /*mutableMemory=*/true),
        asked);
    buffer.setAlignmentAttr(builder.getI32IntegerAttr(kAnswerBytes));

    builder.setInsertionPointToEnd(body);
    Value answer = CLCLoadResultOp::create(builder, loc,
                                           builder.getIntegerType(128), buffer);
    Value more =
        CLCIsCanceledOp::create(builder, loc, builder.getI1Type(), answer);
    SmallVector<Value> next;
    for (auto [axis, number] : llvm::zip(axes, body->getArguments()))
      next.push_back(getNext(builder, loc, answer, more, axis.dim, number));
    next.push_back(more);
    scf::YieldOp::create(builder, loc, next);
  }

  /// The number of the next program, which only an answer that names one has.
  static Value getNext(OpBuilder &builder, Location loc, Value answer,
                       Value more, ProgramIDDim dim, Value number) {
    auto branch = scf::IfOp::create(
        builder, loc, more,
        [&](OpBuilder &b, Location l) {
          Value taken =
              CLCGetProgramIdOp::create(b, l, b.getI32Type(), answer, dim);
          scf::YieldOp::create(b, l, taken);
        },
        [&](OpBuilder &b, Location l) { scf::YieldOp::create(b, l, number); });
    return branch.getResult(0);
  }

  FuncOp function;
  SmallVector<Axis, 3> axes;
};

class ToCLCPass : public nvidia_gpu::impl::TritonNvidiaGPUToCLCBase<ToCLCPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<FuncOp> kernels;
    for (auto function : getOperation().getOps<FuncOp>()) {
      if (function.isPublic()) {
        kernels.push_back(function);
        continue;
      }
      WalkResult result = function.walk([](GetProgramIdOp ask) {
        ask.emitOpError("expected to be in a kernel: CLC conversion requires "
                        "all tt.get_program_id operations to be in the root "
                        "function of this kernel after inlining");
        return WalkResult::interrupt();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
    for (FuncOp kernel : kernels) {
      if (kernel.isExternal())
        continue;
      if (failed(Kernel(kernel).rewrite()))
        return signalPassFailure();
      ++numKernels;
    }
  }
};

} // namespace
