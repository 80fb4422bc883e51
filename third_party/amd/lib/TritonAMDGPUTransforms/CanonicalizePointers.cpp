//===-- CanonicalizePointers.cpp - tritonamdgpu-canonicalize-pointers -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/BufferBase.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"
#include "amd/TritonAMDGPUTransforms/UniformOffsets.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/DeadValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-canonicalize-pointers"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUCANONICALIZEPOINTERS
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;

//===----------------------------------------------------------------------===//
// Pointers that loops advance
//===----------------------------------------------------------------------===//

static bool isPointerTensor(Value value) {
  return isa<RankedTensorType>(value.getType()) &&
         isa<PointerType>(getElementTypeOrSelf(value.getType()));
}

/// The offsets, the same for all elements, by which `value` is ahead of `arg`;
/// nullopt if it is not that.
static std::optional<SmallVector<Value>> getAdvance(Value value,
                                                    BlockArgument arg) {
  SmallVector<Value> offsets;
  while (value != arg) {
    auto add = value.getDefiningOp<AddPtrOp>();
    if (!add || !isSplat(add.getOffset()))
      return std::nullopt;
    offsets.push_back(add.getOffset());
    value = add.getPtr();
  }
  return offsets;
}

static Value advance(OpBuilder &b, Location loc, Value pointers, Value by) {
  auto type = cast<RankedTensorType>(pointers.getType());
  Value splat = SplatOp::create(b, loc, type.clone(by.getType()), by);
  return AddPtrOp::create(b, loc, type, pointers, splat);
}

/// Makes the loop carry by how much pointers are ahead of their start, instead
/// of the pointers. Returns how many.
static unsigned carryAdvances(scf::ForOp loop) {
  SmallVector<std::pair<unsigned, SmallVector<Value>>> advanced;
  for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs()))
    if (isPointerTensor(arg))
      if (auto offsets = getAdvance(loop.getYieldedValues()[i], arg);
          offsets && !offsets->empty())
        advanced.emplace_back(i, *offsets);
  if (advanced.empty())
    return 0;
  Location loc = loop.getLoc();
  IRRewriter rewriter(loop);
  Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 64);
  SmallVector<Value> inits(advanced.size(), zero);
  unsigned before = loop.getNumRegionIterArgs();
  auto yields = [&](OpBuilder &b, Location loc, ArrayRef<BlockArgument> args) {
    SmallVector<Value> values;
    for (auto [arg, entry] : llvm::zip(args, advanced)) {
      Value sum = arg;
      for (Value offset : entry.second) {
        Value step = toI64(b, loc, makeScalar(b, offset));
        sum = arith::AddIOp::create(b, loc, sum, step);
      }
      values.push_back(sum);
    }
    return values;
  };
  auto made = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yields));
  for (auto [n, entry] : llvm::enumerate(advanced)) {
    unsigned i = entry.first;
    Value start = made.getInitArgs()[i];
    rewriter.setInsertionPointToStart(made.getBody());
    Value inside =
        advance(rewriter, loc, start, made.getRegionIterArg(before + n));
    made.getRegionIterArg(i).replaceAllUsesWith(inside);
    rewriter.setInsertionPointAfter(made);
    Value after = advance(rewriter, loc, start, made.getResult(before + n));
    made.getResult(i).replaceAllUsesWith(after);
  }
  return advanced.size();
}

//===----------------------------------------------------------------------===//
// Bases and offsets
//===----------------------------------------------------------------------===//

namespace {
/// base + offset.
struct Address {
  Value base;
  /// i32; null for zero.
  Value offset;
  /// What the offset does not exceed.
  int64_t max = 0;
  bool isNonNegative = true;
  /// Where the base comes from, and whether it only went up from there.
  Value origin;
  bool onlyUp = true;
};

class Addresses {
public:
  explicit Addresses(const OffsetRanges &ranges) : ranges(ranges) {}

  std::optional<Address> get(Value pointers) {
    auto it = known.find(pointers);
    if (it != known.end())
      return it->second;
    std::optional<Address> address;
    if (Operation *op = pointers.getDefiningOp())
      address = llvm::TypeSwitch<Operation *, std::optional<Address>>(op)
                    .Case([&](SplatOp splat) { return ofSplat(splat); })
                    .Case([&](AddPtrOp add) { return ofSum(add); })
                    .Case<BroadcastOp, ExpandDimsOp, gpu::ConvertLayoutOp>(
                        [&](auto view) { return ofView(view); })
                    .Default([](Operation *) { return std::nullopt; });
    known[pointers] = address;
    return address;
  }

private:
  std::optional<Address> ofSplat(SplatOp splat) {
    Address address;
    address.base = splat.getSrc();
    address.origin = address.base;
    return address;
  }

