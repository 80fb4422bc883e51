//===-- Tcgen05Copy.cpp - tcgen05.cp and .shift ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../Checkers/OrderChecker.h"
#include "../../Schedule.h"
#include "../../Timeline.h"
#include "Tcgen05.h"
#include "Tcgen05Operand.h"
#include "tile/Simulator/Assumptions.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

namespace {
struct CopyShape {
  std::string_view name;
  unsigned rows, bytes;
  /// What a shape must name beside, for who gets its rows.
  std::string_view multicast = "";
  /// The lanes of row r: each one here, from the address's lane on.
  void eachLane(unsigned r, auto f) const {
    if (rows == 4)
      return f(32 * r);
    if (rows == 128)
      return f(r);
    if (rows == 32) {
      for (unsigned quarter = 0; quarter < 4; ++quarter)
        f(r + 32 * quarter);
      return;
    }
    bool isInterleaved = multicast == "warpx2::01_23";
    unsigned first = isInterleaved ? r % 32 + r / 32 * 64 : r;
    f(first);
    f(first + (isInterleaved ? 32 : 64));
  }
};
constexpr CopyShape shapes[] = {{"128x256b", 128, 32},
                                {"128x128b", 128, 16},
                                {"4x256b", 4, 32},
                                {"64x128b", 64, 16, "warpx2::02_13"},
                                {"64x128b", 64, 16, "warpx2::01_23"},
                                {"32x128b", 32, 16, "warpx4"}};

enum Unpack : uint8_t { Plain, Six, Four };

/// 16 elements of 6 or 4 bits, of which each gets a byte.
void unpack(const std::byte *from, Unpack how, bool lowBits, uint8_t *to) {
  for (unsigned i = 0; i < 16; ++i) {
    uint8_t element = packedElement(from, how == Four ? 4 : 6, i);
    to[i] = uint8_t(how == Four && !lowBits ? element << 2 : element);
  }
}

struct Copy {
  const CopyShape *shape;
  Unpack how;
  bool lowBits;
  TensorDescriptor source;
  unsigned lane, column;

  void perform(Cta &cta) const {
    TensorMemory &memory = *cta.tensor;
    for (unsigned r = 0; r < shape->rows; ++r)
      for (unsigned k = 0; k < shape->bytes; k += 16) {
        const std::byte *from = cta.shared.data() + source.rowAddress(r, k);
        uint8_t bytes[16];
        if (how == Plain)
          std::memcpy(bytes, from, 16);
        else
          unpack(from, how, lowBits, bytes);
        shape->eachLane(r, [&](unsigned l) {
          std::memcpy(&memory.at(lane + l, column + k / 4), bytes, 16);
        });
      }
  }
};

/// op: address, -, descriptor. mod[0]: shape; mod[1]: CTAs; mod[2]: Unpack.
bool copy(Ctx &c, const Inst &inst, unsigned l) {
  uint32_t to = TensorOperand::addressOf(c, inst, 0, l);
  std::optional<TensorDescriptor> source =
      TensorDescriptor::decode(c, inst, l, c.src<uint64_t>(inst.op[2])[l]);
  std::vector<Cta *> ctas;
  if (!source || !ctasOfGroup(c, inst, l, inst.mod[1], ctas))
    return false;
  if (source->mode == TensorDescriptor::Atoms32 || source->isAbsolute) {
    c.fail(inst, l, "bad-descriptor",
           "a copy's rows have no swizzled atoms of 32 bytes and no absolute "
           "leading dimension");
    return false;
  }
  Copy work{&shapes[inst.mod[0]],
            Unpack(inst.mod[2]),
            (c.launch->config->assumptions & AssumeLowBits) != 0,
            *source,
            tensorLane(to),
            tensorColumn(to)};
  TensorRegion region;
  region.column = work.column;
  region.columns = work.shape->bytes / 4;
  unsigned last = 0;
  std::vector<uint32_t> addresses;
  for (unsigned r = 0; r < work.shape->rows; ++r) {
    for (unsigned k = 0; k < work.shape->bytes; k += 16)
      addresses.push_back(source->rowAddress(r, k));
    work.shape->eachLane(r, [&](unsigned lane) {
      region.addLanes(work.lane + lane, 1);
      last = std::max(last, work.lane + lane);
    });
  }
  for (Cta *cta : ctas) {
    unsigned used = work.how == Four ? 8 : work.how == Six ? 12 : 16;
    if (!checkTensorReads(c, inst, l, *cta, addresses, used) ||
        !checkTensor(c, inst, l, *cta, region, last))
      return false;
    if (c.checker)
      c.checker->tensor().engineAccess(c, inst, l, *cta,
                                       {TensorKind::Copy, true, region});
    markTensorWritten(*cta, region);
  }
  if (c.timeline)
    c.timeline->tensorWork(c, ctas, "tcgen05.cp",
                           work.shape->rows * work.shape->bytes / 128,
                           region.columns);
  return completeAsync(c, AsyncKind::Tensor, l, [work, ctas](Ctx &) {
    for (Cta *cta : ctas)
      work.perform(*cta);
    return true;
  });
}

Step execCopy(Ctx &c, const Inst &inst, uint32_t mask) {
  for (; mask; mask &= mask - 1)
    if (!copy(c, inst, firstLane(mask)))
      return Step::Error;
  return Step::Next;
}

/// Eight columns move by one lane within each 32 lanes, from the address's on.
void shiftLanes(TensorMemory &memory, unsigned lane, unsigned column, bool up) {
  constexpr unsigned columns = 8, window = 32;
  for (unsigned first = lane; first < TensorMemory::lanes; first += window)
    for (unsigned i = 0; i + 1 < window; ++i) {
      unsigned to = up ? first + window - 1 - i : first + i,
               from = up ? to - 1 : to + 1;
      std::copy_n(&memory.at(from, column), columns, &memory.at(to, column));
    }
}

bool shift(Ctx &c, const Inst &inst, unsigned l) {
  uint32_t at = TensorOperand::addressOf(c, inst, 0, l);
  unsigned lane = tensorLane(at), column = tensorColumn(at);
  std::vector<Cta *> ctas;
  if (!ctasOfGroup(c, inst, l, inst.mod[1], ctas))
    return false;
  if (lane % 32) {
    c.fail(inst, l, "wrong-lanes",
           "a shift begins at lane " + std::to_string(lane) +
               ", which is not a multiple of 32");
    return false;
  }
  TensorRegion region = TensorRegion::of(
      lane, TensorMemory::lanes - std::min(lane, TensorMemory::lanes), column,
      8);
  for (Cta *cta : ctas) {
    if (!checkTensor(c, inst, l, *cta, region, lane))
      return false;
    checkTensorWritten(c, inst, l, *cta, region, "what is shifted");
    if (c.checker)
      c.checker->tensor().engineAccess(c, inst, l, *cta,
                                       {TensorKind::Shift, true, region});
  }
  if (c.timeline)
    c.timeline->tensorWork(c, ctas, "tcgen05.shift", region.columns,
                           region.columns);
  bool up = c.launch->config->assumptions & AssumeShiftUp;
  return completeAsync(c, AsyncKind::Tensor, l, [=](Ctx &) {
    for (Cta *cta : ctas)
      shiftLanes(*cta->tensor, lane, column, up);
    return true;
  });
}

Step execShift(Ctx &c, const Inst &inst, uint32_t mask) {
  for (; mask; mask &= mask - 1)
    if (!shift(c, inst, firstLane(mask)))
      return Step::Error;
  return Step::Next;
}
} // namespace

