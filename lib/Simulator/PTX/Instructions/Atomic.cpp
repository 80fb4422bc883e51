//===-- Atomic.cpp - atom and red -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lanes of one instruction update memory one after another, in the order in
// which an H200 does it: that of lanes, but where ptxas makes a loop.
// Workers on several host threads exclude each other; where the result could
// depend on the order of CTAs (Program::usesGlobalAtomics), they have one.
//
//===----------------------------------------------------------------------===//
#include "../../Memory.h"
#include "Families.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;
using OK = ast::Operand::Kind;

namespace {
enum Op : uint8_t {
  AAnd,
  AOr,
  AXor,
  ACas,
  AExch,
  AAdd,
  AInc,
  ADec,
  AMin,
  AMax
};

float minMax(float a, float b, bool max) {
  if (a != a)
    return b;
  if (b != b)
    return a;
  if (a == b)
    return std::signbit(a) == max ? b : a;
  return (a > b) == max ? a : b;
}
uint16_t halfOp(Op op, uint16_t a, uint16_t b, bool bf16) {
  float x = bf16 ? floatFromBf16(a) : floatFromHalf(a),
        y = bf16 ? floatFromBf16(b) : floatFromHalf(b);
  float r = op == AAdd ? x + y : minMax(x, y, op == AMax);
  return bf16 ? bf16FromFloat(r) : halfFromFloat(r);
}

template <class T> T integerOp(Op op, T a, T b, T c) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case AAnd:
    return a & b;
  case AOr:
    return a | b;
  case AXor:
    return a ^ b;
  case ACas:
    return a == b ? c : a;
  case AExch:
    return b;
  case AAdd:
    return T(U(a) + U(b));
  case AInc:
    return U(a) >= U(b) ? T(0) : T(a + 1);
  case ADec:
    return a == 0 || U(a) > U(b) ? b : T(a - 1);
  case AMin:
    return std::min(a, b);
  case AMax:
    return std::max(a, b);
  }
  return a;
}

/// The new value of one element of up to 64 bits.
uint64_t apply(Op op, Type type, uint64_t old, uint64_t b, uint64_t c,
               bool ftz) {
  switch (type) {
  case Type::S32:
    return uint32_t(
        integerOp<int32_t>(op, int32_t(old), int32_t(b), int32_t(c)));
  case Type::S64:
    return uint64_t(
        integerOp<int64_t>(op, int64_t(old), int64_t(b), int64_t(c)));
  case Type::B16:
    return integerOp<uint16_t>(op, uint16_t(old), uint16_t(b), uint16_t(c));
  case Type::B64:
  case Type::U64:
    return integerOp<uint64_t>(op, old, b, c);
  case Type::F32: {
    float x = floatOfBits(uint32_t(old)), y = floatOfBits(uint32_t(b));
    float r = ftz ? flush(flush(x) + flush(y)) : x + y;
    return bitsOfFloat(canonical(r));
  }
  case Type::F64:
    return bitsOfDouble(doubleOfBits(old) + doubleOfBits(b));
  case Type::F16:
    return halfOp(op, uint16_t(old), uint16_t(b), false);
  case Type::BF16:
    return halfOp(op, uint16_t(old), uint16_t(b), true);
  case Type::F16x2:
  case Type::BF16x2: {
    bool bf16 = type == Type::BF16x2;
    return uint32_t(halfOp(op, uint16_t(old >> 16), uint16_t(b >> 16), bf16))
               << 16 |
           halfOp(op, uint16_t(old), uint16_t(b), bf16);
  }
  default:
    return integerOp<uint32_t>(op, uint32_t(old), uint32_t(b), uint32_t(c));
  }
}

/// The operand with which and, or, xor change nothing.
uint32_t neutralWord(Op op) { return op == AAnd ? ~0u : 0; }

uint64_t operandLane(const Ctx &c, uint32_t slot, unsigned bytes, unsigned l) {
  return bytes == 8 ? c.src<uint64_t>(slot)[l] : c.src<uint32_t>(slot)[l];
}

