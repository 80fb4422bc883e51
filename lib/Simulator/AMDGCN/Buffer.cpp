//===-- Buffer.cpp - buffer_*: memory with bounds that hardware knows -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A descriptor of four scalar registers: base (48 bits), stride (14 bits),
// number of records, flags. Without a stride records are bytes, and each word
// beyond them reads 0 and is not written.
//
// Before gfx940, scratch memory has a descriptor, which adds the lane's number
// (ADD_TID_ENABLE). Each lane's words are its own then.
//
//===----------------------------------------------------------------------===//
#include "SharedLoads.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
/// op: data, lane's offset (or NoSlot), descriptor, scalar offset;
/// mod[0]: data or operation; mod[1]: bit 0 offen, bit 1 idxen.
struct Buffer {
  uint64_t base;
  uint32_t stride, records, scalarOffset, constant;
  uint64_t exec;
  Space space = Space::Global;
  /// Of the lanes; null if the instruction names none.
  const uint32_t *indices = nullptr, *offsets = nullptr;

  Buffer(const Ctx &c, const Inst &inst)
      : constant(uint32_t(inst.imm)), exec(execOf(c)) {
    uint64_t low = scalarOf<uint64_t>(c, inst.op[2]);
    base = low & 0xffffffffffff;
    stride = uint32_t(low >> 48) & 0x3fff;
    records = scalarOf<uint32_t>(c, inst.op[2] + 8);
    scalarOffset = scalarOf<uint32_t>(c, inst.op[3]);
    if (programOf(c).entry.buffer &&
        scalarOf<uint32_t>(c, inst.op[2] + 12) & kAddsLane)
      space = Space::Local;
    bool hasOffset = inst.mod[1] & 1, hasIndex = inst.mod[1] & 2;
    if (hasIndex)
      indices = c.src<uint32_t>(inst.op[1]);
    if (hasOffset)
      offsets = c.src<uint32_t>(inst.op[1]) + hasIndex * programOf(c).waveLanes;
  }
  struct BufferOffset {
    uint64_t offset; ///< from the base
    bool inside;     ///< all of its bytes
  };
  BufferOffset place(unsigned lane, unsigned bytes) const {
    uint32_t index = indices ? indices[lane] : 0;
    // The sum of the instruction's offset and the lane's has 32 bits: LLVM
    // takes constants out of negative numbers.
    uint32_t offset = constant + (offsets ? offsets[lane] : 0);
    uint64_t end = uint64_t(offset) + bytes;
    if (space == Space::Local)
      return {uint64_t(offset) + scalarOffset, true};
    if (stride)
      return {uint64_t(index) * stride + offset + scalarOffset,
              index < records && end <= stride};
    return {uint64_t(offset) + scalarOffset, end + scalarOffset <= records};
  }
  /// Lanes of EXEC whose bytes are inside.
  uint64_t inside(unsigned from, unsigned bytes) const {
    uint64_t lanes = 0;
    for (uint64_t m = exec; m; m &= m - 1) {
      auto l = unsigned(std::countr_zero(m));
      BufferOffset p = place(l, bytes + from);
      lanes |= uint64_t(p.inside) << l;
    }
    return lanes;
  }
  /// Of 48 bits.
  uint64_t address(unsigned lane) const {
    uint64_t from = space == Space::Local ? 0 : base;
    return (from + place(lane, 0).offset) & 0xffffffffffff;
  }
};

/// All words at once if all are inside, or else word by word.
template <class F> Step eachPart(const Buffer &b, Data data, F part) {
  unsigned bytes = tile::sim::amdgcn::bytesOf(data);
  uint64_t whole = b.inside(0, bytes);
  if (whole && part(whole, data, 0u) == Step::Error)
    return Step::Error;
  for (unsigned at = 0; bytes > 4 && whole != b.exec && at < bytes; at += 4) {
    uint64_t some = b.inside(at, 4) & ~whole;
    if (some && part(some, Data::B32, at) == Step::Error)
      return Step::Error;
  }
  return Step::Next;
}

Step execLoad(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Load, false);
  auto data = Data(inst.mod[0]);
  Buffer b(c, inst);
  unsigned lanes = programOf(c).waveLanes;
  uint64_t address[64];
  for (unsigned l = 0; l < lanes; ++l)
    address[l] = b.address(l);
  // The offsets may be in registers that the load overwrites.
  struct Part {
    uint64_t mask;
    Data data;
    unsigned at;
  };
  std::vector<Part> parts;
  uint64_t whole = 0;
  eachPart(b, data, [&](uint64_t mask, Data d, unsigned at) {
    whole = d == data ? mask : whole;
    parts.push_back({mask, d, at});
    return Step::Next;
  });
  auto *to = c.dst<uint32_t>(inst.op[0]);
  // What is not inside reads 0.
  uint32_t outside = b.exec & ~whole ? undefinedWord(c, inst) : 0;
  for (uint64_t m = b.exec & ~whole; m; m &= m - 1) {
    auto l = unsigned(std::countr_zero(m));
    for (unsigned w = 0; w < wordsOfData(data); ++w)
      to[w * lanes + l] =
          tile::sim::amdgcn::bytesOf(data) < 4
              ? extendLoaded(data, truncateTo(data, outside), to[w * lanes + l])
              : outside;
  }
  for (const Part &p : parts)
    if (loadLanes(c, inst, p.mask, b.space, p.data, inst.op[0] + p.at * lanes,
                  [&](unsigned l) { return address[l] + p.at; }) == Step::Error)
      return Step::Error;
  return Step::Next;
}

