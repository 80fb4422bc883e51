//===-- Global.cpp - global_*, flat_*, scratch_* --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SharedLoads.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;
using OK = Operand::Kind;

namespace {
/// One word, whose sign gfx1250 extends.
constexpr uint8_t signedWord = 3;

/// op[1]: address of the lane, or NoSlot; op[2]: scalar part, or NoSlot;
/// mod[1]: words of the lane's part, or signedWord.
/// target: what the lane's part is multiplied by (scale_offset).
uint64_t addressOf(const Ctx &c, const Inst &inst, unsigned lane) {
  uint64_t address = uint64_t(inst.imm);
  if (inst.op[2] != NoSlot)
    address += inst.space == Space::Local ? scalarOf<uint32_t>(c, inst.op[2])
                                          : scalarOf<uint64_t>(c, inst.op[2]);
  if (inst.op[1] == NoSlot)
    return address;
  const auto *words = c.src<uint32_t>(inst.op[1]);
  if (inst.mod[1] == signedWord)
    return address + uint64_t(int64_t(int32_t(words[lane])) * inst.target);
  address += words[lane];
  if (inst.mod[1] == 2)
    address += uint64_t(words[programOf(c).waveLanes + lane]) << 32;
  return address;
}

/// Flat operations may be of LDS, and finish in any order.
void issue(Ctx &c, const Inst &inst, Counter counter) {
  bool flat = inst.space == Space::Generic;
  issueMemory(c, inst, counter, flat);
  if (flat)
    issueMemory(c, inst, Counter::Ds, true);
}

Step execLoad(Ctx &c, const Inst &inst, uint32_t) {
  issue(c, inst, Counter::Load);
  return loadLanes(c, inst, execOf(c), inst.space, Data(inst.mod[0]),
                   inst.op[0],
                   [&](unsigned l) { return addressOf(c, inst, l); });
}
Step execStore(Ctx &c, const Inst &inst, uint32_t) {
  issue(c, inst, Counter::Store);
  return storeLanes(c, inst, execOf(c), inst.space, Data(inst.mod[0]),
                    inst.op[3],
                    [&](unsigned l) { return addressOf(c, inst, l); });
}
/// mod[0]: operation, mod[2]: of 64 bits; op[4]: what to compare with.
Step execAtomic(Ctx &c, const Inst &inst, uint32_t) {
  issue(c, inst, inst.op[0] == NoSlot ? Counter::Store : Counter::Load);
  return atomicLanes(c, inst, execOf(c), inst.space, Atomic(inst.mod[0]),
                     inst.mod[2], inst.op[3], inst.op[4], inst.op[0],
                     [&](unsigned l) { return addressOf(c, inst, l); });
}

Step execLoadToShared(Ctx &c, const Inst &inst, uint32_t) {
  uint64_t exec = execOf(c);
  return loadToShared(c, inst, exec, exec, bytesOf(Data(inst.mod[0])),
                      [&](unsigned l) { return addressOf(c, inst, l); });
}

/// op[3]: where the lane writes in LDS.
Step execLoadAsync(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Async, false);
  uint64_t exec = execOf(c);
  return copyToShared(
      c, inst, exec, exec, bytesOf(Data(inst.mod[0])),
      [&](unsigned l) { return addressOf(c, inst, l); },
      [&](unsigned l) { return c.src<uint32_t>(inst.op[3])[l]; });
}

/// The zeros of a register are what a load will leave in the lanes that its
/// mask switches off.
Step execUndefined(Ctx &c, const Inst &inst, uint32_t) {
  unsigned lanes = programOf(c).waveLanes;
  uint32_t word = undefinedWord(c, inst);
  auto *to = c.dst<uint32_t>(inst.op[0]);
  for (uint64_t m = word ? execOf(c) : 0; m; m &= m - 1)
    for (int64_t w = 0; w < inst.imm; ++w)
      to[w * lanes + unsigned(std::countr_zero(m))] = word;
  return Step::Next;
}
bool decodeUndefined(InstDecoder &d) {
  if (!d.expect(1, 1))
    return false;
  d.inst.imm = d.operand(0).count;
  d.inst.space = Space::Reg;
  // It is a comment of the compiler's.
  d.inst.micro = true;
  d.inst.mod[3] |= AnyValue;
  return d.vectorResult(0, d.operand(0).count, 0) &&
         d.emit(execUndefined, Class::Other);
}

