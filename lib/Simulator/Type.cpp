//===-- Type.cpp - PTX scalar and packed types ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Simulator/Type.h"

#include <array>
#include <unordered_map>

using namespace tile::sim;

namespace {
struct Row {
  Type type;
  std::string_view name;
  unsigned bits;
};

constexpr std::array<Row, 43> rows = {{
    {Type::None, "none", 0},      {Type::Pred, "pred", 1},
    {Type::B8, "b8", 8},          {Type::B16, "b16", 16},
    {Type::B32, "b32", 32},       {Type::B64, "b64", 64},
    {Type::B128, "b128", 128},    {Type::U8, "u8", 8},
    {Type::U16, "u16", 16},       {Type::U32, "u32", 32},
    {Type::U64, "u64", 64},       {Type::S8, "s8", 8},
    {Type::S16, "s16", 16},       {Type::S32, "s32", 32},
    {Type::S64, "s64", 64},       {Type::F16, "f16", 16},
    {Type::F16x2, "f16x2", 32},   {Type::BF16, "bf16", 16},
    {Type::BF16x2, "bf16x2", 32}, {Type::F32, "f32", 32},
    {Type::F32x2, "f32x2", 64},   {Type::F64, "f64", 64},
    {Type::TF32, "tf32", 32},     {Type::U16x2, "u16x2", 32},
    {Type::S16x2, "s16x2", 32},   {Type::U8x4, "u8x4", 32},
    {Type::S8x4, "s8x4", 32},     {Type::E4M3, "e4m3", 8},
    {Type::E5M2, "e5m2", 8},      {Type::E4M3x2, "e4m3x2", 16},
    {Type::E5M2x2, "e5m2x2", 16}, {Type::E2M1, "e2m1", 4},
    {Type::E2M1x2, "e2m1x2", 8},  {Type::E2M3x2, "e2m3x2", 16},
    {Type::E3M2x2, "e3m2x2", 16}, {Type::UE8M0x2, "ue8m0x2", 16},
    {Type::U4, "u4", 4},          {Type::S4, "s4", 4},
    {Type::B1, "b1", 1},          {Type::E2M3, "e2m3", 8},
    {Type::E3M2, "e3m2", 8},      {Type::UE8M0, "ue8m0", 8},
    {Type::UE4M3, "ue4m3", 8},
}};
} // namespace

Type tile::sim::parseType(std::string_view name) {
  static const std::unordered_map<std::string_view, Type> byName = [] {
    std::unordered_map<std::string_view, Type> map;
    for (const Row &row : rows)
      if (row.type != Type::None)
        map.emplace(row.name, row.type);
    return map;
  }();
  auto it = byName.find(name);
  return it == byName.end() ? Type::None : it->second;
}

std::string_view tile::sim::nameOf(Type type) {
  return rows[size_t(type)].name;
}
unsigned tile::sim::bitsOf(Type type) { return rows[size_t(type)].bits; }

bool tile::sim::isSigned(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 ||
         type == Type::S64 || type == Type::S16x2 || type == Type::S8x4 ||
         type == Type::S4;
}

bool tile::sim::isFloat(Type type) {
  return type >= Type::F16 && type <= Type::TF32;
}
bool tile::sim::isInteger(Type type) {
  return type >= Type::U8 && type <= Type::S64;
}

std::string_view tile::sim::nameOf(Space space) {
  switch (space) {
  case Space::Generic:
    return "generic";
  case Space::Reg:
    return "reg";
  case Space::Global:
    return "global";
  case Space::Shared:
    return "shared";
  case Space::SharedCluster:
    return "shared::cluster";
  case Space::Local:
    return "local";
  case Space::Param:
    return "param";
  case Space::Const:
    return "const";
  case Space::Tmem:
    return "tmem";
  }
  return "?";
}
