//===-- Shared.cpp - ds_*: LDS --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "VectorMemory.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
/// op[1]: the lane's address.
uint64_t addressOf(const Ctx &c, const Inst &inst, unsigned lane,
                   int64_t offset) {
  return uint32_t(c.src<uint32_t>(inst.op[1])[lane] + uint32_t(offset));
}

Step execLoad(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Ds, false);
  return loadLanes(c, inst, execOf(c), Space::Shared, Data(inst.mod[0]),
                   inst.op[0],
                   [&](unsigned l) { return addressOf(c, inst, l, inst.imm); });
}
Step execStore(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Ds, false, /*writesShared=*/true);
  return storeLanes(
      c, inst, execOf(c), Space::Shared, Data(inst.mod[0]), inst.op[3],
      [&](unsigned l) { return addressOf(c, inst, l, inst.imm); });
}

/// Two places of one instruction: imm holds both offsets.
int64_t firstOffset(const Inst &inst) { return inst.imm & 0xffffffff; }
int64_t secondOffset(const Inst &inst) { return inst.imm >> 32; }

Step execLoadTwo(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Ds, false);
  auto data = Data(inst.mod[0]);
  uint32_t words = wordsOfData(data) * programOf(c).waveLanes * 4;
  // The addresses are read before a result may overwrite them.
  uint32_t address[64];
  std::memcpy(address, c.src<uint32_t>(inst.op[1]), programOf(c).waveLanes * 4);
  for (unsigned i = 0; i < 2; ++i) {
    int64_t offset = i ? secondOffset(inst) : firstOffset(inst);
    if (loadLanes(c, inst, execOf(c), Space::Shared, data,
                  inst.op[0] + i * words, [&](unsigned l) {
                    return uint64_t(address[l] + uint32_t(offset));
                  }) == Step::Error)
      return Step::Error;
  }
  return Step::Next;
}
Step execStoreTwo(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Ds, false, /*writesShared=*/true);
  for (unsigned i = 0; i < 2; ++i) {
    int64_t offset = i ? secondOffset(inst) : firstOffset(inst);
    if (storeLanes(c, inst, execOf(c), Space::Shared, Data(inst.mod[0]),
                   inst.op[3 + i], [&](unsigned l) {
                     return addressOf(c, inst, l, offset);
                   }) == Step::Error)
      return Step::Error;
  }
  return Step::Next;
}

/// Loads of matrices that lie across: each 16 lanes load as many rows of 16
/// elements as a lane has room for, in pieces, and a lane gets a column.
/// mod[0]: data, mod[1]: bits of an element, mod[2]: the lowest bit of a lane's
/// number that counts pieces of a row; those beside them count rows.
Step execTransposed(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Ds, false);
  constexpr unsigned Columns = 16;
  unsigned lanes = programOf(c).waveLanes,
           words = wordsOfData(Data(inst.mod[0])), bits = inst.mod[1],
           rows = words * 32 / bits, pieceBit = inst.mod[2];
  uint32_t in[64][4] = {}, out[64][4] = {};
  bool good = accessLanes(
      c, inst, execOf(c), Space::Shared, words * 4, Access::Load,
      [&](unsigned l) { return addressOf(c, inst, l, inst.imm); },
      [&](unsigned l, const std::byte *from) {
        std::memcpy(in[l], from, words * 4);
      });
  orderWave(c);
  if (!good)
    return Step::Error;
  auto bitAt = [](const uint32_t *data, unsigned at) {
    return data[at / 32] >> at % 32 & 1;
  };
  for (unsigned l = 0; l < lanes; ++l)
    for (unsigned row = 0; row < rows; ++row) {
      unsigned column = l % Columns, lower = row & ((1u << pieceBit) - 1),
               piece = column / rows << pieceBit,
               upper = (row - lower) * (Columns / rows);
      const uint32_t *from =
          in[l / Columns * Columns + (upper | piece | lower)];
      for (unsigned b = 0; b < bits; ++b) {
        unsigned to = row * bits + b;
        out[l][to / 32] |= bitAt(from, column % rows * bits + b) << to % 32;
      }
    }
  auto *to = c.dst<uint32_t>(inst.op[0]);
  for (uint64_t m = execOf(c); m; m &= m - 1) {
    auto l = unsigned(std::countr_zero(m));
    for (unsigned w = 0; w < words; ++w)
      to[w * lanes + l] = out[l][w];
  }
  return Step::Next;
}

/// mod[0]: operation, mod[2]: of 64 bits.
Step execAtomic(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Ds, false, /*writesShared=*/true);
  return atomicLanes(
      c, inst, execOf(c), Space::Shared, Atomic(inst.mod[0]), inst.mod[2],
      inst.op[3], inst.op[4], inst.op[0],
      [&](unsigned l) { return addressOf(c, inst, l, inst.imm); });
}

bool takeOffset(InstDecoder &d) {
  int64_t offset = 0;
  d.value("offset", offset);
  if (offset < 0 || offset > 65535)
    return d.error("the offset must be from 0 to 65535");
  if (d.has("gds"))
    return d.error("global data share is not supported");
  d.inst.imm = offset;
  d.inst.isUnaligned = true;
  d.inst.space = Space::Shared;
  return true;
}

