//===-- MemoryChecker.cpp - Accesses stay in the memory of arguments ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/MemoryModel.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonInstrument/IR/Dialect.h"
#include "tile/Dialect/TritonInstrument/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::triton::instrument {
#define GEN_PASS_DEF_TRITONINSTRUMENTMEMORYCHECKER
#include "tile/Dialect/TritonInstrument/Transforms/Passes.h.inc"
} // namespace mlir::triton::instrument

using namespace mlir;
using namespace mlir::triton;

namespace {
/// The memory of an argument, as two more arguments say it.
struct Bounds {
  Value begin, bytes;
};

/// An access through pointers.
struct Access {
  Operation *op;
  Value ptr, mask;
  StringRef what;
  /// Takes another mask; null where that is not possible.
  std::function<void(Value)> setMask;
};

template <typename OpT> Access describe(OpT op, StringRef what) {
  return {op, op.getPtr(), op.getMask(), what,
          [op](Value mask) mutable { op.getMaskMutable().assign(mask); }};
}

/// An access that is checked; without `op`, another operation.
Access getAccess(Operation *op) {
  return llvm::TypeSwitch<Operation *, Access>(op)
      .Case([](LoadOp load) { return describe(load, "a load"); })
      .Case([](StoreOp store) { return describe(store, "a store"); })
      .Case([](AtomicRMWOp atomic) {
        return describe(atomic, "an atomic operation");
      })
      .Case([](AtomicCASOp atomic) {
        return Access{atomic, atomic.getPtr(), Value(), "an atomic operation",
                      nullptr};
      })
      // Neighbours that are copied together have one mask.
      .Case([](gpu::AsyncCopyGlobalToLocalOp copy) {
        return Access{copy, copy.getSrc(), copy.getMask(), "a copy", nullptr};
      })
      .Default([](Operation *) { return Access{}; });
}

/// Puts the checks into one kernel.
class Checker {
public:
  explicit Checker(FuncOp kernel) : kernel(kernel), b(kernel.getContext()) {}

  void addBounds() {
    SmallVector<BlockArgument> arguments(kernel.getArguments());
    Type i64 = b.getI64Type();
    for (BlockArgument argument : arguments) {
      if (!isa<PointerType, TensorDescType>(argument.getType()))
        continue;
      for (Value *bound : {&bounds[argument].begin, &bounds[argument].bytes}) {
        unsigned position = kernel.getNumArguments();
        (void)kernel.insertArgument(position, i64, {}, argument.getLoc());
        *bound = kernel.getArgument(position);
      }
    }
  }

  /// False where it is not known which argument the pointer comes from.
  bool check(const Access &access) {
    std::optional<Bounds> known = find(access.ptr);
    if (!known)
      return false;
    setPlace(access.op);
    Type type = access.ptr.getType();
    unsigned bits =
        getPointeeType(getElementTypeOrSelf(type)).getIntOrFloatBitWidth();
    Value address = create<PtrToIntOp>(withElements(type, 64), access.ptr);
    Value inside =
        isInside(address, *known, constant(llvm::divideCeil(bits, 8)),
                 withElements(type, 1));
    Value passes = inside;
    if (access.mask)
      passes = create<arith::OrIOp>(
          inside, create<arith::XOrIOp>(access.mask, splat(isTrue(), inside)));
    complain(passes, access.what, access.ptr);
    if (!access.setMask)
      return true;
    if (access.mask)
      inside = create<arith::AndIOp>(access.mask, inside);
    access.setMask(inside);
    return true;
  }

