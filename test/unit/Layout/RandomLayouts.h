//===-- RandomLayouts.h - Layouts for property tests ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TEST_UNIT_LAYOUT_RANDOMLAYOUTS_H
#define TILE_TEST_UNIT_LAYOUT_RANDOMLAYOUTS_H

#include "tile/Layout/LinearLayout.h"
#include <ostream>
#include <random>

namespace mlir::triton {

/// Lets GoogleTest print layouts.
inline void PrintTo(const LinearLayout &layout, std::ostream *os) {
  *os << "\n" << layout.toString();
}

namespace test {

class RandomLayouts {
public:
  explicit RandomLayouts(unsigned seed) : rng(seed) {}

  uint64_t below(uint64_t n) { return rng() % n; }

  /// Any matrix between the given dims.
  LinearLayout any(llvm::ArrayRef<LinearLayout::NamedSize> ins,
                   llvm::ArrayRef<LinearLayout::NamedSize> outs) {
    LinearLayout::Bases bases;
    for (auto [name, size] : ins) {
      LinearLayout::DimBases dimBases;
      for (int32_t i = 1; i < size; i *= 2) {
        std::vector<int32_t> basis;
        for (auto [outName, outSize] : outs)
          basis.push_back(below(outSize));
        dimBases.push_back(basis);
      }
      bases.push_back({name, dimBases});
    }
    return LinearLayout(bases, outs, /*requireSurjective=*/false);
  }

  LinearLayout surjective(llvm::ArrayRef<LinearLayout::NamedSize> ins,
                          llvm::ArrayRef<LinearLayout::NamedSize> outs) {
    while (true) {
      LinearLayout layout = any(ins, outs);
      if (layout.isSurjective())
        return layout;
    }
  }

  /// Each in bit is one out bit or zero: what encodings are made of.
  LinearLayout distributed(unsigned regs, unsigned lanes, unsigned warps,
                           llvm::ArrayRef<LinearLayout::NamedSize> outs,
                           unsigned blocks = 0) {
    unsigned outBits = 0;
    for (auto [name, size] : outs)
      outBits += llvm::countr_zero(unsigned(size));
    unsigned inBits = regs + lanes + warps + blocks;
    assert(inBits >= outBits);
    std::vector<uint64_t> columns(inBits, 0);
    for (unsigned i = 0; i < outBits; ++i)
      columns[i] = uint64_t(1) << i;
    std::shuffle(columns.begin(), columns.end(), rng);
    LinearLayout::Bases bases;
    unsigned c = 0;
    for (auto [name, n] :
         {std::pair<llvm::StringRef, unsigned>{kRegister, regs},
          {kLane, lanes},
          {kWarp, warps},
          {kBlock, blocks}}) {
      LinearLayout::DimBases dimBases;
      for (unsigned i = 0; i < n; ++i) {
        std::vector<int32_t> basis;
        unsigned shift = 0;
        for (auto [outName, size] : outs) {
          basis.push_back((columns[c] >> shift) & (size - 1));
          shift += llvm::countr_zero(unsigned(size));
        }
        dimBases.push_back(basis);
        ++c;
      }
      bases.push_back({name, dimBases});
    }
    return LinearLayout(bases, outs);
  }

  std::mt19937 rng;
};

} // namespace test
} // namespace mlir::triton

#endif // TILE_TEST_UNIT_LAYOUT_RANDOMLAYOUTS_H
