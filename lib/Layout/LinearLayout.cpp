//===-- LinearLayout.cpp - Construction, values and questions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace mlir::triton {

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

LinearLayout::LinearLayout(Dims ins, Dims outs, F2Matrix::Words columns)
    : ins(std::move(ins)), outs(std::move(outs)), columns(std::move(columns)) {
#ifndef NDEBUG
  unsigned inBits = 0, outBits = 0;
  for (const Dim &d : this->ins)
    inBits += d.log2;
  for (const Dim &d : this->outs)
    outBits += d.log2;
  assert(inBits == this->columns.size() && "one column per in bit");
  assert(outBits <= 64 && inBits <= 64 && "index space too large");
  for (uint64_t c : this->columns)
    assert((outBits == 64 || (c >> outBits) == 0) && "basis out of range");
#endif
}

std::optional<LinearLayout> LinearLayout::tryCreate(const Bases &bases,
                                                    ArrayRef<NamedSize> outDims,
                                                    bool requireSurjective,
                                                    std::string *error) {
  auto fail = [&](const Twine &message) {
    if (error)
      *error = message.str();
    return std::nullopt;
  };

  Dims ins, outs;
  StringSet<> seen;
  unsigned outBits = 0;
  for (auto [name, size] : outDims) {
    if (!seen.insert(name).second)
      return fail("out dim '" + name + "' appears twice");
    if (size <= 0 || !isPowerOf2_32(size))
      return fail("size of out dim '" + name +
                  "' must be a positive power of two, but is " + Twine(size));
    outs.push_back({name, Log2_32(size)});
    outBits += outs.back().log2;
  }
  seen.clear();
  size_t inBits = 0;
  for (const auto &[name, dimBases] : bases) {
    if (!seen.insert(name).second)
      return fail("in dim '" + name + "' appears twice");
    if (dimBases.size() > 30)
      return fail("in dim '" + name + "' has more than 30 bases");
    ins.push_back({name, unsigned(dimBases.size())});
    inBits += dimBases.size();
  }
  if (inBits > 63 || outBits > 63)
    return fail("index spaces of more than 2^63 elements are not supported");

  F2Matrix::Words columns;
  for (const auto &[name, dimBases] : bases) {
    for (const auto &[pos, basis] : enumerate(dimBases)) {
      if (basis.size() != outs.size())
        return fail("basis " + Twine(pos) + " of in dim '" + name + "' has " +
                    Twine(basis.size()) + " values, but there are " +
                    Twine(outs.size()) + " out dims");
      uint64_t column = 0;
      unsigned shift = 0;
      for (auto [value, out] : zip_equal(basis, outs)) {
        if (value < 0 || (uint64_t(value) >> out.log2) != 0)
          return fail("basis " + Twine(pos) + " of in dim '" + name +
                      "' has value " + Twine(value) + " for out dim '" +
                      out.name + "' of size " + Twine(uint64_t(1) << out.log2));
        column |= uint64_t(value) << shift;
        shift += out.log2;
      }
      columns.push_back(column);
    }
  }

  LinearLayout layout(std::move(ins), std::move(outs), std::move(columns));
  if (requireSurjective && !layout.isSurjective())
    return fail("the bases reach only 2^" + Twine(layout.getRank()) +
                " of the 2^" + Twine(outBits) + " elements");
  return layout;
}

LinearLayout::LinearLayout(const Bases &bases, ArrayRef<NamedSize> outDims,
                           bool requireSurjective) {
  std::string error;
  std::optional<LinearLayout> layout =
      tryCreate(bases, outDims, requireSurjective, &error);
  if (!layout)
    llvm::report_fatal_error(Twine("invalid linear layout: ") + error);
  *this = std::move(*layout);
}

LinearLayout LinearLayout::fromBases(const Bases &bases,
                                     ArrayRef<StringRef> outDimNames,
                                     bool requireSurjective) {
  NamedSizes outDims;
  for (auto [i, name] : enumerate(outDimNames)) {
    int32_t all = 0;
    for (const auto &[in, dimBases] : bases)
      for (const auto &basis : dimBases)
        all |= i < basis.size() ? basis[i] : 0;
    outDims.push_back({name, all > 0 ? int32_t(PowerOf2Ceil(all + 1)) : 1});
  }
  return LinearLayout(bases, outDims, requireSurjective);
}

