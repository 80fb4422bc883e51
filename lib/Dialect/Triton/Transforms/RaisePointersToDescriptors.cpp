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
// of the matrix. A descriptor that is of arguments alone is made by the launch
// (LaunchTiles.h).
//
//===----------------------------------------------------------------------===//

#include "ChainedDots.h"
#include "LaunchTiles.h"
#include "MatrixTiles.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/DescriptorArguments.h"
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

/// What the pass may do.
struct Permissions {
  /// Launches may make descriptors.
  bool launchMaps;
  /// Those of a multiprocessor; 0 if copies may get no warps of their own.
  int64_t registers;
  int numStages;
};

/// A load that goes through a descriptor.
struct RaisedLoad {
  MatrixTile tile;
  /// How the launch makes its descriptor, if it does.
  std::optional<LaunchTile> ofLaunch;

  std::optional<int64_t> getMostIterations() const {
    return ofLaunch ? ofLaunch->mostIterations : tile.mostIterations;
  }
};

class LoopRaising {
public:
  LoopRaising(scf::ForOp loop, const ModuleAxisInfoAnalysis &axisInfo,
              ValueRanges &ranges, const Permissions &permissions)
      : loop(loop), permissions(permissions), analysis(loop, axisInfo, ranges),
        forms(analysis.getForms()) {}

  /// Whether launches make the descriptors of all its loads, and nothing has to
  /// be known of their arguments.
  bool isOfLaunch();

  /// Finds the loads; returns how many become others. `chain`: where this pays
  /// in some loops only. `allOfLaunch`: all loops of chains could have
  /// descriptors that launches make.
  unsigned run(const ChainedDots *chain, bool allOfLaunch);

private:
  SmallVector<LoadOp> findLoads();
  std::vector<RaisedLoad> findRaised(ArrayRef<LoadOp> loads, bool quiet);
  std::string findObstacleOf(const ChainedDots &chain, bool allOfLaunch,
                             bool &hasWarps);
  Value makeGuard(ArrayRef<RaisedLoad> raised);
  bool needsGuard(ArrayRef<RaisedLoad> raised);
  void moveIntoBranch(Value guard);
  Value makeDescriptor(const MatrixTile &tile, RankedTensorType block);
  Value makeDescriptorOfLaunch(const RaisedLoad &load, RankedTensorType block);
  Value makeIndex(OpBuilder &builder, Location loc, int64_t factor);
  void raise(const RaisedLoad &raised);
  Value makeSize(OpBuilder &builder, Location loc, const TileLimit &size,
                 int64_t most = MatrixTile::kMostSize);

  scf::ForOp loop;
  const Permissions &permissions;
  MatrixTileAnalysis analysis;
  const AffineForms &forms;
};

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// The size of a matrix as an i32 that keeps its alignment. Coordinates come to
/// no larger one than `most`.
Value LoopRaising::makeSize(OpBuilder &builder, Location loc,
                            const TileLimit &size, int64_t most) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                        value);
  };
  Value exact = constant(most);
  if (size.isKnown) {
    exact = builder.createOrFold<arith::MinSIOp>(
        loc, forms.materialize(builder, loc, size.end), exact);
    exact = builder.createOrFold<arith::MaxSIOp>(loc, exact, constant(0));
  }
  return builder.createOrFold<arith::TruncIOp>(loc, builder.getI32Type(),
                                               exact);
}

/// In front of the loop.
Value LoopRaising::makeDescriptor(const MatrixTile &tile,
                                  RankedTensorType block) {
  Location loc = LoadOp(tile.load).getLoc();
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
  return MakeTensorDescOp::create(builder, loc, TensorDescType::get(block),
                                  base, sizes, strides,
                                  PaddingOption::PAD_ZERO);
}

/// At the top of the kernel.
Value LoopRaising::makeDescriptorOfLaunch(const RaisedLoad &raised,
                                          RankedTensorType block) {
  const auto &[tile, ofLaunch] = raised;
  Location loc = LoadOp(tile.load).getLoc();
  auto function = loop->getParentOfType<FunctionOpInterface>();
  auto builder = OpBuilder::atBlockBegin(&function.getFunctionBody().front());
  Value base = tile.base;
  if (!ofLaunch->offset.isZero())
    base = AddPtrOp::create(builder, loc, base.getType(), base,
                            forms.materialize(builder, loc, ofLaunch->offset));
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes, strides;
  for (const LaunchTile::Axis &axis : ofLaunch->axes) {
    shape.push_back(1);
    sizes.push_back(makeSize(builder, loc, TileLimit(), LaunchTile::kAxisSize));
    strides.push_back(forms.materialize(builder, loc, axis.stride));
  }
  for (unsigned dim : {0, 1}) {
    int64_t extent = block.getDimSize(dim);
    shape.push_back(extent);
    TileLimit size = ofLaunch->sizes[dim];
    // All of the tensor is one tile along it.
    if (!size.isKnown && tile.factors[dim] == 0)
      size = {true, Polynomial::getConstant(extent)};
    // Of a larger one it makes a negative one, which the launch refuses.
    int64_t most =
        size.isKnown ? int64_t(INT32_MAX) + 1 : MatrixTile::kMostSize;
    sizes.push_back(makeSize(builder, loc, size, most));
  }
  strides.push_back(forms.materialize(builder, loc, tile.stride));
  strides.push_back(
      arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 1));
  auto type =
      TensorDescType::get(RankedTensorType::get(shape, block.getElementType()));
  auto make = MakeTensorDescOp::create(builder, loc, type, base, sizes, strides,
                                       PaddingOption::PAD_ZERO);
  make->setAttr(kOfArgumentsAttrName, builder.getUnitAttr());
  return make;
}

