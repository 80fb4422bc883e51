//===-- ParserTest.cpp - PTX text to syntax tree --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Simulator/Parser.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace tile::sim;

namespace {
const std::string header = ".version 8.8\n.target sm_90a\n.address_size 64\n";

ast::Module parse(const std::string &text) {
  ast::Module module;
  Diagnostic diag;
  EXPECT_TRUE(parseModule(text, module, diag)) << diag.format("test.ptx");
  return module;
}

std::string parseError(const std::string &text) {
  ast::Module module;
  Diagnostic diag;
  EXPECT_FALSE(parseModule(text, module, diag));
  return diag.format("test.ptx");
}

TEST(Parser, ModuleDirectives) {
  ast::Module m = parse(
      header +
      ".file 1 \"dir\" \"kernel.py\"\n.section .debug_str { .b8 1, 2 }\n");
  EXPECT_EQ(m.versionMajor, 8u);
  EXPECT_EQ(m.versionMinor, 8u);
  EXPECT_EQ(m.target, "sm_90a");
  EXPECT_EQ(m.files.at(1), "dir/kernel.py");
}

TEST(Parser, Variables) {
  ast::Module m = parse(
      header + ".extern .shared .align 16 .b8 smem[];\n.global .align 4 .b32 "
               "table[2][3] = {{1, 2, 3}, {4, 5}};\n.const .f32 pi = "
               "0f40490FDB;\n.visible .global .u64 p = generic(table)+8;\n");
  ASSERT_EQ(m.variables.size(), 4u);
  EXPECT_TRUE(m.variables[0].isExtern && m.variables[0].isUnsized);
  EXPECT_EQ(m.variables[1].sizeInBytes(), 24u);
  EXPECT_EQ(m.variables[1].init.size(), 5u);
  EXPECT_FLOAT_EQ(float(m.variables[2].init[0].real), 3.14159274f);
  EXPECT_EQ(m.variables[3].init[0].symbol, "table");
  EXPECT_EQ(m.variables[3].init[0].imm, 8);
}

TEST(Parser, FunctionAttributesAndParameters) {
  ast::Module m =
      parse(header + ".visible .entry k(.param .u64 .ptr .global .align 16 a, "
                     ".param .align 8 .b8 s[24])\n.maxntid 128, 1, "
                     "1\n.reqnctapercluster 2\n.minnctapersm 1\n{ ret; }\n");
  const ast::Function &f = m.functions.at(0);
  EXPECT_TRUE(f.isEntry && f.hasBody);
  EXPECT_EQ(f.maxThreads[0], 128u);
  EXPECT_EQ(f.requiredCluster[0], 2u);
  EXPECT_EQ(f.symbols[f.params[0]].alignment(), 8u);
  EXPECT_EQ(f.symbols[f.params[1]].sizeInBytes(), 24u);
}

TEST(Parser, OperandsAndModifiers) {
  ast::Module m = parse(header + R"(.entry k() {
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .v4 .f32 %v;
    @!%p1 ld.global.L1::evict_last.L2::cache_hint.v4.b32 {%r1, %r2, %r3, _}, [%rd1+-16], %rd2;
    setp.lt.and.s32 %p1|%p2, %r1, -5, !%p0;
    mov.f32 %v.y, 0f3F800000;
    mov.u32 %r1, %tid.x;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
  })");
  const auto &body = m.functions.at(0).body;
  ASSERT_EQ(body.size(), 5u);
  EXPECT_TRUE(body[0].guardNegated);
  EXPECT_EQ(body[0].modifiers,
            (std::vector<std::string>{"global", "L1::evict_last",
                                      "L2::cache_hint", "v4", "b32"}));
  EXPECT_EQ(body[0].operands[0].elems.size(), 4u);
  EXPECT_EQ(body[0].operands[0].elems[3].kind, ast::Operand::Kind::Sink);
  EXPECT_EQ(body[0].operands[1].imm, -16);
  EXPECT_EQ(body[1].operands[0].kind, ast::Operand::Kind::Pair);
  EXPECT_EQ(body[1].operands[2].imm, -5);
  EXPECT_TRUE(body[1].operands[3].negated);
  EXPECT_EQ(body[2].operands[0].component, 1);
  EXPECT_EQ(body[2].operands[1].imm, 0x3f800000);
  EXPECT_EQ(body[3].operands[1].name, "%tid.x");
  EXPECT_EQ(body[4].operands[1].elems[1].elems.size(), 2u);
}

TEST(Parser, ScopesHideNamesAndLabels) {
  ast::Module m = parse(header + R"(.entry k() {
    .reg .b32 %r<2>;
    { .reg .b32 %r1; .reg .pred p; L: mov.b32 %r1, 1; bra L; }
    { .reg .pred p; L: mov.b32 %r1, 2; bra L; }
  })");
  const ast::Function &f = m.functions.at(0);
  EXPECT_NE(f.body[0].operands[0].symbol, f.body[2].operands[0].symbol);
  EXPECT_EQ(f.scopes[size_t(f.body[1].scope)].labels.at("L"), 0u);
  EXPECT_EQ(f.scopes[size_t(f.body[3].scope)].labels.at("L"), 2u);
}

TEST(Parser, RegisterRangesByLongestPrefix) {
  ast::Module m =
      parse(header + ".entry k() { .reg .b32 %r<20>; .reg .b64 %r1<5>; mov.b64 "
                     "%r14, 0; mov.b32 %r7, 0; mov.b32 %r19, 1; }");
  const ast::Function &f = m.functions.at(0);
  EXPECT_EQ(f.symbols[f.body[1].operands[0].symbol].type, Type::B32);
  EXPECT_EQ(f.symbols[f.body[2].operands[0].symbol].type, Type::B32);
}

TEST(Parser, SourceLocations) {
  ast::Module m =
      parse(header + ".file 1 \"a.py\"\n.entry k() { .loc 1 7 3\n ret; .loc 1 "
                     "9 1, function_name $L__info0, inlined_at 1 7 3\n ret; }");
  const ast::Function &f = m.functions.at(0);
  EXPECT_EQ(f.sources[size_t(f.body[0].source)].line, 7u);
  EXPECT_EQ(f.sources[size_t(f.body[1].source)].line, 9u);
}

TEST(Parser, ErrorsNameTheirPlace) {
  EXPECT_EQ(parseError(header + ".entry k() {\n  add.u32 %r1\n}"),
            "test.ptx:6:1: error: expected ';' but found '}'");
  EXPECT_EQ(parseError(header + ".frobnicate x;"),
            "test.ptx:4:1: error: unknown directive '.frobnicate'");
  EXPECT_EQ(parseError(header + ".global .b99 x;"),
            "test.ptx:4:9: error: unknown type '.b99'");
  EXPECT_EQ(parseError(".target sm_90\n"),
            "test.ptx:2:1: error: the module has no .version directive");
  EXPECT_EQ(
      parseError(header + ".entry k() { mov.b32 %r1, 0f12; }").substr(0, 14),
      "test.ptx:4:27:");
}

TEST(Parser, ReadsWhatNvccWrites) {
  for (const char *name : {"basics", "programs", "matmul"}) {
    std::ifstream file(std::string(TILE_UNIT_SOURCE_DIR) + "/ptx/" + name +
                       ".ptx");
    std::stringstream text;
    text << file.rdbuf();
    ast::Module m = parse(text.str());
    EXPECT_FALSE(m.functions.empty()) << name;
  }
}
} // namespace
