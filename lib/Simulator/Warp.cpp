//===-- Warp.cpp - Fragments of a warp, convergence, the main loop --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Checkers/OrderChecker.h"
#include "Checkers/RegisterChecker.h"
#include "Checkers/UndefinedLanes.h"
#include "Debug/Hooks.h"
#include "Machine.h"
#include "TensorMemory.h"
#include "Timeline.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace tile::sim;

/// Instructions a fragment may run while others of its warp are ready.
static constexpr uint32_t turnLength = 20000;

unsigned tile::sim::firstLane(uint32_t mask) {
  return mask ? unsigned(std::countr_zero(mask)) : 0;
}

void Ctx::setFrame(Frame *to) {
  frame = to;
  code = to->code;
  regs = reinterpret_cast<std::byte *>(to->regs.data());
  base[0] = regs;
  base[1] = reinterpret_cast<const std::byte *>(code->consts.data());
  stats = worker->stats[code->index].data();
}

void Ctx::loadFragment(uint32_t index) {
  current = index;
  const Fragment &f = warp->frags[index];
  pc = f.pc;
  active = f.mask;
  setFrame(f.frame);
}

void Ctx::saveFragment() {
  Fragment &f = warp->frags[current];
  f.pc = pc;
  f.mask = active;
  f.frame = frame;
}

Frame *Ctx::newFrame(const Code *of, Frame *parent) {
  Frame *made;
  if (!worker->freeFrames.empty()) {
    made = worker->freeFrames.back();
    worker->freeFrames.pop_back();
  } else {
    made = worker->frames.emplace_back(std::make_unique<Frame>()).get();
  }
  made->code = of;
  made->parent = parent;
  made->refs = 1;
  made->depth = parent ? parent->depth + 1 : 0;
  made->localBase = parent ? parent->localEnd() : 0;
  made->allocated = 0;
  // Registers start at zero, so that a program which reads one too early
  // behaves the same every time.
  made->regs.assign((of->frameBytes + 63) / 64, Chunk{});
  made->initialized.assign(of->doubtfulCount, 0);
  reserveLocal(made->localEnd());
  // What an earlier call left behind is no value of this one.
  for (uint32_t m = parent ? active : 0; m && of->localBytes; m &= m - 1)
    std::memset(
        &warp->localWritten[size_t(std::countr_zero(m)) * warp->localStride +
                            made->localBase],
        0, of->localBytes);
  launch->program->enter(*this, *made);
  return made;
}

void Ctx::reserveLocal(uint32_t need) {
  if (need <= warp->localStride)
    return;
  uint32_t stride = std::max(need, warp->localStride * 2);
  unsigned lanes = launch->program->waveLanes;
  std::vector<std::byte> grown(size_t(stride) * lanes);
  std::vector<uint8_t> written(size_t(stride) * lanes);
  for (unsigned lane = 0; lane < lanes && warp->localStride; ++lane) {
    size_t from = size_t(lane) * warp->localStride, to = size_t(lane) * stride;
    std::copy_n(&warp->local[from], warp->localStride, &grown[to]);
    std::copy_n(&warp->localWritten[from], warp->localStride, &written[to]);
  }
  warp->local = std::move(grown);
  warp->localWritten = std::move(written);
  warp->localStride = stride;
}

void Ctx::markLocal(unsigned lane, uint32_t offset, uint32_t bytes) {
  std::memset(&warp->localWritten[size_t(lane) * warp->localStride + offset], 1,
              bytes);
}

void Ctx::release(Frame *of) {
  while (of && --of->refs == 0) {
    Frame *parent = of->parent;
    worker->freeFrames.push_back(of);
    of = parent;
  }
}

/// Joins fragments that stand at the same place; returns the fragment to run,
/// or -1.
static int pickFragment(Warp &warp) {
  auto &frags = warp.frags;
  int best = -1;
  for (size_t i = 0; i < frags.size(); ++i) {
    if (frags[i].wait != Wait::Ready)
      continue;
    if (best < 0) {
      best = int(i);
      continue;
    }
    const Fragment &a = frags[i], &b = frags[best];
    if (a.stamp != b.stamp                 ? a.stamp < b.stamp
        : a.frame->depth != b.frame->depth ? a.frame->depth > b.frame->depth
                                           : a.pc < b.pc)
      best = int(i);
  }
  return best;
}

static int mergeInto(Ctx &c, int best) {
  auto &frags = c.warp->frags;
  for (size_t i = 0; i < frags.size();) {
    if (int(i) != best && frags[i].wait == Wait::Ready &&
        frags[i].pc == frags[best].pc && frags[i].frame == frags[best].frame) {
      frags[best].mask |= frags[i].mask;
      frags[best].stamp = std::max(frags[best].stamp, frags[i].stamp);
      c.release(frags[i].frame);
      frags.erase(frags.begin() + i);
      if (best > int(i))
        --best;
    } else {
      ++i;
    }
  }
  return best;
}

/// The program counter at which the running fragment must let another one in.
static uint32_t mergeLimit(const Ctx &c) {
  uint32_t limit = ~0u;
  const Fragment &self = c.warp->frags[c.current];
  for (size_t i = 0; i < c.warp->frags.size(); ++i) {
    const Fragment &f = c.warp->frags[i];
    if (i != c.current && f.wait == Wait::Ready && f.frame == self.frame &&
        f.stamp <= self.stamp)
      limit = std::min(limit, f.pc);
  }
  return limit;
}

