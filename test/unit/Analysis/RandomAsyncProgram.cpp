//===-- RandomAsyncProgram.cpp - Programs that leave work under way -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomAsyncProgram.h"

using namespace mlir::triton::test;
using llvm::StringRef;

RandomAsyncProgram::RandomAsyncProgram(uint64_t seed) : random(seed) {
  text = R"(
#A = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#B = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#O = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#B32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#smem = #ttg.shared_memory
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
!p = tensor<32x32x!tt.ptr<f16>, #blocked>
!b = !ttg.memdesc<32x32xf16, #A, #smem, mutable>
!o = !ttg.memdesc<64x64xf16, #O, #smem>
!sum = tensor<64x64xf32, #mma>
!bars = !ttg.memdesc<2x1xi64, #B, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #B, #smem, mutable>
!desc = !tt.tensordesc<tensor<32x32xf16, #A>>
!source = !ttg.memdesc<128x32xf32, #B32, #smem>
!target = !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!t = !ttg.async.token
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @f(%p: !p, %b: !b, %o: !o, %zero: !sum, %desc: !desc, %source: !source, %target: !target, %i: i32, %c: i1, %n: index) {
%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i32
%bars = ttg.local_alloc : () -> !bars
)";
  barriers = {"%bars"};
  sums = {"%zero"};
  statements(2 + below(8), /*depth=*/0);
  text += "tt.return\n}\n}\n";
}

/// Up to two tokens, often none.
std::string RandomAsyncProgram::someTokens(StringRef before) {
  if (tokens.empty() || below(3) == 0)
    return "";
  return (before + any(tokens) + (below(3) ? "" : ", " + any(tokens)) + " ")
      .str();
}

void RandomAsyncProgram::statements(unsigned count, unsigned depth) {
  for (unsigned i = 0; i < count; ++i)
    statement(depth);
}

void RandomAsyncProgram::statement(unsigned depth) {
  switch (below(tokens.empty() || depth == 2 ? 11 : 14)) {
  case 0:
  case 1:
  case 2:
    return copyOrStore();
  case 3:
  case 4:
    return waitForCopies();
  case 5:
  case 6:
    return dot();
  case 7:
  case 8:
    return barrier();
  case 9:
  case 10:
    return tensorCopy();
  case 11:
  case 12:
    return branch(depth);
  case 13:
    return loop(depth);
  }
}

void RandomAsyncProgram::copyOrStore() {
  std::string name = define();
  switch (below(4)) {
  case 0:
    text += name + " = ttg.async_copy_global_to_local %p, %b : !p -> !b\n";
    break;
  case 1:
    text += name + " = ttg.async_commit_group " + someTokens("tokens ") + "\n";
    break;
  case 2:
    text += name + " = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] "
                   "%b : !desc, !b -> !t\n";
    break;
  case 3: {
    std::string bar = someBarrier();
    text += "ttnvgpu.async_tma_copy_global_to_local %desc[%i, %i] %b, " + bar +
            ", %c : !desc, !bar -> !b\n";
    return;
  }
  }
  tokens.push_back(name);
}

void RandomAsyncProgram::waitForCopies() {
  std::string number = std::to_string(below(3));
  std::string name = define();
  switch (below(4)) {
  case 0:
    text += name + " = ttg.async_wait " + someTokens("") + "{num = " + number +
            " : i32}\n";
    break;
  case 1:
    text += "ttnvgpu.async_tma_store_wait " + someTokens("") +
            "{pendings = " + number + " : i32}\n";
    return;
  case 2:
    if (tokens.empty())
      return;
    // A wait that counts nothing: the tokens alone decide.
    text += name + " = toy.wait_for_copies " + any(tokens) + "\n";
    break;
  case 3:
    if (tokens.empty())
      return;
    text += name + " = arith.select %c, " + any(tokens) + ", " + any(tokens) +
            " : !t\n";
    break;
  }
  tokens.push_back(name);
}

