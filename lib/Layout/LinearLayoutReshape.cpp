//===-- LinearLayoutReshape.cpp - Rearranging dims of a layout ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::triton {

LinearLayout LinearLayout::sublayout(ArrayRef<StringRef> inDims,
                                     ArrayRef<StringRef> outDims) const {
  assert(all_of(inDims, [&](StringRef d) { return hasInDim(d); }) &&
         all_of(outDims, [&](StringRef d) { return hasOutDim(d); }) &&
         "no such dim");
  Dims newIns, newOuts;
  SmallVector<unsigned> keptOuts;
  for (auto [i, d] : enumerate(outs)) {
    if (!is_contained(outDims, d.name))
      continue;
    newOuts.push_back(d);
    keptOuts.push_back(i);
  }
  F2Matrix::Words newColumns;
  for (auto [i, d] : enumerate(ins)) {
    if (!is_contained(inDims, d.name))
      continue;
    newIns.push_back(d);
    for (unsigned pos = 0; pos < d.log2; ++pos) {
      uint64_t column = columns[inShift(i) + pos], image = 0;
      unsigned shift = 0;
      for (unsigned out : keptOuts) {
        image |= uint64_t(extractOut(column, out)) << shift;
        shift += outs[out].log2;
      }
      newColumns.push_back(image);
    }
  }
  return LinearLayout(std::move(newIns), std::move(newOuts),
                      std::move(newColumns));
}

LinearLayout LinearLayout::removeInDim(StringRef dim) const {
  assert(hasInDim(dim) && "no such in dim");
  SmallVector<StringRef> kept = getInDimNames();
  erase(kept, dim);
  return sublayout(kept, getOutDimNames());
}

LinearLayout LinearLayout::removeOutDim(StringRef dim) const {
  assert(hasOutDim(dim) && "no such out dim");
  SmallVector<StringRef> kept = getOutDimNames();
  erase(kept, dim);
  return sublayout(getInDimNames(), kept);
}

LinearLayout LinearLayout::transposeIns(ArrayRef<StringRef> newOrder) const {
  assert(newOrder.size() == ins.size() && "order must name every in dim");
  Dims newIns;
  F2Matrix::Words newColumns;
  for (StringRef name : newOrder) {
    unsigned i = getInDimIndex(name), first = inShift(i);
    newIns.push_back(ins[i]);
    newColumns.append(columns.begin() + first,
                      columns.begin() + first + ins[i].log2);
  }
  return LinearLayout(std::move(newIns), outs, std::move(newColumns));
}

LinearLayout LinearLayout::transposeOuts(ArrayRef<StringRef> newOrder) const {
  assert(newOrder.size() == outs.size() && "order must name every out dim");
  Dims newOuts;
  SmallVector<unsigned> from;
  for (StringRef name : newOrder) {
    from.push_back(getOutDimIndex(name));
    newOuts.push_back(outs[from.back()]);
  }
  F2Matrix::Words newColumns;
  for (uint64_t column : columns) {
    uint64_t image = 0;
    unsigned shift = 0;
    for (unsigned i : from) {
      image |= uint64_t(extractOut(column, i)) << shift;
      shift += outs[i].log2;
    }
    newColumns.push_back(image);
  }
  return LinearLayout(ins, std::move(newOuts), std::move(newColumns));
}

LinearLayout LinearLayout::reshapeIns(ArrayRef<NamedSize> newDims) const {
  Dims newIns;
  for (auto [name, size] : newDims)
    newIns.push_back({name, Log2_32(size)});
  return LinearLayout(std::move(newIns), outs, columns);
}

LinearLayout LinearLayout::reshapeOuts(ArrayRef<NamedSize> newDims) const {
  Dims newOuts;
  [[maybe_unused]] unsigned total = 0;
  for (auto [name, size] : newDims) {
    newOuts.push_back({name, Log2_32(size)});
    total += newOuts.back().log2;
  }
  assert(total == getTotalOutDimSizeLog2() && "reshape must keep the size");
  return LinearLayout(ins, std::move(newOuts), columns);
}

LinearLayout LinearLayout::flattenIns() const {
  return ins.empty() ? *this : flattenIns(ins.front().name);
}

LinearLayout LinearLayout::flattenOuts() const {
  return outs.empty() ? *this : flattenOuts(outs.front().name);
}

LinearLayout LinearLayout::flattenIns(StringRef name) const {
  return LinearLayout({{name, getTotalInDimSizeLog2()}}, outs, columns);
}

