//===-- Stack.cpp - alloca, stacksave, stackrestore -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The lanes of a frame have local memory of one shape: each gets as much as the
// one that asks for most.
//
//===----------------------------------------------------------------------===//
#include "Families.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

namespace {
/// T: of the pointer and the size; imm: alignment.
template <class T> Step execAlloca(Ctx &c, const Inst &inst, uint32_t mask) {
  const T *size = c.src<T>(inst.op[1]);
  uint64_t most = 0, align = uint64_t(inst.imm);
  for (uint32_t m = mask; m; m &= m - 1)
    most = std::max<uint64_t>(most, size[firstLane(m)]);
  uint64_t start = (c.frame->localEnd() + align - 1) / align * align;
  if (most > mostLocal || start + most > mostLocal)
    return c.fail(inst, firstLane(mask), "stack-overflow",
                  "alloca of " + std::to_string(most) +
                      " bytes: a thread has " + std::to_string(mostLocal) +
                      " bytes of local memory, " + std::to_string(start) +
                      " are in use");
  auto end = uint32_t(start + most);
  c.frame->allocated += end - c.frame->localEnd();
  c.reserveLocal(end);
  T *out = c.dst<T>(inst.op[0]);
  eachLane(mask, [&](unsigned l) {
    if (most)
      std::memset(c.warp->localWritten.data() +
                      size_t(l) * c.warp->localStride + start,
                  0, most);
    out[l] = T(start);
  });
  return Step::Next;
}

template <class T> Step execSave(Ctx &c, const Inst &inst, uint32_t mask) {
  T *out = c.dst<T>(inst.op[0]);
  eachLane(mask, [&](unsigned l) { out[l] = T(c.frame->localEnd()); });
  return Step::Next;
}

/// Lanes that went elsewhere may still use what these give back.
template <class T> Step execRestore(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t to = c.src<T>(inst.op[0])[firstLane(mask)];
  uint32_t own = c.frame->localBase + c.code->localBytes;
  if (to < own || to > c.frame->localEnd())
    return c.fail(inst, firstLane(mask), "bad-stack",
                  "stackrestore of a place that no stacksave of this function "
                  "gave");
  if ((~c.warp->exited & ~mask) == 0)
    c.frame->allocated = uint32_t(to) - own;
  return Step::Next;
}

/// Type of the pointer.
bool takePointer(FunctionDecoder &d, Type &type) {
  type = d.takeType();
  return type == Type::U32 || type == Type::U64 ||
         d.error("needs .u32 or .u64");
}

bool decodeAlloca(FunctionDecoder &d) {
  Type type;
  if (!takePointer(d, type) || !d.expectOperands(2, 3) || !d.src(1, type, 1))
    return false;
  d.inst.imm = 8;
  if (d.operandCount() == 3 && !d.immediate(d.operand(2), d.inst.imm))
    return false;
  if (d.inst.imm < 1 || d.inst.imm > (1 << 23) ||
      (d.inst.imm & (d.inst.imm - 1)))
    return d.errorAt(d.operand(2), "an alignment is a power of two");
  return d.dst(0, type, 0) &&
         d.emit(type == Type::U64 ? execAlloca<uint64_t> : execAlloca<uint32_t>,
                Class::Other);
}
bool decodeSave(FunctionDecoder &d) {
  Type type;
  return takePointer(d, type) && d.expectOperands(1, 1) && d.dst(0, type, 0) &&
         d.emit(type == Type::U64 ? execSave<uint64_t> : execSave<uint32_t>,
                Class::Other);
}
bool decodeRestore(FunctionDecoder &d) {
  Type type;
  return takePointer(d, type) && d.expectOperands(1, 1) && d.src(0, type, 0) &&
         d.emit(type == Type::U64 ? execRestore<uint64_t>
                                  : execRestore<uint32_t>,
                Class::Other);
}
} // namespace

void tile::sim::registerStack(DecodeTable &t) {
  t.insert({{"alloca", decodeAlloca},
            {"stacksave", decodeSave},
            {"stackrestore", decodeRestore}});
}
