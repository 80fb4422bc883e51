//===-- SparseMetadata.cpp - Columns of structured sparse matrices --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SparseMetadata.h"

using namespace tile::sim;

namespace {
/// How many elements the two bits of a place stand for, and how many places a
/// chunk has.
struct SparseChunk {
  unsigned width; ///< columns of a chunk
  unsigned run;   ///< elements that go together
  static SparseChunk of(Type element) {
    unsigned bits = element == Type::TF32 ? 32 : bitsOf(element);
    return bits == 32  ? SparseChunk{2, 1}
           : bits == 4 ? SparseChunk{8, 2}
                       : SparseChunk{4, 1};
  }
  unsigned bitsOfRow(unsigned k) const { return 4 * k / width; }
};

/// Of a quad.
unsigned lanesOf(Type element, unsigned k) {
  return SparseChunk::of(element).bitsOfRow(k) / 16;
}
} // namespace

SparseColumns::SparseColumns(const uint32_t *metadata, Type element, unsigned k,
                             unsigned selector, bool isOrdered) {
  SparseChunk chunk = SparseChunk::of(element);
  unsigned lanes = lanesOf(element, k);
  bool inHalves = element == Type::TF32 || bitsOf(element) >= 16;
  for (unsigned row = 0; row < rows; ++row) {
    unsigned high = row / 8, quad = 4 * (row % 8) + lanes * selector;
    uint8_t *out = columns + row * mostStored;
    for (unsigned i = 0; i < k / chunk.width; ++i) {
      unsigned bit = 4 * i;
      uint32_t word = inHalves
                          ? metadata[quad + bit / 16] >> (16 * high + bit % 16)
                          : metadata[quad + 2 * (bit / 32) + high] >> bit % 32;
      unsigned first = word & 3, second = word >> 2 & 3;
      uint8_t start = uint8_t(i * chunk.width);
      // Metadata of zero is what loads that are masked give; nothing is stored
      // there.
      bool isNothing = first == 0 && second == 0;
      isMeaningful &=
          isNothing || (isOrdered ? first < second : first != second);
      if (chunk.width == 2) {
        // The halves of one word: 0 and 1, or 2 and 3.
        isMeaningful &= isNothing || (second == first + 1 && first % 2 == 0);
        *out++ = uint8_t(start + first / 2);
        continue;
      }
      for (unsigned place : {first, second})
        for (unsigned j = 0; j < chunk.run; ++j)
          *out++ = uint8_t(start + place * chunk.run + j);
    }
  }
}

bool tile::sim::takeMetadata(FunctionDecoder &d, size_t index, Type element,
                             unsigned k, uint32_t &slot, uint8_t &selector) {
  const ast::Operand &metadata = d.operand(index),
                     &operand = d.operand(index + 1);
  if (d.registerType(metadata) == Type::None)
    return d.errorAt(metadata, "expected a register");
  if (!d.src(metadata, Type::B32, slot))
    return false;
  int64_t value = 0;
  if (!d.immediate(operand, value))
    return false;
  unsigned choices = 4 / lanesOf(element, k);
  selector = uint8_t(value);
  return (value >= 0 && value < choices) ||
         d.errorAt(operand, "this shape has sparsity selectors up to " +
                                std::to_string(choices - 1));
}
