//===-- BlockPingpong.cpp - Waves that take turns at a SIMD unit ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A SIMD unit of CDNA runs one wave's matrix instructions while another wave
// accesses memory, if the two are not at the same point of the loop. Where a
// program has one wave on each unit, waves of different programs share the
// unit. Priorities then give the matrix unit to one of them. Where it has two,
// the second half of the waves is held back by one phase, and barriers between
// the phases keep it there.
//
//===----------------------------------------------------------------------===//

#include "amd/IR/Dialect.h"
#include "amd/TargetModel.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-block-pingpong"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUBLOCKPINGPONG
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {
/// SIMD units of a compute unit.
constexpr int kUnits = 4;

/// Bits of the elements that an iteration multiplies, M * N * K of them: how
/// long its dots take. Shorter ones are over before the memory accesses of
/// other waves are; longer ones have no need of others.
constexpr int64_t kMostForPriorities = int64_t(1) << 24;
constexpr int64_t kLeastForTwoPhases = int64_t(1) << 25;
constexpr int64_t kLeastForFourPhases = int64_t(1) << 26;

/// A loop that loads operands ahead, multiplies those in LDS, and writes the
/// loaded ones there.
struct ProductLoop {
  scf::ForOp loop;
  DotOp dot;
  LocalLoadOp a, b;
  Operation *loadA = nullptr, *loadB = nullptr;
  SmallVector<LocalStoreOp> stores;

  int64_t getBits() {
    RankedTensorType type = dot.getA().getType();
    return dot.getType().getNumElements() * type.getShape()[1] *
           type.getElementTypeBitWidth();
  }
  /// Whether operands may be cut into `count` parts along K, of which each is
  /// multiplied by whole instructions.
  bool canSlice(int64_t count) {
    auto mma = cast<AMDMfmaEncodingAttr>(dot.getType().getEncoding());
    auto operand =
        cast<DotOperandEncodingAttr>(dot.getA().getType().getEncoding());
    int64_t k = dot.getA().getType().getShape()[1];
    int64_t least = operand.getKWidth() * (64 / mma.getInstrShape()[0]);
    return k / count >= least && k % count == 0;
  }
};

/// Computes from registers alone, without help of LDS.
bool isArithmetic(Operation &op) {
  return isMemoryEffectFree(&op) && op.getNumRegions() == 0 &&
         !isa<ConvertLayoutOp, GatherOp, HistogramOp, DotOp>(op);
}

std::optional<ProductLoop> match(scf::ForOp loop) {
  ProductLoop found;
  found.loop = loop;
  SmallVector<Operation *> loads;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto load = dyn_cast<LoadOp>(op);
    if ((load && !isFreshRead(load)) || isa<amdgpu::BufferLoadOp>(op)) {
      if (isa<RankedTensorType>(op.getResult(0).getType()))
        loads.push_back(&op);
      continue;
    }
    if (auto dot = dyn_cast<DotOp>(op)) {
      if (found.dot)
        return std::nullopt;
      found.dot = dot;
      continue;
    }
    if (auto store = dyn_cast<LocalStoreOp>(op)) {
      // What is read ahead of the stores is written by them.
      if (!found.dot)
        return std::nullopt;
      found.stores.push_back(store);
      continue;
    }
    if (!isa<LocalLoadOp>(op) && !isArithmetic(op))
      return std::nullopt;
  }
  if (!found.dot || loads.size() != 2 || found.stores.size() != 2 ||
      found.dot.getType().getRank() != 2 ||
      !isa<AMDMfmaEncodingAttr>(found.dot.getType().getEncoding()))
    return std::nullopt;

  // Both operands come from LDS, for this dot alone.
  auto getOperand = [&](Value value) {
    auto read = value.getDefiningOp<LocalLoadOp>();
    return read && read->getBlock() == loop.getBody() && !read.getToken() &&
                   value.hasOneUse()
               ? read
               : LocalLoadOp();
  };
  found.a = getOperand(found.dot.getA());
  found.b = getOperand(found.dot.getB());
  if (!found.a || !found.b)
    return std::nullopt;
  if (llvm::range_size(loop.getBody()->getOps<LocalLoadOp>()) != 2)
    return std::nullopt;

  // Loads come before the dot, and what they loaded is used behind it.
  for (Operation *load : loads) {
    if (!load->isBeforeInBlock(found.dot))
      return std::nullopt;
    for (Operation *user : load->getUsers())
      if (user->getBlock() != loop.getBody() ||
          user->isBeforeInBlock(found.dot))
        return std::nullopt;
  }
  found.loadA = loads[0];
  found.loadB = loads[1];
  return found;
}

class Rewriter {
public:
  explicit Rewriter(ProductLoop &product)
      : product(product), b(product.dot), loc(product.dot.getLoc()) {}

  /// Programs with a wave on each unit: the one that multiplies goes first.
  void setPriorities() {
    setPriority(1);
    b.setInsertionPointAfter(product.dot);
    setPriority(0);
  }