/// Of 64-bit atomics in shared memory, ptxas makes a loop. Each lane loads the
/// place, and is done if a minimum or maximum changes nothing. Else it stores
/// if the place still holds what it loaded. Of each half of the warp, the
/// lowest lane that wants a place gets it. `next` gives a lane's new value,
/// `done` takes what it found.
template <class Next, class Done>
void updateInRounds(const Translation &t, uint32_t mask, bool leavesEarly,
                    Next next, Done done) {
  auto load = [&](unsigned l) {
    uint64_t value;
    std::memcpy(&value, t.host[l], 8);
    return value;
  };
  while (mask) {
    uint64_t loaded[Lanes];
    eachLane(mask, [&](unsigned l) { loaded[l] = load(l); });
    uint32_t left = mask;
    eachLane(leavesEarly ? mask : 0, [&](unsigned l) {
      if (next(l, loaded[l]) != loaded[l])
        return;
      done(l, loaded[l]);
      left &= ~(1u << l);
    });
    for (uint32_t half : {0xffffu, 0xffff0000u})
      for (uint32_t m = left & half; m;) {
        unsigned l = firstLane(m);
        eachLane(m, [&](unsigned other) {
          if (t.host[other] == t.host[l])
            m &= ~(1u << other);
        });
        if (load(l) != loaded[l])
          continue;
        uint64_t now = next(l, loaded[l]);
        std::memcpy(t.host[l], &now, 8);
        done(l, loaded[l]);
        left &= ~(1u << l);
      }
    mask = left;
  }
}

/// Of a 16-bit compare-and-swap, ptxas makes one of the word around it, which
/// a lane repeats when the other half of the word has changed. `update` swaps,
/// and says whether the place changed.
template <class Update>
void swapHalves(const Translation &t, uint32_t mask, Update update) {
  auto otherHalf = [](const std::byte *host) {
    return reinterpret_cast<uintptr_t>(host) ^ 2;
  };
  uint32_t stale = 0; // lanes whose other half has changed since they looked
  while (mask)
    eachLane(mask, [&](unsigned l) {
      uint32_t bit = 1u << l;
      if (stale & bit) {
        stale &= ~bit;
        return;
      }
      mask &= ~bit;
      if (!update(l))
        return;
      eachLane(mask, [&](unsigned other) {
        if (otherHalf(t.host[other]) == reinterpret_cast<uintptr_t>(t.host[l]))
          stale |= 1u << other;
      });
    });
}