LinearLayout LinearLayout::identity1D(int32_t size, StringRef inDim,
                                      StringRef outDim) {
  return strided1D(size, 1, inDim, outDim);
}

LinearLayout LinearLayout::strided1D(int32_t size, int32_t stride,
                                     StringRef inDim, StringRef outDim) {
  assert(isPowerOf2_32(size) && isPowerOf2_32(stride) &&
         "sizes are powers of two");
  unsigned n = Log2_32(size), s = Log2_32(stride);
  F2Matrix::Words columns;
  for (unsigned i = 0; i < n; ++i)
    columns.push_back(uint64_t(1) << (i + s));
  // A single point needs no room, whatever the stride.
  return LinearLayout({{inDim, n}}, {{outDim, n ? n + s : 0}},
                      std::move(columns));
}

LinearLayout LinearLayout::zeros1D(int32_t size, StringRef inDim,
                                   StringRef outDim, int32_t outDimSize) {
  assert(isPowerOf2_32(size) && isPowerOf2_32(outDimSize) &&
         "sizes are powers of two");
  unsigned n = Log2_32(size);
  return LinearLayout({{inDim, n}}, {{outDim, Log2_32(outDimSize)}},
                      F2Matrix::Words(n, 0));
}

LinearLayout LinearLayout::identity(ArrayRef<NamedSize> dims) {
  LinearLayout result;
  for (auto [name, size] : dims)
    result *= identity1D(size, name, name);
  return result;
}

