//===-- DebuggerImpl.h - What a debugger keeps of a launch ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"
#include "tile/Simulator/Debugger.h"

#include <atomic>
#include <map>
#include <set>

namespace tile::sim {

struct Debugger::Impl {
  /// What is known of each instruction of a function.
  struct Site {
    int32_t mark = -1;   ///< that it carries
    bool begins = false; ///< a statement, or a line where there are no marks
    uint32_t key = 0;    ///< of its source line
  };
  struct Target {
    RegisterPlace place;
    bool isKnown = false;
  };
  /// What a warp did.
  struct WarpState {
    std::map<uint32_t, DebugCapture> captures;         ///< by head
    std::map<uint32_t, std::vector<uint64_t>> open;    ///< values under way
    std::map<uint32_t, std::vector<uint64_t>> entered; ///< by scope
    /// Functions under way, each with the mark that came last in it.
    std::vector<std::pair<uint32_t, uint32_t>> calls;
    bool isShown = false;    ///< that it has come to where it stands
    uint64_t statements = 0; ///< that began
    bool isHeld = false;     ///< lets others catch up
    uint32_t held = 0;       ///< turns since it ran
    uint32_t unfair = 0;     ///< instructions since other lanes ran
  };

  std::vector<DebugMark> marks;
  /// Groups of warps that run the same code: first, and how many.
  std::vector<std::pair<uint32_t, uint32_t>> groups;
  Handler handler;
  std::vector<Breakpoint> breakpoints;
  std::vector<DebugWatch> watches;
  std::vector<std::vector<std::byte>> watched; ///< what they held
  bool places = false, instructions = false, atFindings = false;
  int64_t placesCta = -1, placesWarp = -1;
  int64_t instructionsCta = -1, instructionsWarp = -1;
  uint64_t target = ~uint64_t(0);
  std::atomic<bool> pauses{false};

  ArgumentBuffer arguments;
  // Of the launch.
  const Launch *launch = nullptr;
  Ctx *ctx = nullptr;
  uint64_t now = 0;
  size_t known = 0; ///< findings that were there before
  bool hasMarks = false;
  std::vector<std::vector<Site>> sites; ///< by function
  std::vector<std::vector<std::vector<Target>>>
      registers; ///< by function, mark
  std::map<std::pair<uint64_t, uint32_t>, WarpState> warps; ///< CTA, warp
  std::set<std::pair<uint64_t, uint32_t>> mbarriers;        ///< CTA, offset
  std::vector<uint32_t> hit, arrived;
  std::optional<size_t> changed;
  std::vector<std::byte> before;

  void begin(const Launch &of);
  const Site &siteOf(const Fragment &f) const;
  WarpState &state(const Cta &cta, uint32_t warp) {
    return warps[{cta.linear, warp}];
  }
  /// Reads a register of a frame for all lanes.
  std::vector<uint64_t> read(const Frame &frame, const RegisterPlace &p) const;
  void noteCall(WarpState &warp, uint32_t mark);
  void capture(Ctx &c, const Inst &inst, uint32_t mark);
  void noteMbarrier(Ctx &c, const Inst &inst);
  /// Calls the handler; false: the launch ends.
  bool stop(Ctx &c, DebugReason reason);
  bool checkWatches(Ctx &c);
  std::span<const std::byte> bytesOf(const DebugWatch &watch) const;
  bool matches(const Breakpoint &b, const Ctx &c, const Fragment &f) const;
};

} // namespace tile::sim
