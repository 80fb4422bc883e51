//===-- RegisterMode.cpp - Vector registers beyond the first 256 ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Instructions of gfx1250 name 256 vector registers for each operand. A mode
// says which 256 of 1024: two bits each for the first, second and third source
// and the result. s_set_vgpr_msb sets it. The mode is followed through the
// text. Compilers see to it that all ways to an instruction agree on the mode.
// A text in which they do not is refused.
//
//===----------------------------------------------------------------------===//
#include "Assembly.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
enum Field : unsigned { First = 0, Second = 2, Third = 4, Result = 6, None };

bool startsWithAny(std::string_view name,
                   std::initializer_list<std::string_view> prefixes) {
  for (std::string_view prefix : prefixes)
    if (name.starts_with(prefix))
      return true;
  return false;
}

/// Of memory instructions: the address is the first source, what is stored the
/// second (and third), what is loaded the result.
Field memoryField(const Instruction &in, size_t operand) {
  std::string_view name = in.opcode;
  bool isShared = name.starts_with("ds_"),
       stores = name.find("_store") != name.npos;
  bool returns = isShared ? !stores && (name.find("_load") != name.npos ||
                                        name.find("_rtn") != name.npos ||
                                        name.find("permute") != name.npos ||
                                        name.find("swizzle") != name.npos)
                          : name.find("_load") != name.npos;
  for (const Modifier &m : in.modifiers)
    returns |= m.name == "th" && m.word.find("_RETURN") != m.word.npos;
  if (name.starts_with("buffer_"))
    // The data comes first, whichever way it goes.
    return operand == 0 ? (returns ? Result : Second) : First;
  static const Field order[] = {First, Second, Third};
  if (returns && operand == 0)
    return Result;
  size_t source = operand - returns;
  return source < 3 ? order[source] : None;
}

Field vectorField(const Instruction &in, size_t operand) {
  std::string_view name = in.opcode;
  // Results in EXEC are not named.
  bool hasResult = !name.starts_with("v_cmpx") || in.operands.size() == 3;
  // Carries out stand behind the result.
  bool hasCarry =
      name.find("_co_") != name.npos || name.starts_with("v_div_scale");
  if (hasResult && operand == 0)
    return Result;
  size_t source = operand - hasResult - hasCarry;
  // The constant of these counts as the second source.
  static const Field order[] = {First, Second, Third};
  return source < 3 ? order[source] : None;
}

bool isVectorMemory(std::string_view name) {
  return startsWithAny(name,
                       {"ds_", "global_", "flat_", "scratch_", "buffer_"});
}
} // namespace

bool tile::sim::amdgcn::applyRegisterModes(Assembly &module, Diagnostic &diag) {
  bool any = false;
  for (const Instruction &in : module.body)
    any |= in.opcode == "s_set_vgpr_msb";
  if (!any)
    return true;
  std::vector<uint8_t> modes(module.body.size() + 1);
  uint8_t mode = 0;
  for (size_t i = 0; i < module.body.size(); ++i) {
    Instruction &in = module.body[i];
    modes[i] = mode;
    if (in.opcode == "s_set_vgpr_msb") {
      if (in.operands.size() != 1 ||
          in.operands[0].kind != Operand::Kind::Integer)
        return diag.error(in.loc, "'s_set_vgpr_msb': takes a number");
      // The upper byte says what the mode was before.
      mode = uint8_t(in.operands[0].imm);
      continue;
    }
    bool isMemory = isVectorMemory(in.opcode);
    for (size_t k = 0; k < in.operands.size(); ++k) {
      Operand &o = in.operands[k];
      if (!o.isRegister(File::Vector))
        continue;
      Field field = isMemory ? memoryField(in, k) : vectorField(in, k);
      if (field == None)
        return diag.error(in.loc, "'" + in.opcode +
                                      "': which mode of s_set_vgpr_msb is for "
                                      "operand " +
                                      std::to_string(k + 1) + " is not known");
      o.reg += 256 * (mode >> field & 3);
      if (o.reg + o.count > 1024)
        return diag.error(in.loc, "there is no register v" +
                                      std::to_string(o.reg + o.count - 1));
    }
  }
  modes[module.body.size()] = mode;
  for (size_t i = 0; i < module.body.size(); ++i) {
    const Instruction &in = module.body[i];
    if (!startsWithAny(in.opcode, {"s_branch", "s_cbranch_"}) ||
        in.operands.empty())
      continue;
    auto to = module.labels.find(in.operands[0].text);
    if (to != module.labels.end() && modes[to->second] != modes[i])
      return diag.error(in.loc, "the modes of s_set_vgpr_msb here and at '" +
                                    in.operands[0].text + "' differ");
  }
  return true;
}
