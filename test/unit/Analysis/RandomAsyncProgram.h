//===-- RandomAsyncProgram.h - Programs that leave work under way -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Random programs start copies, stores and dots, also such that tensor cores do
// by themselves. They wait for them by count, by tokens and at barriers, in
// branches and loops that hand tokens and sums on.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TEST_UNIT_ANALYSIS_RANDOMASYNCPROGRAM_H
#define TILE_TEST_UNIT_ANALYSIS_RANDOMASYNCPROGRAM_H

#include "llvm/ADT/StringRef.h"
#include <random>
#include <string>
#include <vector>

namespace mlir::triton::test {

class RandomAsyncProgram {
public:
  explicit RandomAsyncProgram(uint64_t seed);

  /// A module with one function. An index or a predicate may be another one
  /// each time that it is used.
  const std::string &getText() const { return text; }

private:
  uint64_t below(uint64_t count) { return random() % count; }
  template <typename T> const T &any(const std::vector<T> &values) {
    return values[below(values.size())];
  }
  std::string define() { return "%t" + std::to_string(numNames++); }
  std::string someTokens(llvm::StringRef before);

  void statements(unsigned count, unsigned depth);
  void statement(unsigned depth);
  void copyOrStore();
  void waitForCopies();
  void dot();
  void barrier();
  void tensorCopy();
  std::string someBarrier();
  void branch(unsigned depth);
  void loop(unsigned depth);

  std::mt19937_64 random;
  std::string text;
  unsigned numNames = 0;
  /// What is visible here: tokens, sums, and buffers of two barriers each.
  std::vector<std::string> tokens, sums, barriers;
};

} // namespace mlir::triton::test

#endif // TILE_TEST_UNIT_ANALYSIS_RANDOMASYNCPROGRAM_H
