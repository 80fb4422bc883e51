//===-- Tcgen05Operand.cpp - Matrices in shared memory, for tcgen05 -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Tcgen05Operand.h"
#include "../../Checkers/OrderChecker.h"
#include "../../Checkers/TensorOrder.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

std::optional<TensorDescriptor> TensorDescriptor::decode(Ctx &c,
                                                         const Inst &inst,
                                                         unsigned lane,
                                                         uint64_t bits) {
  auto bad = [&](std::string why) -> std::optional<TensorDescriptor> {
    c.fail(inst, lane, "bad-descriptor",
           "the descriptor of a matrix in shared memory " + why);
    return std::nullopt;
  };
  TensorDescriptor d;
  auto field = [&](unsigned shift) {
    return uint32_t(bits >> shift & 0x3fff) << 4;
  };
  d.start = field(0);
  d.leading = field(16);
  d.stride = field(32);
  d.base = uint32_t(bits >> 49 & 7);
  if ((bits >> 46 & 7) != 1)
    return bad("has " + std::to_string(bits >> 46 & 7) +
               " in bits 48 to 46, which must be 1");
  d.isAbsolute = bits >> 52 & 1;
  if ((bits >> 53 & 255) || (bits >> 14 & 3) || (bits >> 30 & 3))
    return bad("has bits that must be zero");
  switch (bits >> 61) {
  case 0:
    d.mode = None;
    return d;
  case 1:
    d.mode = Atoms32;
    return d;
  case 2:
    d.mode = Swizzle128;
    return d;
  case 4:
    d.mode = Swizzle64;
    return d;
  case 6:
    d.mode = Swizzle32;
    return d;
  default:
    return bad("names no mode of swizzling: " + std::to_string(bits >> 61));
  }
}

uint32_t TensorDescriptor::permute(uint32_t address) const {
  uint32_t row = (address >> 7) - base;
  if (mode == Atoms32)
    return address ^ (row & 3) << 5;
  return address ^ (row & (span() / 16 - 1)) << 4;
}

uint32_t TensorDescriptor::rowAddress(uint32_t row, uint32_t k) const {
  uint32_t at = start + row / 8 * stride + row % 8 * span();
  if (uint32_t within = start % span() + k; isAbsolute && within >= span())
    return permute(leading + row / 8 * stride + row % 8 * span() + within -
                   span());
  return mode == None ? at + k / 16 * leading + k % 16 : permute(at + k);
}

uint32_t TensorDescriptor::columnAddress(uint32_t mn, uint32_t k) const {
  uint32_t wide = span(), tall = mode == Atoms32 ? 4 : 8;
  if (mode == None)
    return start + mn / 16 * stride + k / 8 * leading + k % 8 * 16 + mn % 16;
  return permute(start + mn / wide * leading + k / tall * stride +
                 k % tall * wide + mn % wide);
}

TensorStorage tile::sim::storageOf(Type type, bool isPackedFour) {
  switch (type) {
  case Type::TF32:
    return TensorStorage::Words;
  case Type::F16:
  case Type::BF16:
    return TensorStorage::Halves;
  case Type::E2M1:
    return isPackedFour ? TensorStorage::Nibbles : TensorStorage::Padded4;
  case Type::E2M3:
  case Type::E3M2:
    return TensorStorage::Padded6;
  default:
    return TensorStorage::Bytes;
  }
}

unsigned tile::sim::elementsOf(TensorStorage storage) {
  switch (storage) {
  case TensorStorage::Words:
    return 4;
  case TensorStorage::Halves:
    return 8;
  case TensorStorage::Nibbles:
    return 32;
  default:
    return 16;
  }
}

bool tile::sim::checkTensorReads(Ctx &c, const Inst &inst, unsigned lane,
                                 Cta &cta, std::vector<uint32_t> &addresses,
                                 unsigned bytes) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()),
                  addresses.end());
  if (!addresses.empty() && addresses.back() + 16 > cta.shared.size()) {
    c.fail(inst, lane, "out-of-bounds",
           "the matrix descriptor reaches byte " +
               std::to_string(addresses.back() + 15) +
               " of shared memory, which has " +
               std::to_string(cta.shared.size()) + " bytes");
    return false;
  }
  if (!c.checker)
    return true;
  uint32_t engine = c.checker->tensor().engineOf(c, lane);
  for (size_t i = 0; i < addresses.size();) {
    size_t last = i + 1;
    while (bytes == 16 && last < addresses.size() &&
           addresses[last] == addresses[last - 1] + 16)
      ++last;
    c.checker->asyncShared(c, inst, lane, cta, addresses[i],
                           uint32_t(last - i) * bytes, 0, engine);
    i = last;
  }
  return true;
}

bool TensorMatrix::check(Ctx &c, const Inst &inst, unsigned lane,
                         Cta &cta) const {
  std::vector<uint32_t> addresses;
  eachChunk([&](uint32_t at, unsigned, unsigned) { addresses.push_back(at); });
  return checkTensorReads(c, inst, lane, cta, addresses, bytesOf(storage));
}

/// The elements of 16 bytes.
static void expand(Type type, TensorStorage storage, const std::byte *from,
                   float *to, size_t pitch) {
  auto bytes = reinterpret_cast<const uint8_t *>(from);
  switch (storage) {
  case TensorStorage::Words:
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t word;
      std::memcpy(&word, bytes + 4 * i, 4);
      to[i * pitch] = matrixFloat(type, word);
    }
    return;
  case TensorStorage::Halves:
    for (unsigned i = 0; i < 8; ++i) {
      uint16_t half;
      std::memcpy(&half, bytes + 2 * i, 2);
      to[i * pitch] =
          type == Type::F16 ? floatFromHalf(half) : floatFromBf16(half);
    }
    return;
  case TensorStorage::Bytes:
    if (type == Type::S8 || type == Type::U8) {
      for (unsigned i = 0; i < 16; ++i)
        to[i * pitch] = float(matrixInteger(type, bytes[i]));
      return;
    }
    for (unsigned i = 0; i < 16; ++i)
      to[i * pitch] = fp8Table(type)[bytes[i]];
    return;
  case TensorStorage::Nibbles:
  case TensorStorage::Padded4:
    for (unsigned i = 0, n = elementsOf(storage); i < n; ++i)
      to[i * pitch] = float(decodeSmall(packedElement(from, 4, i), formatE2M1));
    return;
  case TensorStorage::Padded6:
    for (unsigned i = 0; i < 16; ++i)
      to[i * pitch] = float(valueInByte(type, packedElement(from, 6, i)));
    return;
  }
}

void TensorMatrix::read(const Cta &cta, float *out, size_t rowPitch,
                        size_t kPitch) const {
  eachChunk([&](uint32_t at, unsigned row, unsigned first) {
    expand(type, storage, cta.shared.data() + at,
           out + row * rowPitch + first * kPitch,
           isTransposed ? rowPitch : kPitch);
  });
  if (isNegated)
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned i = 0; i < k; ++i)
        out[r * rowPitch + i * kPitch] *= -1;
}
