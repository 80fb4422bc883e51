//===-- UndefinedLanes.cpp - What masked loads leave undefined ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/Transforms/UndefinedLanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Dialect/Debug/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

#define DEBUG_TYPE "triton-undefined-lanes"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONUNDEFINEDLANES
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

StringAttr triton::getLoadPlace(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place)
    return {};
  std::string text;
  llvm::raw_string_ostream(text)
      << place.getLine() << ":" << place.getColumn() << " "
      << llvm::sys::path::filename(place.getFilename().getValue());
  return StringAttr::get(loc.getContext(), text);
}

bool triton::isUndefinedLoad(ModuleOp module, Location loc) {
  auto list = module->getAttrOfType<ArrayAttr>(kUndefinedLoadsAttrName);
  StringAttr place = list ? getLoadPlace(loc) : StringAttr();
  return place && llvm::is_contained(list, place);
}

/// Whether `mask` is off wherever `other` is.
static bool implies(Value mask, Value other) {
  if (mask == other)
    return true;
  auto both = mask ? mask.getDefiningOp<arith::AndIOp>() : arith::AndIOp();
  return both &&
         (implies(both.getLhs(), other) || implies(both.getRhs(), other));
}

namespace {
/// Follows the undefined elements of a load as long as each stays where it is.
class Lanes {
public:
  explicit Lanes(LoadOp load) : mask(load.getMask()) {
    reached.insert(load.getResult());
  }

  /// Whether nothing can come of them.
  bool stayAlone() {
    for (unsigned i = 0; i < reached.size(); ++i)
      for (OpOperand &use : reached[i].getUses())
        if (!mayReach(use))
          return false;
    return true;
  }

private:
  bool mayReach(OpOperand &use) {
    return TypeSwitch<Operation *, bool>(use.getOwner())
        .Case<LoadOp, StoreOp, AtomicRMWOp>([&](auto access) {
          return access.getMask() != use.get() &&
                 implies(access.getMask(), mask) && passOn(access);
        })
        .Case([&](arith::SelectOp select) {
          return isCleaned(select, use) || passOn(select);
        })
        // A debugger only shows them.
        .Case([](debug::ValueOp) { return true; })
        .Default([&](Operation *op) {
          return mlir::OpTrait::hasElementwiseMappableTraits(op) &&
                 isMemoryEffectFree(op) && passOn(op);
        });
  }

  /// Whether another value is chosen in their place.
  bool isCleaned(arith::SelectOp select, OpOperand &use) const {
    return use.getOperandNumber() == 1 && implies(select.getCondition(), mask);
  }

  bool passOn(Operation *op) {
    reached.insert(op->result_begin(), op->result_end());
    return true;
  }

  Value mask;
  llvm::SetVector<Value> reached;
};

struct TritonUndefinedLanes
    : public triton::impl::TritonUndefinedLanesBase<TritonUndefinedLanes> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<LoadOp> undefined;
    // Places by whether the load there has an `other`, too.
    llvm::MapVector<StringAttr, bool> places;
    getOperation()->walk([&](LoadOp load) {
      if (!load.getMask())
        return;
      if (load.getOther()) {
        if (StringAttr place = getLoadPlace(load.getLoc()))
          places[place] = true;
      } else if (!Lanes(load).stayAlone()) {
        undefined.push_back(load);
      }
    });
    numLoads += undefined.size();
    if (fill) {
      llvm::for_each(undefined, fillLanes);
      return;
    }
    SmallVector<Attribute> list;
    for (LoadOp load : undefined)
      if (StringAttr place = getLoadPlace(load.getLoc());
          place && places.try_emplace(place, false).second)
        list.push_back(place);
    if (!list.empty())
      getOperation()->setAttr(kUndefinedLoadsAttrName,
                              ArrayAttr::get(&getContext(), list));
  }

private:
  static void fillLanes(LoadOp load) {
    OpBuilder b(load);
    Type type = load.getType(), element = getElementTypeOrSelf(type);
    TypedAttr value;
    if (auto number = dyn_cast<FloatType>(element)) {
      const llvm::fltSemantics &semantics = number.getFloatSemantics();
      value = b.getFloatAttr(
          element, APFloat::semanticsHasNaN(semantics)
                       ? APFloat::getNaN(semantics)
                       : APFloat::getLargest(semantics, /*Negative=*/true));
    } else if (element.isInteger()) {
      value = b.getIntegerAttr(
          element, APInt::getAllOnes(element.getIntOrFloatBitWidth()));
    } else {
      // A pointer to nowhere is one that shows.
      return;
    }
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      value = SplatElementsAttr::get(tensor, Attribute(value));
    load.getOtherMutable().assign(
        arith::ConstantOp::create(b, load.getLoc(), value));
  }
};
} // namespace
