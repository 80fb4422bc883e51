//===-- Lane.cpp - Values from other lanes --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LaneFacts.h"
#include "VectorLanes.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

//===-- DPP ---------------------------------------------------------------===//

/// The lane that `l` reads from; negative if there is none.
static int sourceLane(const Modifiers &m, int l, int lanes) {
  using Move = Modifiers::Move;
  int row = l & ~15, i = l & 15, n = m.amount;
  auto inRow = [&](int at) { return at < 0 || at > 15 ? -1 : row + at; };
  switch (m.move) {
  case Move::Quad:
    return (l & ~3) + int(m.lanes >> 2 * (l & 3) & 3);
  case Move::Eight:
    return (l & ~7) + int(m.lanes >> 3 * (l & 7) & 7);
  case Move::Shl:
    return inRow(i + n);
  case Move::Shr:
    return inRow(i - n);
  case Move::Ror:
    return row + ((i - n) & 15);
  case Move::WaveShl:
    return l + 1 < lanes ? l + 1 : -1;
  case Move::WaveRol:
    return (l + 1) % lanes;
  case Move::WaveShr:
    return l - 1;
  case Move::WaveRor:
    return (l + lanes - 1) % lanes;
  case Move::Mirror:
    return row + 15 - i;
  case Move::HalfMirror:
    return (l & ~7) + 7 - (l & 7);
  case Move::Bcast15:
    return row - 1;
  case Move::Bcast31:
    return l >= 32 ? 31 : -1;
  case Move::Share:
  case Move::NewBcast:
    return row + (n & 15);
  case Move::Xmask:
    return row + (i ^ (n & 15));
  case Move::None:
    return l;
  }
  return l;
}

void Modifiers::findMoves(unsigned lanes) {
  for (unsigned l = 0; l < lanes; ++l) {
    int source = sourceLane(*this, int(l), int(lanes));
    from[l] = uint8_t(source < 0 ? int(l) : source);
    hasSource |= uint64_t(source >= 0) << l;
    isRead |= uint64_t(source >= 0) << from[l];
    isWritten |= uint64_t(rowMask >> l / 16 & bankMask >> l % 16 / 4 & 1) << l;
  }
}

LaneMoves tile::sim::amdgcn::movesOf(const Modifiers &m, uint64_t exec) {
  uint64_t valid = m.hasSource;
  if (!m.fetchInactive && (m.isRead & ~exec)) {
    valid = 0;
    for (uint64_t rest = m.hasSource; rest; rest &= rest - 1) {
      auto l = unsigned(std::countr_zero(rest));
      valid |= (exec >> m.from[l] & 1) << l;
    }
  }
  bool givesZero = m.boundControl || m.move == Modifiers::Move::Eight;
  return {m.from, m.isWritten & (givesZero ? ~uint64_t(0) : valid),
          givesZero ? m.isWritten & ~valid : 0};
}

