//===-- Tcgen05Operand.h - Matrices in shared memory, for tcgen05 ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A descriptor says where 16 bytes of a row (K-major) or of a column (MN-major)
// are. The permutation of a swizzle follows the address itself.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ScaleFactors.h"

#include <functional>
#include <optional>

namespace tile::sim {

struct TensorDescriptor {
  enum Mode : uint8_t { None, Atoms32, Swizzle128, Swizzle64, Swizzle32 };
  uint32_t start, leading, stride, base;
  Mode mode;
  /// `leading` is the address where rows go on behind their first 128 bytes.
  bool isAbsolute;

  /// Nothing, after recording an error, for what is no descriptor.
  static std::optional<TensorDescriptor> decode(Ctx &c, const Inst &inst,
                                                unsigned lane, uint64_t bits);
  /// Do `bytes` of a row along K go beyond the width of the swizzle?
  bool leavesRow(uint32_t bytes) const {
    return mode != None && start % span() + bytes > span();
  }
  /// K-major: 16 bytes of a row from byte `k` along K.
  uint32_t rowAddress(uint32_t row, uint32_t k) const;
  /// MN-major: 16 bytes from byte `mn` along M or N, at element `k` of K.
  uint32_t columnAddress(uint32_t mn, uint32_t k) const;

private:
  uint32_t span() const {
    static constexpr uint32_t spans[] = {16, 128, 128, 64, 32};
    return spans[mode];
  }
  uint32_t permute(uint32_t address) const;
};

/// How the elements of 16 bytes lie there.
enum class TensorStorage : uint8_t {
  Words,   ///< tf32
  Halves,  ///< f16, bf16
  Bytes,   ///< types of 8 bits
  Nibbles, ///< e2m1, 32 of them
  Padded4, ///< 16 e2m1 in 8 bytes, then 8 bytes that mean nothing
  Padded6, ///< 16 types of 6 bits in 12 bytes, then 4 bytes
};
TensorStorage storageOf(Type type, bool isPackedFour);
unsigned elementsOf(TensorStorage storage);
/// Of 16 bytes, those that mean something.
inline unsigned bytesOf(TensorStorage storage) {
  return storage == TensorStorage::Padded4   ? 8
         : storage == TensorStorage::Padded6 ? 12
                                             : 16;
}

/// One operand of a dot in one CTA's shared memory: `rows` along M or N.
struct TensorMatrix {
  TensorDescriptor descriptor;
  Type type;
  TensorStorage storage;
  bool isTransposed; ///< MN-major
  bool isNegated;
  unsigned rows, k;

  /// Calls f(shared address, first row, first k) for each 16 bytes, which run
  /// along K, or along the rows if the matrix is transposed.
  template <class F> void eachChunk(F f) const {
    unsigned step = elementsOf(storage);
    if (isTransposed) {
      unsigned bytes = 16 / step;
      for (unsigned i = 0; i < k; ++i)
        for (unsigned r = 0; r < rows; r += step)
          f(descriptor.columnAddress(r * bytes, i), r, i);
      return;
    }
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned i = 0; i < k; i += step)
        f(descriptor.rowAddress(r, i / step * 16), r, i);
  }
  /// The checker hears of what `lane` has its engine read in a CTA's shared
  /// memory. False after recording an error.
  bool check(Ctx &c, const Inst &inst, unsigned lane, Cta &cta) const;
  /// Numbers by row, then by K; `pitch` apart.
  void read(const Cta &cta, float *out, size_t rowPitch, size_t kPitch) const;
};

/// Tells the checker that a lane's engine reads, at each address, so many of 16
/// bytes.
bool checkTensorReads(Ctx &c, const Inst &inst, unsigned lane, Cta &cta,
                      std::vector<uint32_t> &addresses, unsigned bytes = 16);

} // namespace tile::sim