bool tile::sim::decodeTcgen05Copy(FunctionDecoder &d) {
  unsigned group = takeCtaGroup(d);
  if (!group)
    return false;
  d.inst.mod[1] = uint8_t(group);
  int shape =
          d.hasOneOf({"128x256b", "128x128b", "4x256b", "64x128b", "32x128b"}),
      multicast = d.hasOneOf({"warpx2::02_13", "warpx2::01_23", "warpx4"});
  static constexpr std::string_view names[] = {"128x256b", "128x128b", "4x256b",
                                               "64x128b", "32x128b"},
                                    receivers[] = {"", "warpx2::02_13",
                                                   "warpx2::01_23", "warpx4"};
  if (shape < 0)
    return d.error("needs a shape");
  const CopyShape *found = std::find_if(
      std::begin(shapes), std::end(shapes), [&](const CopyShape &s) {
        return s.name == names[shape] &&
               s.multicast == receivers[multicast + 1];
      });
  if (found == std::end(shapes))
    return d.error(multicast < 0 ? "needs .warpx2 or .warpx4"
                                 : "this shape goes not to these warps");
  d.inst.mod[0] = uint8_t(found - shapes);
  if (d.has("b8x16")) {
    int how = d.hasOneOf({"b6x16_p32", "b4x16_p64"});
    if (how < 0)
      return d.error("needs .b6x16_p32 or .b4x16_p64");
    d.inst.mod[2] = uint8_t(how + 1);
  }
  return d.expectOperands(2, 2) && TensorOperand::takeInto(d, 0, 0) &&
         d.src(1, Type::B64, 2) && d.emit(execCopy, Class::Tensor);
}

bool tile::sim::decodeTcgen05Shift(FunctionDecoder &d) {
  unsigned group = takeCtaGroup(d);
  if (!group)
    return false;
  d.inst.mod[1] = uint8_t(group);
  if (!d.has("down"))
    return d.error("needs .down");
  return d.expectOperands(1, 1) && TensorOperand::takeInto(d, 0, 0) &&
         d.emit(execShift, Class::Tensor);
}