namespace {
//===-- One lane ----------------------------------------------------------===//

/// op: scalar result, vector, lane (or NoSlot: the first of EXEC).
Step execRead(Ctx &c, const Inst &inst, uint32_t) {
  unsigned lanes = programOf(c).waveLanes, lane = 0;
  uint64_t exec = execOf(c);
  if (inst.op[2] != NoSlot)
    lane = scalarOf<uint32_t>(c, inst.op[2]) & (lanes - 1);
  else if (exec)
    lane = unsigned(std::countr_zero(exec));
  const auto *data = c.src<uint32_t>(inst.op[1] & ~ScalarBit);
  uint32_t value = inst.op[1] & ScalarBit ? data[0] : data[lane];
  setScalar<uint32_t>(c, inst.op[0], value);
  if (keepsFacts(c)) {
    LaneFacts read;
    read.take(0, LaneFacts(c, inst.op[1]), lane);
    read.write(c, inst.op[0], 1);
  }
  return Step::Next;
}
template <bool First> bool decodeRead(InstDecoder &d) {
  size_t count = First ? 2 : 3;
  return d.expect(count, count) && d.source(1, 1, Imm::B32, 1) &&
         (First || d.scalar(2, 1, Imm::B32, 2, Needed)) &&
         d.scalarResult(0, 1, 0) && d.emit(execRead, Class::Collective);
}

Step execWrite(Ctx &c, const Inst &inst, uint32_t) {
  const WaveProgram &p = programOf(c);
  unsigned lane = scalarOf<uint32_t>(c, inst.op[2]) & (p.waveLanes - 1);
  c.dst<uint32_t>(inst.op[0])[lane] = scalarOf<uint32_t>(c, inst.op[1]);
  // Whatever EXEC says.
  if (keepsFacts(c))
    LaneFacts(c, inst.op[1]).write(c, inst.op[0], uint64_t(1) << lane);
  return Step::Next;
}
bool decodeWrite(InstDecoder &d) {
  if (!d.expect(3, 3))
    return false;
  // The other lanes stay as they are.
  const Operand &o = d.operand(0);
  return d.scalar(1, 1, Imm::B32, 1) && d.scalar(2, 1, Imm::B32, 2, Needed) &&
         (o.isRegister(File::Vector) || d.error("writes a vector register")) &&
         (d.inst.op[0] = d.slotOf(File::Vector, o.reg),
          d.emit(execWrite, Class::Collective));
}

/// mod[0], mod[1]: where the bits of each operand begin; imm: how many change
/// places.
Step execSwap(Ctx &c, const Inst &inst, uint32_t) {
  auto *a = c.dst<uint32_t>(inst.op[0]), *b = c.dst<uint32_t>(inst.op[1]);
  auto ones = uint32_t((uint64_t(1) << inst.imm) - 1);
  for (uint64_t m = execOf(c); m; m &= m - 1) {
    auto l = unsigned(std::countr_zero(m));
    uint32_t left = a[l] >> inst.mod[0] & ones,
             right = b[l] >> inst.mod[1] & ones;
    a[l] = (a[l] & ~(ones << inst.mod[0])) | right << inst.mod[0];
    b[l] = (b[l] & ~(ones << inst.mod[1])) | left << inst.mod[1];
  }
  return Step::Next;
}
template <unsigned Bits> bool decodeSwap(InstDecoder &d) {
  d.inst.imm = Bits;
  for (unsigned i = 0; i < 2 && i < d.operandCount(); ++i) {
    if (Bits == 16 && d.operand(i).half < 0)
      return d.error("its operands are halves of registers, such as v0.l");
    d.inst.mod[i] = d.operand(i).half == 1 ? 16 : 0;
  }
  return d.expect(2, 2) && d.vectorSource(0, 1, 0) && d.vectorSource(1, 1, 1) &&
         d.vectorResult(0, 1, 0) && d.vectorResult(1, 1, 1) &&
         d.emit(execSwap, Class::Move);
}

//===-- All lanes ---------------------------------------------------------===//

/// Lanes of EXEC get what is known of these lanes of `data`, or, where they are
/// not in `read`, of a constant.
void moveFacts(Ctx &c, uint32_t result, uint32_t data, const uint8_t *source,
               uint64_t read) {
  const LaneFacts in(c, data);
  LaneFacts out;
  for (uint64_t m = read; m; m &= m - 1) {
    auto l = unsigned(std::countr_zero(m));
    out.take(l, in, source[l]);
  }
  out.write(c, result, execOf(c));
}

/// Writes what `from(lane)` says to be each lane's source; a lane that does not
/// take part gives 0, or is read all the same.
template <class F>
void gatherLanes(Ctx &c, uint32_t result, uint32_t data, bool inactiveToo,
                 F from) {
  unsigned lanes = programOf(c).waveLanes;
  uint64_t exec = execOf(c);
  const auto *in = c.src<uint32_t>(data);
  uint32_t out[64];
  uint8_t source[64];
  uint64_t read = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    unsigned s = from(l);
    bool reads = inactiveToo || (exec >> s & 1);
    out[l] = reads ? in[s] : 0;
    source[l] = uint8_t(s);
    read |= uint64_t(reads) << l;
  }
  if (keepsFacts(c))
    moveFacts(c, result, data, source, read);
  auto *to = c.dst<uint32_t>(result);
  for (unsigned l = 0; l < lanes; ++l)
    to[l] = exec >> l & 1 ? out[l] : to[l];
}

