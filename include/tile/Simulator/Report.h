//===-- Report.h - What a launch did --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tile::sim {

/// Instruction classes of the counters.
enum class Class : uint8_t {
  Integer,
  Logic,
  Move,
  Compare,
  Convert,
  Float32,
  Float16,
  Float64,
  Special,
  Control,
  Load,
  Store,
  Atomic,
  Collective,
  Barrier,
  Async,
  Tensor,
  Other,
  Count,
};
std::string_view nameOf(Class cls);

/// A place in the program: the PTX line and, if the PTX has .loc, the source
/// line.
struct Place {
  uint32_t line = 0;
  std::string file;
  uint32_t sourceLine = 0, sourceColumn = 0;
  /// Of code that was inlined from another file: where, in the kernel's file.
  std::string callFile;
  uint32_t callLine = 0, callColumn = 0;
  std::string instruction;
  std::string format() const;
};

struct ThreadId {
  std::array<unsigned, 3> cta{}, thread{};
  int gpu = -1; ///< if there are several
  std::string format() const;
};

/// Something wrong that the kernel did.
struct Finding {
  std::string kind; ///< "out-of-bounds", "misaligned", "race", ...
  std::string message;
  Place place;
  ThreadId thread;
  bool hasOther = false; ///< a second access: the other side of a race
  Place otherPlace;
  ThreadId otherThread;
  bool isFatal = true; ///< the launch stopped here
  std::string format() const;
};

struct Counters {
  std::array<uint64_t, size_t(Class::Count)> warpInstructions{},
      laneInstructions{};
  uint64_t globalLoadRequests = 0, globalLoadSectors = 0,
           globalStoreRequests = 0, globalStoreSectors = 0;
  uint64_t globalLoadBytes = 0, globalStoreBytes = 0, sharedLoadBytes = 0,
           sharedStoreBytes = 0;
  uint64_t localLoadBytes = 0, localStoreBytes = 0, asyncBytes = 0;
  uint64_t sharedRequests = 0, sharedWavefronts = 0, bankConflicts = 0;
  uint64_t atomics = 0, barriers = 0, divergentBranches = 0, branches = 0;
  uint64_t tensorFlops = 0;
  /// Of these, those of elements of up to 8 and up to 4 bits.
  uint64_t tensorFlops8 = 0, tensorFlops4 = 0;
  /// That tensor cores are busy with asynchronous dots, by their shapes.
  uint64_t tensorCycles = 0;
  /// That threads load from tensor memory and store there.
  uint64_t tensorMemoryBytes = 0;
  uint64_t totalWarp() const;
  uint64_t totalLane() const;
  /// Operations of tensor cores on elements of `bits`.
  void addTensor(uint64_t flops, unsigned bits) {
    tensorFlops += flops;
    if (bits <= 8)
      (bits <= 4 ? tensorFlops4 : tensorFlops8) += flops;
  }
  void add(const Counters &other);
};

/// Counters of one source line (or PTX line where there is no .loc), and of
/// what was inlined into it from other files.
struct LineCounters {
  uint64_t warpInstructions = 0, laneInstructions = 0, sectors = 0,
           requests = 0, bankConflicts = 0;
  /// What lanes asked for of global memory; sectors bring at least as much.
  uint64_t bytes = 0;
  /// Lanes of global loads and stores with a predicate, and those of them that
  /// did not run: a mask that never switches a lane off is not needed.
  uint64_t predicatedLanes = 0, maskedLanes = 0;
};

/// Peak rates of a GPU, for the model of what a launch takes (CostModel.cpp).
struct Gpu {
  std::string_view name;
  double bytesPerSecond, tensorFlops;
  unsigned multiprocessors, lanes; ///< lanes that issue in a cycle, of each
  double clock;                    ///< cycles per second
  /// Of elements of 8 and 4 bits; 0: as of others.
  double tensorFlops8 = 0, tensorFlops4 = 0;
  /// Shared memory of a multiprocessor, in bytes; 0: not known.
  unsigned sharedMemory = 0;
  /// Null if there is no such GPU in the table; names() lists those there are.
  static const Gpu *find(std::string_view name);
  static std::string names();
};

/// How many waves a SIMD unit holds at once, and what does not let it hold
/// more.
struct Occupancy {
  unsigned waves = 0; ///< 0: not known
  unsigned most = 0;  ///< that the unit has room for, whatever they take
  std::string bound; ///< "waves", "vector registers", "scalar registers", "LDS"
  unsigned vectorRegisters = 0, scalarRegisters = 0; ///< as they are given out
};

struct Report {
  bool ok = true;
  /// The GPU of the roofline if no other one is asked for.
  std::string gpu = "H200";
  /// Scalar instructions are issued beside those of the lanes, which then count
  /// by lane.
  bool hasScalarUnit = false;
  Occupancy occupancy;
  std::string entry;
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t sharedBytes = 0;
  unsigned threads = 1;
  double seconds = 0;
  std::vector<Finding> findings;
  Counters counters;
  std::map<std::pair<std::string, uint32_t>, LineCounters> lines;
  /// The same by line of the assembly.
  std::map<uint32_t, LineCounters> assemblyLines;
  /// Lines with code of the kernel of which nothing ran.
  std::set<std::pair<std::string, uint32_t>> uncovered;
  std::string output; ///< of printf in the kernel
  /// Those of Module::undefinedLoads that had lanes switched off.
  std::vector<uint32_t> undefinedLoads;
  /// Events of the timelines that were asked for, as Chrome and Perfetto read
  /// them, without the brackets around all of them.
  std::string timeline;

  /// Bytes of global memory that the launch was given.
  uint64_t reach = 0;
  /// When the last warp of the first cluster ends by the latency model, in
  /// cycles; 0 without a timeline.
  uint64_t chain = 0;

  /// Seconds that the parts of a GPU need at least, and the largest of them.
  /// `expected` is what configurations are ranked by: it knows how blocks are
  /// spread over the GPU, and how long one of them takes.
  struct Roofline {
    double memory = 0, tensor = 0, issue = 0, shared = 0, special = 0,
           tensorMemory = 0, estimate = 0, expected = 0;
    std::string bound;
  };
  /// Of so many blocks like those of this launch; 0: of this launch.
  Roofline roofline(const Gpu &gpu, double blocks = 0) const;
  std::string rooflineJson(const Gpu *gpu = nullptr, double blocks = 0) const;
  std::string summary(const Gpu *gpu = nullptr) const;
  std::string toJson(const Gpu *gpu = nullptr) const;
};

} // namespace tile::sim