void RandomAsyncProgram::dot() {
  std::string name = define();
  switch (below(6)) {
  case 0:
  case 1:
  case 2: {
    std::string isAsync = below(8) ? "true" : "false";
    text += name + " = ttnvgpu.warp_group_dot %o, %o, " +
            (below(2) ? "%zero" : any(sums)) + " {isAsync = " + isAsync +
            ", inputPrecision = 0 : i32} : !o * !ttg.memdesc<64x64xf16, #O, "
            "#smem> -> !sum\n";
    break;
  }
  case 3:
  case 4:
    // It need not name the sum of any dot.
    text += name + " = ttnvgpu.warp_group_dot_wait " + any(sums) +
            " {pendings = " + std::to_string(below(3)) + " : i32} : !sum\n";
    break;
  case 5:
    text += name + " = arith.negf " + any(sums) + " : !sum\n";
    break;
  }
  sums.push_back(name);
}

std::string RandomAsyncProgram::someBarrier() {
  static const std::vector<std::string> kIndices = {"%c0", "%c1", "%i"};
  std::string name = define();
  text += name + " = ttg.memdesc_index " + any(barriers) + "[" + any(kIndices) +
          "] : !bars -> !bar\n";
  return name;
}

void RandomAsyncProgram::barrier() {
  switch (below(5)) {
  case 0:
  case 1:
  case 2: {
    std::string bar = someBarrier();
    text += "ttnvgpu.wait_barrier " + bar + ", %i" + (below(2) ? ", %c" : "") +
            " : !bar\n";
    return;
  }
  case 3: {
    std::string bar = someBarrier();
    text += "ttnvgpu.async_copy_mbarrier_arrive " + bar + " : !bar\n";
    return;
  }
  case 4:
    barriers.push_back(define());
    text += barriers.back() + " = ttg.local_alloc : () -> !bars\n";
    return;
  }
}

/// A copy that tensor cores do, or a barrier that hears of the end of all.
void RandomAsyncProgram::tensorCopy() {
  switch (below(4)) {
  case 0:
    text += "ttnvgpu.tmem_copy %source, %target : !source, !target\n";
    return;
  case 1: {
    std::string bar = someBarrier();
    text += "ttnvgpu.tmem_copy %source, %target, " + bar +
            " : !source, !target, !bar\n";
    return;
  }
  case 2:
  case 3: {
    std::string bar = someBarrier();
    text += "ttnvgpu.tc_gen5_commit " + bar + " : !bar\n";
    return;
  }
  }
}

void RandomAsyncProgram::branch(unsigned depth) {
  std::string name = define();
  text += name + ":2 = scf.if %c -> (!t, !sum) {\n";
  for (StringRef end : {"} else {\n", "}\n"}) {
    auto visible = std::tuple(tokens, sums, barriers);
    statements(below(4), depth + 1);
    text +=
        ("scf.yield " + any(tokens) + ", " + any(sums) + " : !t, !sum\n" + end)
            .str();
    std::tie(tokens, sums, barriers) = visible;
  }
  tokens.push_back(name + "#0");
  sums.push_back(name + "#1");
}

void RandomAsyncProgram::loop(unsigned depth) {
  std::string name = define(), first = define(), second = define(),
              sum = define();
  text += name + ":3 = scf.for " + define() + " = %n to %n step %n iter_args(" +
          first + " = " + any(tokens) + ", " + second + " = " + any(tokens) +
          ", " + sum + " = " + any(sums) + ") -> (!t, !t, !sum) {\n";
  auto visible = std::tuple(tokens, sums, barriers);
  tokens.push_back(first);
  tokens.push_back(second);
  sums.push_back(sum);
  statements(1 + below(5), depth + 1);
  text += "scf.yield " + any(tokens) + ", " + any(tokens) + ", " + any(sums) +
          " : !t, !t, !sum\n}\n";
  std::tie(tokens, sums, barriers) = visible;
  tokens.push_back(name + "#0");
  tokens.push_back(name + "#1");
  sums.push_back(name + "#2");
}