bool Ctx::gather(uint32_t need, bool &retry, Wait kind) {
  retry = false;
  need &= ~warp->exited;
  if ((need & ~active) == 0)
    return true;
  saveFragment();
  for (size_t i = 0; i < warp->frags.size();) {
    Fragment &f = warp->frags[i];
    if (i != current && f.wait == kind && f.pc == pc && f.frame == frame) {
      active |= f.mask;
      release(f.frame);
      warp->frags.erase(warp->frags.begin() + i);
      if (current > i)
        --current;
      retry = true;
    } else {
      ++i;
    }
  }
  warp->frags[current].mask = active;
  if ((need & ~active) == 0)
    return !retry;
  retry = false;
  warp->frags[current].wait = kind;
  warp->frags[current].waitArg = need;
  return false;
}

void tile::sim::exitLanes(Ctx &c, const Inst &inst, uint32_t mask) {
  Warp &warp = *c.warp;
  Cta &cta = *c.cta;
  if (c.checker)
    c.checker->exitThreads(c, inst, mask);
  warp.exited |= mask;
  c.active &= ~mask;
  unsigned count = unsigned(std::popcount(mask));
  cta.liveThreads -= count;
  c.cluster->liveThreads -= count;
  ++c.cluster->progress;
  for (Fragment &f : warp.frags)
    if (f.wait == Wait::Sync || f.wait == Wait::Aligned)
      f.wait = Wait::Ready;
  if (c.active == 0) {
    c.release(c.frame);
    warp.frags.erase(warp.frags.begin() + c.current);
    if (warp.frags.empty()) {
      if (--cta.liveWarps == 0) {
        if (c.checker)
          c.checker->exitCta(c, inst, firstLane(mask));
        checkTensorLeaks(c, inst, firstLane(mask));
      }
      warp.local = {};
      warp.localWritten = {};
      warp.localStride = 0;
    }
  } else {
    c.saveFragment();
  }
  for (unsigned b = 0; b < 16; ++b)
    checkBarrierRelease(c, cta, b);
  checkClusterRelease(*c.cluster);
}

/// `debugged` launches stop at instructions. The loop of others has no trace of
/// that.
template <bool debugged>
static bool runTurn(Ctx &c, Warp &warp, uint64_t quota, uint64_t &used) {
  c.warp = &warp;
  used = 0;
  while (used < quota) {
    int best = pickFragment(warp);
    if (best < 0)
      return true;
    best = mergeInto(c, best);
    c.loadFragment(uint32_t(best));
    bool alone = warp.frags.size() == 1;
    uint32_t limit = alone ? ~0u : mergeLimit(c);
    uint64_t turn =
        alone ? quota - used : std::min<uint64_t>(turnLength, quota - used);
    uint64_t left = turn;
    const Inst *insts = c.code->insts.data();
    Step step = Step::Next;
    while (left > 0 && c.pc < limit) {
      const Inst &inst = insts[c.pc];
      if constexpr (debugged) {
        if (!debugBefore(c, inst, used + turn - left)) {
          c.saveFragment();
          used += turn - left;
          return !c.launch->group->stop;
        }
      }
      uint32_t mask = c.active;
      if (inst.guard != NoSlot) {
        uint32_t bits = c.pred(inst.guard);
        mask &= inst.guardNegated ? ~bits : bits;
      }
      InstStats &stats = c.stats[c.pc];
      ++stats.warps;
      stats.lanes += c.countLanes(mask);
      --left;
      if (inst.watch) [[unlikely]] {
        if (inst.watch & Inst::Doubtful)
          trackRegisters(c, inst, mask);
        if ((inst.watch & Inst::Matrix) && mask)
          touchMatrixRegisters(c, inst, mask);
        if (inst.watch & Inst::Undefined)
          leaveUndefined(c, inst, mask);
        if (inst.watch & Inst::Program)
          c.launch->program->watch(c, inst);
      }
      if (mask == 0) {
        ++c.pc;
        continue;
      }
      if (c.timeline) [[unlikely]]
        c.timeline->issue(c, inst);
      step = inst.fn(c, inst, mask);
      if constexpr (debugged)
        debugAfter(c, inst);
      if (step == Step::Next) {
        ++c.pc;
        continue;
      }
      break;
    }
    used += turn - left;
    if (step == Step::Error)
      return false;
    if (step == Step::Done)
      continue;
    if (step == Step::Block)
      continue;
    if (step == Step::Yield) {
      ++c.pc;
      c.saveFragment();
      // Let the warp's other lanes run before this fragment spins again.
      if (warp.frags.size() > 1)
        ++warp.frags[c.current].stamp;
      return true;
    }
    c.saveFragment();
    if (left == 0 && !alone && used < quota)
      ++warp.frags[c.current].stamp;
  }
  if (warp.frags.size() > 1 && c.current < warp.frags.size())
    ++warp.frags[c.current].stamp;
  return true;
}

bool tile::sim::runWarp(Ctx &c, Warp &warp, uint64_t quota, uint64_t &used) {
  return c.launch->config->debugger ? runTurn<true>(c, warp, quota, used)
                                    : runTurn<false>(c, warp, quota, used);
}