  std::optional<Address> ofSum(AddPtrOp add) {
    std::optional<Address> address = get(add.getPtr());
    if (!address)
      return std::nullopt;
    OpBuilder b(add);
    auto parts = splitOffset(b, add.getOffset(), ranges);
    if (!parts)
      return std::nullopt;
    bool goesUp = ranges.isNonNegative(add.getOffset());
    address->onlyUp &= goesUp;
    // The bits that were cut are zero in what is accessed of a small buffer.
    if (parts->isCut &&
        !(address->onlyUp && requireSmallBuffer(address->origin, ranges)))
      return std::nullopt;
    if (parts->scalar)
      address->base = AddPtrOp::create(b, add.getLoc(), address->base.getType(),
                                       address->base, parts->scalar);
    if (!parts->tensor)
      return address;
    if (!address->offset) {
      address->offset = parts->tensor;
      address->max = parts->max;
      address->isNonNegative = goesUp;
      return address;
    }
    // The sum has to be known to have 32 bits.
    address->isNonNegative &= goesUp;
    address->max = address->max > INT32_MAX - parts->max
                       ? INT64_MAX
                       : address->max + parts->max;
    if (!address->isNonNegative ||
        (address->max > INT32_MAX &&
         !(address->onlyUp && requireSmallBuffer(address->origin, ranges))))
      return std::nullopt;
    address->offset =
        arith::AddIOp::create(b, add.getLoc(), address->offset, parts->tensor);
    return address;
  }

  std::optional<Address> ofView(Operation *op) {
    std::optional<Address> address = get(op->getOperand(0));
    if (!address || !address->offset)
      return address;
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    OperationState state(op->getLoc(), op->getName(), address->offset,
                         type.clone(b.getI32Type()), op->getAttrs());
    address->offset = b.create(state)->getResult(0);
    return address;
  }

  const OffsetRanges &ranges;
  llvm::DenseMap<Value, std::optional<Address>> known;
};

struct CanonicalizePointers
    : amd::impl::TritonAMDGPUCanonicalizePointersBase<CanonicalizePointers> {
  using Base::Base;

  void runOnOperation() override {
    Operation *root = getOperation();
    SmallVector<scf::ForOp> loops;
    // Inner loops first: what they leave is an offset to what they start from.
    root->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      numCarried += carryAdvances(loop);

    auto ranges = OffsetRanges::compute(root);
    if (failed(ranges))
      return signalPassFailure();
    Addresses addresses(**ranges);
    root->walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<LoadOp, StoreOp, AtomicRMWOp, AtomicCASOp>(
              [&](auto access) { rewrite(addresses, access.getPtrMutable()); })
          .Case([&](gpu::AsyncCopyGlobalToLocalOp copy) {
            rewrite(addresses, copy.getSrcMutable());
          })
          .Default([](Operation *) {});
    });
    root->walk([](FunctionOpInterface function) {
      if (!function.isExternal())
        gpu::eraseDeadValues(function);
    });
  }

private:
  void rewrite(Addresses &addresses, OpOperand &operand) {
    Value pointers = operand.get();
    Operation *def = pointers.getDefiningOp();
    if (!isPointerTensor(pointers) || !def)
      return;
    // Already of that form.
    auto add = dyn_cast<AddPtrOp>(def);
    std::optional<Address> address = addresses.get(pointers);
    if (!address || !address->offset ||
        (add && add.getOffset() == address->offset &&
         add.getPtr().getDefiningOp<SplatOp>()))
      return;
    OpBuilder b(operand.getOwner());
    Location loc = def->getLoc();
    Value splat = SplatOp::create(b, loc, pointers.getType(), address->base);
    auto made =
        AddPtrOp::create(b, loc, pointers.getType(), splat, address->offset);
    made->setDiscardableAttrs(def->getDiscardableAttrDictionary());
    operand.set(made);
    ++numAccesses;
  }
};
} // namespace
