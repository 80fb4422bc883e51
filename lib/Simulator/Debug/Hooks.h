//===-- Hooks.h - Where a launch asks its debugger ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"

namespace tile::sim {

/// Where the arguments of a launch are kept: each run of a launch that is
/// debugged has them at the same address. `own` is for other launches.
ArgumentBuffer &argumentsOf(const LaunchConfig &config, ArgumentBuffer &own);
/// A launch with a debugger begins.
void beginDebug(const Launch &launch);
/// Before an instruction of the running warp, which has run so many since it
/// was chosen. False: another one is next; the launch ends if it was told to
/// stop.
bool debugBefore(Ctx &c, const Inst &inst, uint64_t inTurn);
/// An instruction has run.
void debugAfter(Ctx &c, const Inst &inst);
bool endDebugRound(Ctx &c, Cta &cta, bool &moved);
bool holdDebugged(const Launch &launch, const Warp &warp);
void showDebugFinding(Ctx &c);

/// The warps of a CTA have had their turns, in which some have `moved`. False:
/// the launch ends.
inline bool debugRound(Ctx &c, Cta &cta, bool &moved) {
  return !c.launch->config->debugger || endDebugRound(c, cta, moved);
}
/// A warp lets others that run the same code catch up, so that all of them stop
/// at the same statement.
inline bool debugHolds(const Launch &launch, const Warp &warp) {
  return launch.config->debugger && holdDebugged(launch, warp);
}
/// Something was found that no single instruction did.
inline void debugFinding(Ctx &c) {
  if (c.launch->config->debugger)
    showDebugFinding(c);
}

} // namespace tile::sim
