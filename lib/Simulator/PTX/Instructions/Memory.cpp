//===-- Memory.cpp - ld, st, ldu, prefetch and friends --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../Memory.h"
#include "Families.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;
using OK = ast::Operand::Kind;

namespace {
struct Quad {
  uint64_t low, high;
};

/// T is the element in memory, S a lane of the register. mod[0]: elements;
/// mod[1]: register bits that a narrow element is extended to.
template <class T, class S>
Step execLoad(Ctx &c, const Inst &inst, uint32_t mask) {
  Translation t;
  gatherAddresses(c, inst, inst.op[1], inst.imm, t.address);
  unsigned count = inst.mod[0];
  if (!translate(c, inst, mask, inst.space, unsigned(sizeof(T)) * count,
                 Access::Load, t))
    return Step::Error;
  uint64_t keep =
      inst.mod[1] >= 64 ? ~uint64_t(0) : (uint64_t(1) << inst.mod[1]) - 1;
  const uint32_t *slots = &c.code->ext[inst.ext];
  for (unsigned v = 0; v < count; ++v) {
    if (slots[v] == NoSlot)
      continue;
    S *out = c.dst<S>(slots[v]);
    eachLane(mask, [&](unsigned l) {
      T value;
      std::memcpy(&value, t.host[l] + v * sizeof(T), sizeof(T));
      if constexpr (std::is_same_v<T, Quad>) {
        out[l] = value.low;
        out[Lanes + l] = value.high;
      } else {
        out[l] = S(S(value) & keep);
      }
    });
  }
  return Step::Next;
}

template <class T, class S>
Step execStore(Ctx &c, const Inst &inst, uint32_t mask) {
  Translation t;
  gatherAddresses(c, inst, inst.op[1], inst.imm, t.address);
  unsigned count = inst.mod[0];
  const uint32_t *slots = &c.code->ext[inst.ext];
  std::byte data[Lanes * 32];
  if (c.checker) {
    for (unsigned v = 0; v < count; ++v)
      for (unsigned l = 0; l < Lanes; ++l)
        std::memcpy(data + l * 32 + v * sizeof(T), c.src<S>(slots[v]) + l,
                    std::min(sizeof(T), sizeof(S)));
    c.storeData = data;
  }
  bool good = translate(c, inst, mask, inst.space, unsigned(sizeof(T)) * count,
                        Access::Store, t);
  c.storeData = nullptr;
  if (!good)
    return Step::Error;
  ++c.cluster->stores;
  for (unsigned v = 0; v < count; ++v) {
    const S *in = c.src<S>(slots[v]);
    eachLane(mask, [&](unsigned l) {
      if constexpr (std::is_same_v<T, Quad>) {
        Quad value{in[l], in[Lanes + l]};
        std::memcpy(t.host[l] + v * sizeof(T), &value, sizeof(T));
      } else {
        T value = T(in[l]);
        std::memcpy(t.host[l] + v * sizeof(T), &value, sizeof(T));
      }
    });
  }
  return Step::Next;
}

ExecFn pickLoad(Type type, bool wide) {
  switch (type) {
  case Type::B8:
  case Type::U8:
    return wide ? execLoad<uint8_t, uint64_t> : execLoad<uint8_t, uint32_t>;
  case Type::S8:
    return wide ? execLoad<int8_t, uint64_t> : execLoad<int8_t, uint32_t>;
  case Type::B16:
  case Type::U16:
  case Type::F16:
  case Type::BF16:
    return wide ? execLoad<uint16_t, uint64_t> : execLoad<uint16_t, uint32_t>;
  case Type::S16:
    return wide ? execLoad<int16_t, uint64_t> : execLoad<int16_t, uint32_t>;
  case Type::B32:
  case Type::U32:
  case Type::F32:
  case Type::F16x2:
  case Type::BF16x2:
    return wide ? execLoad<uint32_t, uint64_t> : execLoad<uint32_t, uint32_t>;
  case Type::S32:
    return wide ? execLoad<int32_t, uint64_t> : execLoad<int32_t, uint32_t>;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return execLoad<uint64_t, uint64_t>;
  case Type::B128:
    return execLoad<Quad, uint64_t>;
  default:
    return nullptr;
  }
}
ExecFn pickStore(Type type, bool wide) {
  switch (bitsOf(type)) {
  case 8:
    return wide ? execStore<uint8_t, uint64_t> : execStore<uint8_t, uint32_t>;
  case 16:
    return wide ? execStore<uint16_t, uint64_t> : execStore<uint16_t, uint32_t>;
  case 32:
    return wide ? execStore<uint32_t, uint64_t> : execStore<uint32_t, uint32_t>;
  case 64:
    return execStore<uint64_t, uint64_t>;
  case 128:
    return execStore<Quad, uint64_t>;
  default:
    return nullptr;
  }
}

/// Everything about caches, ordering and scope: no effect on what a sequential
/// machine computes.
struct CacheHints {
  bool hint = false, ordered = false;
  uint8_t order = 0, scope = Inst::System;
};
CacheHints takeHints(FunctionDecoder &d) {
  CacheHints out;
  std::string_view rest;
  while (d.hasPrefix("L1::", rest))
    ;
  while (d.hasPrefix("L2::", rest))
    out.hint |= rest == "cache_hint";
  if (d.hasPrefix("level::", rest))
    ;
  d.hasOneOf({"ca", "cg", "cs", "cv", "lu", "wb", "wt"});
  out.hint |= d.has("level::cache_hint");
  d.has("nc");
  static constexpr uint8_t orders[] = {Inst::Strong, Inst::Strong,
                                       Inst::Strong | Inst::Acquire,
                                       Inst::Strong | Inst::Release};
  // `.mmio` stands in front of `.relaxed`.
  if (d.has("mmio"))
    out.order = Inst::Strong;
  if (int order = d.hasOneOf({"volatile", "relaxed", "acquire", "release"});
      order >= 0)
    out.order = orders[order];
  out.ordered = out.order;
  d.has("weak");
  if (int scope = d.hasOneOf({"cta", "cluster", "gpu", "sys"}); scope >= 0)
    out.scope = uint8_t(scope);
  d.has("unified");
  return out;
}

Space takeSpace(FunctionDecoder &d) {
  static constexpr Space list[] = {
      Space::Global,        Space::Shared, Space::Shared,
      Space::SharedCluster, Space::Local,  Space::Const,
      Space::Param,         Space::Param,  Space::Local};
  int index =
      d.hasOneOf({"global", "shared", "shared::cta", "shared::cluster", "local",
                  "const", "param", "param::entry", "param::func"});
  return index < 0 ? Space::Generic : list[index];
}

int takeVector(FunctionDecoder &d) {
  int index = d.hasOneOf({"v2", "v4", "v8"});
  return index < 0 ? 1 : 2 << index;
}
/// Eight elements have 32 bits each; ptxas takes smaller ones and goes wrong.
bool isVector(FunctionDecoder &d, unsigned count, Type type, Space space) {
  if (uint64_t(bytesOf(type)) * count > 32)
    return d.error("the access is wider than 32 bytes");
  if (count > 1 && type == Type::B128)
    return d.error("there are no vectors of .b128");
  if (bytesOf(type) * count > 16 && space != Space::Global &&
      space != Space::Generic)
    return d.error("only global memory has accesses of 32 bytes");
  return count < 8 || bytesOf(type) == 4 ||
         d.error(".v8 needs elements of 32 bits");
}

bool takeElements(FunctionDecoder &d, const ast::Operand &operand,
                  unsigned count, std::vector<const ast::Operand *> &out) {
  if (count == 1) {
    out = d.elements(operand);
    return out.size() == 1 || d.errorAt(operand, "expected one register");
  }
  if (operand.kind != OK::Vector) {
    // A vector register: its components in order.
    return d.errorAt(operand, "expected a vector of " + std::to_string(count) +
                                  " registers");
  }
  out = d.elements(operand);
  return out.size() == count ||
         d.errorAt(operand, "expected " + std::to_string(count) + " registers");
}

/// What loads and stores have in common.
struct MemoryAccess {
  Space space = Space::Generic;
  CacheHints hints;
  unsigned count = 1;
  Type type = Type::None;
  std::vector<const ast::Operand *> elements;
};

/// Takes the modifiers and the operands `address` and `data`.
bool takeAccess(FunctionDecoder &d, unsigned address, unsigned data,
                MemoryAccess &access) {
  access.space = takeSpace(d);
  access.hints = takeHints(d);
  access.count = unsigned(takeVector(d));
  access.type = d.takeType();
  if (!d.needType(access.type) ||
      !d.expectOperands(access.hints.hint ? 3 : 2, 3))
    return false;
  if (!isVector(d, access.count, access.type, access.space) ||
      !d.address(d.operand(address), 1, access.space))
    return false;
  // A parameter's address in a register of a device function points into local
  // memory.
  d.inst.space = access.space == Space::Param && !d.function.isEntry
                     ? Space::Local
                     : access.space;
  return takeElements(d, d.operand(data), access.count, access.elements);
}

bool emitAccess(FunctionDecoder &d, const MemoryAccess &access,
                const std::vector<uint32_t> &slots, ExecFn fn, Class group) {
  if (!fn)
    return d.badType(access.type);
  d.inst.mod[0] = uint8_t(access.count);
  d.inst.order = access.hints.order;
  d.inst.scope = access.hints.scope;
  d.inst.type = access.type;
  d.setExt(slots);
  if (access.hints.ordered && access.space != Space::Shared)
    d.builder.program->usesGlobalAtomics = true;
  return d.emit(fn, group);
}

bool decodeLoad(FunctionDecoder &d) {
  MemoryAccess access;
  if (!takeAccess(d, /*address=*/1, /*data=*/0, access))
    return false;
  Type type = access.type;
  std::vector<uint32_t> slots;
  bool wide = bitsOf(type) >= 64;
  unsigned registerBits = bitsOf(type);
  for (const ast::Operand *e : access.elements) {
    uint32_t slot = NoSlot;
    if (!d.isSink(*e)) {
      Type have = d.registerType(*e);
      if (have != Type::None && !d.checkRegister(*e, have, type))
        return false;
      registerBits = std::max(registerBits, bitsOf(have));
      wide |= bitsOf(have) == 64;
      if (bitsOf(type) < bitsOf(have) && bitsOf(type) != 128) {
        // Narrow elements are extended to the whole register.
        if (!d.dst(*e, have, slot))
          return false;
      } else if (!d.dst(*e, type, slot)) {
        return false;
      }
    }
    slots.push_back(slot);
  }
  d.inst.mod[1] = uint8_t(std::min(registerBits, 64u));
  return emitAccess(d, access, slots, pickLoad(type, wide), Class::Load);
}

/// st.async.release tells nobody when it is done, so it is done at once: a
/// later acquire that sees it is all there is to wait for.
bool isReleasingStore(const FunctionDecoder &d) {
  return std::ranges::find(d.in->modifiers, "release") != d.in->modifiers.end();
}

bool decodeStore(FunctionDecoder &d) {
  bool isAsync = d.has("async"), isReleasing = isAsync && isReleasingStore(d);
  if ((isAsync && !isReleasing) || d.has("bulk"))
    return decodeStoreAsync(d);
  MemoryAccess access;
  if (!takeAccess(d, /*address=*/0, /*data=*/1, access))
    return false;
  if (isReleasing && (access.count > 1 || bitsOf(access.type) > 64 ||
                      access.hints.scope < Inst::Gpu))
    return d.error("stores one value of up to 64 bits, released to .gpu or "
                   ".sys");
  if (isReleasing && access.space != Space::Global &&
      access.space != Space::Generic)
    return d.error("stores to global memory");
  if (access.space == Space::Const)
    return d.error("constant memory cannot be written");
  std::vector<uint32_t> slots;
  for (const ast::Operand *e : access.elements) {
    uint32_t slot = NoSlot;
    if (!d.src(*e, access.type, slot))
      return false;
    slots.push_back(slot);
  }
  return emitAccess(d, access, slots,
                    pickStore(access.type, bitsOf(access.type) >= 64),
                    Class::Store);
}

//===-- Hints -------------------------------------------------------------===//

Step execNothing(Ctx &, const Inst &, uint32_t) { return Step::Next; }

/// Prefetches and cache policies have no result.
bool decodePrefetch(FunctionDecoder &d) {
  takeSpace(d);
  std::string_view rest;
  d.has("tensormap");
  d.hasOneOf({"L1", "L2"});
  while (d.hasPrefix("L2::", rest))
    ;
  return d.emit(execNothing, Class::Load);
}
bool decodePrefetchu(FunctionDecoder &d) {
  d.has("L1");
  return d.emit(execNothing, Class::Load);
}
Step execPolicy(Ctx &c, const Inst &inst, uint32_t mask) {
  commit(c.dst<uint64_t>(inst.op[0]), c.src<uint64_t>(inst.op[1]), mask);
  return Step::Next;
}
/// A cache policy is an opaque number.
bool decodeCreatepolicy(FunctionDecoder &d) {
  if (!d.expectOperands(1, 4))
    return false;
  std::string_view rest;
  d.hasOneOf({"fractional", "range", "cvt"});
  while (d.hasPrefix("L2", rest))
    ;
  d.has("global");
  Type type = d.takeType();
  if (type != Type::B64)
    return d.badType(type);
  d.inst.op[1] = d.constant(SlotClass::Double, 0x12f0000000000000);
  return d.dst(0, Type::B64, 0) && d.emit(execPolicy, Class::Move);
}
bool decodeDiscard(FunctionDecoder &d) {
  takeSpace(d);
  std::string_view rest;
  d.hasPrefix("L2", rest);
  return d.emit(execNothing, Class::Other);
}
} // namespace

void tile::sim::registerMemory(DecodeTable &t) {
  t.insert({{"ld", decodeLoad},
            {"ldu", decodeLoad},
            {"st", decodeStore},
            {"prefetch", decodePrefetch},
            {"prefetchu", decodePrefetchu},
            {"createpolicy", decodeCreatepolicy},
            {"discard", decodeDiscard},
            {"applypriority", decodeDiscard}});
}
