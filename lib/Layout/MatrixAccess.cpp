//===-- MatrixAccess.cpp - ldmatrix and stmatrix as layouts ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/MatrixAccess.h"
#include "tile/Layout/SharedMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::triton {

/// `offsets` without registers, and with `rows` for the lanes.
static LinearLayout getRowLayout(const LinearLayout &offsets,
                                 ArrayRef<uint64_t> rows) {
  LinearLayout::Bases bases;
  for (auto [name, dimBases] : offsets.getBases()) {
    if (name == kRegister)
      continue;
    if (name == kLane)
      for (auto [basis, row] : zip_equal(dimBases, rows))
        basis[0] = row;
    bases.push_back({name, dimBases});
  }
  return LinearLayout(bases, offsets.getOutDims(), /*requireSurjective=*/false);
}

/// Eight rows of 16 bytes are what a quarter of a warp accesses.
static unsigned countRowWavefronts(const LinearLayout &rows, unsigned elemBits,
                                   unsigned matricesLog2) {
  return countWavefronts(rows, elemBits, Log2_32(128 / elemBits)) >>
         (2 - matricesLog2);
}

namespace {
/// The register bits of a layout of bytes that step by rows of 16 bytes, and
/// the one that steps inside of a row.
struct ByteRows {
  SmallVector<unsigned> rows;
  unsigned column;
};
} // namespace

/// Lanes but for the first four step inside of a row, the first of them by
/// `laneStep`. One register bit steps by `column`, and all else by rows. None
/// if a layout is otherwise.
static std::optional<ByteRows>
findByteRows(const LinearLayout &only, uint64_t laneStep, uint64_t column) {
  constexpr unsigned rowLog2 = 4, laneInRow = 2;
  SmallVector<unsigned> rows;
  std::optional<unsigned> found;
  for (auto [name, size] : only.getInDims())
    for (unsigned i = 0, e = Log2_32(size); i < e; ++i) {
      uint64_t offset = only.getFlatBasis(name, i);
      if (name == kLane && i >= laneInRow) {
        if (offset != laneStep << (i - laneInRow))
          return std::nullopt;
      } else if (name == kRegister && offset == column && !found) {
        found = i;
      } else if (offset & maskTrailingOnes<uint64_t>(rowLog2)) {
        return std::nullopt;
      } else if (name == kRegister) {
        rows.push_back(i);
      }
    }
  if (!found)
    return std::nullopt;
  return ByteRows{std::move(rows), *found};
}

/// Bytes, transposed: lanes step by two columns, one register bit by one, all
/// else by rows, of which two register bits choose the four of a 32-bit value.
static std::optional<MatrixAccess> getTransposedBytes(const LinearLayout &only,
                                                      unsigned maxMatrices) {
  constexpr unsigned packLog2 = 2;
  unsigned numRegs = only.getInDimSizeLog2(kRegister);
  auto lane = [&](unsigned i) { return only.getFlatBasis(kLane, i); };
  auto reg = [&](unsigned i) { return only.getFlatBasis(kRegister, i); };
  std::optional<ByteRows> found =
      findByteRows(only, /*laneStep=*/2, /*column=*/1);
  if (!found || found->rows.size() < packLog2 || maxMatrices < 2)
    return std::nullopt;
  ArrayRef<unsigned> rowBits = found->rows;
  unsigned matrices = maxMatrices > 2 && rowBits.size() > packLog2 ? 2 : 1;
  SmallVector<unsigned> bits = {rowBits[0], rowBits[1], found->column};
  bits.append(rowBits.begin() + packLog2, rowBits.end());
  LinearLayout rows =
      getRowLayout(only, {reg(rowBits[0]), lane(0), lane(1) ^ reg(rowBits[1]),
                          reg(rowBits[1]), matrices > 1 ? reg(rowBits[2]) : 0});
  return MatrixAccess{/*transposed=*/true,
                      matrices,
                      packLog2,
                      ColumnAction(bits, kRegister, numRegs),
                      rows,
                      countRowWavefronts(rows, 8, matrices),
                      /*sortsBytes=*/true};
}

std::optional<MatrixAccess> getByteMatrixAccess(const LinearLayout &offsets,
                                                bool isLoad) {
  constexpr unsigned packLog2 = 2;
  if (offsets.getInDimSizeLog2(kLane) != 5)
    return std::nullopt;
  LinearLayout only = offsets.sublayout(offsets.getInDimNames(), {kOffset});
  std::optional<ByteRows> found =
      findByteRows(only, /*laneStep=*/1, /*column=*/8);
  unsigned least = isLoad ? 2 : 1;
  if (!found || found->rows.size() < least)
    return std::nullopt;
  ArrayRef<unsigned> rowBits = found->rows;
  unsigned matrices = std::min<unsigned>(rowBits.size() - 1, 2);
  SmallVector<unsigned> bits = {rowBits[0], found->column};
  bits.append(rowBits.begin() + 1, rowBits.end());
  auto reg = [&](unsigned i) -> uint64_t {
    return i <= matrices ? only.getFlatBasis(kRegister, rowBits[i]) : 0;
  };
  uint64_t first = only.getFlatBasis(kLane, 0);
  uint64_t second = only.getFlatBasis(kLane, 1);
  LinearLayout rows =
      isLoad ? getRowLayout(only, {reg(0), reg(1), first, second, reg(2)})
             : getRowLayout(only, {reg(0), first, second, reg(1), reg(2)});
  return MatrixAccess{
      /*transposed=*/true,
      matrices,
      packLog2,
      ColumnAction(bits, kRegister, only.getInDimSizeLog2(kRegister)),
      rows,
      countRowWavefronts(rows, 8, matrices),
      /*sortsBytes=*/false,
      /*movesBytes=*/true};
}

