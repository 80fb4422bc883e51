//===-- MatrixDescriptor.cpp - Operands in shared memory ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/MatrixDescriptor.h"

#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"
#include "tile/Layout/DimNames.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia;

namespace {
/// A core matrix is eight rows of 16 bytes.
constexpr int32_t kCoreRows = 8;
constexpr int32_t kCoreBytes = 16;

/// The rule of one swizzle: rows of `span` bytes, eight of which repeat the
/// pattern. The 16-byte chunks of a row are permuted by address bits.
struct Swizzle {
  int32_t span;  ///< 16 where nothing is swizzled
  uint64_t mode; ///< bits 63 and 62, for both units

  int32_t permute(int32_t offset) const {
    int32_t chunks = span / kCoreBytes - 1;
    return offset ^ ((offset >> 7 & chunks) << 4);
  }
  bool isNone() const { return span == kCoreBytes; }
};
constexpr Swizzle kSwizzles[] = {{128, 1}, {64, 2}, {32, 3}, {16, 0}};

/// Bit 46 says that a descriptor is tcgen05's.
constexpr uint64_t kTensorMemoryVersion = uint64_t(1) << 46;

/// A stride that is read from the layout where the rule leaves it open: the
/// first bit sets it, the further ones have to double it.
class Stride {
public:
  bool accept(int32_t offset, unsigned bit) {
    if (bit == 0)
      value = offset;
    return offset == value << bit;
  }
  /// As it stands in a descriptor: in units of 16 bytes, 14 bits.
  bool fits() const { return value % 16 == 0 && value >> 4 < 1 << 14; }
  uint64_t encode() const { return uint64_t(value) >> 4; }

private:
  int32_t value = 0;
};

/// Matches the offsets that the coordinate bits of one tile contribute against
/// the rule of one swizzle.
class Matcher {
public:
  Matcher(const Swizzle &swizzle, const MatrixTile &tile, MatrixUnit unit,
          llvm::ArrayRef<int32_t> outer, llvm::ArrayRef<int32_t> inner)
      : swizzle(swizzle), tile(tile), unit(unit), outer(outer), inner(inner),
        bytes(tile.elementBits / 8) {}

  std::optional<MatrixDescriptor> match(bool transposed) {
    if (!(transposed ? matchTransposed() : matchPlain()) || !leading.fits() ||
        !stride.fits() || !startsAtPatterns())
      return std::nullopt;
    MatrixDescriptor result;
    result.bits =
        leading.encode() << 16 | stride.encode() << 32 | swizzle.mode << 62;
    if (unit == MatrixUnit::TensorMemory)
      result.bits |= kTensorMemoryVersion;
    result.isTransposed = transposed;
    result.outer.assign(outer.begin(), outer.end());
    result.inner.assign(inner.begin(), inner.end());
    return result;
  }

private:
  /// Neighbours along K are neighbours in memory: rows are those of M or N.
  bool matchPlain() {
    for (unsigned i = 0; i < numBits(tile.innerSize); ++i) {
      int32_t at = bytes << i;
      bool ok = swizzle.isNone() && at >= kCoreBytes
                    ? leading.accept(inner[i], llvm::Log2_32(at / kCoreBytes))
                    : inner[i] == at && at < swizzle.span;
      if (!ok)
        return false;
    }
    return matchRows(outer, tile.outerSize, stride);
  }

  /// Neighbours along M or N are neighbours in memory: rows are those of K.
  bool matchTransposed() {
    bool isOfSize = tile.elementBits == 16 ||
                    (tile.elementBits == 8 && unit == MatrixUnit::TensorMemory);
    if (!isOfSize || !tile.mayBeTransposed)
      return false;
    Stride &panels = swizzle.isNone() ? stride : leading;
    for (unsigned i = 0; i < numBits(tile.outerSize); ++i) {
      int32_t at = bytes << i;
      bool ok = at < swizzle.span
                    ? outer[i] == at
                    : panels.accept(outer[i], llvm::Log2_32(at / swizzle.span));
      if (!ok)
        return false;
    }
    return matchRows(inner, tile.innerSize,
                     swizzle.isNone() ? leading : stride);
  }

