//===-- Debugger.h - Stops a launch, and looks at it ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A launch with a debugger runs on one host thread, in an order that depends on
// nothing that the debugger is asked for. So the n-th event is the same in each
// run. A debugger goes back by running again up to an earlier event.
//
// The warps of a CTA take turns by statements. Between the turns of all of them
// (a round) they stand at the same statement, unless they went different ways.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tile/Simulator/Report.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tile::sim {

/// A line of the text that says something about the source (`tile.debug`).
struct DebugMark {
  enum Kind : uint8_t {
    Statement, ///< one begins
    Enter,     ///< a function begins: its variables have no values
    Constant,  ///< a variable is a constant from here on
    Value,     ///< registers hold the value of a variable
  };
  uint32_t line = 0; ///< of the text
  Kind kind = Statement;
  /// Which activation of a function it belongs to.
  uint32_t scope = 0;
  uint32_t function = 0; ///< of the assembly
  std::vector<std::string> registers;
  /// Of a value that several lines are about: the first of them, by its number,
  /// the place of the first register, and how many there are.
  uint32_t head = 0, first = 0, count = 0;
};

/// Why a launch stopped.
enum class DebugReason : uint8_t {
  Place,    ///< warps came to the beginning of a statement, or of a line
  Step,     ///< an instruction of the warp that is looked at comes next
  Watch,    ///< memory that is watched has changed
  Finding,  ///< something wrong was found
  Position, ///< the event that was asked for
  Pause,
};

/// Where a fragment of a warp is.
struct DebugFragment {
  uint64_t lanes = 0;
  Place place;
  /// The mark at which it stands, or -1.
  int32_t mark = -1;
  uint32_t depth = 0; ///< calls, where there are no marks
  bool isWaiting = false;
  std::string waitsFor; ///< empty if it can go on
  /// Waits at an mbarrier in shared memory of a CTA of the cluster.
  bool atMbarrier = false;
  uint32_t mbarrier = 0, mbarrierRank = 0, phase = 0;
};

struct DebugWarp {
  uint32_t rank = 0, index = 0; ///< of the CTA in its cluster; in the CTA
  uint64_t exited = 0;
  /// The marks of the statements that are under way in functions that are not
  /// inlined, the innermost last.
  std::vector<uint32_t> calls;
  std::vector<DebugFragment> fragments;
};

struct DebugMbarrier {
  uint32_t rank = 0, offset = 0;
  uint32_t phase = 0, pending = 0, expected = 0;
  int32_t bytes = 0;
};

struct DebugBarrier {
  uint32_t rank = 0, number = 0, arrived = 0, expected = 0;
};

/// What a warp's lanes last assigned at one mark.
struct DebugCapture {
  uint32_t head = 0; ///< the mark
  /// By lane: when, in events (0: never), and how often.
  std::vector<uint64_t> stamps;
  std::vector<uint32_t> counts;
  /// By register, then by lane.
  std::vector<uint64_t> values;
};

/// Bytes that are watched.
struct DebugWatch {
  /// In shared memory of the CTA with this number; -1: in global memory.
  int64_t cta = -1;
  uint64_t address = 0, size = 0;
};

class Debugger {
public:
  /// Called at each stop, on the launch's thread. True: goes on; false: ends
  /// the launch.
  using Handler = std::function<bool(DebugReason)>;

  /// `groups` of warps (first, and how many) run the same code: they keep in
  /// step.
  Debugger(std::vector<DebugMark> marks,
           std::vector<std::pair<uint32_t, uint32_t>> groups, Handler handler);
  ~Debugger();

  // What to stop at. May be changed at each stop.

  /// Assembly lines, source lines (file and line) or marks; of one CTA or, by
  /// -1, of any.
  struct Breakpoint {
    uint32_t number = 0; ///< as its owner knows it
    bool isAssembly = false;
    std::string file;
    uint32_t line = 0;
    std::vector<uint32_t> marks;
    int64_t cta = -1;
  };
  void setBreakpoints(std::vector<Breakpoint> list);
  /// Stops whenever warps come to another place: of one CTA and warp, or any.
  void stopAtPlaces(bool yes, int64_t cta, int64_t warp);
  /// Stops before the next instruction of a warp; -1: of any.
  void stopAtInstructions(bool yes, int64_t cta, int64_t warp);
  void stopAtFindings(bool yes);
  void stopAt(uint64_t event); ///< ~0: at none
  void setWatches(std::vector<DebugWatch> list);
  /// From any thread: stops at the next event.
  void pause();

  // What there is, at a stop.

  uint64_t now() const;
  /// The CTA that is looked at, and its number in the grid.
  std::array<unsigned, 3> cta() const;
  uint64_t ctaNumber() const;
  uint32_t rank() const;
  uint32_t warp() const;
  unsigned waveLanes() const;
  /// The breakpoints at which a warp of the CTA has arrived.
  const std::vector<uint32_t> &hit() const;
  /// The warps that came to another place since the last round.
  const std::vector<uint32_t> &arrived() const;
  /// The first watch whose memory changed, and what it held before.
  std::optional<size_t> changed() const;
  const std::vector<std::byte> &before() const;
  /// Of the cluster that runs.
  std::vector<DebugWarp> warps() const;
  std::vector<DebugMbarrier> mbarriers() const;
  std::vector<DebugBarrier> barriers() const;
  std::vector<std::byte> shared(uint32_t rank) const;
  std::vector<std::pair<std::string, std::pair<uint32_t, uint32_t>>>
  sharedNames() const;
  /// A register by its name: bits by lane; empty if there is none, or if the
  /// warp has ended.
  std::vector<uint64_t> readRegister(uint32_t rank, uint32_t warp,
                                     const std::string &name) const;
  std::vector<std::string> registerNames() const;
  /// What the lanes of a warp have assigned, and when each lane last entered a
  /// function: by scope.
  std::vector<DebugCapture> captures(uint32_t rank, uint32_t warp) const;
  std::vector<uint64_t> entered(uint32_t rank, uint32_t warp,
                                uint32_t scope) const;
  /// What was found so far.
  std::vector<Finding> findings() const;
  /// The places at which a breakpoint can be, once the launch has begun: lines
  /// of the assembly, with their places.
  std::vector<Place> places() const;

  struct Impl;
  Impl &getImpl() { return *impl; }

private:
  std::unique_ptr<Impl> impl;
};

} // namespace tile::sim
