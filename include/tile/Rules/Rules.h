//===-- Rules.h - What findings are called, and what they say ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The tables in C++. They need nothing else, so that the simulator can use
// them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RULES_RULES_H
#define TILE_RULES_RULES_H

#include <cstdint>
#include <string>

namespace tile {

struct FindingKind {
  const char *name, *meaning, *remedy;
};

inline constexpr FindingKind findingKinds[] = {
#define KIND(name, meaning, remedy) {name, meaning, remedy},
#include "tile/Rules/Kinds.def"
#undef KIND
};

enum class Rule : uint8_t {
  None,
#define RULE(name, kind, text) name,
#include "tile/Rules/Rules.def"
#undef RULE
};

struct RuleText {
  const char *kind, *text;
};

inline constexpr RuleText ruleTexts[] = {
    {"", ""},
#define RULE(name, kind, text) {kind, text},
#include "tile/Rules/Rules.def"
#undef RULE
};

inline const RuleText &textOf(Rule rule) { return ruleTexts[unsigned(rule)]; }

/// Two accesses, of which one writes. `what` is the memory of the first one.
/// `other` says more about the second one, and may be empty.
inline std::string describeRace(bool writes, const std::string &what,
                                bool otherIsAsync, bool otherWrites,
                                const std::string &other,
                                const std::string &why) {
  return std::string(writes ? "write to " : "read of ") + what +
         " races with " + (otherIsAsync ? "an asynchronous " : "a ") +
         (otherWrites ? "write" : "read") + other + ": " + why;
}

} // namespace tile

#endif // TILE_RULES_RULES_H