/// op: result, address, data.
Step execBackward(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Ds, false);
  unsigned lanes = programOf(c).waveLanes;
  const auto *address = c.src<uint32_t>(inst.op[1]);
  uint32_t at[64];
  std::copy_n(address, lanes, at);
  gatherLanes(c, inst.op[0], inst.op[2], false, [&](unsigned l) {
    return (at[l] + uint32_t(inst.imm)) / 4 & (lanes - 1);
  });
  return Step::Next;
}
Step execForward(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Ds, false);
  unsigned lanes = programOf(c).waveLanes;
  uint64_t exec = execOf(c);
  const auto *address = c.src<uint32_t>(inst.op[1]),
             *data = c.src<uint32_t>(inst.op[2]);
  uint32_t out[64] = {};
  uint8_t source[64];
  uint64_t read = 0;
  for (unsigned l = 0; l < lanes; ++l)
    if (exec >> l & 1) {
      unsigned to = (address[l] + uint32_t(inst.imm)) / 4 & (lanes - 1);
      out[to] = data[l];
      source[to] = uint8_t(l);
      read |= uint64_t(1) << to;
    }
  if (keepsFacts(c))
    moveFacts(c, inst.op[0], inst.op[2], source, read);
  auto *to = c.dst<uint32_t>(inst.op[0]);
  for (unsigned l = 0; l < lanes; ++l)
    to[l] = exec >> l & 1 ? out[l] : to[l];
  return Step::Next;
}
template <ExecFn F> bool decodePermute(InstDecoder &d) {
  int64_t offset = 0;
  d.value("offset", offset);
  d.inst.imm = offset;
  return d.expect(3, 3) && d.vectorSource(1, 1, 1, Needed) &&
         d.vectorSource(2, 1, 2) && d.vectorResult(0, 1, 0) &&
         d.emit(F, Class::Collective);
}

/// imm: four lanes' sources, or masks for the number of a lane in its 32.
Step execSwizzle(Ctx &c, const Inst &inst, uint32_t) {
  issueMemory(c, inst, Counter::Ds, false);
  auto mode = uint32_t(inst.imm);
  gatherLanes(c, inst.op[0], inst.op[1], false, [&](unsigned l) {
    if (mode & 0x8000)
      return (l & ~3u) + (mode >> 2 * (l & 3) & 3);
    unsigned i = ((l & 31 & mode) | (mode >> 5 & 31)) ^ (mode >> 10 & 31);
    return (l & ~31u) + i;
  });
  return Step::Next;
}

/// swizzle(QUAD_PERM,0,1,2,3), swizzle(SWAP,16), ...
bool parseSwizzle(InstDecoder &d, const Modifier &m, int64_t &mode) {
  if (m.values.size() == 1) {
    mode = m.values[0];
    return true;
  }
  std::string_view s = m.word;
  if (!s.starts_with("swizzle(") || !s.ends_with(')'))
    return d.error("'" + m.word + "' is no swizzle");
  s = s.substr(8, s.size() - 9);
  std::vector<std::string> parts(1);
  for (char ch : s)
    if (ch == ',')
      parts.emplace_back();
    else if (ch != ' ' && ch != '"')
      parts.back() += ch;
  std::vector<int64_t> n;
  for (size_t i = 1; i < parts.size(); ++i) {
    int64_t value = 0;
    parseInteger(parts[i], value);
    n.push_back(value);
  }
  auto masks = [&](int64_t keep, int64_t set, int64_t flip) {
    mode = (keep & 31) | (set & 31) << 5 | (flip & 31) << 10;
    return true;
  };
  if (parts[0] == "QUAD_PERM" && n.size() == 4) {
    mode = 0x8000 | n[0] | n[1] << 2 | n[2] << 4 | n[3] << 6;
    return true;
  }
  if (parts[0] == "SWAP" && n.size() == 1)
    return masks(31, 0, n[0]);
  if (parts[0] == "REVERSE" && n.size() == 1)
    return masks(31, 0, n[0] - 1);
  if (parts[0] == "BROADCAST" && n.size() == 2)
    return masks(32 - n[0], n[1], 0);
  if (parts[0] == "BITMASK_PERM" && parts.size() == 2 && parts[1].size() == 5) {
    // Each letter says what becomes of a bit: 0, 1, p (kept) or i (inverted).
    int64_t keep = 0, set = 0, flip = 0;
    for (unsigned i = 0; i < 5; ++i) {
      int64_t bit = int64_t(16) >> i;
      char ch = parts[1][i];
      keep |= ch == 'p' || ch == 'i' ? bit : 0;
      set |= ch == '1' ? bit : 0;
      flip |= ch == 'i' ? bit : 0;
    }
    return masks(keep, set, flip);
  }
  return d.error("'" + m.word + "' is no swizzle that is known");
}
bool decodeSwizzle(InstDecoder &d) {
  const Modifier *m = d.modifier("offset");
  return d.expect(2, 2) && (!m || parseSwizzle(d, *m, d.inst.imm)) &&
         d.vectorSource(1, 1, 1) && d.vectorResult(0, 1, 0) &&
         d.emit(execSwizzle, Class::Collective);
}