/// ext: results (or NoSlot), then operands, then for cas the new values; mod[0]
/// operation, mod[1] elements.
Step execAtomic(Ctx &c, const Inst &inst, uint32_t mask) {
  Translation t;
  gatherAddresses(c, inst, inst.op[1], inst.imm, t.address);
  unsigned count = inst.mod[1], bytes = bytesOf(inst.type);
  const uint32_t *slots = &c.code->ext[inst.ext];
  auto op = Op(inst.mod[0]);
  uint8_t kept[Lanes];
  if (bytes * count == 4 && op <= ACas) {
    const auto *operand = c.src<uint32_t>(slots[count]);
    const auto *swapped = op == ACas ? c.src<uint32_t>(slots[2]) : nullptr;
    for (unsigned l = 0; l < Lanes; ++l)
      kept[l] = keptBytes(operand[l], swapped ? swapped[l] : neutralWord(op));
    t.kept = kept;
  }
  auto lock = c.launch->group->lockAtomics();
  if (!translate(c, inst, mask, inst.space, bytes * count, Access::Atomic, t))
    return Step::Error;
  c.worker->counters.atomics += unsigned(std::popcount(mask));
  auto isShared = [&](unsigned l) {
    return inst.space == Space::Shared || inst.space == Space::SharedCluster ||
           (t.address[l] >> WindowShift) != 0;
  };
  auto next = [&](unsigned l, unsigned v, uint64_t old) {
    bool ftz = inst.type == Type::F32 && !isShared(l);
    uint64_t b = operandLane(c, slots[count + v], bytes, l),
             k = op == ACas ? operandLane(c, slots[2 * count + v], bytes, l)
                            : 0;
    return apply(op, inst.type, old, b, k, ftz);
  };
  auto done = [&](unsigned l, unsigned v, uint64_t old) {
    if (slots[v] == NoSlot)
      return;
    if (bytes == 8)
      c.dst<uint64_t>(slots[v])[l] = old;
    else
      c.dst<uint32_t>(slots[v])[l] = uint32_t(old);
  };
  auto update = [&](unsigned l) {
    constexpr unsigned MostElements = 8;
    uint64_t old[MostElements] = {};
    bool changed = false;
    for (unsigned v = 0; v < count; ++v) {
      std::memcpy(&old[v], t.host[l] + v * bytes, bytes);
      uint64_t now = next(l, v, old[v]);
      std::memcpy(t.host[l] + v * bytes, &now, bytes);
      changed |= now != old[v];
    }
    // A result may be in the register of another element's operand.
    for (unsigned v = 0; v < count; ++v)
      done(l, v, old[v]);
    return changed;
  };
  if (op == ACas && bytes == 2)
    swapHalves(t, mask, update);
  else if (bytes == 8 && op != ACas && op != AExch && isShared(firstLane(mask)))
    updateInRounds(
        t, mask, op == AMin || op == AMax,
        [&](unsigned l, uint64_t old) { return next(l, 0, old); },
        [&](unsigned l, uint64_t old) { done(l, 0, old); });
  else
    eachLane(mask, update);
  return Step::Next;
}

/// 128-bit exchange and compare-and-swap.
Step execAtomic128(Ctx &c, const Inst &inst, uint32_t mask) {
  Translation t;
  gatherAddresses(c, inst, inst.op[1], inst.imm, t.address);
  auto lock = c.launch->group->lockAtomics();
  if (!translate(c, inst, mask, inst.space, 16, Access::Atomic, t))
    return Step::Error;
  c.worker->counters.atomics += unsigned(std::popcount(mask));
  const uint32_t *slots = &c.code->ext[inst.ext];
  eachLane(mask, [&](unsigned l) {
    uint64_t old[2], b[2] = {c.src<uint64_t>(slots[1])[l],
                             c.src<uint64_t>(slots[1])[Lanes + l]};
    std::memcpy(old, t.host[l], 16);
    if (Op(inst.mod[0]) == AExch) {
      std::memcpy(t.host[l], b, 16);
    } else if (old[0] == b[0] && old[1] == b[1]) {
      uint64_t k[2] = {c.src<uint64_t>(slots[2])[l],
                       c.src<uint64_t>(slots[2])[Lanes + l]};
      std::memcpy(t.host[l], k, 16);
    }
    c.dst<uint64_t>(slots[0])[l] = old[0];
    c.dst<uint64_t>(slots[0])[Lanes + l] = old[1];
  });
  return Step::Next;
}

bool isAllowed(Op op, Type type) {
  switch (op) {
  case AAnd:
  case AOr:
  case AXor:
    return type == Type::B32 || type == Type::B64;
  case ACas:
    return type == Type::B16 || type == Type::B32 || type == Type::B64 ||
           type == Type::B128 || type == Type::U32 || type == Type::U64 ||
           type == Type::S32;
  case AExch:
    return type == Type::B32 || type == Type::B64 || type == Type::B128 ||
           type == Type::U32 || type == Type::U64 || type == Type::S32 ||
           type == Type::F32;
  case AInc:
  case ADec:
    return type == Type::U32;
  case AAdd:
    return isFloat(type) || (isInteger(type) && bitsOf(type) >= 32);
  default:
    return isHalfType(type) || (isInteger(type) && bitsOf(type) >= 32);
  }
}

