//===-- Layout.cpp - Block order for early reconvergence ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A warp runs its fragment with the lowest program counter. The code is laid
// out in reverse post-order, with loops contiguous: what leaves a loop comes
// after all of the loop. So a join point comes after everything that leads to
// it, and no fragment runs past a join that others will still reach.
//
//===----------------------------------------------------------------------===//
#include "Decoder.h"

#include <algorithm>
#include <map>
#include <ranges>

using namespace tile::sim;

namespace {
struct Block {
  uint32_t begin = 0, end = 0;
  std::vector<uint32_t> successors, predecessors;
  std::vector<uint32_t> loops; ///< headers of the loops it belongs to, sorted
  bool reachable = false;
};

class BlockOrder {
public:
  BlockOrder(std::vector<Block> &blocks) : blocks(blocks) {}
  std::vector<uint32_t> compute() {
    std::vector<std::pair<uint32_t, uint32_t>> backEdges;
    depthFirst(&backEdges);
    for (auto [tail, header] : backEdges)
      markLoop(tail, header);
    for (Block &b : blocks) {
      std::sort(b.loops.begin(), b.loops.end());
      b.loops.erase(std::unique(b.loops.begin(), b.loops.end()), b.loops.end());
    }
    std::vector<uint32_t> order = depthFirst(nullptr);
    std::reverse(order.begin(), order.end());
    return order;
  }

private:
  size_t sharedLoops(const Block &a, const Block &b) const {
    size_t count = 0;
    for (uint32_t loop : a.loops)
      count += std::binary_search(b.loops.begin(), b.loops.end(), loop);
    return count;
  }

  /// Post-order; with `backEdges`, collects them. Successors that leave loops
  /// are visited first, so they end up last.
  std::vector<uint32_t>
  depthFirst(std::vector<std::pair<uint32_t, uint32_t>> *backEdges) {
    std::vector<uint32_t> post;
    std::vector<uint8_t> state(blocks.size(), 0);
    std::vector<std::pair<uint32_t, size_t>> stack;
    std::vector<std::vector<uint32_t>> order(blocks.size());
    auto open = [&](uint32_t b) {
      state[b] = 1;
      // Of equals, the fall-through, first in the list, is visited last.
      std::multimap<size_t, uint32_t> successors;
      for (uint32_t next : std::views::reverse(blocks[b].successors))
        successors.emplace(sharedLoops(blocks[b], blocks[next]), next);
      for (auto [loops, next] : successors)
        order[b].push_back(next);
      stack.push_back({b, 0});
    };
    open(0);
    while (!stack.empty()) {
      auto &[b, next] = stack.back();
      if (next == order[b].size()) {
        state[b] = 2;
        post.push_back(b);
        stack.pop_back();
        continue;
      }
      uint32_t from = b, to = order[b][next++];
      if (state[to] == 0)
        open(to);
      else if (state[to] == 1 && backEdges)
        backEdges->push_back({from, to});
    }
    return post;
  }

  void markLoop(uint32_t tail, uint32_t header) {
    std::vector<uint32_t> work{tail};
    std::vector<bool> seen(blocks.size());
    seen[header] = true;
    blocks[header].loops.push_back(header);
    while (!work.empty()) {
      uint32_t b = work.back();
      work.pop_back();
      if (seen[b])
        continue;
      seen[b] = true;
      blocks[b].loops.push_back(header);
      for (uint32_t p : blocks[b].predecessors)
        work.push_back(p);
    }
  }

  std::vector<Block> &blocks;
};
} // namespace

bool tile::sim::layoutBlocks(Code &code, const std::vector<uint32_t> &starts,
                             Diagnostic &diag) {
  std::vector<Inst> &insts = code.insts;
  uint32_t count = uint32_t(insts.size());
  // Until here, targets are positions in the syntax tree.
  std::vector<bool> leader(count + 1);
  leader[0] = true;
  for (uint32_t i = 0; i < count; ++i) {
    Inst &inst = insts[i];
    if (!inst.endsBlock)
      continue;
    if (i + 1 < count)
      leader[i + 1] = true;
    if (inst.fn == execExit || inst.fn == execReturn)
      continue;
    if (inst.extCount) {
      for (unsigned t = 0; t < inst.extCount; ++t) {
        uint32_t &target = code.ext[inst.ext + t];
        target = starts[target];
        leader[target] = true;
      }
    } else {
      inst.target = starts[inst.target];
      leader[inst.target] = true;
    }
  }
  std::vector<Block> blocks;
  std::vector<uint32_t> blockOf(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (leader[i]) {
      blocks.emplace_back().begin = i;
    }
    blocks.back().end = i + 1;
    blockOf[i] = uint32_t(blocks.size()) - 1;
  }
  auto fallsThrough = [&](const Inst &last) {
    return !last.endsBlock || last.guard != NoSlot;
  };
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    const Inst &last = insts[blocks[b].end - 1];
    auto connect = [&](uint32_t to) {
      blocks[b].successors.push_back(to);
      blocks[to].predecessors.push_back(b);
    };
    if (fallsThrough(last) && b + 1 < blocks.size())
      connect(b + 1);
    if (!last.endsBlock || last.fn == execExit || last.fn == execReturn)
      continue;
    if (last.extCount)
      for (unsigned t = 0; t < last.extCount; ++t)
        connect(blockOf[code.ext[last.ext + t]]);
    else
      connect(blockOf[last.target]);
  }
  std::vector<uint32_t> order = BlockOrder(blocks).compute();

  std::vector<Inst> laid;
  std::vector<uint32_t> newStart(blocks.size(), 0);
  std::vector<std::pair<uint32_t, uint32_t>> jumps; // added jump, block
  for (size_t k = 0; k < order.size(); ++k) {
    const Block &block = blocks[order[k]];
    newStart[order[k]] = uint32_t(laid.size());
    laid.insert(laid.end(), insts.begin() + block.begin,
                insts.begin() + block.end);
    bool falls =
        fallsThrough(insts[block.end - 1]) && order[k] + 1 < blocks.size();
    if (falls && (k + 1 == order.size() || order[k + 1] != order[k] + 1)) {
      Inst jump;
      jump.fn = execJump;
      jump.hasTarget = true;
      jump.micro = true;
      jump.name = "(jump)";
      jump.cls = Class::Control;
      jump.line = insts[block.end - 1].line;
      jump.source = insts[block.end - 1].source;
      jumps.push_back({uint32_t(laid.size()), order[k] + 1});
      laid.push_back(jump);
    }
  }
  for (Inst &inst : laid) {
    if (!inst.endsBlock || inst.fn == execExit || inst.fn == execReturn)
      continue;
    if (inst.extCount) {
      for (unsigned t = 0; t < inst.extCount; ++t)
        code.ext[inst.ext + t] = newStart[blockOf[code.ext[inst.ext + t]]];
    } else {
      inst.target = newStart[blockOf[inst.target]];
    }
  }
  for (auto [at, block] : jumps)
    laid[at].target = newStart[block];
  insts = std::move(laid);
  if (insts.size() > (size_t(1) << 30)) {
    diag.error({}, "the function is too large");
    return false;
  }
  return true;
}