template <Data D> bool decodeLoad(InstDecoder &d) {
  d.inst.mod[0] = uint8_t(D);
  d.inst.mod[3] |= AnyValue;
  return takeOffset(d) && d.expect(2, 2) && d.vectorSource(1, 1, 1, Needed) &&
         d.vectorResult(0, wordsOfData(D), 0) && d.emit(execLoad, Class::Load);
}
/// Neighbours have the pieces of a row on gfx950; on gfx1250 they have rows,
/// and only the next lanes up, after all rows or four of bytes, the other
/// pieces.
template <Data D, unsigned Bits, bool IsLater = false>
bool decodeTransposed(InstDecoder &d) {
  if (IsLater ? !d.target().gfx1250 : d.target().name != "gfx950")
    return d.error("the target has no such instruction");
  d.inst.mod[1] = Bits;
  d.inst.mod[2] = !IsLater ? 0 : Bits == 16 ? 3 : 2;
  d.inst.mod[0] = uint8_t(D);
  d.inst.mod[3] |= AnyValue;
  return takeOffset(d) && d.expect(2, 2) && d.vectorSource(1, 1, 1, Needed) &&
         d.vectorResult(0, wordsOfData(D), 0) &&
         d.emit(execTransposed, Class::Load);
}
template <Data D> bool decodeStore(InstDecoder &d) {
  d.inst.mod[0] = uint8_t(D);
  return takeOffset(d) && d.expect(2, 2) && d.vectorSource(0, 1, 1, Needed) &&
         d.vectorSource(1, wordsOfData(D), 3, Needed) &&
         d.emit(execStore, Class::Store);
}

/// Offsets count elements, or 64 of them.
bool takeTwoOffsets(InstDecoder &d, unsigned unit) {
  int64_t first = 0, second = 0;
  d.value("offset0", first);
  d.value("offset1", second);
  if (first < 0 || first > 255 || second < 0 || second > 255)
    return d.error("offsets must be from 0 to 255");
  d.inst.imm = first * unit | second * unit << 32;
  d.inst.isUnaligned = true;
  d.inst.space = Space::Shared;
  return true;
}
template <Data D, unsigned Stride> bool decodeLoadTwo(InstDecoder &d) {
  constexpr unsigned words = D == Data::B64 ? 2 : 1;
  d.inst.mod[0] = uint8_t(D);
  d.inst.mod[3] |= AnyValue;
  return takeTwoOffsets(d, words * 4 * Stride) && d.expect(2, 2) &&
         d.vectorSource(1, 1, 1, Needed) && d.vectorResult(0, 2 * words, 0) &&
         d.emit(execLoadTwo, Class::Load);
}
template <Data D, unsigned Stride> bool decodeStoreTwo(InstDecoder &d) {
  constexpr unsigned words = D == Data::B64 ? 2 : 1;
  d.inst.mod[0] = uint8_t(D);
  return takeTwoOffsets(d, words * 4 * Stride) && d.expect(3, 3) &&
         d.vectorSource(0, 1, 1, Needed) &&
         d.vectorSource(1, words, 3, Needed) &&
         d.vectorSource(2, words, 4, Needed) &&
         d.emit(execStoreTwo, Class::Store);
}

struct SharedAtomic {
  const char *name;
  Atomic op;
};
const SharedAtomic sharedAtomics[] = {
    {"add_u", Atomic::Add},         {"sub_u", Atomic::Sub},
    {"rsub_u", Atomic::Rsub},       {"inc_u", Atomic::Inc},
    {"dec_u", Atomic::Dec},         {"min_i", Atomic::SMin},
    {"max_i", Atomic::SMax},        {"min_u", Atomic::UMin},
    {"max_u", Atomic::UMax},        {"and_b", Atomic::And},
    {"or_b", Atomic::Or},           {"xor_b", Atomic::Xor},
    {"wrxchg_rtn_b", Atomic::Swap}, {"storexchg_rtn_b", Atomic::Swap},
    {"cmpst_b", Atomic::CmpSwap},   {"cmpstore_b", Atomic::CmpSwap},
    {"add_f", Atomic::FAdd},        {"min_f", Atomic::FMin},
    {"max_f", Atomic::FMax},        {"min_num_f", Atomic::FMin},
    {"max_num_f", Atomic::FMax}};