Step execStore(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Store, false);
  Buffer b(c, inst);
  unsigned lanes = programOf(c).waveLanes;
  return eachPart(
      b, Data(inst.mod[0]), [&](uint64_t mask, Data d, unsigned at) {
        return storeLanes(c, inst, mask, b.space, d, inst.op[0] + at * lanes,
                          [&](unsigned l) { return b.address(l) + at; });
      });
}

/// mod[2]: bit 0 of 64 bits, bit 1 with a result.
Step execAtomic(Ctx &c, const Inst &inst, uint32_t) {
  bool wide = inst.mod[2] & 1, returns = inst.mod[2] & 2;
  issueMemory(c, inst, returns ? Counter::Load : Counter::Store, false);
  Buffer b(c, inst);
  bool compares = Atomic(inst.mod[0]) == Atomic::CmpSwap;
  unsigned words = wide ? 2 : 1;
  return atomicLanes(
      c, inst, b.inside(0, words * 4), b.space, Atomic(inst.mod[0]), wide,
      inst.op[0],
      compares ? inst.op[0] + words * programOf(c).waveLanes * 4 : NoSlot,
      returns ? inst.op[0] : NoSlot, [&](unsigned l) { return b.address(l); });
}

Step execLoadToShared(Ctx &c, const Inst &inst, uint32_t) {
  Buffer b(c, inst);
  unsigned bytes = tile::sim::amdgcn::bytesOf(Data(inst.mod[0]));
  return loadToShared(c, inst, execOf(c), b.inside(0, bytes), bytes,
                      [&](unsigned l) { return b.address(l); });
}

/// `first`: the operand of the lane's offset.
bool takeAddress(InstDecoder &d, size_t first = 1) {
  int64_t offset = 0;
  d.value("offset", offset);
  d.inst.imm = offset;
  d.inst.isUnaligned = true;
  d.inst.space = Space::Global;
  if (d.has("addr64") || d.has("tfe"))
    return d.error("addr64 and tfe are not supported");
  bool offen = d.has("offen"), idxen = d.has("idxen");
  d.inst.mod[1] = uint8_t(offen | idxen << 1);
  if (takeScope(d)) {
    d.inst.order |= Inst::Strong;
    d.program.usesGlobalAtomics = true;
  }
  if (!d.expect(first + 3, first + 3))
    return false;
  bool off = d.operand(first).text == "off";
  if (off == (offen || idxen))
    return d.error("offen and idxen go with a vector register");
  return (off || d.vectorSource(first, unsigned(offen) + idxen, 1, Address)) &&
         d.scalar(first + 1, 4, Imm::B64, 2, Address) &&
         d.scalar(first + 2, 1, Imm::B32, 3, Address);
}

template <Data D> bool decodeLoad(InstDecoder &d) {
  d.inst.mod[0] = uint8_t(D);
  d.inst.mod[3] |= AnyValue;
  if (d.has("lds"))
    return canLoadToShared(d, D) && takeAddress(d, 0) &&
           d.emit(execLoadToShared, Class::Load);
  return takeAddress(d) && d.vectorResult(0, wordsOfData(D), 0) &&
         d.emit(execLoad, Class::Load);
}
template <Data D> bool decodeStore(InstDecoder &d) {
  d.inst.mod[0] = uint8_t(D);
  return takeAddress(d) && d.vectorSource(0, wordsOfData(D), 0, Needed) &&
         d.emit(execStore, Class::Store);
}
bool decodeAtomic(InstDecoder &d) {
  std::string_view name = d.in->opcode;
  name.remove_prefix(std::string_view("buffer_atomic_").size());
  const AtomicName *found = nullptr;
  for (const AtomicName &a : memoryAtomics())
    if (name == a.name || (a.other && name == a.other))
      found = &a;
  bool returns = saysResult(d);
  if (!found || !takeAddress(d))
    return false;
  d.inst.order = Inst::Strong;
  d.inst.isUnaligned = false;
  d.inst.isSwap = found->op == Atomic::CmpSwap;
  d.inst.mod[0] = uint8_t(found->op);
  d.inst.mod[2] = uint8_t(found->wide | returns << 1);
  d.inst.mod[3] |= AnyValue;
  if (tellsOrder(found->op, returns))
    d.program.usesGlobalAtomics = true;
  unsigned words = (found->wide ? 2 : 1) * (d.inst.isSwap ? 2 : 1);
  if (!d.vectorSource(0, words, 0, Needed))
    return false;
  // The result overwrites the value.
  return (!returns || d.vectorResult(0, words, 0)) &&
         d.emit(execAtomic, Class::Atomic);
}

} // namespace

void tile::sim::amdgcn::registerBuffer(OpcodeTable &t) {
  eachData([&]<Data D>(Names loads, Names stores) {
    for (std::string suffix : loads)
      t.emplace(keepName("buffer_load_" + suffix), decodeLoad<D>);
    for (std::string suffix : stores)
      t.emplace(keepName("buffer_store_" + suffix), decodeStore<D>);
  });
  for (const AtomicName &a : memoryAtomics())
    for (const char *suffix : {a.name, a.other})
      if (suffix)
        t.emplace(keepName(std::string("buffer_atomic_") + suffix),
                  decodeAtomic);
}