bool decode(FunctionDecoder &d, bool isRed) {
  static constexpr Space spaces[] = {Space::Global, Space::Shared,
                                     Space::Shared, Space::SharedCluster};
  int spaceIndex =
      d.hasOneOf({"global", "shared", "shared::cta", "shared::cluster"});
  Space space = spaceIndex < 0 ? Space::Generic : spaces[spaceIndex];
  static constexpr uint8_t orders[] = {0, 0, Inst::Acquire, Inst::Release,
                                       Inst::Acquire | Inst::Release};
  d.inst.order =
      Inst::Strong |
      orders[d.hasOneOf({"relaxed", "acquire", "release", "acq_rel"}) + 1];
  int scope = d.hasOneOf({"cta", "cluster", "gpu", "sys"});
  d.inst.scope = scope < 0 ? uint8_t(Inst::Gpu) : uint8_t(scope);
  bool hint = d.has("L2::cache_hint");
  d.has("noftz");
  int index = d.hasOneOf(
      {"and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max"});
  int vector = d.hasOneOf({"v2", "v4", "v8"});
  Type type = d.takeType();
  if (index < 0)
    return d.error("needs an operation");
  Op op = Op(index);
  if (!isAllowed(op, type))
    return d.badType(type);
  if (isRed && (op == ACas || op == AExch))
    return d.error("red has no .cas and no .exch");
  if (hint && op == ACas)
    return d.error("atom.cas has no .L2::cache_hint");
  unsigned count = vector < 0 ? 1 : 2u << vector;
  if (count * bytesOf(type) > 16 ||
      (count > 1 && type != Type::F32 && !isHalfType(type)))
    return d.badType(type);
  size_t at = isRed ? 0 : 1, operands = (isRed ? 2 : 3) + (op == ACas) + hint;
  if (!d.expectOperands(operands, operands) ||
      !d.address(d.operand(at), 1, space))
    return false;
  d.inst.space = space;
  d.inst.type = type;
  d.inst.mod[0] = uint8_t(op);
  d.inst.isSwap = op == ACas;
  d.inst.mod[1] = uint8_t(count);
  std::vector<uint32_t> slots(count, NoSlot);
  auto elements = [&](const ast::Operand &operand,
                      std::vector<const ast::Operand *> &out) {
    out = d.elements(operand);
    return out.size() == count ||
           d.errorAt(operand,
                     "expected " + std::to_string(count) + " elements");
  };
  std::vector<const ast::Operand *> list;
  for (size_t source = 0; source < (op == ACas ? 2u : 1u); ++source) {
    if (!elements(d.operand(at + 1 + source), list))
      return false;
    for (const ast::Operand *e : list)
      if (!d.src(*e, type, slots.emplace_back()))
        return false;
  }
  if (!isRed && !d.isSink(d.operand(0))) {
    if (!elements(d.operand(0), list))
      return false;
    for (unsigned v = 0; v < count; ++v)
      if (!d.dst(*list[v], type, slots[v]))
        return false;
  } else if (!isRed && type == Type::B128) {
    slots[0] = d.temp(SlotClass::Quad);
  }
  d.setExt(slots);
  if (space != Space::Shared && space != Space::SharedCluster) {
    // Of one such operation, only results can tell who came first; whether
    // somebody reads them is known when all is decoded.
    Program &program = *d.builder.program;
    bool commutes =
        !isFloat(type) && op != ACas && op != AExch && op != AInc && op != ADec;
    d.inst.commutes = commutes && !isRed;
    if (!commutes ||
        (program.commutingAtomic >= 0 && program.commutingAtomic != int(op)))
      program.usesGlobalAtomics = true;
    else
      program.commutingAtomic = int(op);
  }
  return d.emit(type == Type::B128 ? execAtomic128 : execAtomic, Class::Atomic);
}
bool decodeAtom(FunctionDecoder &d) { return decode(d, false); }
bool decodeRed(FunctionDecoder &d) {
  return d.has("async") ? decodeRedAsync(d) : decode(d, true);
}
} // namespace

void tile::sim::registerAtomic(DecodeTable &t) {
  t.insert({{"atom", decodeAtom}, {"red", decodeRed}});
}