/// ds_add_u32 and, with a result, ds_add_rtn_u32.
bool decodeAtomic(InstDecoder &d) {
  std::string_view name = d.in->opcode;
  name.remove_prefix(3);
  bool wide = name.ends_with("64");
  bool returns = name.find("_rtn_") != std::string_view::npos;
  Atomic op = Atomic::Swap;
  if (name == "pk_add_f16" || name == "pk_add_rtn_f16")
    op = Atomic::PkAddF16;
  else if (name == "pk_add_bf16" || name == "pk_add_rtn_bf16")
    op = Atomic::PkAddBf16;
  else
    for (const SharedAtomic &a : sharedAtomics)
      if (name.substr(0, name.find('_')) ==
              std::string_view(a.name).substr(
                  0, std::string_view(a.name).find('_')) &&
          name[name.size() - 3] == a.name[std::strlen(a.name) - 1])
        op = a.op;
  d.inst.mod[0] = uint8_t(op);
  d.inst.mod[2] = wide;
  unsigned words = wide ? 2 : 1;
  bool compares = op == Atomic::CmpSwap;
  size_t count = 2 + returns + compares;
  if (!takeOffset(d) || !d.expect(count, count))
    return false;
  d.inst.isUnaligned = false;
  d.inst.order = Inst::Strong;
  d.inst.isSwap = compares;
  d.inst.mod[3] |= AnyValue;
  if (!d.vectorSource(returns, 1, 1, Needed) ||
      !d.vectorSource(returns + 1, words, 3, Needed) ||
      (compares && !d.vectorSource(returns + 2, words, 4, Needed)))
    return false;
  // Before gfx11, what is compared comes before the value.
  if (compares && d.in->opcode.find("cmpst_") != std::string::npos)
    std::swap(d.inst.op[3], d.inst.op[4]);
  return (!returns || d.vectorResult(0, words, 0)) &&
         d.emit(execAtomic, Class::Atomic);
}

template <Data D>
void add(OpcodeTable &t, std::initializer_list<const char *> loads,
         std::initializer_list<const char *> stores) {
  for (const char *suffix : loads) {
    t.emplace(keepName(std::string("ds_read_") + suffix), decodeLoad<D>);
    t.emplace(keepName(std::string("ds_load_") + suffix), decodeLoad<D>);
  }
  for (const char *suffix : stores) {
    t.emplace(keepName(std::string("ds_write_") + suffix), decodeStore<D>);
    t.emplace(keepName(std::string("ds_store_") + suffix), decodeStore<D>);
  }
}
template <Data D>
void addTwo(OpcodeTable &t, const char *type, const char *other) {
  std::string wide = D == Data::B64 ? "b64" : "b32";
  for (const char *verb : {"ds_read2", "ds_load_2addr"}) {
    std::string name = verb;
    t.emplace(keepName(name + "_" + wide), decodeLoadTwo<D, 1>);
    t.emplace(keepName(name + (name == "ds_read2" ? type : other) + wide),
              decodeLoadTwo<D, 64>);
  }
  for (const char *verb : {"ds_write2", "ds_store_2addr"}) {
    std::string name = verb;
    t.emplace(keepName(name + "_" + wide), decodeStoreTwo<D, 1>);
    t.emplace(keepName(name + (name == "ds_write2" ? type : other) + wide),
              decodeStoreTwo<D, 64>);
  }
}
} // namespace

void tile::sim::amdgcn::registerShared(OpcodeTable &t) {
  add<Data::U8>(t, {"u8"}, {"b8"});
  add<Data::S8>(t, {"i8"}, {});
  add<Data::U16>(t, {"u16"}, {"b16"});
  add<Data::S16>(t, {"i16"}, {});
  add<Data::U8Low>(t, {"u8_d16"}, {});
  add<Data::U8High>(t, {"u8_d16_hi"}, {"b8_d16_hi"});
  add<Data::S8Low>(t, {"i8_d16"}, {});
  add<Data::S8High>(t, {"i8_d16_hi"}, {});
  add<Data::B16Low>(t, {"u16_d16"}, {});
  add<Data::B16High>(t, {"u16_d16_hi"}, {"b16_d16_hi"});
  add<Data::B32>(t, {"b32"}, {"b32"});
  add<Data::B64>(t, {"b64"}, {"b64"});
  add<Data::B96>(t, {"b96"}, {"b96"});
  add<Data::B128>(t, {"b128"}, {"b128"});
  addTwo<Data::B32>(t, "st64_", "_stride64_");
  addTwo<Data::B64>(t, "st64_", "_stride64_");
  for (const SharedAtomic &a : sharedAtomics)
    for (const char *bits : {"32", "64"}) {
      std::string name = a.name;
      t.emplace(keepName("ds_" + name + bits), decodeAtomic);
      // ds_add_u32 has the form ds_add_rtn_u32.
      if (name.find("_rtn_") == std::string::npos)
        t.emplace(keepName("ds_" + name.substr(0, name.size() - 2) + "_rtn_" +
                           name.back() + bits),
                  decodeAtomic);
    }
  t.insert({{"ds_read_b64_tr_b16", decodeTransposed<Data::B64, 16>},
            {"ds_read_b64_tr_b8", decodeTransposed<Data::B64, 8>},
            {"ds_read_b64_tr_b4", decodeTransposed<Data::B64, 4>},
            {"ds_read_b96_tr_b6", decodeTransposed<Data::B96, 6>},
            {"ds_load_tr16_b128", decodeTransposed<Data::B128, 16, true>},
            {"ds_load_tr8_b64", decodeTransposed<Data::B64, 8, true>}});
  for (const char *name : {"ds_pk_add_f16", "ds_pk_add_rtn_f16",
                           "ds_pk_add_bf16", "ds_pk_add_rtn_bf16"})
    t.emplace(name, decodeAtomic);
}
