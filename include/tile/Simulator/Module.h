//===-- Module.h - Load PTX and launch its kernels ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "tile/Simulator/Diagnostic.h"
#include "tile/Simulator/Report.h"
#include "tile/Simulator/Type.h"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tile::sim {

struct Program;
class Debugger;

/// How an array without gaps lies in memory, for messages.
struct ArrayShape {
  uint64_t base = 0;
  std::string element; ///< name of the type
  uint32_t elementBytes = 0;
  std::vector<uint64_t> sizes; ///< the innermost dimension last
};

/// Memory that a kernel may touch.
struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;
  std::string name;
  bool writable = true;
};

/// Memory of one parameter's, which accesses through another must not touch.
struct Forbidden {
  uint32_t param = 0; ///< offset of the parameter that is accessed through
  uint64_t low = 0, high = 0;
  std::string name, other; ///< of the two
};

enum Check : unsigned {
  CheckNone = 0,
  CheckRaces = 1,         ///< shared-memory races
  CheckUninitialized = 2, ///< reads of shared memory nobody wrote
  CheckAsync =
      4, ///< asynchronous results used before their wait, missing proxy fences
  CheckBarriers = 8,   ///< divergence at barriers, mbarrier misuse
  CheckGlobal = 16,    ///< global-memory races
  CheckUndefined = 32, ///< what lanes that a mask switched off hold matters
  CheckAll = 63,
};

struct LaunchConfig {
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t dynamicShared = 0;
  unsigned checks = CheckAll;
  uint64_t maxInstructions = 0; ///< warp instructions; 0: no limit
  /// Asked now and then, on the thread that launched; true ends the launch.
  std::function<bool()> interrupted;
  unsigned threads = 0; ///< host threads; 0: as many as there are cores
  /// CTAs that may tell in which order they run, through atomics or ordered
  /// accesses of global memory, do so in one order. It is the same on any
  /// number of host threads.
  bool deterministic = true;
  /// Not 0: warps run in a random order, and asynchronous work is done late.
  uint64_t scheduleSeed = 0;
  uint32_t assumptions = 0; ///< of Assumptions.h
  bool counters = true; ///< memory counters; instruction counts are always kept
  /// Clusters, the first ones, whose warps' times are wanted.
  uint32_t timelines = 0;
  std::vector<Allocation> allocations;
  std::vector<ArrayShape> arrays; ///< in allocations, as far as known
  std::vector<Forbidden> forbidden;
  /// What masked loads leave in lanes that are switched off, where the kernel
  /// says that it is undefined: in each byte, of all such loads or of one
  /// (Module::undefinedLoads).
  uint8_t undefinedByte = 0;
  int undefinedLoad = -1;
  /// Looks on, and may stop the launch at any instruction. CTAs run one after
  /// the other then, on the thread that launched.
  Debugger *debugger = nullptr;
};

class Module;

/// What one GPU of a group launches.
struct GroupMember {
  std::shared_ptr<const Module> module;
  std::string entry;
  LaunchConfig config;
  std::span<const std::byte> args; ///< the parameter buffer
};

/// Runs kernels at once, each on a GPU of its own; any may touch the
/// allocations of all. Gives a report for each. Schedules, threads and limits
/// are those of the first. Returns false for a group that cannot start.
bool launchGroup(std::span<const GroupMember> members,
                 std::vector<Report> &reports, std::string &error);

/// The place of a load which leaves lanes undefined that its mask switches off.
struct UndefinedLoad {
  unsigned line = 0, column = 0;
  std::string file;
};

struct Param {
  std::string name;
  Type type = Type::None;
  uint32_t offset = 0, size = 0;
  bool isArray = false;
};

/// A parsed module, whose kernels are decoded when they are first launched.
/// Launches may share it between threads.
class Module : public std::enable_shared_from_this<Module> {
public:
  /// Null, with `diag` set, if the text is not valid PTX. An instruction that
  /// the simulator lacks matters only to the kernels that may reach it.
  static std::shared_ptr<const Module> load(std::string_view text,
                                            Diagnostic &diag);
  ~Module();

  std::vector<std::string> entries() const;
  /// Null if there is no such entry.
  const std::vector<Param> *params(std::string_view entry) const;
  std::string_view target() const;
  /// Those that the text lists.
  const std::vector<UndefinedLoad> &undefinedLoads() const;
  /// Bytes of statically declared shared memory; 0 for a kernel that cannot be
  /// decoded.
  uint32_t staticShared(std::string_view entry) const;

  /// Runs a kernel. `args` is the parameter buffer, laid out as params() says.
  /// Returns false for a launch that cannot start; what goes wrong later is in
  /// the report.
  bool launch(std::string_view entry, const LaunchConfig &config,
              std::span<const std::byte> args, Report &report,
              std::string &error) const;

  struct Impl;

private:
  friend bool launchGroup(std::span<const GroupMember> members,
                          std::vector<Report> &reports, std::string &error);
  Module();
  std::unique_ptr<Impl> impl;
};

} // namespace tile::sim
