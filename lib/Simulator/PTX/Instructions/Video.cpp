//===-- Video.cpp - Video instructions, scalar and SIMD -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operands are parts of registers, extended by the sign of their types. The
// result is saturated to the part that it is for. Then it is merged into the
// other bits of C or combined with C. Of SIMD forms, a part is chosen from the
// bytes or halves of both sources, A's first.
//
//===----------------------------------------------------------------------===//
#include "Families.h"

#include <algorithm>

using namespace tile::sim;

namespace {
enum Operation : uint8_t {
  VAdd,
  VSub,
  VAbsDiff,
  VMin,
  VMax,
  VAvrg,
  VShl,
  VShr,
  VSet,
  VMad
};
enum Second : uint8_t { NoSecond, SecondAdd, SecondMin, SecondMax };
enum Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

/// One part of 8, 16 or 32 bits for each element of an operand.
struct Selection {
  uint8_t log2Bytes = 2;
  uint8_t part[4] = {0, 0, 0, 0};
  unsigned bits() const { return 8u << log2Bytes; }
  int64_t read(uint64_t word, unsigned element, bool isSigned) const {
    uint64_t value = word >> (bits() * part[element]);
    unsigned unused = 64 - bits();
    return isSigned ? int64_t(value << unused) >> unused
                    : int64_t(value << unused >> unused);
  }
  unsigned pack() const {
    unsigned out = unsigned(log2Bytes) << 12;
    for (unsigned i = 0; i < 4; ++i)
      out |= unsigned(part[i]) << (3 * i);
    return out;
  }
  static Selection unpack(unsigned v) {
    Selection s;
    s.log2Bytes = uint8_t(v >> 12);
    for (unsigned i = 0; i < 4; ++i)
      s.part[i] = v >> (3 * i) & 7;
    return s;
  }
};

/// Kept in Inst::imm; mod[0] is the operation, mod[1] the second one, mod[2]
/// the comparison of vset or the shift of vmad's result.
struct Form {
  Selection a, b;
  Selection result;     ///< of scalar forms: the part that is written
  uint8_t mask = 1;     ///< the elements that are written or added
  uint8_t elements = 1; ///< 1, 2 or 4
  bool signedD = false, signedA = false, signedB = false, saturates = false;
  bool clamps = false; ///< shifts by more than 32 are shifts by 32
  bool merges = false; ///< scalar: the other bits are C's
  bool negatesProduct = false, negatesC = false, addsOne = false; ///< vmad
  int64_t pack() const {
    unsigned flags = signedD | signedA << 1 | signedB << 2 | saturates << 3 |
                     clamps << 4 | merges << 5 | negatesProduct << 6 |
                     negatesC << 7 | addsOne << 8;
    return int64_t(a.pack()) | int64_t(b.pack()) << 14 |
           int64_t(result.part[0]) << 28 | int64_t(result.log2Bytes) << 31 |
           int64_t(mask) << 33 | int64_t(elements) << 37 | int64_t(flags) << 40;
  }
  static Form unpack(int64_t v) {
    Form f;
    f.a = Selection::unpack(v & 0x3fff);
    f.b = Selection::unpack(v >> 14 & 0x3fff);
    f.result.part[0] = v >> 28 & 7;
    f.result.log2Bytes = v >> 31 & 3;
    f.mask = v >> 33 & 15;
    f.elements = v >> 37 & 7;
    auto flag = [&](unsigned i) { return (v >> (40 + i) & 1) != 0; };
    f.signedD = flag(0), f.signedA = flag(1), f.signedB = flag(2);
    f.saturates = flag(3), f.clamps = flag(4), f.merges = flag(5);
    f.negatesProduct = flag(6), f.negatesC = flag(7), f.addsOne = flag(8);
    return f;
  }
};

int64_t saturated(int64_t value, unsigned bits, bool isSigned) {
  int64_t most = (int64_t(1) << (bits - isSigned)) - 1;
  return std::clamp(value, isSigned ? -most - 1 : int64_t(0), most);
}

bool compare(Compare op, int64_t a, int64_t b) {
  switch (op) {
  case Eq:
    return a == b;
  case Ne:
    return a != b;
  case Lt:
    return a < b;
  case Le:
    return a <= b;
  case Gt:
    return a > b;
  case Ge:
    return a >= b;
  }
  return false;
}

int64_t compute(Operation op, const Form &f, Compare comparison, int64_t a,
                int64_t b) {
  switch (op) {
  case VAdd:
    return a + b;
  case VSub:
    return a - b;
  case VAbsDiff:
    return a < b ? b - a : a - b;
  case VMin:
    return std::min(a, b);
  case VMax:
    return std::max(a, b);
  case VAvrg:
    return (a + b + (a + b >= 0)) >> 1;
  case VShl:
  case VShr: {
    // A's part has up to 32 bits and a sign, so nothing is lost in 64.
    uint32_t by = f.clamps ? std::min(uint32_t(b), 32u) : uint32_t(b) & 31;
    return op == VShl ? int64_t(uint64_t(a) << by) : a >> by;
  }
  case VSet:
    return compare(comparison, a, b);
  case VMad:
    break;
  }
  return 0;
}

uint32_t second(Second op, bool isSigned, uint32_t value, uint32_t c) {
  if (op == SecondAdd)
    return value + c;
  bool less = isSigned ? int32_t(value) < int32_t(c) : value < c;
  return less == (op == SecondMin) ? value : c;
}

uint32_t scalarResult(const Inst &inst, const Form &f, uint32_t a, uint32_t b,
                      uint32_t c) {
  int64_t value = compute(Operation(inst.mod[0]), f, Compare(inst.mod[2]),
                          f.a.read(a, 0, f.signedA), f.b.read(b, 0, f.signedB));
  unsigned bits = f.result.bits();
  if (f.saturates)
    value = saturated(value, bits, f.signedD);
  if (f.merges) {
    unsigned shift = bits * f.result.part[0];
    uint32_t kept = ((bits == 32 ? 0 : 1u << bits) - 1) << shift;
    return (c & ~kept) | (uint32_t(value) << shift & kept);
  }
  auto op = Second(inst.mod[1]);
  return op == NoSecond ? uint32_t(value)
                        : second(op, f.signedD, uint32_t(value), c);
}

uint32_t packedResult(const Inst &inst, const Form &f, uint32_t a, uint32_t b,
                      uint32_t c) {
  uint64_t both = uint64_t(b) << 32 | a;
  bool adds = Second(inst.mod[1]) == SecondAdd;
  unsigned bits = f.a.bits();
  uint32_t out = c;
  for (unsigned i = 0; i < f.elements; ++i) {
    if (!(f.mask >> i & 1))
      continue;
    int64_t value =
        compute(Operation(inst.mod[0]), f, Compare(inst.mod[2]),
                f.a.read(both, i, f.signedA), f.b.read(both, i, f.signedB));
    if (adds) {
      out += uint32_t(value);
      continue;
    }
    if (f.saturates)
      value = saturated(value, bits, f.signedD);
    uint32_t kept = ((1u << bits) - 1) << (bits * i);
    out = (out & ~kept) | (uint32_t(value) << (bits * i) & kept);
  }
  return out;
}

uint32_t productResult(const Inst &inst, const Form &f, uint32_t a, uint32_t b,
                       uint32_t c) {
  using Wide = __int128;
  Wide product =
      Wide(f.a.read(a, 0, f.signedA)) * Wide(f.b.read(b, 0, f.signedB));
  bool isSigned = f.signedA || f.signedB || f.negatesProduct || f.negatesC;
  // What is negated has its bits inverted, and one is added to the sum.
  if (f.negatesProduct)
    product = ~product;
  uint32_t addend = f.negatesC ? ~c : c;
  Wide sum = product + (isSigned ? Wide(int32_t(addend)) : Wide(addend)) +
             (f.negatesProduct || f.negatesC || f.addsOne);
  Wide value = sum >> inst.mod[2];
  if (!f.saturates)
    return uint32_t(value);
  Wide most = isSigned ? INT32_MAX : UINT32_MAX;
  return uint32_t(std::clamp(value, isSigned ? -most - 1 : Wide(0), most));
}

using Result = uint32_t(const Inst &, const Form &, uint32_t, uint32_t,
                        uint32_t);
template <Result F> Step exec(Ctx &c, const Inst &inst, uint32_t mask) {
  Form f = Form::unpack(inst.imm);
  SourceLanes<uint32_t> a(c, inst.op[1]), b(c, inst.op[2]), x(c, inst.op[3]);
  uint32_t *out = c.dst<uint32_t>(inst.op[0]);
  eachLane(mask, [&](unsigned l) { out[l] = F(inst, f, a[l], b[l], x[l]); });
  return Step::Next;
}

/// The register or number behind signs and selectors.
const ast::Operand &whole(const ast::Operand &operand) {
  return operand.kind == ast::Operand::Kind::Part ? operand.elems[0] : operand;
}
std::string_view selectorOf(const ast::Operand &operand) {
  return operand.kind == ast::Operand::Kind::Part
             ? std::string_view(operand.name)
             : std::string_view();
}
bool isNegated(const ast::Operand &operand) {
  return operand.kind == ast::Operand::Kind::Part && operand.negated;
}

bool takeSignedness(FunctionDecoder &d, bool &isSigned) {
  Type type = d.takeType();
  isSigned = type == Type::S32;
  return isSigned || type == Type::U32 || d.badType(type);
}

/// ".b2" or ".h1" of a scalar form's operand.
bool takePart(FunctionDecoder &d, const ast::Operand &operand,
              Selection &selection) {
  std::string_view name = selectorOf(operand);
  if (name.empty())
    return true;
  selection.log2Bytes = name[0] == 'h';
  selection.part[0] = uint8_t(name[1] - '0');
  return (name.size() == 2 && selection.part[0] < 4u >> selection.log2Bytes) ||
         d.errorAt(operand, "a part is one of .b0 to .b3, .h0 and .h1");
}

/// ".h32" or ".b7654" of a SIMD form's source; `first` is the default's last.
bool takeParts(FunctionDecoder &d, const ast::Operand &operand,
               unsigned elements, unsigned first, Selection &selection) {
  selection.log2Bytes = elements == 2;
  std::string_view name = selectorOf(operand);
  for (unsigned i = 0; i < elements; ++i) {
    unsigned part = name.empty() || name.size() != elements + 1
                        ? first + i
                        : unsigned(name[elements - i] - '0');
    selection.part[i] = uint8_t(part);
    if (part >= 2 * elements)
      name = "?";
  }
  char letter = elements == 2 ? 'h' : 'b';
  return name.empty() || (name[0] == letter && name.size() == elements + 1) ||
         d.errorAt(operand, elements == 2 ? "parts are .hxy with x and y of 0 "
                                            "to 3"
                                          : "parts are .bxyzw with numbers of "
                                            "0 to 7");
}

/// ".h1" or ".b31" of a SIMD form's result.
bool takeMask(FunctionDecoder &d, const ast::Operand &operand,
              unsigned elements, uint8_t &mask) {
  std::string_view name = selectorOf(operand);
  mask = uint8_t((1u << elements) - 1);
  if (name.empty())
    return true;
  bool good = name[0] == (elements == 2 ? 'h' : 'b');
  mask = 0;
  unsigned above = elements;
  for (char digit : name.substr(1)) {
    auto at = unsigned(digit - '0');
    good &= at < above;
    above = at;
    mask |= uint8_t(1u << (at & 3));
  }
  return good || d.errorAt(operand, "a mask names parts of the result, the "
                                    "highest first");
}

bool registers(FunctionDecoder &d) {
  if (!d.dst(whole(d.operand(0)), Type::B32, d.inst.op[0]) ||
      !d.src(whole(d.operand(1)), Type::B32, d.inst.op[1]) ||
      !d.src(whole(d.operand(2)), Type::B32, d.inst.op[2]))
    return false;
  if (d.operandCount() < 4) {
    d.inst.op[3] = d.constant32(0);
    return true;
  }
  return d.src(whole(d.operand(3)), Type::B32, d.inst.op[3]);
}

bool takeTypes(FunctionDecoder &d, Operation op, Form &f) {
  if (op != VSet && !takeSignedness(d, f.signedD))
    return false;
  if (!takeSignedness(d, f.signedA) || !takeSignedness(d, f.signedB))
    return false;
  if ((op == VShl || op == VShr) && f.signedB)
    return d.error("a shift count has type .u32");
  if (op != VSet) {
    f.saturates = d.has("sat");
    return true;
  }
  int comparison = d.hasOneOf({"eq", "ne", "lt", "le", "gt", "ge"});
  d.inst.mod[2] = uint8_t(comparison);
  return comparison >= 0 || d.error("needs a comparison");
}

bool noSigns(FunctionDecoder &d) {
  for (size_t i = 0; i < d.operandCount(); ++i)
    if (isNegated(d.operand(i)))
      return d.errorAt(d.operand(i), "only operands of vmad have a sign");
  return true;
}

template <Operation op> bool decodeScalar(FunctionDecoder &d) {
  Form f;
  if (!takeTypes(d, op, f))
    return false;
  if (op == VShl || op == VShr) {
    f.clamps = d.has("clamp");
    if (!f.clamps && !d.has("wrap"))
      return d.error("needs .clamp or .wrap");
  }
  auto second = Second(d.hasOneOf({"add", "min", "max"}) + 1);
  d.inst.mod[0] = op;
  d.inst.mod[1] = second;
  if (!d.expectOperands(3, 4) || !noSigns(d))
    return false;
  f.merges = !selectorOf(d.operand(0)).empty();
  if (f.merges && second != NoSecond)
    return d.error("a result is either merged into a part or combined");
  // Where nothing is merged or combined, C may be there and is not used.
  size_t needed = f.merges || second != NoSecond ? 4 : 3;
  if (!d.expectOperands(needed, 4) || !takePart(d, d.operand(0), f.result) ||
      !takePart(d, d.operand(1), f.a) || !takePart(d, d.operand(2), f.b))
    return false;
  if (d.operandCount() == 4 && !selectorOf(d.operand(3)).empty())
    return d.errorAt(d.operand(3), "this operand has no parts");
  d.inst.imm = f.pack();
  return registers(d) && d.emit(exec<scalarResult>, Class::Integer);
}

template <Operation op, unsigned elements>
bool decodePacked(FunctionDecoder &d) {
  Form f;
  f.elements = elements;
  if (!takeTypes(d, op, f))
    return false;
  d.inst.mod[0] = op;
  d.inst.mod[1] = d.has("add") ? SecondAdd : NoSecond;
  if (d.inst.mod[1] && f.saturates)
    return d.error(".sat and .add do not go together");
  if (!d.expectOperands(4, 4) || !noSigns(d) ||
      !takeMask(d, d.operand(0), elements, f.mask) ||
      !takeParts(d, d.operand(1), elements, 0, f.a) ||
      !takeParts(d, d.operand(2), elements, elements, f.b))
    return false;
  if (!selectorOf(d.operand(3)).empty())
    return d.errorAt(d.operand(3), "this operand has no parts");
  for (size_t i = 1; i < 4; ++i)
    if (d.registerType(whole(d.operand(i))) == Type::None)
      return d.errorAt(d.operand(i), "expected a register");
  d.inst.imm = f.pack();
  return registers(d) && d.emit(exec<packedResult>, Class::Integer);
}

bool decodeMad(FunctionDecoder &d) {
  Form f;
  if (!takeTypes(d, VMad, f))
    return false;
  f.addsOne = d.has("po");
  int scale = d.hasOneOf({"shr7", "shr15"});
  d.inst.mod[0] = VMad;
  d.inst.mod[2] = scale < 0 ? 0 : scale == 0 ? 7 : 15;
  if (!d.expectOperands(4, 4) || !takePart(d, d.operand(1), f.a) ||
      !takePart(d, d.operand(2), f.b))
    return false;
  for (size_t i : {0, 3})
    if (!selectorOf(d.operand(i)).empty())
      return d.errorAt(d.operand(i), "this operand has no parts");
  if (isNegated(d.operand(0)))
    return d.errorAt(d.operand(0), "a result cannot be negated");
  f.negatesProduct = isNegated(d.operand(1)) != isNegated(d.operand(2));
  f.negatesC = isNegated(d.operand(3));
  if (f.negatesProduct && f.negatesC)
    return d.error("either the product or the addend is negated");
  for (size_t i = 1; i < 4; ++i)
    if (f.addsOne && isNegated(d.operand(i)))
      return d.error(".po and signs do not go together");
  d.inst.imm = f.pack();
  return registers(d) && d.emit(exec<productResult>, Class::Integer);
}

template <Operation op>
void insertPacked(DecodeTable &t, const char *pairs, const char *fours) {
  t.insert({{pairs, decodePacked<op, 2>}, {fours, decodePacked<op, 4>}});
}
} // namespace

void tile::sim::registerVideo(DecodeTable &t) {
  t.insert({{"vadd", decodeScalar<VAdd>},
            {"vsub", decodeScalar<VSub>},
            {"vabsdiff", decodeScalar<VAbsDiff>},
            {"vmin", decodeScalar<VMin>},
            {"vmax", decodeScalar<VMax>},
            {"vshl", decodeScalar<VShl>},
            {"vshr", decodeScalar<VShr>},
            {"vset", decodeScalar<VSet>},
            {"vmad", decodeMad}});
  insertPacked<VAdd>(t, "vadd2", "vadd4");
  insertPacked<VSub>(t, "vsub2", "vsub4");
  insertPacked<VAvrg>(t, "vavrg2", "vavrg4");
  insertPacked<VAbsDiff>(t, "vabsdiff2", "vabsdiff4");
  insertPacked<VMin>(t, "vmin2", "vmin4");
  insertPacked<VMax>(t, "vmax2", "vmax4");
  insertPacked<VSet>(t, "vset2", "vset4");
}