static Value castToI32(OpBuilder &builder, Location loc, Value value) {
  Type i32 = builder.getI32Type();
  if (value.getType() == i32)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, i32, value);
  if (value.getType().getIntOrFloatBitWidth() > 32)
    return arith::TruncIOp::create(builder, loc, i32, value);
  return arith::ExtSIOp::create(builder, loc, i32, value);
}

/// How far the loop has come, in rows or columns.
Value LoopRaising::makeIndex(OpBuilder &builder, Location loc, int64_t factor) {
  Value index =
      arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), factor);
  if (factor == 0)
    return index;
  Value progress = castToI32(
      builder, loc,
      TripCount(loop, loc).getProgress(builder, loop.getInductionVar()));
  return factor == 1
             ? progress
             : arith::MulIOp::create(builder, loc, progress, index).getResult();
}

void LoopRaising::raise(const RaisedLoad &raised) {
  const auto &[tile, ofLaunch] = raised;
  LoadOp load = tile.load;
  Location loc = load.getLoc();
  auto type = cast<RankedTensorType>(load.getType());
  bool isTurned = tile.fast == 0;
  SmallVector<int64_t> shape(type.getShape());
  if (isTurned)
    std::swap(shape[0], shape[1]);
  auto block = RankedTensorType::get(shape, type.getElementType());
  Value desc = ofLaunch ? makeDescriptorOfLaunch(raised, block)
                        : makeDescriptor(tile, block);

  SmallVector<Value> indices;
  if (ofLaunch) {
    OpBuilder builder(loop);
    for (const LaunchTile::Axis &axis : ofLaunch->axes)
      indices.push_back(castToI32(builder, loc, axis.coordinate));
  }
  for (unsigned dim : {0, 1}) {
    OpBuilder builder(load);
    Value index = makeIndex(builder, loc, tile.factors[dim]);
    if (ofLaunch && !ofLaunch->starts[dim].isZero()) {
      OpBuilder outside(loop);
      Value start = forms.materialize(outside, loc, ofLaunch->starts[dim]);
      start = castToI32(outside, loc, start);
      index = arith::AddIOp::create(builder, loc, start, index);
    }
    indices.push_back(index);
  }
  OpBuilder builder(load);
  auto loaded = DescriptorLoadOp::create(builder, loc, block, desc, indices,
                                         load.getCache(), load.getEvict());
  loaded->setDiscardableAttrs(llvm::to_vector(load->getDiscardableAttrs()));
  Value result = loaded;
  if (isTurned)
    result = TransOp::create(builder, loc, type, result,
                             builder.getDenseI32ArrayAttr({1, 0}));
  load.replaceAllUsesWith(result);
  load.erase();
}

/// Whether something has to be known of the loop or of arguments.
bool LoopRaising::needsGuard(ArrayRef<RaisedLoad> raised) {
  return llvm::any_of(raised, [](const RaisedLoad &load) {
    return !load.tile.remainders.empty() || load.getMostIterations() ||
           (!load.ofLaunch && !load.tile.stride.getConstantValue());
  });
}

