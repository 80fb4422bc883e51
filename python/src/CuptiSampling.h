//===-- CuptiSampling.h - Samples of the program counter ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUPTI runs one kernel after the other while it samples, and says for each
// sample which launch it belongs to.
//===----------------------------------------------------------------------===//
#ifndef TILE_PYTHON_CUPTISAMPLING_H
#define TILE_PYTHON_CUPTISAMPLING_H

#include "CuptiInterface.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tile::python::cupti {

/// Samples of one place in the source.
struct SampledLine {
  uint32_t path, epoch;
  std::string function, file;
  uint32_t line;
  uint64_t samples = 0;
  /// By the reason for which the warp waited.
  std::map<std::string, uint64_t> reasons;
};

struct Samples {
  std::vector<SampledLine> lines;
  /// That there was no room for.
  uint64_t dropped = 0;
};

class Sampler {
public:
  Sampler();
  ~Sampler();
  /// Samples every 2^period cycles, in the current context. Returns why not,
  /// else nothing.
  std::string start(const Functions &functions, void *context, unsigned period);
  void stop();
  bool isRunning() const { return !contexts.empty(); }
  /// A module was loaded: lines are looked up in its code.
  void addModule(const ModuleCall &module);
  /// Notes what a launch belongs to.
  void addLaunch(uint32_t correlation, uint32_t path, uint32_t epoch);
  /// Takes the samples of kernels that ended.
  void collect(void *context);
  /// Takes those that are left, too, of kernels that ended.
  Samples take();

private:
  struct Context;
  std::string startIn(void *context);
  std::vector<void *> getContexts();
  void add(const Context &context, const SampledPc &pc);
  void lookUp(uint64_t cubin, const char *function, uint64_t offset,
              std::string &file, uint32_t &line);

  const Functions *functions = nullptr;
  unsigned period = 10;
  std::mutex mutex;
  std::unordered_map<void *, std::unique_ptr<Context>> contexts;
  std::unordered_map<uint64_t, std::string> cubins;
  struct Launch {
    uint32_t path, epoch;
  };
  std::unordered_map<uint32_t, Launch> launches;
  /// By path, epoch, function and offset.
  std::map<std::tuple<uint32_t, uint32_t, std::string, std::string, uint32_t>,
           SampledLine>
      lines;
  uint64_t dropped = 0;
};

} // namespace tile::python::cupti

#endif
