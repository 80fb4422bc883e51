//===-- ToCLC.cpp - Kernels that take over the work of others -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The whole kernel becomes the body of a loop over programs. The first program
// is the one that the block was started for.
//
// A kernel may have a loop over programs already, which groups of warps run.
// Then each of these loops goes on with the programs that the groups hand to
// each other (ProgramRing.h). The first partition asks for them: it copies, and
// so it is ahead of the others.
//
//===----------------------------------------------------------------------===//

#include "ProgramRing.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ProgramLoop.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPUTOCLC
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

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
    gpu::MemDescType type = getAnswerType(context, {kAnswerWords}, numBlocks);
    unsigned lanes = gpu::lookupThreadsPerWarp(loop),
             warps = gpu::lookupNumWarps(loop);
    auto registers = gpu::BlockedEncodingAttr::get(
        context, {unsigned(kAnswerWords)}, {lanes}, {warps}, {0},
        gpu::getCTALayout(type.getEncoding()));
    auto asked = CLCTryCancelSyncOp::create(
        builder, loc,
        RankedTensorType::get(type.getShape(), type.getElementType(),
                              registers));
    auto buffer = gpu::LocalAllocOp::create(builder, loc, type, asked);
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

/// The loop over programs that a region of a group of warps has itself.
scf::ForOp findProgramLoop(Region &region) {
  for (auto loop : region.getOps<scf::ForOp>())
    if (loop->hasAttr(kOverProgramsAttrName))
      return loop;
  return {};
}

/// Groups of warps that each have a loop over programs.
class ProgramGroups {
public:
  explicit ProgramGroups(gpu::WarpSpecializeOp specialize)
      : specialize(specialize), loc(specialize.getLoc()) {}

  LogicalResult rewrite() {
    int numWarps = gpu::lookupNumWarps(specialize);
    for (int32_t warps : specialize.getPartitionNumWarps())
      numWarps += warps;
    if (failed(verify()))
      return failure();
    OpBuilder builder(specialize);
    ProgramRing ring = ProgramRing::create(builder, loc, numWarps);
    goOn(findProgramLoop(specialize.getDefaultRegion()), ring, /*asks=*/false);
    bool asks = true;
    for (auto [region, mine] :
         llvm::zip(specialize.getPartitionRegions(), capture(ring))) {
      goOn(findProgramLoop(region), mine, asks);
      asks = false;
    }
    builder.setInsertionPoint(specialize->getBlock()->getTerminator());
    ring.free(builder, loc);
    return success();
  }

private:
  LogicalResult verify() {
    for (Region &region : specialize.getPartitionRegions())
      if (!findProgramLoop(region))
        return specialize.emitOpError("expected a loop over programs in each "
                                      "of its regions, as one of them has one");
    WalkResult result = specialize.walk([](CLCProgramIdOp ask) {
      auto loop = ask->getParentOfType<scf::ForOp>();
      while (loop && !loop->hasAttr(kOverProgramsAttrName))
        loop = loop->getParentOfType<scf::ForOp>();
      if (loop && ask.getIteration() == loop.getInductionVar())
        return WalkResult::advance();
      ask.emitOpError("expected the number of an iteration of the loop over "
                      "programs that it is in, as no other program is known");
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Hands the ring to the partitions. Returns what it is there.
  SmallVector<ProgramRing> capture(const ProgramRing &ring) {
    specialize->insertOperands(specialize->getNumOperands(),
                               {ring.answers, ring.asked, ring.read});
    return llvm::map_to_vector(
        specialize.getPartitionRegions(), [&](Region &region) {
          auto add = [&](Value value) -> Value {
            return region.addArgument(value.getType(), loc);
          };
          Value answers = add(ring.answers), asked = add(ring.asked);
          return ProgramRing{answers, asked, add(ring.read)};
        });
  }

  /// Makes a loop that ends where no program is left. It carries the numbers of
  /// its program, whether there is one, and the number of the iteration.
  static void goOn(scf::ForOp counted, const ProgramRing &ring, bool asks) {
    Location loc = counted.getLoc();
    OpBuilder builder(counted);
    llvm::MapVector<ProgramIDDim, SmallVector<CLCProgramIdOp>> axes;
    counted.walk(
        [&](CLCProgramIdOp ask) { axes[ask.getDim()].push_back(ask); });
    SmallVector<Value> inits;
    for (ProgramIDDim axis : llvm::make_first_range(axes))
      inits.push_back(GetProgramIdOp::create(builder, loc, axis));
    inits.push_back(arith::ConstantIntOp::create(builder, loc, 1, 1));
    inits.push_back(arith::ConstantIntOp::create(builder, loc, 0, 32));
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
    llvm::append_range(inits, counted.getInitArgs());
    SmallVector<Type> types(ValueRange(inits).getTypes());
    SmallVector<Location> locations(types.size(), loc);
    auto loop = scf::WhileOp::create(builder, loc, types, inits);
    Block *before =
        builder.createBlock(&loop.getBefore(), {}, types, locations);
    scf::ConditionOp::create(builder, loc, before->getArgument(axes.size()),
                             before->getArguments());
    Block *body = builder.createBlock(&loop.getAfter(), {}, types, locations);
    Value iteration = body->getArgument(axes.size() + 1);
    ValueRange carried = body->getArguments().drop_front(axes.size() + 2);
    for (auto [axis, number] : llvm::zip(axes, body->getArguments()))
      for (CLCProgramIdOp ask : axis.second) {
        ask.replaceAllUsesWith(number);
        ask.erase();
      }

    Block *old = counted.getBody();
    if (asks)
      ring.ask(builder, loc, iteration);
    body->getOperations().splice(body->end(), old->getOperations());
    counted.getInductionVar().replaceAllUsesWith(iteration);
    for (auto [from, to] : llvm::zip(counted.getRegionIterArgs(), carried))
      from.replaceAllUsesWith(to);
    Operation *yield = body->getTerminator();
    builder.setInsertionPoint(yield);
    Value answer = ring.receive(builder, loc, iteration);
    SmallVector<Value> next;
    for (ProgramIDDim axis : llvm::make_first_range(axes))
      next.push_back(CLCGetProgramIdOp::create(
          builder, loc, builder.getI32Type(), answer, axis));
    next.push_back(
        CLCIsCanceledOp::create(builder, loc, builder.getI1Type(), answer));
    next.push_back(arith::AddIOp::create(builder, loc, iteration, one));
    yield->insertOperands(0, next);
    counted.replaceAllUsesWith(loop.getResults().drop_front(next.size()));
    counted.erase();
  }

  gpu::WarpSpecializeOp specialize;
  Location loc;
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
      gpu::WarpSpecializeOp groups = findGroups(kernel);
      if (failed(groups ? ProgramGroups(groups).rewrite()
                        : Kernel(kernel).rewrite()))
        return signalPassFailure();
      ++numKernels;
    }
  }

private:
  /// The groups of warps that have loops over programs.
  static gpu::WarpSpecializeOp findGroups(FuncOp kernel) {
    for (auto groups : kernel.getOps<gpu::WarpSpecializeOp>())
      if (findProgramLoop(groups.getDefaultRegion()))
        return groups;
    return {};
  }
};

} // namespace
