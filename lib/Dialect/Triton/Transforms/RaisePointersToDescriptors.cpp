//===-- RaisePointersToDescriptors.cpp - Tiles by copy engines ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A load by pointers whose addresses are the rows of a matrix becomes a load
// through a descriptor, so that a copy engine can do it. The loads are those of
// operands of dots in loops:
//
//   address(i, j) = base + (row + i) * stride + (column + j)
//
// Everything that the loop leaves as it is goes into the base of the
// descriptor. Its coordinates say how far the loop has come. So a copy reads
// what the load would read, and nothing else. Bounds in masks become the shape
// of the matrix.
//
//===----------------------------------------------------------------------===//

#include "ChainedDots.h"
#include "MatrixTiles.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#define DEBUG_TYPE "triton-raise-pointers-to-descriptors"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONRAISEPOINTERSTODESCRIPTORS
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace {

//===----------------------------------------------------------------------===//
// What is looked for
//===----------------------------------------------------------------------===//

/// Whether a dot of `loop` multiplies `value`, as it is, turned or converted.
bool feedsDot(Value value, scf::ForOp loop) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (!loop->isProperAncestor(user))
      return false;
    if (isa<DotOp>(user))
      return use.getOperandNumber() < 2;
    if (isa<TransOp>(user))
      return feedsDot(user->getResult(0), loop);
    return user->hasTrait<mlir::OpTrait::Elementwise>() &&
           user->getNumResults() == 1 && feedsDot(user->getResult(0), loop);
  });
}

/// Why a loop is left alone as a whole.
StringRef findObstacle(scf::ForOp loop) {
  auto function = loop->getParentOfType<FunctionOpInterface>();
  if (!function || !function.isPublic())
    return "it is in a function that is called";
  if (!llvm::hasSingleElement(function.getFunctionBody()))
    return "its function has jumps";
  for (Operation *parent = loop->getParentOp(); parent != function;
       parent = parent->getParentOp())
    if (!isa<scf::IfOp>(parent))
      return "its loop is in another one";
  return "";
}

class LoopRaising {
public:
  LoopRaising(scf::ForOp loop, const ModuleAxisInfoAnalysis &axisInfo,
              ValueRanges &ranges)
      : loop(loop), analysis(loop, axisInfo, ranges),
        forms(analysis.getForms()) {}

  /// Finds the loads; returns how many become others. Where `chain` is given,
  /// the loop is left alone unless it pays, and its copies get warps of their
  /// own. A multiprocessor has so many `registers`; 0 if copies may get none.
  unsigned run(const ChainedDots *chain, int64_t registers);

private:
  std::string findObstacleOf(const ChainedDots &chain, int64_t registers);
  Value makeGuard(ArrayRef<MatrixTile> tiles);
  void moveIntoBranch(Value guard);
  void raise(const MatrixTile &tile);
  Value makeSize(OpBuilder &builder, Location loc, const TileLimit &size);

  scf::ForOp loop;
  MatrixTileAnalysis analysis;
  const AffineForms &forms;
};

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// The size of a matrix as an i32 that keeps its alignment. Coordinates come to
/// no larger one.
Value LoopRaising::makeSize(OpBuilder &builder, Location loc,
                            const TileLimit &size) {
  Value most = arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                            MatrixTile::kMostSize);
  Value zero =
      arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 0);
  Value exact = size.isKnown ? forms.materialize(builder, loc, size.end) : most;
  if (size.isKnown) {
    exact = builder.createOrFold<arith::MinSIOp>(loc, exact, most);
    exact = builder.createOrFold<arith::MaxSIOp>(loc, exact, zero);
  }
  return builder.createOrFold<arith::TruncIOp>(loc, builder.getI32Type(),
                                               exact);
}

