//===-- SkippedBarriers.cpp - Lanes that left by another way --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A thread that returns early takes no part in later barriers: programs do that
// on purpose. A thread that goes around a barrier and then on, with what the
// others do behind it, was meant to be there. The two differ in how they end:
// the second one ends in a block that also follows the barrier, and does
// something there.
//
//===----------------------------------------------------------------------===//
#include "../Machine.h"

#include <algorithm>
#include <bit>

using namespace tile::sim;

/// The last instruction of the block that ends with the exit at `exit`, if
/// nothing jumps between the two; else -1.
static int64_t lastBefore(const Code &code, uint32_t exit) {
  for (uint32_t at = exit; at > 0; --at) {
    bool isJumpedTo =
        std::any_of(code.insts.begin(), code.insts.end(), [&](const Inst &i) {
          return i.hasTarget && i.target == at;
        });
    const Inst &before = code.insts[at - 1];
    if (isJumpedTo || before.endsBlock || before.hasTarget)
      return -1;
    if (!before.micro && before.cls != Class::Control)
      return at - 1;
  }
  return -1;
}

/// Can control go from behind `from` to `to`?
static bool reaches(const Code &code, uint32_t from, uint32_t to) {
  std::vector<bool> seen(code.insts.size());
  std::vector<uint32_t> work{from + 1};
  while (!work.empty()) {
    uint32_t at = work.back();
    work.pop_back();
    if (at >= code.insts.size() || seen[at])
      continue;
    if (at == to)
      return true;
    seen[at] = true;
    const Inst &inst = code.insts[at];
    if (inst.hasTarget)
      work.push_back(inst.target);
    if (std::string_view(inst.name) == "brx")
      for (uint32_t i = 0; i < inst.extCount; ++i)
        work.push_back(code.ext[inst.ext + i]);
    if (!inst.endsBlock || inst.guard != NoSlot)
      work.push_back(at + 1);
  }
  return false;
}

void tile::sim::rememberExit(Ctx &c, const Inst &inst, uint32_t mask) {
  Warp &warp = *c.warp;
  bool isWhole = (mask | warp.exited) == FullMask;
  if (isWhole || inst.guard != NoSlot || !(c.checks & CheckBarriers))
    return;
  int64_t last = lastBefore(*c.code, uint32_t(&inst - c.code->insts.data()));
  if (last >= 0)
    warp.exits.push_back({c.code, uint32_t(last), mask});
}

void tile::sim::checkSkippedBarrier(Ctx &c, const Inst &inst, uint32_t mask) {
  uint32_t at = uint32_t(&inst - c.code->insts.data());
  std::vector<Exit> &exits = c.warp->exits;
  auto skipped = std::find_if(exits.begin(), exits.end(), [&](const Exit &e) {
    return e.code == c.code && reaches(*e.code, at, e.last);
  });
  if (skipped == exits.end())
    return;
  ThreadId other = c.thread(firstLane(skipped->lanes));
  c.note(inst, firstLane(mask), "barrier-divergence",
         "only " + std::to_string(std::popcount(mask)) + " of the warp's " +
             std::to_string(std::popcount(c.warp->initial)) +
             " threads are at this barrier, which all of a warp must reach "
             "together; others went around it, and on",
         &skipped->code->insts[skipped->last], skipped->code, &other);
}
