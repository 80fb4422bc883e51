//===-- CostModel.cpp - What a launch would take on a GPU -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The one model of time in the project. Rates that passes know, too, are in
// Rates.h. The model takes exact counts of a launch and peak rates of a GPU.
// Each part of the GPU needs some time at least: memory, tensor cores, issue,
// the unit for special functions, shared memory, tensor memory. The longest is
// the bound.
//
// To rank configurations, it also knows that blocks are spread over
// multiprocessors as wholes. If the launch has a timeline, it knows how long
// one block takes by the latency model (Timeline.cpp). A little of what is
// hidden behind the bound shows.
//
//===----------------------------------------------------------------------===//
#include "tile/Rules/Rates.h"
#include "tile/Simulator/Report.h"

#include <algorithm>
#include <cmath>

using namespace tile::sim;
namespace rates = tile::rates;

//===-- Rates -------------------------------------------------------------===//

// What vendors publish. Memory, tensor cores, multiprocessors, lanes, clock.
static constexpr Gpu gpus[] = {
    {"H200", 4.8e12, 990e12, 132, 128, 1.98e9, 1979e12, 0, 228 << 10},
    {"H100", 3.35e12, 990e12, 132, 128, 1.98e9, 1979e12, 0, 228 << 10},
    {"B200", 8.0e12, 2250e12, 148, 128, 1.85e9, 4500e12, 9000e12, 228 << 10},
    {"B300", 8.0e12, 2250e12, 148, 128, 1.85e9, 4500e12, 14000e12, 228 << 10},
    {"RTX 5090", 1.79e12, 419e12, 170, 128, 2.41e9, 838e12, 1676e12, 100 << 10},
    {"A100", 2.04e12, 312e12, 108, 64, 1.41e9, 624e12, 1248e12, 164 << 10},
    {"MI250X", 1.6e12, 191.5e12, 110, 64, 1.7e9}, // one of its two
    {"MI300X", 5.3e12, 1307e12, 304, 64, 2.1e9},
    {"MI355X", 8.0e12, 2516e12, 256, 64, 2.4e9},
    {"RX 7900 XTX", 0.96e12, 122.8e12, 96, 64, 2.5e9},
    {"RX 9070 XT", 0.64e12, 194.6e12, 64, 64, 2.97e9},
    {"RX 9060 XT", 0.32e12, 102.6e12, 32, 64, 3.13e9}};

/// Of a multiprocessor, in a cycle. A wavefront is what shared memory serves at
/// once.
static constexpr double specialLanes = rates::specialLanes, wavefronts = 1;
/// What of the other parts is not hidden behind the longest.
static constexpr double notHidden = 0.1;
/// Blocks and threads that a multiprocessor holds at once.
static constexpr unsigned mostBlocks = 32, mostThreads = 2048;
/// Shared memory that a block takes beside its own.
static constexpr unsigned reservedBytes = 1024;

const Gpu *Gpu::find(std::string_view name) {
  for (const Gpu &gpu : gpus)
    if (gpu.name == name)
      return &gpu;
  return nullptr;
}

std::string Gpu::names() {
  std::string list;
  for (const Gpu &gpu : gpus)
    list += (list.empty() ? "" : ", ") + std::string(gpu.name);
  return list;
}

//===-- The model ---------------------------------------------------------===//

static double product(const std::array<unsigned, 3> &a) {
  return double(a[0]) * a[1] * a[2];
}

/// How many blocks a multiprocessor holds at once, but for their registers,
/// which only an assembler knows.
static double residentBlocks(const Report &report, const Gpu &gpu) {
  double threads = std::max(1.0, product(report.block));
  double count = std::min<double>(mostBlocks, mostThreads / threads);
  if (gpu.sharedMemory)
    count =
        std::min(count, std::floor(gpu.sharedMemory /
                                   double(report.sharedBytes + reservedBytes)));
  return std::max(1.0, std::floor(count));
}

Report::Roofline Report::roofline(const Gpu &gpu, double blocks) const {
  Roofline r;
  double here = std::max(1.0, product(grid));
  if (blocks == 0)
    blocks = here;
  double scale = blocks / here;
  double bytes =
      32.0 * double(counters.globalLoadSectors + counters.globalStoreSectors) +
      double(counters.asyncBytes);
  double cycles = gpu.clock * gpu.multiprocessors; // a second, of all of them
  auto rate = [](double of, double others) { return of > 0 ? of : others; };
  double rate8 = rate(gpu.tensorFlops8, gpu.tensorFlops),
         rate4 = rate(gpu.tensorFlops4, rate8);
  uint64_t narrow = counters.tensorFlops8 + counters.tensorFlops4;
  // What is read again comes from the cache, at the rate of its ports.
  bytes *= scale;
  double moved = reach ? std::min(bytes, double(reach)) : bytes;
  r.memory = std::max(moved / gpu.bytesPerSecond,
                      bytes / (rates::cacheBytes * cycles));
  r.tensor = std::max(double(counters.tensorFlops - narrow) / gpu.tensorFlops +
                          double(counters.tensorFlops8) / rate8 +
                          double(counters.tensorFlops4) / rate4,
                      double(counters.tensorCycles) / cycles);
  r.issue = (hasScalarUnit ? double(counters.totalLane())
                           : 32.0 * double(counters.totalWarp())) /
            (gpu.lanes * cycles);
  r.special = 32.0 * double(counters.warpInstructions[size_t(Class::Special)]) /
              (specialLanes * cycles);
  r.shared = double(counters.sharedWavefronts) / (wavefronts * cycles);
  r.tensorMemory =
      double(counters.tensorMemoryBytes) / (rates::tensorMemoryBytes * cycles);
  for (double *part :
       {&r.tensor, &r.issue, &r.shared, &r.special, &r.tensorMemory})
    *part *= scale;
  const std::pair<const char *, double> parts[] = {
      {"memory", r.memory},   {"tensor", r.tensor},
      {"issue", r.issue},     {"shared", r.shared},
      {"special", r.special}, {"tensor_memory", r.tensorMemory}};
  double sum = 0;
  for (const auto &[name, seconds] : parts) {
    sum += seconds;
    if (r.bound.empty() || seconds > r.estimate) {
      r.estimate = seconds;
      r.bound = name;
    }
  }

  // Blocks are not divided: some multiprocessors have one more than others.
  double most = std::ceil(blocks / gpu.multiprocessors),
         spread = most * gpu.multiprocessors / blocks;
  // A block alone does not fill the memory's bandwidth.
  double longest =
      std::max(r.memory, bytes / (rates::cacheBytes * cycles) * spread);
  for (double seconds :
       {r.tensor, r.issue, r.shared, r.special, r.tensorMemory})
    longest = std::max(longest, seconds * spread);
  double rounds = std::ceil(most / residentBlocks(*this, gpu));
  r.expected =
      std::max(longest, rounds * double(chain) / gpu.clock) + notHidden * sum;
  return r;
}