std::optional<MatrixAccess> getMatrixAccess(const LinearLayout &offsets,
                                            unsigned elemBits, bool transposed,
                                            unsigned maxMatrices) {
  // A transposed move splits rows into 16-bit values: wider elements would be
  // torn apart.
  if (elemBits > 32 || elemBits < 8 || (transposed && elemBits > 16))
    return std::nullopt;
  if (offsets.getInDimSizeLog2(kLane) != 5)
    return std::nullopt;
  LinearLayout only = offsets.sublayout(offsets.getInDimNames(), {kOffset});
  if (transposed && elemBits == 8)
    return getTransposedBytes(only, maxMatrices);
  unsigned packLog2 = Log2_32(32 / elemBits);
  unsigned rowLog2 = packLog2 + 2; // 16 bytes
  unsigned numRegs = only.getInDimSizeLog2(kRegister);
  if (numRegs < packLog2)
    return std::nullopt;

  auto lane = [&](unsigned i) { return only.getFlatBasis(kLane, i); };
  auto reg = [&](unsigned i) { return only.getFlatBasis(kRegister, i); };
  auto unit = [](unsigned i) { return uint64_t(1) << i; };

  // Which bits step inside a row. Plain: the packed registers, then lane bits 0
  // and 1. Transposed: lane bits 2 to 4.
  SmallVector<unsigned> bits;
  unsigned laneInRow = 0, lanesInRow = 2;
  if (transposed) {
    laneInRow = 2;
    lanesInRow = 3;
  } else {
    for (unsigned k = 0; k < packLog2; ++k)
      for (unsigned i = 0; i < numRegs; ++i)
        if (reg(i) == unit(k) && bits.size() == k)
          bits.push_back(i);
    if (bits.size() != packLog2)
      return std::nullopt;
  }
  for (unsigned i = 0; i < lanesInRow; ++i)
    if (lane(laneInRow + i) != unit(rowLog2 - lanesInRow + i))
      return std::nullopt;
  // All else chooses rows, which are aligned.
  for (auto [name, size] : only.getInDims()) {
    for (unsigned i = 0, e = Log2_32(size); i < e; ++i) {
      bool inRow = name == kRegister ? is_contained(bits, i)
                                     : name == kLane && i >= laneInRow &&
                                           i < laneInRow + lanesInRow;
      if (!inRow &&
          (only.getFlatBasis(name, i) & maskTrailingOnes<uint64_t>(rowLog2)))
        return std::nullopt;
    }
  }

  // The rows of a matrix, by the lanes that name them. Transposed, the packed
  // pair lies in two rows; take a register for which the banks are distinct.
  auto rowBases = [&](ArrayRef<unsigned> registers, unsigned matrices) {
    SmallVector<uint64_t> rows;
    if (transposed)
      rows = {reg(registers[0]), lane(0), lane(1)};
    else
      rows = {lane(2), lane(3), lane(4)};
    for (unsigned i = 0; i < 2; ++i)
      rows.push_back(i < matrices ? reg(registers[packLog2 + i]) : 0);
    return rows;
  };
  auto countFor = [&](ArrayRef<unsigned> registers, unsigned matrices) {
    return countRowWavefronts(getRowLayout(only, rowBases(registers, matrices)),
                              elemBits, matrices);
  };

  SmallVector<unsigned> rest;
  for (unsigned i = 0; i < numRegs; ++i)
    if (!is_contained(bits, i))
      rest.push_back(i);
  unsigned matrices = 0;
  if (transposed) {
    if (rest.empty())
      return std::nullopt;
    unsigned *best = min_element(rest, [&](unsigned a, unsigned b) {
      return countFor({a}, 0) < countFor({b}, 0);
    });
    bits.push_back(*best);
    rest.erase(best);
  }
  matrices = std::min<unsigned>(Log2_32(maxMatrices), rest.size());
  bits.append(rest);
  SmallVector<uint64_t> rows = rowBases(bits, matrices);
  return MatrixAccess{transposed,
                      matrices,
                      packLog2,
                      ColumnAction(bits, kRegister, numRegs),
                      getRowLayout(only, rows),
                      countFor(bits, matrices)};
}

} // namespace mlir::triton
