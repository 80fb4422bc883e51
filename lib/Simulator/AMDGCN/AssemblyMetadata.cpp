//===-- AssemblyMetadata.cpp - What the metadata says of kernels ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The metadata is YAML; what compilers print of it is lists of `key: value`,
// nested by indentation, and no more than that is read.
//
//===----------------------------------------------------------------------===//
#include "Assembly.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
struct Line {
  uint32_t number = 0;
  size_t indent = 0; ///< of the key
  bool item = false; ///< begins with "- "
  std::string key, value;
};
} // namespace

static std::string clean(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t'))
    s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\r'))
    s.remove_suffix(1);
  if (s.size() >= 2 && s.front() == s.back() &&
      (s.front() == '"' || s.front() == '\''))
    s = s.substr(1, s.size() - 2);
  return std::string(s);
}

static std::vector<Line> readLines(std::string_view text, uint32_t number) {
  std::vector<Line> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view s = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    Line line;
    line.number = number++;
    size_t start = s.find_first_not_of(" \t");
    if (start == std::string_view::npos || s.substr(start).starts_with("---") ||
        s.substr(start).starts_with("..."))
      continue;
    if (s.substr(start).starts_with("- ")) {
      line.item = true;
      start = s.find_first_not_of(' ', start + 1);
      if (start == std::string_view::npos)
        continue;
    }
    line.indent = start;
    size_t colon = s.find(':', start);
    line.key = clean(s.substr(start, colon == std::string_view::npos
                                         ? std::string_view::npos
                                         : colon - start));
    if (colon != std::string_view::npos)
      line.value = clean(s.substr(colon + 1));
    lines.push_back(std::move(line));
  }
  return lines;
}

bool tile::sim::amdgcn::parseMetadata(std::string_view text, uint32_t number,
                                      Assembly &module, Diagnostic &diag) {
  std::vector<Line> lines = readLines(text, number);
  size_t i = 0;
  while (i < lines.size() && lines[i].key != "amdhsa.kernels")
    ++i;
  if (i++ == lines.size())
    return true;
  while (i < lines.size() && lines[i].item) {
    size_t depth = lines[i].indent;
    Kernel read;
    bool inArgs = false;
    for (bool first = true; i < lines.size(); ++i, first = false) {
      const Line &line = lines[i];
      if (line.indent < depth || (line.item && line.indent == depth && !first))
        break;
      int64_t value = 0;
      bool isNumber = parseInteger(line.value, value);
      if (line.indent == depth) {
        inArgs = line.key == ".args";
        if (line.key == ".name")
          read.name = line.value;
        else if (isNumber)
          read.metadata[line.key.substr(line.key.starts_with('.'))] = value;
        continue;
      }
      if (!inArgs)
        continue;
      if (line.item)
        read.args.emplace_back();
      if (read.args.empty())
        return diag.error({line.number, 1}, "an argument begins with '- '");
      Argument &a = read.args.back();
      if (line.key == ".name")
        a.name = line.value;
      else if (line.key == ".value_kind")
        a.kind = line.value;
      else if (line.key == ".offset" || line.key == ".size") {
        if (!isNumber || value < 0 || value > 1 << 20)
          return diag.error({line.number, 1},
                            "'" + line.value + "' is no number of bytes");
        (line.key == ".offset" ? a.offset : a.size) = uint32_t(value);
      }
    }
    uint32_t end = 0;
    for (const Argument &a : read.args) {
      if (a.offset < end)
        return diag.error({number, 1}, "argument '" + a.name + "' of '" +
                                           read.name +
                                           "' lies before the end of another");
      end = a.offset + a.size;
    }
    Kernel *known = nullptr;
    for (Kernel &k : module.kernels)
      if (k.name == read.name)
        known = &k;
    if (!known) {
      module.kernels.push_back(std::move(read));
      continue;
    }
    known->args = std::move(read.args);
    known->metadata = std::move(read.metadata);
  }
  return true;
}
