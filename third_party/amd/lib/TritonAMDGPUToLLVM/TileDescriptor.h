//===-- TileDescriptor.h - What the tensor data mover is told ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The fields lie where LLVM's amdgpu.make_dma_descriptor puts them. A tile
// starts at its first element; where the tensor ends is counted from there.
//
//===----------------------------------------------------------------------===//
#ifndef AMD_TRITONAMDGPUTOLLVM_TILEDESCRIPTOR_H
#define AMD_TRITONAMDGPUTOLLVM_TILEDESCRIPTOR_H

#include "amd/TensorCopies.h"

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"

#include <array>

namespace mlir::triton::amd {

/// Fields that are not set are zero. Dimensions count from the innermost one.
class TileDescriptor {
public:
  explicit TileDescriptor(const LLVMBuilder &b) : b(b) {
    constexpr uint32_t kType = 2;
    set({0, 126}, kType);
  }

  /// Nothing is copied where `pred`, if it is not null, is false.
  void setPredicate(Value pred) {
    if (pred)
      set({0, 0}, 1, pred);
    else
      set({0, 0}, 1);
  }
  void setSharedAddress(Value address) { set({0, 32}, 32, address); }
  void setGlobalAddress(Value address) { set({0, 64}, 57, address); }
  void setElementBytes(unsigned bytes) { set({1, 16}, llvm::Log2_32(bytes)); }
  /// Intervals and gaps count words.
  void setGaps(const TensorBuffer &buffer, unsigned elementBytes) {
    if (!buffer.gap)
      return;
    set({1, 20}, 1);
    set({1, 22}, llvm::Log2_32(buffer.interval * elementBytes / 4) - 1);
    set({1, 25}, buffer.gap * elementBytes / 4 - 1);
  }
  /// Of the tensor, from the start of the tile on: an i64 of up to 32 bits.
  void setTensorSize(unsigned dim, Value size) {
    static constexpr FieldPosition places[] = {
        {1, 48}, {1, 80}, {2, 0}, {2, 32}, {3, 48}};
    set(places[dim], 32, size);
  }
  void setTileSize(unsigned dim, unsigned size) {
    static constexpr FieldPosition places[] = {
        {1, 112}, {1, 128}, {1, 144}, {2, 112}, {3, 80}};
    set(places[dim], size);
  }
  /// Of all dimensions but the first.
  void setStride(unsigned dim, Value stride) {
    static constexpr FieldPosition places[] = {
        {1, 160}, {1, 208}, {2, 64}, {3, 0}};
    set(places[dim - 1], 48, stride);
  }
  /// Has rows with numbers of so many bits copied, instead of neighbours.
  void gatherRows(ArrayRef<Value> rows, unsigned bits) {
    set({0, 30}, 1);
    if (bits == 32)
      set({0, 31}, 1);
    for (auto [i, row] : llvm::enumerate(rows)) {
      unsigned bit = i * bits;
      set({2 + bit / 128, bit % 128}, bits, row);
    }
    isLong = true;
  }
  static constexpr unsigned kRowBits = 256;

  /// "load.to.lds" or "store.from.lds". A tile has `rank` dimensions.
  void emitCopy(StringRef what, unsigned rank) const {
    SmallVector<Value> operands = {pack(0), pack(1)};
    std::string name = ("llvm.amdgcn.tensor." + what).str();
    if (isLong || rank > 2)
      operands.append({pack(2), pack(3)});
    else
      name += ".d2";
    operands.push_back(/*cache policy=*/b.i32(0));
    b.intrinsic({}, name, operands);
  }

private:
  struct FieldPosition {
    unsigned group, bit;
  };
  static constexpr unsigned kGroupWords[] = {4, 8, 4, 4};

  void set(FieldPosition place, uint32_t value) {
    add(place, b.i32(static_cast<int32_t>(value << place.bit % 32)));
  }
  /// Of up to `bits` bits, which other fields do not share with it; others of
  /// `value` do not count.
  void set(FieldPosition place, unsigned bits, Value value) {
    Type i32 = b.intTy(32), i64 = b.intTy(64);
    if (value.getType() != i64)
      value = b.zext(i64, value);
    if (bits < 64)
      value = b.and_(value, b.i64((int64_t(1) << bits) - 1));
    unsigned shift = place.bit % 32;
    add(place, b.trunc(i32, b.shl(value, b.i64(shift))));
    for (unsigned done = 32 - shift; done < bits; done += 32) {
      place.bit += 32;
      add(place, b.trunc(i32, b.lshr(value, b.i64(done))));
    }
  }
  void add(FieldPosition place, Value value) {
    Value &word = words[place.group][place.bit / 32];
    word = word ? b.or_(word, value) : value;
  }
  /// In scalar registers.
  Value pack(unsigned group) const {
    SmallVector<Value> scalars;
    for (Value word : ArrayRef(words[group]).take_front(kGroupWords[group]))
      scalars.push_back(
          word ? b.intrinsic(word.getType(), "llvm.amdgcn.readfirstlane", word)
               : b.i32(0));
    return b.packVector(scalars);
  }

  const LLVMBuilder &b;
  std::array<std::array<Value, 8>, 4> words;
  /// All four groups are there.
  bool isLong = false;
};

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTOLLVM_TILEDESCRIPTOR_H
