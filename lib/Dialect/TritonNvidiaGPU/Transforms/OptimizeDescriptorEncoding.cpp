//===-- OptimizeDescriptorEncoding.cpp - Layouts of descriptors' blocks ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptor values that may be the same at run time form a class. Each class
// is given one encoding, and with it the values, functions and results get new
// types.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-optimize-descriptor-encoding"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAOPTIMIZEDESCRIPTORENCODING
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

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
      connect(op, symbols);
    });
  }

  /// The members of all classes, each class and its members in program order.
  SmallVector<SmallVector<Value>> get() const {
    llvm::MapVector<Value, SmallVector<Value>> members;
    for (Value value : order)
      members[classes.getLeaderValue(value)].push_back(value);
    return llvm::map_to_vector(std::move(members),
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
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      unite(select.getTrueValue(), op->getResults());
      unite(select.getFalseValue(), op->getResults());
    } else if (auto branch = dyn_cast<BranchOpInterface>(op)) {
      for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i) {
        SuccessorOperands operands = branch.getSuccessorOperands(i);
        unite(operands.getForwardedOperands(),
              op->getSuccessor(i)->getArguments().drop_front(
                  operands.getProducedOperandCount()));
      }
    } else if (auto specialize = dyn_cast<gpu::WarpSpecializeOp>(op)) {
      for (Region &partition : specialize.getPartitionRegions())
        unite(specialize.getExplicitCaptures(), partition.getArguments());
    } else if (auto call = dyn_cast<CallOpInterface>(op)) {
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
    if (auto region = dyn_cast<RegionBranchOpInterface>(op))
      connectRegions(region);
  }

  void connectRegions(RegionBranchOpInterface op) {
    SmallVector<RegionSuccessor> successors;
    op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    for (RegionSuccessor &successor : successors)
      unite(op.getEntrySuccessorOperands(successor),
            successor.getSuccessorInputs());
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        if (block.empty())
          continue;
        auto terminator =
            dyn_cast<RegionBranchTerminatorOpInterface>(block.back());
        if (!terminator)
          continue;
        SmallVector<RegionSuccessor> next;
        op.getSuccessorRegions(terminator, next);
        for (RegionSuccessor &successor : next)
          unite(terminator.getSuccessorOperands(successor),
                successor.getSuccessorInputs());
      }
  }

  llvm::EquivalenceClasses<Value> classes;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> order;
};

/// An encoding of a buffer as one of blocks with `rank` dimensions, the leading
/// of which the buffer may lack; null if TMA cannot write such a buffer.
gpu::NVMMASharedEncodingAttr asBlockEncoding(Attribute encoding,
                                             unsigned rank) {
  auto shared = dyn_cast_or_null<gpu::NVMMASharedEncodingAttr>(encoding);
  if (!shared || shared.getTransposed() || shared.getFp4Padded())
    return {};
  gpu::CTALayoutAttr ctaLayout = shared.getCTALayout();
  while (ctaLayout.getRank() < rank)
    ctaLayout = ctaLayout.insertDim(0);
  return gpu::NVMMASharedEncodingAttr::get(
      shared.getContext(), shared.getSwizzlingByteWidth(),
      shared.getTransposed(), shared.getElementBitWidth(),
      shared.getFp4Padded(), ctaLayout);
}

/// The encoding with which a loaded block goes to shared memory, if any.
gpu::NVMMASharedEncodingAttr getWish(Value loaded, unsigned rank) {
  SmallVector<Value> worklist{loaded};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (auto alloc = dyn_cast<gpu::LocalAllocOp>(user)) {
        if (auto wish = asBlockEncoding(
                alloc.getResult().getType().getEncoding(), rank))
          return wish;
      } else if (auto convert = dyn_cast<gpu::ConvertLayoutOp>(user)) {
        worklist.push_back(convert.getResult());
      }
    }
  }
  return {};
}

class OptimizeDescriptorEncodingPass
    : public nvidia_gpu::impl::TritonNvidiaOptimizeDescriptorEncodingBase<
          OptimizeDescriptorEncodingPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (ArrayRef<Value> members : DescriptorClasses(module).get()) {
      auto type = cast<TensorDescType>(members.front().getType());
      if (type.getBlockType().getEncoding())
        continue;
      Attribute encoding = choose(members);
      LDBG() << type << " gets " << encoding;
      for (Value value : members)
        value.setType(TensorDescType::get(
            gpu::cloneWithEncoding(type.getBlockType(), encoding)));
    }
    for (auto function : module.getOps<FunctionOpInterface>())
      updateFunctionType(function);
  }

