//===-- simulator_fuzzer.cpp - libFuzzer target: assembly to launches -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Whatever the text, PTX or AMDGCN, loading gives a module or a diagnostic.
// What loads runs with a budget and every check, so that the machines are
// fuzzed, too. The text alone decides everything: a finding is reproducible.
//
//===----------------------------------------------------------------------===//
#include "tile/Simulator/Module.h"

#include <cstdlib>
#include <cstring>

using namespace tile::sim;

/// Blocks and clusters that a text is launched with: its size chooses.
static constexpr unsigned blocks[] = {32, 64, 128, 33};
static constexpr unsigned clusters[] = {1, 1, 2};

/// Memory that pointers point to. Of the heap: the simulator's own accesses
/// past its end are found.
static std::vector<uint32_t> memory(1024);

/// Parameters of 8 bytes are pointers, smaller ones the number 3.
static std::vector<std::byte> argumentsOf(const std::vector<Param> &params) {
  std::vector<std::byte> bytes(
      params.empty() ? 0 : params.back().offset + params.back().size);
  for (const Param &param : params) {
    uint64_t value = param.size == 8
                         ? uint64_t(reinterpret_cast<uintptr_t>(memory.data()))
                         : 3;
    if (!param.isArray && param.size <= 8)
      std::memcpy(bytes.data() + param.offset, &value, param.size);
  }
  return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diagnostic diag;
  auto module =
      Module::load({reinterpret_cast<const char *>(data), size}, diag);
  if (!module) {
    if (!diag.isSet())
      std::abort();
    return 0;
  }
  std::vector<std::string> entries = module->entries();
  for (size_t i = 0; i < entries.size() && i < 2; ++i) {
    const std::vector<Param> &params = *module->params(entries[i]);
    if ((!params.empty() && params.back().offset + params.back().size > 4096) ||
        module->staticShared(entries[i]) > 65536)
      continue;
    for (size_t k = 0; k < memory.size(); ++k)
      memory[k] = uint32_t(k);
    std::vector<std::byte> args = argumentsOf(params);
    LaunchConfig config;
    config.block = {blocks[size % std::size(blocks)], 1, 1};
    config.cluster = {clusters[size % std::size(clusters)], 1, 1};
    config.grid = {2, 1, 1};
    config.dynamicShared = 4096;
    config.threads = 1;
    config.maxInstructions = 500;
    config.scheduleSeed = size % 5 == 0;
    config.allocations = {{uint64_t(reinterpret_cast<uintptr_t>(memory.data())),
                           memory.size() * sizeof(uint32_t), "memory", true}};
    Report report;
    std::string error;
    if (!module->launch(entries[i], config, args, report, error) &&
        error.empty())
      std::abort();
  }
  return 0;
}
