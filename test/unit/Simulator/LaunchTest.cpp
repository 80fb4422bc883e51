//===-- LaunchTest.cpp - Kernels through the C++ interface ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Simulator/Module.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

using namespace tile::sim;

namespace {
const char *kernel = R"(
.version 8.8
.target sm_90
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 out, .param .u32 n)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 bra DONE;
  ld.param.u64 %rd1, [x]; mad.wide.u32 %rd2, %r4, 4, %rd1; ld.global.u32 %r6, [%rd2];
  add.u32 %r6, %r6, 1; ld.param.u64 %rd3, [out]; mad.wide.u32 %rd4, %r4, 4, %rd3; st.global.u32 [%rd4], %r6;
DONE: ret;
}
)";

struct Launched {
  bool started;
  Report report;
  std::string error;
};

Launched launch(const Module &module, std::vector<uint32_t> &x,
                std::vector<uint32_t> &out, unsigned grid, unsigned threads) {
  std::byte args[20] = {};
  uint64_t a = reinterpret_cast<uintptr_t>(x.data()),
           b = reinterpret_cast<uintptr_t>(out.data());
  uint32_t n = uint32_t(x.size());
  std::memcpy(args, &a, 8);
  std::memcpy(args + 8, &b, 8);
  std::memcpy(args + 16, &n, 4);
  LaunchConfig config;
  config.grid = {grid, 1, 1};
  config.block = {64, 1, 1};
  config.threads = threads;
  config.allocations = {{a, x.size() * 4, "x", false},
                        {b, out.size() * 4, "out", true}};
  Launched l;
  l.started = module.launch("add", config, args, l.report, l.error);
  return l;
}

TEST(Launch, RunsAndCounts) {
  Diagnostic diag;
  auto module = Module::load(kernel, diag);
  ASSERT_TRUE(module) << diag.format("k");
  EXPECT_EQ(module->entries(), std::vector<std::string>{"add"});
  ASSERT_EQ(module->params("add")->size(), 3u);
  EXPECT_EQ((*module->params("add"))[2].offset, 16u);
  std::vector<uint32_t> x(1000), out(1000);
  for (uint32_t i = 0; i < 1000; ++i)
    x[i] = i * i;
  Launched l = launch(*module, x, out, 16, 0);
  ASSERT_TRUE(l.started) << l.error;
  EXPECT_TRUE(l.report.ok);
  for (uint32_t i = 0; i < 1000; ++i)
    ASSERT_EQ(out[i], i * i + 1);
  EXPECT_EQ(l.report.counters.globalLoadBytes, 4000u);
}

TEST(Launch, CountersDoNotDependOnThreads) {
  Diagnostic diag;
  auto module = Module::load(kernel, diag);
  std::vector<uint32_t> x(10000), out(10000);
  Launched one = launch(*module, x, out, 160, 1),
           four = launch(*module, x, out, 160, 4);
  EXPECT_EQ(one.report.counters.laneInstructions,
            four.report.counters.laneInstructions);
  EXPECT_EQ(one.report.counters.globalLoadSectors,
            four.report.counters.globalLoadSectors);
  EXPECT_EQ(four.report.threads, 4u);
}

TEST(Launch, ModulesAreSharedBetweenThreads) {
  Diagnostic diag;
  auto module = Module::load(kernel, diag);
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < 4; ++t)
    pool.emplace_back([&, t] {
      std::vector<uint32_t> x(500, t), out(500);
      Launched l = launch(*module, x, out, 8, 1);
      EXPECT_TRUE(l.report.ok);
      EXPECT_EQ(out[499], t + 1);
    });
  for (std::thread &t : pool)
    t.join();
}

// Every CTA adds a number to a list under a lock: knowledge travels between
// clusters that run on several host threads (ThreadSanitizer watches).
const char *locked = R"(
.version 8.8
.target sm_90
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 out, .param .u32 n)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;
  ld.param.u64 %rd1, [out];
TAKE: atom.acquire.gpu.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra TAKE;
  ld.global.u32 %r3, [%rd1+64]; add.u32 %r3, %r3, 1; st.global.u32 [%rd1+64], %r3;
  atom.release.gpu.global.exch.b32 %r2, [%rd1], 0;
DONE: ret;
}
)";

TEST(Launch, ClustersSynchronizeOnSeveralThreads) {
  Diagnostic diag;
  auto module = Module::load(locked, diag);
  ASSERT_TRUE(module) << diag.format("k");
  std::vector<uint32_t> x(1), out(64);
  Launched l = launch(*module, x, out, 64, 4);
  ASSERT_TRUE(l.started) << l.error;
  EXPECT_TRUE(l.report.ok) << (l.report.findings.empty()
                                   ? ""
                                   : l.report.findings[0].format());
  EXPECT_EQ(out[16], 64u);
}

TEST(Launch, SchedulesAreRepeatable) {
  Diagnostic diag;
  auto module = Module::load(locked, diag);
  auto counts = [&](uint64_t seed) {
    std::vector<uint32_t> x(1), out(64);
    std::byte args[20] = {};
    uint64_t at = reinterpret_cast<uintptr_t>(out.data());
    std::memcpy(args + 8, &at, 8);
    LaunchConfig config;
    config.grid = {16, 1, 1};
    config.block = {64, 1, 1};
    config.scheduleSeed = seed;
    config.allocations = {{at, out.size() * 4, "out", true}};
    Report report;
    std::string error;
    EXPECT_TRUE(module->launch("add", config, args, report, error)) << error;
    EXPECT_TRUE(report.ok);
    EXPECT_EQ(out[16], 16u);
    return report.counters.totalWarp();
  };
  EXPECT_EQ(counts(3), counts(3));
  EXPECT_NE(counts(3), counts(4));
}

TEST(Launch, ReportsFindingsAndRefusals) {
  Diagnostic diag;
  auto module = Module::load(kernel, diag);
  std::vector<uint32_t> x(100), out(60);
  Launched l = launch(*module, x, out, 2, 1);
  ASSERT_TRUE(l.started);
  ASSERT_EQ(l.report.findings.size(), 1u);
  EXPECT_EQ(l.report.findings[0].kind, "out-of-bounds");
  EXPECT_EQ(l.report.findings[0].thread.thread[0], 60u);
  EXPECT_NE(l.report.findings[0].message.find("'out' (240 bytes"),
            std::string::npos);
  LaunchConfig config;
  Report report;
  std::string error;
  EXPECT_FALSE(module->launch("nothing", config, {}, report, error));
  EXPECT_EQ(error, "the module has no kernel 'nothing'; it has 'add'");
  EXPECT_FALSE(module->launch("add", config, {}, report, error));
  EXPECT_NE(error.find("takes 20 bytes of parameters"), std::string::npos);
}
} // namespace