/// Whether all remainders in tiles are what they are of, their rows are some
/// distance apart, and coordinates suffice; null if all of that is known.
Value LoopRaising::makeGuard(ArrayRef<RaisedLoad> raised) {
  llvm::SmallSetVector<unsigned, 4> numbers;
  for (const RaisedLoad &load : raised)
    numbers.insert_range(load.tile.remainders);
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
  for (const RaisedLoad &load : raised)
    if (std::optional<int64_t> most = load.getMostIterations())
      iterations = std::min(iterations.value_or(*most), *most);
  if (iterations)
    require(arith::CmpIPredicate::ule, TripCount(loop).getCount(builder),
            arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                         *iterations));
  // Rows that are all the same one are no matrix for copy engines. Launches see
  // that themselves.
  SmallVector<Polynomial> strides;
  for (const auto &[tile, ofLaunch] : raised)
    if (!ofLaunch && !tile.stride.getConstantValue() &&
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

/// Why descriptors would not pay for what they cost. `hasWarps`: whether copies
/// get warps of their own.
std::string LoopRaising::findObstacleOf(const ChainedDots &chain,
                                        bool allOfLaunch, bool &hasWarps) {
  hasWarps = false;
  if (std::string why = chain.findObstacle(); !why.empty())
    return why;
  hasWarps = true;
  if (gpu::LoopPlan(loop).isWarpSpecialized())
    return "";
  std::string why = permissions.registers == 0
                        ? "its copies may get no warps of their own"
                        : chain.findObstacleOfWarps(permissions.registers);
  if (why.empty())
    return "";
  hasWarps = false;
  if (!permissions.launchMaps)
    return why;
  if (!allOfLaunch)
    return why + ", and the launch cannot make all descriptors of such loops";
  if (gpu::LoopPlan(loop).getNumStages().value_or(permissions.numStages) < 2)
    return why + ", and its iterations do not overlap";
  return "";
}

SmallVector<LoadOp> LoopRaising::findLoads() {
  SmallVector<LoadOp> loads;
  for (LoadOp load : loop.getBody()->getOps<LoadOp>())
    if (isa<RankedTensorType>(load.getType()) && feedsDot(load, loop))
      loads.push_back(load);
  return loads;
}

/// Those of `loads` that can go through descriptors. Says why others cannot,
/// unless this is `quiet`.
std::vector<RaisedLoad> LoopRaising::findRaised(ArrayRef<LoadOp> loads,
                                                bool quiet) {
  std::vector<RaisedLoad> result;
  std::string general = findObstacle(loop).str();
  for (LoadOp load : loads) {
    RaisedLoad raised;
    std::string why =
        general.empty() ? analysis.analyze(load, raised.tile) : general;
    if (!why.empty()) {
      if (!quiet)
        missed("load-by-pointers", load.getLoc(),
               "no descriptor is made for this load: " + why);
      continue;
    }
    if (permissions.launchMaps) {
      LaunchTile ofLaunch;
      why = findLaunchTile(raised.tile, analysis, ofLaunch);
      if (why.empty())
        raised.ofLaunch = ofLaunch;
      else if (!quiet)
        missed("descriptor-by-programs", load.getLoc(),
               "the launch cannot make a descriptor for this load: " + why);
    }
    result.push_back(raised);
  }
  return result;
}

bool LoopRaising::isOfLaunch() {
  SmallVector<LoadOp> loads = findLoads();
  std::vector<RaisedLoad> raised = findRaised(loads, /*quiet=*/true);
  return raised.size() == loads.size() && !needsGuard(raised) &&
         llvm::all_of(raised, [](const RaisedLoad &load) {
           return load.ofLaunch.has_value();
         });
}

unsigned LoopRaising::run(const ChainedDots *chain, bool allOfLaunch) {
  SmallVector<LoadOp> loads = findLoads();
  if (loads.empty())
    return 0;
  std::vector<RaisedLoad> raised = findRaised(loads, /*quiet=*/false);
  if (raised.empty())
    return 0;
  if (chain) {
    bool hasWarps;
    std::string why = findObstacleOf(*chain, allOfLaunch, hasWarps);
    // Of some by pointers beside others nothing was measured.
    if (why.empty() && raised.size() != loads.size())
      why = "other operands of its dots have none";
    if (!why.empty()) {
      missed("loop-by-pointers", loop.getLoc(),
             "no descriptors are made for the loads of this loop: " + why);
      return 0;
    }
    if (hasWarps)
      gpu::LoopPlan(loop).setWarpSpecialized();
  }
  if (needsGuard(raised))
    moveIntoBranch(makeGuard(raised));
  for (const RaisedLoad &load : raised)
    raise(load);
  noteDisjointArguments(loop->getParentOfType<FunctionOpInterface>(),
                        analysis.getAssumptions());
  return raised.size();
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
    Permissions permissions{launchMaps, registers, numStages};
    std::optional<ModuleAxisInfoAnalysis> axisInfo;
    std::optional<ValueRanges> ranges;
    auto analyze = [&] {
      if (axisInfo)
        return;
      axisInfo.emplace(module);
      // As of descriptors that programs make.
      ranges.emplace(module, ValueRangeAnalysis::Overflow::NeverHappens);
    };
    // Of attention with a mask, one loop by pointers and one by descriptors
    // lost up to 19%.
    bool allOfLaunch = launchMaps && onlyChains;
    for (scf::ForOp loop : loops)
      if (allOfLaunch && ChainedDots(loop, numWarps)) {
        analyze();
        allOfLaunch =
            LoopRaising(loop, *axisInfo, *ranges, permissions).isOfLaunch();
      }
    for (scf::ForOp loop : loops) {
      ChainedDots chain(loop, numWarps);
      if (onlyChains && !chain)
        continue;
      analyze();
      unsigned raised = LoopRaising(loop, *axisInfo, *ranges, permissions)
                            .run(onlyChains ? &chain : nullptr, allOfLaunch);
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
