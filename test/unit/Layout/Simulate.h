//===-- Simulate.h - Values in registers, moved by hand ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TEST_UNIT_LAYOUT_SIMULATE_H
#define TILE_TEST_UNIT_LAYOUT_SIMULATE_H

#include "tile/Layout/BankGeometry.h"
#include "tile/Layout/LinearLayout.h"
#include "llvm/ADT/DenseSet.h"
#include <algorithm>
#include <map>
#include <set>

namespace mlir::triton::test {

/// What each register holds under a layout: the flat index of its element.
/// Indexed by [rest][lane][register], rest being warp and above it block.
using RegisterFile = std::vector<std::vector<llvm::SmallVector<uint64_t>>>;

inline RegisterFile fill(const LinearLayout &layout) {
  LinearLayout l = layout.transposeIns({kRegister, kLane, kWarp, kBlock});
  unsigned regs = l.getInDimSizeLog2(kRegister);
  unsigned lanes = l.getInDimSizeLog2(kLane);
  unsigned rests = l.getTotalInDimSizeLog2() - regs - lanes;
  RegisterFile file(size_t(1) << rests);
  for (uint64_t w = 0; w < file.size(); ++w) {
    file[w].resize(size_t(1) << lanes);
    for (uint64_t t = 0; t < file[w].size(); ++t)
      for (uint64_t r = 0; r < uint64_t(1) << regs; ++r)
        file[w][t].push_back(
            l.applyFlat(r | (t << regs) | (w << (regs + lanes))));
  }
  return file;
}

/// The wavefronts of one access by address: for each group of lanes that fill
/// the banks together, the most words that fall on one bank. `offsets` are in
/// bytes.
inline unsigned simulateWavefronts(llvm::ArrayRef<uint64_t> offsets,
                                   unsigned bytes, BankGeometry banks = {}) {
  unsigned row = banks.numBanks * banks.bankBytes;
  unsigned group =
      std::min<size_t>(offsets.size(), row / std::max(bytes, banks.bankBytes));
  unsigned total = 0;
  for (size_t start = 0; start < offsets.size(); start += group) {
    std::map<uint64_t, std::set<uint64_t>> wordsOfBank;
    for (size_t lane = start; lane < start + group; ++lane)
      for (uint64_t b = offsets[lane]; b < offsets[lane] + bytes; ++b)
        wordsOfBank[b / banks.bankBytes % banks.numBanks].insert(
            b / banks.bankBytes);
    size_t most = 0;
    for (auto &[bank, words] : wordsOfBank)
      most = std::max(most, words.size());
    total += most;
  }
  return total;
}

} // namespace mlir::triton::test

#endif // TILE_TEST_UNIT_LAYOUT_SIMULATE_H