bool isOff(const Operand &o) { return o.text == "off"; }

/// Takes the address: of a lane at operand `vector`, and, for all but flat, of
/// the wave at operand `scalar`. `bytes` of memory are accessed.
bool takeAddress(InstDecoder &d, size_t vector, size_t scalar, unsigned bytes) {
  Inst &inst = d.inst;
  inst.isUnaligned = true;
  int64_t offset = 0;
  d.value("offset", offset);
  inst.imm = offset;
  // From gfx1250 on, flat accesses may have a scalar part, too.
  bool flat = inst.space == Space::Generic;
  if (!flat || scalar < d.operandCount()) {
    if (scalar >= d.operandCount())
      return d.error("has too few operands");
    if (!isOff(d.operand(scalar)) &&
        !d.scalar(scalar, inst.space == Space::Local ? 1 : 2, Imm::B64, 2,
                  Address))
      return false;
  }
  bool isLocal = inst.space == Space::Local;
  inst.mod[1] = isLocal || inst.op[2] != NoSlot ? 1 : 2;
  if (isLocal && isOff(d.operand(vector)))
    return true;
  if (!d.vectorSource(vector, inst.mod[1], 1, Address))
    return false;
  bool isScaled = d.has("scale_offset");
  if (isScaled && inst.mod[1] == 2)
    return d.error("only an offset of a lane is scaled");
  inst.target = isScaled ? bytes : 1;
  if (d.target().gfx1250 && inst.mod[1] == 1 && !isLocal)
    inst.mod[1] = signedWord;
  return isLocal && isScaled ? d.error("scale_offset is not supported here")
                             : true;
}

/// A flat access of gfx1250 may name scalar registers behind the others.
size_t mostOperands(const InstDecoder &d, Space space, size_t least) {
  return least + (space == Space::Generic && d.target().gfx1250);
}

/// What the flags about caches say of order.
void takeCacheFlags(InstDecoder &d) {
  if (!takeScope(d))
    return;
  d.inst.order |= Inst::Strong;
  if (d.inst.space != Space::Local)
    d.program.usesGlobalAtomics = true;
}

template <Space S, Data D> bool decodeLoad(InstDecoder &d) {
  d.inst.space = S;
  d.inst.mod[0] = uint8_t(D);
  takeCacheFlags(d);
  size_t count = S == Space::Generic ? 2 : 3;
  return d.expect(count, mostOperands(d, S, count)) &&
         takeAddress(d, 1, 2, bytesOf(D)) &&
         d.vectorResult(0, wordsOfData(D), 0) &&
         (d.inst.mod[3] |= AnyValue, d.emit(execLoad, Class::Load));
}
template <Data D> bool decodeLoadToShared(InstDecoder &d) {
  d.inst.space = Space::Global;
  d.inst.mod[0] = uint8_t(D);
  takeCacheFlags(d);
  return canLoadToShared(d, D) && d.expect(2, 2) &&
         takeAddress(d, 0, 1, bytesOf(D)) &&
         d.emit(execLoadToShared, Class::Load);
}
/// gfx1250: each lane says where it writes.
template <Data D> bool decodeLoadAsync(InstDecoder &d) {
  d.inst.space = Space::Global;
  d.inst.mod[0] = uint8_t(D);
  takeCacheFlags(d);
  if (!d.target().gfx1250)
    return d.error("the target has no such instruction");
  if (!d.expect(3, 3) || !takeAddress(d, 1, 2, bytesOf(D)))
    return false;
  // Documents do not say whether it counts in LDS, too.
  if (d.inst.imm)
    return d.error("an offset is not supported");
  return d.vectorSource(0, 1, 3, Needed) && d.emit(execLoadAsync, Class::Load);
}
Step execPrefetch(Ctx &, const Inst &, uint32_t) { return Step::Next; }
/// Concerns speed alone, but the address has to be there.
bool decodePrefetch(InstDecoder &d) {
  d.inst.space = Space::Global;
  takeScope(d);
  return d.expect(2, 2) && takeAddress(d, 0, 1, 1) &&
         d.emit(execPrefetch, Class::Control);
}
template <Space S, Data D> bool decodeStore(InstDecoder &d) {
  d.inst.space = S;
  d.inst.mod[0] = uint8_t(D);
  takeCacheFlags(d);
  size_t count = S == Space::Generic ? 2 : 3;
  return d.expect(count, mostOperands(d, S, count)) &&
         takeAddress(d, 0, 2, bytesOf(D)) &&
         d.vectorSource(1, wordsOfData(D), 3,
                        S == Space::Local ? Plain : Needed) &&
         d.emit(execStore, Class::Store);
}