  bool matchRows(llvm::ArrayRef<int32_t> rows, int64_t size, Stride &groups) {
    for (unsigned i = 0; i < numBits(size); ++i) {
      int32_t row = 1 << i;
      bool ok = row < kCoreRows
                    ? rows[i] == swizzle.permute(row * swizzle.span)
                    : groups.accept(rows[i], llvm::Log2_32(row / kCoreRows));
      if (!ok)
        return false;
    }
    return true;
  }

  /// The unit adds offsets to the start address before it permutes: what
  /// selects another tile must leave the bits of the rows of a pattern alone.
  bool startsAtPatterns() const {
    int32_t rowBits = (kCoreRows - 1) * swizzle.span;
    auto check = [&](llvm::ArrayRef<int32_t> offsets, int64_t from,
                     int64_t to) {
      for (unsigned i = numBits(from); i < numBits(to); ++i)
        if (offsets[i] & rowBits || offsets[i] % kCoreBytes)
          return false;
      return true;
    };
    return check(outer, tile.outerSize, tile.outerShape) &&
           check(inner, tile.innerSize, tile.innerShape);
  }

  static unsigned numBits(int64_t size) { return llvm::Log2_64(size); }

  const Swizzle &swizzle;
  const MatrixTile &tile;
  MatrixUnit unit;
  llvm::ArrayRef<int32_t> outer, inner;
  int32_t bytes;
  Stride leading, stride;
};
} // namespace

int32_t MatrixDescriptor::getOffset(int32_t outerAt, int32_t innerAt) const {
  int32_t offset = 0;
  for (auto [i, basis] : llvm::enumerate(outer))
    if (outerAt >> i & 1)
      offset ^= basis;
  for (auto [i, basis] : llvm::enumerate(inner))
    if (innerAt >> i & 1)
      offset ^= basis;
  return offset;
}

/// Bytes of the elements of a tile along K, as the unit counts them, where
/// pairs have padding behind every eight of them. False if they have none.
static bool spreadPairs(llvm::SmallVectorImpl<int32_t> &inner) {
  constexpr unsigned kPairBits = 3;
  if (inner.size() < kPairBits)
    return false;
  for (unsigned i = 0; i < kPairBits; ++i)
    if (inner[i] != 1 << i)
      return false;
  inner.insert(inner.begin() + kPairBits, 1 << kPairBits);
  return true;
}

std::optional<MatrixDescriptor>
nvidia::matchMatrixDescriptor(const LinearLayout &memory,
                              const MatrixTile &given, MatrixUnit unit) {
  MatrixTile tile = given;
  LinearLayout inverse = memory.pseudoinvert();
  auto getOffsets = [&](unsigned dim) {
    llvm::SmallVector<int32_t> offsets;
    for (unsigned i = 0, e = inverse.getInDimSizeLog2(kDim(dim)); i < e; ++i)
      offsets.push_back(inverse.getBasis(kDim(dim), i, kOffset) *
                        int32_t(tile.elementBits / 8));
    return offsets;
  };
  llvm::SmallVector<int32_t> outer = getOffsets(tile.outerDim),
                             inner = getOffsets(tile.innerDim);
  if (tile.elementBits < 8 || tile.outerShape < tile.outerSize ||
      tile.innerShape < tile.innerSize)
    return std::nullopt;
  if (tile.isPadded4) {
    if (!spreadPairs(inner))
      return std::nullopt;
    tile.innerSize *= 2;
    tile.innerShape *= 2;
  }
  for (const Swizzle &swizzle : kSwizzles)
    for (bool transposed : {false, true})
      if (auto found =
              Matcher(swizzle, tile, unit, outer, inner).match(transposed))
        return found;
  return std::nullopt;
}

Value nvidia::emitMatrixDescriptor(const LLVMBuilder &b, Value converted,
                                   gpu::MemDescType type,
                                   const MatrixDescriptor &descriptor,
                                   Value offset) {
  unsigned bytes = type.getElementTypeBitWidth() / 8;
  MemDesc desc = MemDesc::unpack(b, converted, type);
  Value address = b.ptrToInt(b.intTy(32), desc.base);
  unsigned zeroBits;
  if (Value view = emitViewOffset(b, desc, type, zeroBits))
    address = b.add(address, b.mul(view, b.i32(bytes)));
  if (offset)
    address = b.add(address, offset);
  // Fourteen bits of 16-byte units.
  Value start = b.and_(b.lshr(address, b.i32(4)), b.i32((1 << 14) - 1));
  return b.or_(b.zext(b.intTy(64), start), b.i64(descriptor.bits));
}