  /// Programs with two waves on each unit: while one reads operands, the other
  /// multiplies those that it read before.
  void takeTurns(unsigned phases) {
    holdBackSecondHalf();
    b.setInsertionPoint(product.dot);
    sum = product.dot.getC();
    if (phases == 2) {
      // The buffers are read completely before the first half writes to them,
      // while the second one still multiplies.
      moveHere(product.loadA);
      Operands first = readSlice(0, 2);
      fence();
      moveHere(product.loadB);
      Operands second = readSlice(1, 2);
      multiplyAlone(first);
      b.setInsertionPointAfter(product.stores.back());
      multiplyAlone(second);
    } else {
      moveHere(product.loadA);
      multiplyAlone(readSlice(0, 4));
      moveHere(product.loadB);
      multiplyAlone(readSlice(1, 4));
      Operands third = readSlice(2, 4), fourth = readSlice(3, 4);
      multiplyAlone(third);
      b.setInsertionPointAfter(product.stores.back());
      multiplyAlone(fourth);
    }
    product.dot.replaceAllUsesWith(sum);
    product.dot.erase();
    product.a.erase();
    product.b.erase();
  }

private:
  struct Operands {
    Value a, b;
  };

  void moveHere(Operation *op) {
    op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  }
  void setPriority(int16_t priority) {
    ROCDL::SetPrioOp::create(b, loc, priority);
  }
  /// No instruction is scheduled across.
  void fence() { ROCDL::SchedBarrier::create(b, loc, /*mask=*/0); }
  void barrier() {
    BarrierOp::create(b, loc, AddrSpace::Local);
    fence();
  }

  Value readSlice(LocalLoadOp load, unsigned kDim, unsigned index,
                  unsigned count) {
    auto source = cast<MemDescType>(load.getSrc().getType());
    SmallVector<int64_t> shape(source.getShape());
    shape[kDim] /= count;
    SmallVector<int32_t> offsets(shape.size(), 0);
    offsets[kDim] = index * shape[kDim];
    auto type =
        MemDescType::get(shape, source.getElementType(), source.getEncoding(),
                         source.getMemorySpace(), source.getMutableMemory(),
                         source.getAllocShape());
    Value slice = MemDescSubsliceOp::create(b, load.getLoc(), type,
                                            load.getSrc(), offsets);
    return LocalLoadOp::create(
        b, load.getLoc(), cast<RankedTensorType>(load.getType()).clone(shape),
        slice);
  }
  Operands readSlice(unsigned index, unsigned count) {
    return {readSlice(product.a, 1, index, count),
            readSlice(product.b, 0, index, count)};
  }

  /// One phase ends, the dot is the next one, and ends, too.
  void multiplyAlone(Operands operands) {
    barrier();
    setPriority(1);
    IRMapping map;
    map.map(product.dot.getA(), operands.a);
    map.map(product.dot.getB(), operands.b);
    map.map(product.dot.getC(), sum);
    sum = b.clone(*product.dot, map)->getResult(0);
    setPriority(0);
    barrier();
  }

  /// Behind the loop, the first half waits for the second one.
  void holdBackSecondHalf() {
    b.setInsertionPoint(product.loop);
    BarrierOp::create(b, loc, AddrSpace::Local);
    Value warp = WarpIdOp::create(b, loc);
    Value half = arith::ConstantIntOp::create(b, loc, kUnits, 32);
    auto compare = [&](arith::CmpIPredicate predicate) -> Value {
      return arith::CmpIOp::create(b, loc, predicate, warp, half);
    };
    Value isSecond = compare(arith::CmpIPredicate::uge);
    Value isFirst = compare(arith::CmpIPredicate::ult);
    amdgpu::CondBarrierOp::create(b, loc, isSecond);
    b.setInsertionPointAfter(product.loop);
    amdgpu::CondBarrierOp::create(b, loc, isFirst);
  }

  ProductLoop &product;
  OpBuilder b;
  Location loc;
  Value sum;
};

struct BlockPingpong : amd::impl::TritonAMDGPUBlockPingpongBase<BlockPingpong> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(amd::TargetModel::get(getOperation())))
      return signalPassFailure();
    // Without a pipeline, there is nothing to do beside the dot.
    if (numStages < 2)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<ProductLoop> product = match(loop))
        transform(*product);
  }

private:
  void transform(ProductLoop &product) {
    int numWarps = lookupNumWarps(product.loop);
    int64_t bits = product.getBits();
    if (priorities && numWarps == kUnits && bits <= kMostForPriorities) {
      Rewriter(product).setPriorities();
      ++numPriorities;
      return;
    }
    // The waves of a program with others inside are not all there.
    if (numWarps != 2 * kUnits || !isAlone(product))
      return;
    unsigned phases = bits >= kLeastForFourPhases && product.canSlice(4)  ? 4
                      : bits >= kLeastForTwoPhases && product.canSlice(2) ? 2
                                                                          : 0;
    if (!phases) {
      LDBG() << "no phases for " << bits << " bits in " << product.dot;
      return;
    }
    Rewriter(product).takeTurns(phases);
    ++numTurns;
  }

  /// Only the end of the iteration takes the result, so that the dot may
  /// move there; and no other waves run code of their own.
  static bool isAlone(ProductLoop &product) {
    return product.dot->hasOneUse() &&
           isa<scf::YieldOp>(*product.dot->user_begin()) &&
           !product.loop->getParentOfType<WarpSpecializeOp>();
  }
};
} // namespace
