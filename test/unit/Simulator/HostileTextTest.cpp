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

#include <cstring>

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

TEST(HostileText, InitialValuesOutOfRange) {
  EXPECT_EQ(run(header +
                ".global .u64 a[3] = {1e300, -1e300, 0d7FF0000000000000"
                "};\n.visible .entry k() { ret; }\n"),
            "");
}

TEST(HostileText, OffsetsThatOverflow) {
  std::string said =
      run(kernel(".reg .b32 %r; ld.global.u32 %r, [1+9223372036854775807];"));
  EXPECT_TRUE(contains(said, "out-of-bounds")) << said;
  said = run(kernel(".reg .b32 %r; .local .b32 l; ld.local.u32 %r, "
                    "[l+9223372036854775807];"));
  EXPECT_TRUE(contains(said, "out-of-bounds") || contains(said, "misaligned"))
      << said;
}

TEST(HostileText, EnginesOfAnotherCluster) {
  // A copy of one CTA into global memory was looked up among the other's.
  LaunchConfig config;
  config.grid = {2, 1, 1};
  config.block = {64, 1, 1};
  config.threads = 1;
  std::vector<std::byte> memory(1024), args(8);
  auto address = uint64_t(reinterpret_cast<uintptr_t>(memory.data()));
  config.allocations = {{address, memory.size(), "out", true}};
  std::memcpy(args.data(), &address, 8);
  Diagnostic diag;
  auto module = Module::load(
      kernel(".shared .align 16 .b8 s[512]; .reg .b32 %r<3>; .reg .b64 %q; "
             ".reg .pred %p; mov.u32 %r0, %tid.x; setp.eq.u32 %p, %r0, 0; "
             "ld.param.u64 %q, [p0]; mad.lo.u32 %r1, %r0, 8, 0; "
             "mov.u32 %r2, s; add.u32 %r1, %r1, %r2; "
             "st.shared.v2.u32 [%r1], {%r0, %r0}; fence.proxy.async; "
             "bar.sync 0; @%p cp.async.bulk.global.shared::cta.bulk_group "
             "[%q], [s], 512; @%p cp.async.bulk.commit_group; "
             "@%p cp.async.bulk.wait_group 0; ld.global.u32 %r1, [%q]; ret;"),
      diag);
  ASSERT_TRUE(module) << diag.format("k");
  Report report;
  std::string error;
  ASSERT_TRUE(module->launch("k", config, args, report, error)) << error;
  EXPECT_FALSE(report.ok);
}

TEST(HostileText, CountsOfRegisters) {
  for (const char *name : {"next_free_vgpr", "next_free_sgpr"}) {
    std::string said =
        run("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n"
            "\t.text\nk:\n\ts_endpgm\n"
            "\t.amdhsa_kernel k\n\t\t.amdhsa_" +
            std::string(name) + " 4294967290\n\t.end_amdhsa_kernel\n");
    EXPECT_TRUE(contains(said, "registers")) << said;
  }
}

TEST(HostileText, PolicyWithoutOperands) {
  std::string said = run(kernel("createpolicy.fractional.L2::evict_last.b64;"));
  EXPECT_TRUE(contains(said, "operands")) << said;
}

TEST(HostileText, BulkStoreOfNoBytes) {
  std::string said =
      run(header + ".global .align 16 .b8 g[16];\n" +
          kernel(".shared .align 16 .b8 s[16]; .reg .b64 %q; mov.u64 %q, g; "
                 "cp.async.bulk.global.shared::cta.bulk_group [%q], [s], 0; "
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;")
              .substr(header.size()));
  EXPECT_EQ(said, "");
}

TEST(HostileText, CoordinatesOfNoDimension) {
  std::string said = run(
      ".version 8.8\n.target sm_100a\n" +
      kernel(".reg .b128 %q; .reg .b32 %r; "
             "clusterlaunchcontrol.query_cancel.get_second::x.b32.b128 %r, %q;")
          .substr(header.size()));
  EXPECT_TRUE(contains(said, "needs ::x, ::y, ::z or .v4")) << said;
}

TEST(HostileText, NestedAddresses) {
  std::string open;
  for (int i = 0; i < 100000; ++i)
    open += "[a,";
  std::string said = run(kernel("ld.u32 %r, " + open));
  EXPECT_TRUE(contains(said, "nested too deeply")) << said;
}
} // namespace
