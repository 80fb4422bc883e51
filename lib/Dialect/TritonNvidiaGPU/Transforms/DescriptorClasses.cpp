//===-- DescriptorClasses.cpp - Which descriptors may be the same ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DescriptorClasses.h"

#include "tile/Analysis/ForwardedValues.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

bool isDescriptor(Value value) { return isa<TensorDescType>(value.getType()); }

/// The values of a module that descriptors pass between.
class DescriptorClasses {
public:
  explicit DescriptorClasses(ModuleOp module) {
    SymbolTableCollection symbols;
    // In program order, arguments of a block before its operations.
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults())
        add(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            add(argument);
      if (llvm::any_of(op->getOperands(), isDescriptor))
        users.push_back(op);
      connect(op, symbols);
    });
  }

  SmallVector<DescriptorClass> get() const {
    llvm::MapVector<Value, DescriptorClass> found;
    for (Value value : order)
      found[classes.getLeaderValue(value)].members.push_back(value);
    for (Operation *user : users) {
      llvm::SmallSetVector<Value, 2> used;
      for (Value operand : user->getOperands())
        if (isDescriptor(operand))
          used.insert(classes.getLeaderValue(operand));
      for (Value leader : used)
        found[leader].users.push_back(user);
    }
    return llvm::map_to_vector(std::move(found),
                               [](auto &entry) { return entry.second; });
  }

private:
  void add(Value value) {
    if (!isDescriptor(value) || !seen.insert(value).second)
      return;
    classes.insert(value);
    order.push_back(value);
  }

  void unite(ValueRange from, ValueRange to) {
    for (auto [f, t] : llvm::zip(from, to))
      if (isDescriptor(f) && isDescriptor(t))
        classes.unionSets(f, t);
  }

  void connect(Operation *op, SymbolTableCollection &symbols) {
    forEachForwarded(op,
                     [&](ValueRange from, ValueRange to) { unite(from, to); });
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      auto callee = dyn_cast_or_null<FunctionOpInterface>(
          call.resolveCallableInTable(&symbols));
      if (callee && !callee.isExternal()) {
        unite(call.getArgOperands(), callee.getArguments());
        for (Block &block : callee.getFunctionBody())
          if (Operation *terminator = block.getTerminator();
              terminator->hasTrait<mlir::OpTrait::ReturnLike>())
            unite(terminator->getOperands(), op->getResults());
      }
    }
  }

  llvm::EquivalenceClasses<Value> classes;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> order;
  SmallVector<Operation *> users;
};

} // namespace

SmallVector<DescriptorClass> nvidia_gpu::getDescriptorClasses(ModuleOp module) {
  return DescriptorClasses(module).get();
}