/// op: result, data, two scalar operands with four bits for each lane of a row.
template <bool OtherRow> Step execPermRow(Ctx &c, const Inst &inst, uint32_t) {
  uint64_t select = scalarOf<uint32_t>(c, inst.op[2]) |
                    uint64_t(scalarOf<uint32_t>(c, inst.op[3])) << 32;
  gatherLanes(c, inst.op[0], inst.op[1], inst.imm & 1, [&](unsigned l) {
    unsigned row = (l & ~15u) ^ (OtherRow ? 16u : 0);
    return row + unsigned(select >> 4 * (l & 15) & 15);
  });
  return Step::Next;
}
template <bool OtherRow> bool decodePermRow(InstDecoder &d) {
  if (const Modifier *m = d.modifier("op_sel")) {
    bool fetch = !m->values.empty() && m->values[0];
    bool bound = m->values.size() > 1 && m->values[1];
    d.inst.imm = fetch;
    if (!fetch && !bound)
      return d.error("needs bound_ctrl, or must read inactive lanes");
  } else {
    // Lanes whose source takes no part would keep their value.
    d.inst.imm = 1;
  }
  return d.expect(4, 4) && d.vectorSource(1, 1, 1) &&
         d.scalar(2, 1, Imm::B32, 2, Needed) &&
         d.scalar(3, 1, Imm::B32, 3, Needed) && d.vectorResult(0, 1, 0) &&
         d.emit(execPermRow<OtherRow>, Class::Collective);
}

/// The halves of a wave of 64 change places; of one of 32, nothing does.
Step execPermHalf(Ctx &c, const Inst &inst, uint32_t) {
  unsigned lanes = programOf(c).waveLanes;
  gatherLanes(c, inst.op[0], inst.op[1], true,
              [&](unsigned l) { return lanes == 64 ? l ^ 32 : l; });
  return Step::Next;
}
bool decodePermHalf(InstDecoder &d) {
  return d.expect(2, 2) && d.vectorSource(1, 1, 1) && d.vectorResult(0, 1, 0) &&
         d.emit(execPermHalf, Class::Collective);
}
/// Odd rows of the first register and even ones of the second change places;
/// rows have 16 or 32 lanes.
template <unsigned Row> Step execSwapRows(Ctx &c, const Inst &inst, uint32_t) {
  auto *odd = c.dst<uint32_t>(inst.op[0]), *even = c.dst<uint32_t>(inst.op[1]);
  unsigned lanes = programOf(c).waveLanes;
  for (unsigned l = 0; l < lanes; ++l)
    if (!(l & Row))
      std::swap(even[l], odd[l + Row]);
  if (!keepsFacts(c))
    return Step::Next;
  LaneFacts ofOdd(c, inst.op[0]), ofEven(c, inst.op[1]), wasOdd = ofOdd;
  for (unsigned l = 0; l < lanes; ++l)
    if (!(l & Row)) {
      ofOdd.take(l + Row, ofEven, l);
      ofEven.take(l, wasOdd, l + Row);
    }
  ofOdd.write(c, inst.op[0], ~uint64_t(0));
  ofEven.write(c, inst.op[1], ~uint64_t(0));
  return Step::Next;
}
template <unsigned Row> bool decodeSwapRows(InstDecoder &d) {
  // Lanes that take no part change places, too.
  d.has("bound_ctrl");
  d.has("fi");
  return d.expect(2, 2) && d.vectorSource(0, 1, 0) && d.vectorSource(1, 1, 1) &&
         d.vectorResult(0, 1, 0) && d.vectorResult(1, 1, 1) &&
         d.emit(execSwapRows<Row>, Class::Collective);
}
} // namespace

void tile::sim::amdgcn::registerLane(OpcodeTable &t) {
  t.insert({{"v_readlane_b32", decodeRead<false>},
            {"v_readfirstlane_b32", decodeRead<true>},
            {"v_writelane_b32", decodeWrite},
            {"v_swap_b32", decodeSwap<32>},
            {"v_swap_b16", decodeSwap<16>},
            {"ds_bpermute_b32", decodePermute<execBackward>},
            {"ds_permute_b32", decodePermute<execForward>},
            {"ds_swizzle_b32", decodeSwizzle},
            {"v_permlane16_b32", decodePermRow<false>},
            {"v_permlanex16_b32", decodePermRow<true>},
            {"v_permlane64_b32", decodePermHalf},
            {"v_permlane16_swap_b32", decodeSwapRows<16>},
            {"v_permlane32_swap_b32", decodeSwapRows<32>}});
}
