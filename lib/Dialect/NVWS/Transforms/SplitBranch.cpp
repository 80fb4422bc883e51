//===-- SplitBranch.cpp - Branches of single partitions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SplitBranch.h"

#include "tile/Analysis/OpPartitions.h"
#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/PartitionAttributes.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;

/// Has a branch run in those partitions that have something in it.
static void removePartition(scf::IfOp branch, Attribute gone,
                            ArrayRef<Attribute> outputs) {
  auto removed = dyn_cast<DenseI32ArrayAttr>(gone);
  auto all = dyn_cast_if_present<DenseI32ArrayAttr>(getPartitions(branch));
  if (!removed || !all)
    return;
  llvm::SmallSet<int32_t, 4> inside;
  bool isKnown = true;
  auto add = [&](Attribute partitions) {
    auto list = dyn_cast_if_present<DenseI32ArrayAttr>(partitions);
    isKnown &= bool(list);
    if (list)
      inside.insert(list.asArrayRef().begin(), list.asArrayRef().end());
  };
  llvm::for_each(outputs, add);
  for (Region &region : branch->getRegions())
    for (Operation &op : region.front().without_terminator())
      add(getPartitions(&op));
  if (!isKnown)
    return;
  SmallVector<int32_t> kept;
  for (int32_t partition : all.asArrayRef())
    if (!llvm::is_contained(removed.asArrayRef(), partition) ||
        inside.contains(partition))
      kept.push_back(partition);
  if (kept.empty() || kept.size() == size_t(all.size()))
    return;
  auto list = DenseI32ArrayAttr::get(branch.getContext(), kept);
  setPartitions(branch, list);
  for (Region &region : branch->getRegions())
    if (Operation *end = region.front().getTerminator(); getPartitions(end))
      setPartitions(end, list);
}

/// The rest of a branch from which its token has gone, and maybe a partition.
static void dropResult(scf::IfOp branch, unsigned number, Attribute gone) {
  OpBuilder builder(branch);
  SmallVector<Type> types(branch.getResultTypes());
  types.erase(types.begin() + number);
  branch.thenYield()->eraseOperand(number);
  branch.elseYield()->eraseOperand(number);
  auto made = scf::IfOp::create(builder, branch.getLoc(), types,
                                branch.getCondition(), /*addThenBlock=*/false,
                                /*addElseBlock=*/false);
  made->setAttrs(branch->getAttrs());
  made.getThenRegion().takeBody(branch.getThenRegion());
  made.getElseRegion().takeBody(branch.getElseRegion());
  SmallVector<Attribute> outputs;
  if (auto lists = made->getAttrOfType<ArrayAttr>(gpu::kPartitionOutputsAttr))
    llvm::append_range(outputs, lists);
  if (number < outputs.size())
    outputs.erase(outputs.begin() + number);
  made->removeAttr(gpu::kPartitionOutputsAttr);
  if (!outputs.empty())
    made->setAttr(gpu::kPartitionOutputsAttr, builder.getArrayAttr(outputs));
  SmallVector<Value> results(branch.getResults());
  results.erase(results.begin() + number);
  for (auto [from, to] : llvm::zip(results, made.getResults()))
    from.replaceAllUsesWith(to);
  branch.erase();
  removePartition(made, gone, outputs);
}

/// Has `op` run where and when `like` does, for `owner`.
static void assign(Operation *op, Attribute owner, Operation *like = nullptr) {
  if (like)
    runWith(op, like);
  setPartitions(op, owner);
}

scf::IfOp nvws::splitBranch(scf::IfOp branch, unsigned number, Attribute owner,
                            Value ring) {
  Operation *yield = branch.thenYield();
  Operation *left = &branch.thenBlock()->front();
  Operation *entered = yield->getPrevNode();
  bool isOwn = isa<ArefPutExitOp, ArefGetExitOp>(left) &&
               isa_and_nonnull<ArefPutEnterOp, ArefGetEnterOp>(entered) &&
               left->getOperand(0) == ring && entered->getOperand(0) == ring &&
               getPartitions(left) == owner && getPartitions(entered) == owner;
  bool isPlain =
      branch.elseBlock() && llvm::hasSingleElement(*branch.elseBlock());
  if (!owner || !isOwn || !isPlain || getPartitions(branch) == owner)
    return {};
  Location loc = branch.getLoc();
  Value condition = branch.getCondition(),
        other = branch.elseYield().getOperand(number);
  auto make = [&](OpBuilder builder, Operation *op, TypeRange types) {
    auto made = scf::IfOp::create(builder, loc, types, condition,
                                  /*withElseRegion=*/!types.empty());
    assign(made, owner, op);
    if (types.empty()) {
      op->moveBefore(made.thenBlock()->getTerminator());
      assign(made.thenYield(), owner);
      return made;
    }
    made->setAttr(gpu::kPartitionOutputsAttr, builder.getArrayAttr({owner}));
    op->moveBefore(made.thenBlock(), made.thenBlock()->end());
    for (auto [block, token] :
         {std::pair{made.thenBlock(), Value(entered->getResults().back())},
          {made.elseBlock(), other}}) {
      builder.setInsertionPointToEnd(block);
      assign(scf::YieldOp::create(builder, loc, token), owner);
    }
    return made;
  };
  make(OpBuilder(branch), left, {});
  OpBuilder behind(branch.getContext());
  behind.setInsertionPointAfter(branch);
  scf::IfOp result = make(behind, entered, {other.getType()});
  branch.getResult(number).replaceAllUsesWith(result.getResult(0));
  dropResult(branch, number, owner);
  return result;
}