void LoopRaising::raise(const MatrixTile &tile) {
  LoadOp load = tile.load;
  Location loc = load.getLoc();
  auto type = cast<RankedTensorType>(load.getType());
  bool isTurned = tile.fast == 0;
  SmallVector<int64_t> shape(type.getShape());
  if (isTurned)
    std::swap(shape[0], shape[1]);
  auto block = RankedTensorType::get(shape, type.getElementType());

  OpBuilder builder(loop);
  Value offset = forms.materialize(builder, loc, tile.offset);
  Value base = tile.offset.isZero()
                   ? tile.base
                   : AddPtrOp::create(builder, loc, tile.base.getType(),
                                      tile.base, offset)
                         .getResult();
  Value sizes[2] = {makeSize(builder, loc, tile.sizes[0]),
                    makeSize(builder, loc, tile.sizes[1])};
  Value strides[2] = {
      forms.materialize(builder, loc, tile.stride),
      arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 1)};
  Value desc =
      MakeTensorDescOp::create(builder, loc, TensorDescType::get(block), base,
                               sizes, strides, PaddingOption::PAD_ZERO);

  builder.setInsertionPoint(load);
  SmallVector<Value> indices;
  for (int64_t factor : tile.factors) {
    Type i32 = builder.getI32Type();
    Value index = arith::ConstantIntOp::create(builder, loc, i32, factor);
    if (factor != 0) {
      Value progress =
          TripCount(loop, loc).getProgress(builder, loop.getInductionVar());
      if (progress.getType().isIndex())
        progress = arith::IndexCastOp::create(builder, loc, i32, progress);
      else if (progress.getType() != i32)
        progress = progress.getType().getIntOrFloatBitWidth() > 32
                       ? arith::TruncIOp::create(builder, loc, i32, progress)
                             .getResult()
                       : arith::ExtSIOp::create(builder, loc, i32, progress)
                             .getResult();
      index = factor == 1 ? progress
                          : arith::MulIOp::create(builder, loc, progress, index)
                                .getResult();
    }
    indices.push_back(index);
  }
  auto raised = DescriptorLoadOp::create(builder, loc, block, desc, indices,
                                         load.getCache(), load.getEvict());
  raised->setDiscardableAttrs(llvm::to_vector(load->getDiscardableAttrs()));
  Value result = raised;
  if (isTurned)
    result = TransOp::create(builder, loc, type, result,
                             builder.getDenseI32ArrayAttr({1, 0}));
  load.replaceAllUsesWith(result);
  load.erase();
}

/// Whether all remainders in `tiles` are what they are of, their rows are some
/// distance apart, and coordinates suffice; null if all of that is known.
Value LoopRaising::makeGuard(ArrayRef<MatrixTile> tiles) {
  llvm::SmallSetVector<unsigned, 4> numbers;
  for (const MatrixTile &tile : tiles)
    numbers.insert_range(tile.remainders);
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value all;
  auto require = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    Value holds = builder.createOrFold<arith::CmpIOp>(loc, predicate, lhs, rhs);
    all = all ? builder.createOrFold<arith::AndIOp>(loc, all, holds) : holds;
  };
  for (unsigned number : numbers) {
    const Remainder &remainder = forms.getRemainder(number);
    Type i64 = builder.getI64Type();
    Value first = forms.materialize(builder, loc, remainder.first);
    Value last = forms.materialize(builder, loc,
                                   remainder.first +
                                       Polynomial::getConstant(remainder.last));
    Value divisor = remainder.divisor;
    if (divisor.getType() != i64)
      divisor = arith::ExtSIOp::create(builder, loc, i64, divisor);
    if (!analysis.isNonNegative(remainder.first))
      require(arith::CmpIPredicate::sge, first,
              arith::ConstantIntOp::create(builder, loc, i64, 0));
    require(arith::CmpIPredicate::slt, last, divisor);
  }
  std::optional<int64_t> iterations;
  for (const MatrixTile &tile : tiles)
    if (std::optional<int64_t> most = tile.mostIterations)
      iterations = std::min(iterations.value_or(*most), *most);
  if (iterations)
    require(arith::CmpIPredicate::ule, TripCount(loop).getCount(builder),
            arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                         *iterations));
  // Rows that are all the same one are no matrix for copy engines.
  SmallVector<Polynomial> strides;
  for (const MatrixTile &tile : tiles)
    if (!tile.stride.getConstantValue() &&
        !llvm::is_contained(strides, tile.stride))
      strides.push_back(tile.stride);
  for (const Polynomial &stride : strides)
    require(
        arith::CmpIPredicate::sgt, forms.materialize(builder, loc, stride),
        arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 0));
  return all;
}

/// Has the loop run if `guard` holds, and else one that is like it now.
void LoopRaising::moveIntoBranch(Value guard) {
  SmallVector<unsigned> used;
  SmallVector<Type> types;
  for (OpResult result : loop->getResults())
    if (!result.use_empty()) {
      used.push_back(result.getResultNumber());
      types.push_back(result.getType());
    }
  OpBuilder builder(loop);
  auto branch = scf::IfOp::create(builder, loop.getLoc(), types, guard,
                                  /*withElseRegion=*/true);
  for (auto [number, result] : llvm::zip(used, branch.getResults()))
    loop->getResult(number).replaceAllUsesWith(result);
  auto fill = [&](Region &region, Operation *last) {
    if (region.front().mightHaveTerminator())
      region.front().getTerminator()->erase();
    SmallVector<Value> results;
    for (unsigned number : used)
      results.push_back(last->getResult(number));
    OpBuilder inside = OpBuilder::atBlockEnd(&region.front());
    scf::YieldOp::create(inside, loop.getLoc(), results);
    last->moveBefore(region.front().getTerminator());
  };
  fill(branch.getElseRegion(), builder.clone(*loop));
  fill(branch.getThenRegion(), loop);
}

