//===-- AsyncWaits.cpp - How much a wait may leave unfinished -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/AsyncWaits.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include <limits>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

constexpr int kNever = std::numeric_limits<int>::max();

class PathsSince {
public:
  PathsSince(function_ref<int(Operation *)> count,
             function_ref<bool(Operation *)> isGroup)
      : count(count), isGroup(isGroup) {}

  /// The least sum after the group that `token` stands for and before `end`,
  /// over all paths; kNever if there is no path. Zero where the token cannot be
  /// traced.
  int getLeast(Value token, Operation *end) {
    if (auto result = dyn_cast<OpResult>(token))
      return getLeastSinceResult(result, end);
    auto arg = cast<BlockArgument>(token);
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    if (!loop || !arg.getOwner()->findAncestorOpInBlock(*end))
      return 0;
    if (llvm::is_contained(visited, arg))
      return kNever;
    visited.push_back(arg);
    int least =
        plus(getLeastOfEntries(loop, loop.getTiedLoopInit(arg)->get(),
                               loop.getTiedLoopYieldedValue(arg)->get()),
             sum(arg.getOwner()->begin(), end, arg.getOwner()));
    visited.pop_back();
    return least;
  }

private:
  int getLeastSinceResult(OpResult token, Operation *end) {
    Operation *def = token.getOwner();
    if (!def->getBlock()->findAncestorOpInBlock(*end))
      return 0;
    int since = sum(std::next(def->getIterator()), end, def->getBlock());
    if (isGroup(def))
      return since;
    if (auto loop = dyn_cast<scf::ForOp>(def)) {
      unsigned i = token.getResultNumber();
      return plus(getLeastOfEntries(loop, loop.getInitArgs()[i],
                                    loop.getYieldedValues()[i]),
                  since);
    }
    return 0;
  }

  /// Of the ways to the start of another iteration, or behind the loop.
  int getLeastOfEntries(scf::ForOp loop, Value init, Value yielded) {
    return std::min(getLeast(init, loop),
                    getLeast(yielded, loop.getBody()->getTerminator()));
  }

  static int plus(int least, int more) {
    return least == kNever ? kNever : least + more;
  }

  /// From `begin` in `block` to `end`, there or in a region nested in it. Other
  /// regions are left out: what may not happen must not be counted.
  int sum(Block::iterator begin, Operation *end, Block *block) const {
    int result = 0;
    for (; end->getBlock() != block; end = end->getParentOp())
      result += sum(end->getBlock()->begin(), end, end->getBlock());
    for (Operation &op : llvm::make_range(begin, end->getIterator()))
      result += count(&op);
    return result;
  }

  function_ref<int(Operation *)> count;
  function_ref<bool(Operation *)> isGroup;
  SmallVector<Value> visited;
};

} // namespace

int mlir::triton::gpu::getLeastSince(ValueRange tokens, Operation *wait,
                                     function_ref<int(Operation *)> count,
                                     function_ref<bool(Operation *)> isGroup) {
  int least = kNever;
  for (Value token : tokens)
    least = std::min(least, PathsSince(count, isGroup).getLeast(token, wait));
  return least == kNever ? 0 : least;
}

int mlir::triton::gpu::getLeastSince(ValueRange tokens, Operation *wait,
                                     function_ref<int(Operation *)> count) {
  return getLeastSince(tokens, wait, count, llvm::IsaPred<AsyncCommitGroupOp>);
}

void mlir::triton::gpu::updateWaitCounts(scf::ForOp loop) {
  loop->getBlock()->walk([](AsyncWaitOp wait) {
    if (!wait.getAsyncToken().empty())
      wait.setNum(getLeastSince(wait.getAsyncToken(), wait,
                                llvm::IsaPred<AsyncCommitGroupOp>));
  });
}
