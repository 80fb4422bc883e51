//===-- HostileTextTest.cpp - Texts that a fuzzer broke the loader with ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each text once crashed, hung or ate all memory. Now each is a module that
// runs to a report, or a diagnostic. Meant to be run with sanitizers, too.
//
//===----------------------------------------------------------------------===//
#include "tile/Simulator/Module.h"

#include <gtest/gtest.h>

using namespace tile::sim;

namespace {
const std::string header = ".version 8.8\n.target sm_90a\n.address_size 64\n";

std::string kernel(const std::string &body) {
  return header + ".visible .entry k(.param .u64 p0)\n{\n" + body + "\n}\n";
}

/// Loads and runs a text; the diagnostic, or what the launch found.
std::string run(const std::string &text) {
  Diagnostic diag;
  auto module = Module::load(text, diag);
  if (!module)
    return diag.format("k");
  std::string said;
  for (const std::string &entry : module->entries()) {
    LaunchConfig config;
    config.block = {64, 1, 1};
    config.threads = 1;
    config.maxInstructions = 2000;
    std::vector<std::byte> args(4096);
    Report report;
    std::string error;
    if (!module->launch(entry, config, args, report, error))
      said += error;
    for (const Finding &finding : report.findings)
      said += finding.format();
  }
  return said;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(HostileText, VariableWithTwoTypes) {
  std::string said = run(kernel(".reg .b32.b128 %r; mov.u32 %r, %tid.x; ret;"));
  EXPECT_TRUE(contains(said, "one type")) << said;
}

TEST(HostileText, WordMovedToQuad) {
  // A narrow result in a 128-bit register was widened from the wrong width.
  std::string said = run(kernel(".reg .b128 %q; mov.u32 %q, %tid.x;"));
  EXPECT_TRUE(contains(said, "type .b128, expected .u32")) << said;
  EXPECT_EQ(run(kernel(".reg .b128 %q; .local .align 4 .b8 s[4];"
                       "st.local.b32 [s], 1; ld.local.b32 %q, [s];"
                       "st.local.b32 [s], %q;")),
            "");
}

TEST(HostileText, ComponentPastTheVector) {
  std::string said =
      run(kernel(".reg .v2 .b32 %v; mov.u32 %v.w, %tid.x; ret;"));
  EXPECT_TRUE(contains(said, "no such component")) << said;
}

TEST(HostileText, HugeVariables) {
  std::string said = run(header + ".global .b8 a[4294967295];\n" +
                         ".global .b8 b[4294967295];\n");
  EXPECT_TRUE(contains(said, "too large")) << said;
}

TEST(HostileText, NestedAddresses) {
  std::string open;
  for (int i = 0; i < 100000; ++i)
    open += "[a,";
  std::string said = run(kernel("ld.u32 %r, " + open));
  EXPECT_TRUE(contains(said, "nested too deeply")) << said;
}
} // namespace