const AtomicName *findAtomic(std::string_view name) {
  for (const AtomicName &a : memoryAtomics())
    if (name == a.name || (a.other && name == a.other))
      return &a;
  return nullptr;
}

template <Space S> bool decodeAtomic(InstDecoder &d) {
  std::string_view name = d.in->opcode;
  name.remove_prefix(name.find("_atomic_") + 8);
  const AtomicName *a = findAtomic(name);
  if (!a)
    return d.error("unknown atomic operation");
  d.inst.space = S;
  d.inst.mod[0] = uint8_t(a->op);
  d.inst.mod[2] = a->wide;
  size_t plain = S == Space::Generic ? 2 : 3;
  if (!d.expect(plain, mostOperands(d, S, plain) + 1))
    return false;
  bool returns = d.operandCount() > plain &&
                 (!d.target().gfx1250 || S != Space::Generic || saysResult(d));
  if (saysResult(d) != returns)
    return d.error(returns ? "a result needs sc0, glc or th:TH_ATOMIC_RETURN"
                           : "a flag is there for a result");
  takeCacheFlags(d);
  d.inst.order = Inst::Strong;
  d.inst.isSwap = a->op == Atomic::CmpSwap;
  if (tellsOrder(a->op, returns))
    d.program.usesGlobalAtomics = true;
  unsigned words = a->wide ? 2 : 1;
  if (!takeAddress(d, returns, returns + 2, words * 4))
    return false;
  d.inst.isUnaligned = false;
  bool compares = a->op == Atomic::CmpSwap;
  if (!d.vectorSource(returns + 1, compares ? words * 2 : words, 3, Needed))
    return false;
  // The value comes first, then what is compared.
  if (compares)
    d.inst.op[4] = d.inst.op[3] + words * d.program.waveLanes * 4;
  d.inst.mod[3] |= AnyValue;
  return (!returns || d.vectorResult(0, words, 0)) &&
         d.emit(execAtomic, Class::Atomic);
}

template <Space S> void addSpace(OpcodeTable &t, const std::string &space) {
  eachData([&]<Data D>(Names loads, Names stores) {
    for (const char *suffix : loads)
      t.emplace(keepName(space + "_load_" + suffix), decodeLoad<S, D>);
    for (const char *suffix : stores)
      t.emplace(keepName(space + "_store_" + suffix), decodeStore<S, D>);
  });
  if (S == Space::Local)
    return;
  for (const AtomicName &a : memoryAtomics())
    for (const char *suffix : {a.name, a.other})
      if (suffix)
        t.emplace(keepName(space + "_atomic_" + suffix), decodeAtomic<S>);
}
} // namespace

void tile::sim::amdgcn::registerGlobal(OpcodeTable &t) {
  addSpace<Space::Global>(t, "global");
  t.insert({{"global_load_lds_dword", decodeLoadToShared<Data::B32>},
            {"global_load_lds_dwordx3", decodeLoadToShared<Data::B96>},
            {"global_load_lds_dwordx4", decodeLoadToShared<Data::B128>},
            {"global_load_async_to_lds_b8", decodeLoadAsync<Data::U8>},
            {"global_load_async_to_lds_b32", decodeLoadAsync<Data::B32>},
            {"global_load_async_to_lds_b64", decodeLoadAsync<Data::B64>},
            {"global_load_async_to_lds_b128", decodeLoadAsync<Data::B128>},
            {"global_prefetch_b8", decodePrefetch},
            {"undefined_lanes", decodeUndefined}});
  addSpace<Space::Generic>(t, "flat");
  addSpace<Space::Local>(t, "scratch");
}