LinearLayout LinearLayout::flattenOuts(StringRef name) const {
  return LinearLayout(ins, {{name, getTotalOutDimSizeLog2()}}, columns);
}

LinearLayout LinearLayout::concatIns(const LinearLayout &other) const {
  assert(outs == other.outs && "both layouts need the same out dims");
  Dims newIns = ins;
  for (const Dim &d : other.ins) {
    assert(!hasInDim(d.name) && "in dim in both layouts");
    newIns.push_back(d);
  }
  F2Matrix::Words newColumns = columns;
  newColumns.append(other.columns);
  return LinearLayout(std::move(newIns), outs, std::move(newColumns));
}

LinearLayout LinearLayout::concatOuts(const LinearLayout &other) const {
  assert(ins == other.ins && "both layouts need the same in dims");
  Dims newOuts = outs;
  for (const Dim &d : other.outs) {
    assert(!hasOutDim(d.name) && "out dim in both layouts");
    newOuts.push_back(d);
  }
  F2Matrix::Words newColumns = columns;
  unsigned shift = getTotalOutDimSizeLog2();
  for (auto [column, more] : zip_equal(newColumns, other.columns))
    column |= more << shift;
  return LinearLayout(ins, std::move(newOuts), std::move(newColumns));
}

LinearLayout LinearLayout::renameInDim(StringRef from, StringRef to) const {
  assert((from == to || !hasInDim(to)) && "name is taken");
  LinearLayout result = *this;
  result.ins[getInDimIndex(from)].name = to;
  return result;
}

LinearLayout LinearLayout::renameOutDim(StringRef from, StringRef to) const {
  assert((from == to || !hasOutDim(to)) && "name is taken");
  LinearLayout result = *this;
  result.outs[getOutDimIndex(from)].name = to;
  return result;
}

LinearLayout LinearLayout::resizeInDim(StringRef dim, int32_t newSize) const {
  assert(isPowerOf2_32(newSize) && "sizes are powers of two");
  unsigned i = getInDimIndex(dim), oldLog2 = ins[i].log2;
  unsigned newLog2 = Log2_32(newSize);
  LinearLayout result = *this;
  result.ins[i].log2 = newLog2;
  auto end = result.columns.begin() + inShift(i) + oldLog2;
  if (newLog2 < oldLog2)
    result.columns.erase(end - (oldLog2 - newLog2), end);
  else
    result.columns.insert(end, newLog2 - oldLog2, uint64_t(0));
  return result;
}

LinearLayout LinearLayout::resizeOutDim(StringRef dim, int32_t newSize) const {
  assert(isPowerOf2_32(newSize) && "sizes are powers of two");
  unsigned i = getOutDimIndex(dim), start = outShift(i);
  unsigned oldLog2 = outs[i].log2, newLog2 = Log2_32(newSize);
  uint64_t valueMask = maskTrailingOnes<uint64_t>(std::min(oldLog2, newLog2));
  LinearLayout result = *this;
  result.outs[i].log2 = newLog2;
  for (uint64_t &column : result.columns) {
    uint64_t below = column & maskTrailingOnes<uint64_t>(start);
    uint64_t value = (column >> start) & valueMask;
    // Shifting by 64 is not defined; such a dim has nothing above it.
    uint64_t above = start + oldLog2 < 64 ? column >> (start + oldLog2) : 0;
    column = below | (value << start) |
             (above ? above << (start + newLog2) : uint64_t(0));
  }
  return result;
}

LinearLayout LinearLayout::removeZeroBasesAlongDim(StringRef inDim) const {
  unsigned i = getInDimIndex(inDim), first = inShift(i);
  Dims newIns = ins;
  F2Matrix::Words newColumns;
  for (auto [c, column] : enumerate(columns)) {
    if (c >= first && c < first + ins[i].log2 && column == 0) {
      --newIns[i].log2;
      continue;
    }
    newColumns.push_back(column);
  }
  return LinearLayout(std::move(newIns), outs, std::move(newColumns));
}

LinearLayout LinearLayout::unsqueezeIn(StringRef dim) const {
  assert(!hasInDim(dim) && "in dim exists");
  LinearLayout result = *this;
  result.ins.push_back({dim, 0});
  return result;
}

LinearLayout LinearLayout::unsqueezeOut(StringRef dim) const {
  assert(!hasOutDim(dim) && "out dim exists");
  LinearLayout result = *this;
  result.outs.push_back({dim, 0});
  return result;
}

} // namespace mlir::triton