LinearLayout LinearLayout::identityND(StringRef inDim, ArrayRef<int64_t> shape,
                                      ArrayRef<unsigned> order,
                                      ArrayRef<StringRef> outDimNames) {
  assert(shape.size() == order.size() && shape.size() == outDimNames.size() &&
         "ranks do not agree");
  LinearLayout result;
  for (unsigned dim : order)
    result *= identity1D(shape[dim], inDim, outDimNames[dim]);
  // Without any dim the in dim still has to be there.
  if (order.empty())
    return LinearLayout({{inDim, 0}}, {}, {});
  return result.transposeOuts(outDimNames);
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

int LinearLayout::findIn(StringRef dim) const {
  for (auto [i, d] : enumerate(ins))
    if (d.name == dim)
      return i;
  return -1;
}

int LinearLayout::findOut(StringRef dim) const {
  for (auto [i, d] : enumerate(outs))
    if (d.name == dim)
      return i;
  return -1;
}

unsigned LinearLayout::inShift(unsigned dimIndex) const {
  unsigned shift = 0;
  for (unsigned i = 0; i < dimIndex; ++i)
    shift += ins[i].log2;
  return shift;
}

unsigned LinearLayout::outShift(unsigned dimIndex) const {
  unsigned shift = 0;
  for (unsigned i = 0; i < dimIndex; ++i)
    shift += outs[i].log2;
  return shift;
}

unsigned LinearLayout::getInDimIndex(StringRef dim) const {
  int i = findIn(dim);
  assert(i >= 0 && "no such in dim");
  return i;
}

unsigned LinearLayout::getOutDimIndex(StringRef dim) const {
  int i = findOut(dim);
  assert(i >= 0 && "no such out dim");
  return i;
}

unsigned LinearLayout::getInDimSizeLog2(StringRef dim) const {
  return ins[getInDimIndex(dim)].log2;
}

unsigned LinearLayout::getOutDimSizeLog2(StringRef dim) const {
  return outs[getOutDimIndex(dim)].log2;
}

unsigned LinearLayout::getTotalOutDimSizeLog2() const {
  return outShift(outs.size());
}

SmallVector<StringRef> LinearLayout::getInDimNames() const {
  return to_vector(map_range(ins, [](const Dim &d) { return d.name; }));
}

SmallVector<StringRef> LinearLayout::getOutDimNames() const {
  return to_vector(map_range(outs, [](const Dim &d) { return d.name; }));
}

LinearLayout::NamedSizes LinearLayout::getInDims() const {
  NamedSizes result;
  for (const Dim &d : ins)
    result.push_back({d.name, int32_t(1) << d.log2});
  return result;
}

LinearLayout::NamedSizes LinearLayout::getOutDims() const {
  NamedSizes result;
  for (const Dim &d : outs)
    result.push_back({d.name, int32_t(1) << d.log2});
  return result;
}

SmallVector<int64_t> LinearLayout::getOutShape() const {
  SmallVector<int64_t> result;
  for (const Dim &d : outs)
    result.push_back(int64_t(1) << d.log2);
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

int32_t LinearLayout::extractOut(uint64_t flat, unsigned dimIndex) const {
  return (flat >> outShift(dimIndex)) &
         maskTrailingOnes<uint64_t>(outs[dimIndex].log2);
}

uint64_t LinearLayout::getFlatBasis(StringRef inDim, unsigned pos) const {
  unsigned dim = getInDimIndex(inDim);
  assert(pos < ins[dim].log2 && "no such bit");
  return columns[inShift(dim) + pos];
}

SmallVector<int32_t, 4> LinearLayout::getBasis(StringRef inDim,
                                               unsigned pos) const {
  uint64_t flat = getFlatBasis(inDim, pos);
  SmallVector<int32_t, 4> result;
  for (unsigned i = 0; i < outs.size(); ++i)
    result.push_back(extractOut(flat, i));
  return result;
}

int32_t LinearLayout::getBasis(StringRef inDim, unsigned pos,
                               StringRef outDim) const {
  return extractOut(getFlatBasis(inDim, pos), getOutDimIndex(outDim));
}

LinearLayout::Bases LinearLayout::getBases() const {
  Bases result;
  for (const Dim &d : ins) {
    DimBases dimBases;
    for (unsigned pos = 0; pos < d.log2; ++pos) {
      auto basis = getBasis(d.name, pos);
      dimBases.emplace_back(basis.begin(), basis.end());
    }
    result.push_back({d.name, std::move(dimBases)});
  }
  return result;
}

LinearLayout::NamedSizes LinearLayout::unflattenIn(uint64_t flat) const {
  NamedSizes result;
  for (const Dim &d : ins) {
    result.push_back(
        {d.name, int32_t(flat & maskTrailingOnes<uint64_t>(d.log2))});
    flat >>= d.log2;
  }
  return result;
}

LinearLayout::NamedSizes LinearLayout::unflattenOut(uint64_t flat) const {
  NamedSizes result;
  for (auto [i, d] : enumerate(outs))
    result.push_back({d.name, extractOut(flat, i)});
  return result;
}

uint64_t LinearLayout::flattenIn(ArrayRef<NamedSize> index) const {
  assert(index.size() == ins.size() && "index must name every in dim");
  uint64_t flat = 0;
  for (auto [name, value] : index) {
    unsigned dim = getInDimIndex(name);
    assert(uint64_t(value) >> ins[dim].log2 == 0 && "index out of range");
    flat |= uint64_t(value) << inShift(dim);
  }
  return flat;
}

uint64_t LinearLayout::flattenOut(ArrayRef<NamedSize> index) const {
  assert(index.size() == outs.size() && "index must name every out dim");
  uint64_t flat = 0;
  for (auto [name, value] : index) {
    unsigned dim = getOutDimIndex(name);
    assert(uint64_t(value) >> outs[dim].log2 == 0 && "index out of range");
    flat |= uint64_t(value) << outShift(dim);
  }
  return flat;
}

F2Matrix LinearLayout::getMatrix() const {
  return F2Matrix(getTotalOutDimSizeLog2(), columns);
}

uint64_t LinearLayout::applyFlat(uint64_t flatIn) const {
  assert(flatIn >> columns.size() == 0 && "index out of range");
  uint64_t result = 0;
  for (uint64_t column : columns) {
    result ^= (flatIn & 1) ? column : 0;
    flatIn >>= 1;
  }
  return result;
}

LinearLayout::NamedSizes LinearLayout::apply(ArrayRef<NamedSize> index) const {
  return unflattenOut(applyFlat(flattenIn(index)));
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool LinearLayout::isTrivialOver(ArrayRef<StringRef> dims) const {
  for (StringRef name : dims) {
    int in = findIn(name), out = findOut(name);
    if (in < 0 || out < 0 || ins[in].log2 != outs[out].log2)
      return false;
    unsigned first = inShift(in), last = first + ins[in].log2;
    for (unsigned c = 0; c < columns.size(); ++c) {
      bool inside = c >= first && c < last;
      uint64_t wanted = inside ? uint64_t(1) << (outShift(out) + c - first) : 0;
      uint64_t mask = inside ? ~uint64_t(0)
                             : maskTrailingOnes<uint64_t>(outs[out].log2)
                                   << outShift(out);
      if ((columns[c] & mask) != wanted)
        return false;
    }
  }
  return true;
}

SmallVector<LinearLayout::NamedSize, 4>
LinearLayout::getFreeVariableMasks() const {
  SmallVector<NamedSize, 4> result;
  F2Span span;
  unsigned c = 0;
  for (const Dim &d : ins) {
    int32_t mask = 0;
    for (unsigned i = 0; i < d.log2; ++i)
      if (!span.insert(columns[c++]))
        mask |= int32_t(1) << i;
    result.push_back({d.name, mask});
  }
  return result;
}

int32_t LinearLayout::getFreeVariableMask(StringRef inDim) const {
  return getFreeVariableMasks()[getInDimIndex(inDim)].second;
}

int64_t LinearLayout::getNumConsecutiveInOut() const {
  unsigned k = 0;
  while (k < columns.size() && columns[k] == uint64_t(1) << k)
    ++k;
  for (unsigned c = k; c < columns.size(); ++c)
    if (columns[c])
      k = std::min<unsigned>(k, llvm::countr_zero(columns[c]));
  return int64_t(1) << k;
}

bool LinearLayout::sublayoutIsZero(ArrayRef<StringRef> inDims,
                                   ArrayRef<StringRef> outDims) const {
  LinearLayout sub = sublayout(inDims, outDims);
  return all_of(sub.columns, [](uint64_t c) { return c == 0; });
}

//===----------------------------------------------------------------------===//
// Comparison and printing
//===----------------------------------------------------------------------===//

bool LinearLayout::equalUpToDimOrder(const LinearLayout &other) const {
  if (ins.size() != other.ins.size() || outs.size() != other.outs.size())
    return false;
  for (const Dim &d : ins)
    if (!other.hasInDim(d.name))
      return false;
  for (const Dim &d : outs)
    if (!other.hasOutDim(d.name))
      return false;
  return *this ==
         other.transposeIns(getInDimNames()).transposeOuts(getOutDimNames());
}

hash_code hash_value(const LinearLayout &layout) {
  hash_code h = hash_combine_range(layout.columns);
  for (const LinearLayout::Dim &d : layout.ins)
    h = hash_combine(h, d.name, d.log2);
  h = hash_combine(h, layout.ins.size());
  for (const LinearLayout::Dim &d : layout.outs)
    h = hash_combine(h, d.name, d.log2);
  return h;
}

void LinearLayout::print(raw_ostream &os) const {
  if (ins.empty())
    os << "(no in dims)\n";
  for (const Dim &d : ins) {
    if (d.log2 == 0)
      os << " - " << d.name << " has size 1\n";
    for (unsigned pos = 0; pos < d.log2; ++pos) {
      os << " - " << d.name << '=' << (uint64_t(1) << pos) << " -> (";
      interleaveComma(getBasis(d.name, pos), os);
      os << ")\n";
    }
  }
  os << "where out dims are: [";
  interleaveComma(outs, os, [&](const Dim &d) {
    os << d.name << " (size " << (uint64_t(1) << d.log2) << ')';
  });
  os << "]";
}

std::string LinearLayout::toString() const {
  std::string s;
  raw_string_ostream os(s);
  print(os);
  return s;
}

raw_ostream &operator<<(raw_ostream &os, const LinearLayout &layout) {
  layout.print(os);
  return os;
}

} // namespace mlir::triton
