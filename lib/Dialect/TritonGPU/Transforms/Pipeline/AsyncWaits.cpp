//===-- AsyncWaits.cpp - How many groups a wait may leave unfinished ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AsyncLoads.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include <limits>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

constexpr int kNever = std::numeric_limits<int>::max();

/// Groups committed in [begin, end) of one block, nested regions left out: a
/// group that may not be committed must not be counted.
int countCommits(Block::iterator begin, Block::iterator end) {
  int count = 0;
  for (Operation &op : llvm::make_range(begin, end))
    count += isa<AsyncCommitGroupOp>(op);
  return count;
}

/// The least number of groups committed after the one that `token` stands for
/// and before `end`, over all paths; kNever if there is no path. Zero, which is
/// always safe, where the token cannot be traced.
int getLeastCommitsSince(Value token, Operation *end,
                         SmallVectorImpl<Value> &visited) {
  if (Operation *def = token.getDefiningOp()) {
    Operation *last = def->getBlock()->findAncestorOpInBlock(*end);
    if (!isa<AsyncCommitGroupOp>(def) || !last)
      return 0;
    return countCommits(std::next(def->getIterator()), last->getIterator());
  }
  auto arg = cast<BlockArgument>(token);
  auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
  Operation *last = arg.getOwner()->findAncestorOpInBlock(*end);
  if (!loop || !last)
    return 0;
  if (llvm::is_contained(visited, arg))
    return kNever;
  visited.push_back(arg);
  int sinceStart = countCommits(arg.getOwner()->begin(), last->getIterator());
  int fromInit =
      getLeastCommitsSince(loop.getTiedLoopInit(arg)->get(), loop, visited);
  int fromYield =
      getLeastCommitsSince(loop.getTiedLoopYieldedValue(arg)->get(),
                           loop.getBody()->getTerminator(), visited);
  visited.pop_back();
  int least = std::min(fromInit, fromYield);
  return least == kNever ? kNever : least + sinceStart;
}

} // namespace

void mlir::triton::gpu::updateWaitCounts(scf::ForOp loop) {
  loop->getBlock()->walk([](AsyncWaitOp wait) {
    if (wait.getAsyncToken().empty())
      return;
    int num = kNever;
    for (Value token : wait.getAsyncToken()) {
      SmallVector<Value> visited;
      num = std::min(num, getLeastCommitsSince(token, wait, visited));
    }
    wait.setNum(num == kNever ? 0 : num);
  });
}
