//===-- MergeReads.cpp - One load where layouts differ in name alone ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of keys, and columns of their transpose, ask for the same page numbers.
// Each asks in a slice of its own layout. The two slices may give each thread
// the same elements. Then the second load is the first one by another name.
// Nothing later can tell: loads are assembly to LLVM.
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {
/// Whether every thread has the same elements of both.
bool areSameTypes(Type a, Type b) {
  if (a == b)
    return true;
  auto left = dyn_cast<RankedTensorType>(a);
  auto right = dyn_cast<RankedTensorType>(b);
  return left && right && left.getShape() == right.getShape() &&
         left.getElementType() == right.getElementType() &&
         left.getEncoding() && right.getEncoding() &&
         toLinearLayout(left).equalUpToDimOrder(toLinearLayout(right));
}

class ReadMerger {
public:
  explicit ReadMerger(Operation *func) : model(func) {}

  unsigned run(Block &block);

private:
  /// Whether two values are computed alike, in layouts that are the same.
  bool areSame(Value a, Value b);
  bool areSameConstants(arith::ConstantOp a, arith::ConstantOp b);
  bool areSameOperands(Operation *a, Operation *b) {
    return llvm::all_of(llvm::zip_equal(a->getOperands(), b->getOperands()),
                        [&](auto pair) {
                          return areSame(std::get<0>(pair), std::get<1>(pair));
                        });
  }
  bool mayReadAt(LoadOp load, LoadOp earlier);

  MemoryModel model;
  DenseMap<std::pair<Value, Value>, bool> known;
};
} // namespace

bool ReadMerger::areSameConstants(arith::ConstantOp a, arith::ConstantOp b) {
  auto left = dyn_cast<SplatElementsAttr>(a.getValue());
  auto right = dyn_cast<SplatElementsAttr>(b.getValue());
  return left && right &&
         left.getSplatValue<Attribute>() == right.getSplatValue<Attribute>();
}

bool ReadMerger::areSame(Value a, Value b) {
  if (a == b)
    return true;
  auto left = dyn_cast<OpResult>(a), right = dyn_cast<OpResult>(b);
  if (!left || !right || left.getResultNumber() != right.getResultNumber() ||
      !areSameTypes(a.getType(), b.getType()))
    return false;
  auto [found, isNew] = known.try_emplace({a, b}, false);
  if (!isNew)
    return found->second;
  Operation *x = left.getOwner(), *y = right.getOwner();
  bool same = false;
  if (x->getName() == y->getName() && x->getNumRegions() == 0 &&
      x->getNumOperands() == y->getNumOperands() && isMemoryEffectFree(x)) {
    if (auto constant = dyn_cast<arith::ConstantOp>(x))
      same = areSameConstants(constant, cast<arith::ConstantOp>(y));
    else
      same = x->getAttrDictionary() == y->getAttrDictionary() &&
             x->getPropertiesAsAttribute() == y->getPropertiesAsAttribute() &&
             areSameOperands(x, y);
  }
  known[{a, b}] = same;
  return same;
}

bool ReadMerger::mayReadAt(LoadOp load, LoadOp earlier) {
  for (Operation *op = earlier->getNextNode(); op != load;
       op = op->getNextNode())
    if (!model.mayReadBefore(load, op))
      return false;
  return true;
}

unsigned ReadMerger::run(Block &block) {
  unsigned count = 0;
  SmallVector<LoadOp> loads;
  for (auto load : llvm::make_early_inc_range(block.getOps<LoadOp>())) {
    if (!isa<RankedTensorType>(load.getType()) || isFreshRead(load))
      continue;
    auto same = llvm::find_if(loads, [&](LoadOp earlier) {
      return areSameTypes(load.getType(), earlier.getType()) &&
             load->getNumOperands() == earlier->getNumOperands() &&
             load->getPropertiesAsAttribute() ==
                 earlier->getPropertiesAsAttribute() &&
             areSameOperands(load, earlier) && mayReadAt(load, earlier);
    });
    if (same == loads.end()) {
      loads.push_back(load);
      continue;
    }
    OpBuilder b(load);
    Value value = same->getResult();
    if (value.getType() != load.getType())
      value = ConvertLayoutOp::create(b, load.getLoc(), load.getType(), value);
    load.getResult().replaceAllUsesWith(value);
    known.clear();
    load.erase();
    ++count;
  }
  return count;
}

unsigned layout_conversions::mergeReads(Operation *func) {
  unsigned count = 0;
  func->walk([&](Block *block) { count += ReadMerger(func).run(*block); });
  return count;
}
