//===-- ptx_parser_fuzzer.cpp - libFuzzer target: PTX text to programs ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Whatever the text, loading gives a module or a diagnostic. Small launches of
// what loads run with a budget, so that the machine is fuzzed, too.
//
//===----------------------------------------------------------------------===//
#include "tile/Simulator/Module.h"

#include <cstdlib>

using namespace tile::sim;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diagnostic diag;
  auto module =
      Module::load({reinterpret_cast<const char *>(data), size}, diag);
  if (!module) {
    if (!diag.isSet())
      std::abort();
    return 0;
  }
  for (const std::string &entry : module->entries()) {
    const std::vector<Param> &params = *module->params(entry);
    uint32_t bytes =
        params.empty() ? 0 : params.back().offset + params.back().size;
    if (bytes > 4096 || module->staticShared(entry) > 65536)
      continue;
    std::vector<std::byte> args(bytes);
    LaunchConfig config;
    config.block = {64, 1, 1};
    config.threads = 1;
    config.maxInstructions = 2000;
    Report report;
    std::string error;
    if (!module->launch(entry, config, args, report, error) && error.empty())
      std::abort();
  }
  return 0;
}