  bool check(MakeTensorDescOp op) {
    std::optional<Bounds> known = find(op.getBase());
    if (!known)
      return false;
    setPlace(op);
    // Elements from the first to the last; none if an extent is 0.
    Value last = constant(0), zero = constant(0), one = constant(1), isEmpty;
    for (auto [extent, stride] :
         llvm::zip_equal(op.getShape(), op.getStrides())) {
      Value wide = create<arith::ExtSIOp>(b.getI64Type(), extent);
      Value empty =
          create<arith::CmpIOp>(arith::CmpIPredicate::sle, wide, zero);
      isEmpty = isEmpty ? create<arith::OrIOp>(isEmpty, empty) : empty;
      Value steps = create<arith::SubIOp>(wide, one);
      last = create<arith::AddIOp>(last, create<arith::MulIOp>(steps, stride));
    }
    unsigned bits =
        getPointeeType(op.getBase().getType()).getIntOrFloatBitWidth();
    Value bytes = create<arith::MulIOp>(create<arith::AddIOp>(last, one),
                                        constant(llvm::divideCeil(bits, 8)));
    Value address = create<PtrToIntOp>(b.getI64Type(), op.getBase());
    Value inside = isInside(address, *known, bytes, b.getI1Type());
    complain(create<arith::OrIOp>(inside, isEmpty), "a descriptor",
             op.getBase());
    return true;
  }

private:
  std::optional<Bounds> find(Value ptr) const {
    auto it = bounds.find(getPointerOrigin(ptr));
    if (it == bounds.end())
      return std::nullopt;
    return it->second;
  }

  void setPlace(Operation *op) {
    b.setInsertionPoint(op);
    loc = op->getLoc();
  }

  template <typename OpT, typename... ArgsT> Value create(ArgsT &&...args) {
    return OpT::create(b, loc, std::forward<ArgsT>(args)...);
  }

  Value constant(int64_t value) {
    return create<arith::ConstantOp>(b.getI64IntegerAttr(value));
  }
  Value isTrue() { return create<arith::ConstantOp>(b.getBoolAttr(true)); }

  /// The type of pointers, with integers as elements.
  Type withElements(Type type, unsigned bits) {
    Type element = b.getIntegerType(bits);
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? Type(tensor.clone(element)) : element;
  }

  /// A scalar in the shape of another value.
  Value splat(Value scalar, Value like) {
    auto tensor = dyn_cast<RankedTensorType>(like.getType());
    if (!tensor)
      return scalar;
    return create<SplatOp>(tensor.clone(scalar.getType()), scalar);
  }

  /// Whether so many bytes from an address on are in the memory. Nothing here
  /// wraps around for addresses in it: they are less than 2^63.
  Value isInside(Value address, const Bounds &memory, Value size, Type result) {
    Value offset = create<arith::SubIOp>(address, splat(memory.begin, address));
    Value end = create<arith::AddIOp>(offset, splat(size, address));
    Value bytes = splat(memory.bytes, address);
    Value begins =
        create<arith::CmpIOp>(arith::CmpIPredicate::ult, offset, bytes);
    Value ends = create<arith::CmpIOp>(arith::CmpIPredicate::ule, end, bytes);
    assert(begins.getType() == result && "one truth value for each address");
    (void)result;
    return create<arith::AndIOp>(begins, ends);
  }

  void complain(Value condition, StringRef what, Value ptr) {
    std::string message = ("out of bounds: " + what).str();
    if (auto argument = dyn_cast<BlockArgument>(getPointerOrigin(ptr)))
      if (auto named = dyn_cast<NameLoc>(argument.getLoc()))
        message += (" through `" + named.getName().getValue() + "`").str();
    AssertOp::create(b, loc, condition, b.getStringAttr(message));
  }

  FuncOp kernel;
  OpBuilder b;
  Location loc = UnknownLoc::get(kernel.getContext());
  DenseMap<Value, Bounds> bounds;
};

struct MemoryChecker
    : instrument::impl::TritonInstrumentMemoryCheckerBase<MemoryChecker> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Once is enough.
    if (module->hasAttr(instrument::kTakesBoundsAttrName))
      return;
    for (FuncOp function : module.getOps<FuncOp>())
      if (function.isPublic() && !function.isExternal())
        instrument(function);
    module->setAttr(instrument::kTakesBoundsAttrName,
                    UnitAttr::get(&getContext()));
  }

private:
  void instrument(FuncOp kernel) {
    SmallVector<Access> accesses;
    SmallVector<MakeTensorDescOp> descriptors;
    kernel.walk([&](Operation *op) {
      if (Access access = getAccess(op); access.op)
        accesses.push_back(access);
      if (auto made = dyn_cast<MakeTensorDescOp>(op))
        descriptors.push_back(made);
    });
    Checker checker(kernel);
    checker.addBounds();
    for (const Access &access : accesses)
      note(checker.check(access));
    for (MakeTensorDescOp made : descriptors)
      note(checker.check(made));
  }

  void note(bool isChecked) { ++(isChecked ? numChecked : numUnknown); }
};
} // namespace