void missed(StringRef name, Location loc, StringRef what) {
  remark::missed(loc, remark::RemarkOpts::name(name).category(DEBUG_TYPE))
      << what;
}

/// Why descriptors would not pay for what they cost.
std::string LoopRaising::findObstacleOf(const ChainedDots &chain,
                                        int64_t registers) {
  if (std::string why = chain.findObstacle(); !why.empty())
    return why;
  if (gpu::LoopPlan(loop).isWarpSpecialized())
    return "";
  if (registers == 0)
    return "its copies may get no warps of their own";
  return chain.findObstacleOfWarps(registers);
}

unsigned LoopRaising::run(const ChainedDots *chain, int64_t registers) {
  SmallVector<LoadOp> loads;
  for (LoadOp load : loop.getBody()->getOps<LoadOp>())
    if (isa<RankedTensorType>(load.getType()) && feedsDot(load, loop))
      loads.push_back(load);
  if (loads.empty())
    return 0;
  std::vector<MatrixTile> tiles;
  std::string general = findObstacle(loop).str();
  for (LoadOp load : loads) {
    MatrixTile tile;
    std::string why = general.empty() ? analysis.analyze(load, tile) : general;
    if (why.empty())
      tiles.push_back(tile);
    else
      missed("load-by-pointers", load.getLoc(),
             "no descriptor is made for this load: " + why);
  }
  if (tiles.empty())
    return 0;
  if (chain) {
    std::string why = findObstacleOf(*chain, registers);
    // Of some by pointers beside others nothing was measured.
    if (why.empty() && tiles.size() != loads.size())
      why = "other operands of its dots have none";
    if (!why.empty()) {
      missed("loop-by-pointers", loop.getLoc(),
             "no descriptors are made for the loads of this loop: " + why);
      return 0;
    }
    gpu::LoopPlan(loop).setWarpSpecialized();
  }
  if (Value guard = makeGuard(tiles))
    moveIntoBranch(guard);
  for (const MatrixTile &tile : tiles)
    raise(tile);
  noteDisjointArguments(loop->getParentOfType<FunctionOpInterface>(),
                        analysis.getAssumptions());
  return tiles.size();
}

/// Lets go of what a loop only carries to itself, as pointers that no load uses
/// any more. Canonicalization removes what comes back unchanged.
void dropUnused(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [number, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!loop.getResult(number).use_empty())
      continue;
    llvm::SetVector<Value> work;
    work.insert(arg);
    bool isUsed = false;
    for (size_t i = 0; i < work.size() && !isUsed; ++i)
      for (OpOperand &use : work[i].getUses()) {
        Operation *user = use.getOwner();
        if (user == yield) {
          isUsed |= use.getOperandNumber() != number;
          continue;
        }
        isUsed |= !isMemoryEffectFree(user) || user->getNumRegions() != 0 ||
                  user->hasTrait<mlir::OpTrait::IsTerminator>();
        work.insert(user->result_begin(), user->result_end());
      }
    if (!isUsed)
      yield->setOperand(number, arg);
  }
}

struct RaisePointersToDescriptors
    : public triton::impl::TritonRaisePointersToDescriptorsBase<
          RaisePointersToDescriptors> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<scf::ForOp> loops;
    module.walk([&](DotOp dot) {
      auto loop = dot->getParentOfType<scf::ForOp>();
      if (loop && !llvm::is_contained(loops, loop))
        loops.push_back(loop);
    });
    if (loops.empty())
      return;
    std::optional<ModuleAxisInfoAnalysis> axisInfo;
    std::optional<ValueRanges> ranges;
    for (scf::ForOp loop : loops) {
      ChainedDots chain(loop, numWarps);
      if (onlyChains && !chain)
        continue;
      if (!axisInfo) {
        axisInfo.emplace(module);
        // As of descriptors that programs make.
        ranges.emplace(module, ValueRangeAnalysis::Overflow::NeverHappens);
      }
      unsigned raised = LoopRaising(loop, *axisInfo, *ranges)
                            .run(onlyChains ? &chain : nullptr, registers);
      if (raised == 0)
        continue;
      numLoads += raised;
      dropUnused(loop);
      // They know values that are gone.
      axisInfo.reset();
      ranges.reset();
    }
  }
};

} // namespace