private:
  Attribute choose(ArrayRef<Value> members) {
    RankedTensorType block =
        cast<TensorDescType>(members.front().getType()).getBlockType();
    SmallVector<Operation *> users;
    for (Value value : members)
      llvm::append_range(users, value.getUsers());
    // Lists of users are in no useful order.
    llvm::sort(users,
               [](Operation *a, Operation *b) { return isBefore(a, b); });

    for (Operation *user : users) {
      gpu::NVMMASharedEncodingAttr wish;
      if (isa<DescriptorLoadOp, DescriptorGatherOp>(user))
        wish = getWish(user->getResult(0), block.getRank());
      else if (auto copy = dyn_cast<AsyncTMACopyGlobalToLocalOp>(user))
        wish = asBlockEncoding(copy.getResult().getType().getEncoding(),
                               block.getRank());
      else if (auto copy = dyn_cast<AsyncTMACopyLocalToGlobalOp>(user))
        wish = asBlockEncoding(copy.getSrc().getType().getEncoding(),
                               block.getRank());
      if (wish && fits(wish, block)) {
        ++numFromUses;
        return wish;
      }
    }
    ++numDefault;
    return getDefault(block, users, gpu::lookupNumCTAs(getOperation()));
  }

  /// Program order, for operations of the same module.
  static bool isBefore(Operation *a, Operation *b) {
    if (a == b)
      return false;
    SmallVector<Operation *> as, bs;
    for (Operation *op = a; op; op = op->getParentOp())
      as.push_back(op);
    for (Operation *op = b; op; op = op->getParentOp())
      bs.push_back(op);
    while (!as.empty() && !bs.empty() && as.back() == bs.back()) {
      as.pop_back();
      bs.pop_back();
    }
    if (as.empty() || bs.empty())
      return as.empty();
    a = as.back();
    b = bs.back();
    if (a->getBlock() == b->getBlock())
      return a->isBeforeInBlock(b);
    if (a->getParentRegion() != b->getParentRegion())
      return a->getParentRegion()->getRegionNumber() <
             b->getParentRegion()->getRegionNumber();
    return a->getBlock()->computeBlockNumber() <
           b->getBlock()->computeBlockNumber();
  }

  /// Whether rows of the block fill the swizzle.
  static bool fits(gpu::NVMMASharedEncodingAttr encoding,
                   RankedTensorType block) {
    if (encoding.getRank() != unsigned(block.getRank()) ||
        encoding.getElementBitWidth() != block.getElementTypeBitWidth())
      return false;
    int64_t columns = gpu::getShapePerCTA(encoding, block.getShape()).back();
    return columns * block.getElementTypeBitWidth() / 8 >=
           encoding.getSwizzlingByteWidth();
  }

  /// The widest swizzle, divided over the cluster as the tensors are that
  /// blocks are loaded to or stored from.
  static Attribute getDefault(RankedTensorType block,
                              ArrayRef<Operation *> users, int numCTAs) {
    MLIRContext *context = block.getContext();
    unsigned rank = block.getRank();
    SmallVector<unsigned> order(llvm::reverse(llvm::seq<unsigned>(0, rank)));
    SmallVector<int64_t> shape(block.getShape());
    gpu::CTALayoutAttr ctaLayout;
    for (Operation *user : users) {
      RankedTensorType tensor;
      if (isa<DescriptorLoadOp, DescriptorGatherOp>(user))
        tensor = cast<RankedTensorType>(user->getResult(0).getType());
      else if (auto store = dyn_cast<DescriptorStoreOp>(user))
        tensor = cast<RankedTensorType>(store.getSrc().getType());
      else if (auto reduce = dyn_cast<DescriptorReduceOp>(user))
        tensor = cast<RankedTensorType>(reduce.getSrc().getType());
      else if (auto scatter = dyn_cast<DescriptorScatterOp>(user))
        tensor = cast<RankedTensorType>(scatter.getSrc().getType());
      if (!tensor)
        continue;
      if (!ctaLayout && tensor.getEncoding()) {
        ctaLayout = gpu::getCTALayout(tensor.getEncoding());
        while (ctaLayout.getRank() < rank)
          ctaLayout = ctaLayout.insertDim(0);
      }
      // The block of a gather is one row, the buffer is as many as are
      // gathered.
      if (isa<DescriptorGatherOp, DescriptorScatterOp>(user))
        shape.front() = std::max(shape.front(), tensor.getShape().front());
    }
    if (!ctaLayout)
      ctaLayout = gpu::CTALayoutAttr::getSplit(context, numCTAs, shape, order);
    return gpu::NVMMASharedEncodingAttr::get(context, shape, order, ctaLayout,
                                             block.getElementType(),
                                             /*fp4Padded=*/false);
  }

  /// Makes the type of a function say what its arguments and returns are.
  static void updateFunctionType(FunctionOpInterface function) {
    if (function.isExternal())
      return;
    SmallVector<Type> results(function.getResultTypes());
    for (Block &block : function.getFunctionBody())
      if (Operation *terminator = block.getTerminator();
          terminator->hasTrait<mlir::OpTrait::ReturnLike>())
        for (auto [result, operand] :
             llvm::zip(results, terminator->getOperandTypes()))
          if (isa<TensorDescType>(result))
            result = operand;
    function.setType(function.cloneTypeWith(
        function.getFunctionBody().front().getArgumentTypes(), results));
  }
};

} // namespace
