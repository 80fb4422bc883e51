//===-- tile-sim.cpp - Runs a PTX kernel without a GPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Npy.h"
#include "tile/Simulator/Module.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <list>
#include <map>
#include <sstream>

using namespace tile;

static const char *usage = R"(usage: tile-sim FILE.ptx|FILE.s [options]

Runs one kernel of a PTX file, or of AMDGCN assembly, and reports what it did.

  --entry NAME            the kernel (default: the file's only one)
  --grid X[,Y[,Z]]        CTAs (default 1)
  --block X[,Y[,Z]]       threads of a CTA (default 32)
  --cluster X[,Y[,Z]]     CTAs of a cluster (default 1)
  --dynamic-shared BYTES  dynamic shared memory
  --arg VALUE             one for each parameter, in order: a number, null, FILE.npy,
                          or zeros:TYPE:SHAPE (zeros:f32:128x4)
  --out INDEX=FILE.npy    writes the array of argument INDEX (from 0) after the run
  --check LIST            all, none, or some of
                          races,uninitialized,async,barriers,global
  --max-instructions N    ends an endless kernel after N warp instructions
  --threads N             host threads
  --gpu NAME              the GPU of the roofline estimate (default: H200,
                          or one that the assembly is for)
  --json                  the report as JSON
  --list                  lists the kernels and their parameters
  --version               says which tile this is

Exit status: 0 if nothing was found, 1 if the kernel did something wrong, 2 for bad input.
)";

namespace {
struct Options {
  std::string file, entry;
  sim::LaunchConfig config;
  std::vector<std::string> args;
  std::map<unsigned, std::string> outputs;
  const sim::Gpu *gpu = nullptr;
  bool json = false, list = false;
};

int fail(const std::string &message) {
  std::fprintf(stderr, "tile-sim: %s\n", message.c_str());
  return 2;
}

bool parseTriple(const std::string &text, std::array<unsigned, 3> &out) {
  out = {1, 1, 1};
  std::stringstream stream(text);
  std::string part;
  for (unsigned i = 0; std::getline(stream, part, ','); ++i) {
    char *end;
    unsigned long v = std::strtoul(part.c_str(), &end, 10);
    if (i > 2 || part.empty() || *end || v == 0 || v > 0xffffffffu)
      return false;
    out[i] = unsigned(v);
  }
  return !text.empty();
}

bool parseNumber(const std::string &text, uint64_t most, uint64_t &out) {
  char *end;
  errno = 0;
  out = std::strtoull(text.c_str(), &end, 0);
  return !text.empty() && !*end && !errno && text[0] != '-' && out <= most;
}

bool parseChecks(const std::string &text, unsigned &bits) {
  static const std::pair<const char *, unsigned> names[] = {
      {"all", sim::CheckAll},      {"none", sim::CheckNone},
      {"races", sim::CheckRaces},  {"uninitialized", sim::CheckUninitialized},
      {"async", sim::CheckAsync},  {"barriers", sim::CheckBarriers},
      {"global", sim::CheckGlobal}};
  bits = 0;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    bool known = false;
    for (auto [name, bit] : names)
      if (part == name) {
        bits |= bit;
        known = true;
      }
    if (!known)
      return false;
  }
  return true;
}

/// Returns a message, or nothing.
std::string parseOptions(int argc, char **argv, Options &o) {
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    if (name.rfind("--", 0) != 0) {
      if (!o.file.empty())
        return "more than one file given";
      o.file = name;
      continue;
    }
    if (name == "--json" || name == "--list") {
      (name == "--json" ? o.json : o.list) = true;
      continue;
    }
    if (size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (++i < argc) {
      value = argv[i];
    } else {
      return name + " needs a value";
    }
    bool good = true;
    uint64_t number = 0;
    if (name == "--entry")
      o.entry = value;
    else if (name == "--grid")
      good = parseTriple(value, o.config.grid);
    else if (name == "--block")
      good = parseTriple(value, o.config.block);
    else if (name == "--cluster")
      good = parseTriple(value, o.config.cluster);
    else if (name == "--dynamic-shared") {
      good = parseNumber(value, UINT32_MAX, number);
      o.config.dynamicShared = uint32_t(number);
    } else if (name == "--max-instructions")
      good = parseNumber(value, UINT64_MAX, o.config.maxInstructions);
    else if (name == "--threads") {
      good = parseNumber(value, 1024, number);
      o.config.threads = unsigned(number);
    } else if (name == "--gpu") {
      if (!(o.gpu = sim::Gpu::find(value)))
        return "unknown GPU '" + value + "'; known are " + sim::Gpu::names();
    } else if (name == "--check")
      good = parseChecks(value, o.config.checks);
    else if (name == "--arg")
      o.args.push_back(value);
    else if (name == "--out") {
      size_t equals = value.find('=');
      good = equals != std::string::npos &&
             parseNumber(value.substr(0, equals), 4096, number);
      if (good)
        o.outputs[unsigned(number)] = value.substr(equals + 1);
    } else
      return "unknown option '" + name + "'";
    if (!good)
      return "bad value '" + value + "' for " + name;
  }
  return o.file.empty() ? "no file given; see tile-sim --help" : "";
}

/// Writes an argument into the parameter buffer; arrays are kept in `arrays`.
std::string packArgument(const std::string &text, const sim::Param &param,
                         std::vector<std::byte> &buffer,
                         std::map<unsigned, sim::Npy> &arrays, unsigned index,
                         sim::LaunchConfig &config) {
  std::byte *to = buffer.data() + param.offset;
  bool isFile =
           text.size() > 4 && text.compare(text.size() - 4, 4, ".npy") == 0,
       isZeros = text.rfind("zeros:", 0) == 0;
  if (isFile || isZeros) {
    sim::Npy &array = arrays[index];
    std::string error;
    if (!(isFile ? array.read(text, error)
                 : array.zeros(text.substr(6), error)))
      return error;
    if (param.size != 8)
      return "parameter '" + param.name + "' is not a pointer";
    uint64_t address = reinterpret_cast<uintptr_t>(array.data.data());
    std::memcpy(to, &address, 8);
    config.allocations.push_back(
        {address, array.data.size(), param.name, true});
    return "";
  }
  if (text == "null")
    return param.size == 8 ? ""
                           : "parameter '" + param.name + "' is not a pointer";
  if (param.isArray || param.size > 8)
    return "parameter '" + param.name +
           "' is a structure, which cannot be given on the command line";
  const std::string neither = "'" + text +
                              "' is neither a number nor null, FILE.npy or "
                              "zeros:TYPE:SHAPE";
  const std::string type = std::string(sim::nameOf(param.type));
  char *end;
  errno = 0;
  // "inf" and "nan" are numbers where the parameter is a float.
  bool isFloat = param.type == sim::Type::F32 || param.type == sim::Type::F64,
       isReal = text.find_first_of(".eE") != std::string::npos &&
                text.rfind("0x", 0) != 0;
  if (isReal || isFloat) {
    double value = std::strtod(text.c_str(), &end);
    if (*end || text.empty())
      return neither;
    if (sim::isInteger(param.type))
      return "parameter '" + param.name + "' (." + type +
             ") does not take a float";
    float single = float(value);
    if (param.size == 8)
      std::memcpy(to, &value, 8);
    else if (param.size == 4)
      std::memcpy(to, &single, 4);
    else
      return "parameter '" + param.name + "' does not take a float";
  } else {
    bool negative = text[0] == '-';
    uint64_t value = negative ? uint64_t(std::strtoll(text.c_str(), &end, 0))
                              : std::strtoull(text.c_str(), &end, 0);
    if (*end || text.empty())
      return neither;
    unsigned bits = param.size * 8;
    int64_t lowest = int64_t(~uint64_t(0) << (bits - 1));
    bool fits = !errno && (negative ? int64_t(value) >= lowest
                                    : bits == 64 || value >> bits == 0);
    if (!fits)
      return text + " does not fit into parameter '" + param.name + "' (." +
             type + ")";
    std::memcpy(to, &value, param.size);
  }
  return "";
}

int listEntries(const sim::Module &module) {
  for (const std::string &entry : module.entries()) {
    std::printf("%s\n", entry.c_str());
    for (const sim::Param &p : *module.params(entry))
      std::printf("  .%s %s (%u bytes at %u)\n",
                  std::string(sim::nameOf(p.type)).c_str(), p.name.c_str(),
                  p.size, p.offset);
  }
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && !std::strcmp(argv[1], "--version")) {
    std::printf("tile %s\n", TILE_VERSION);
    return 0;
  }
  if (argc < 2 || !std::strcmp(argv[1], "--help") ||
      !std::strcmp(argv[1], "-h")) {
    std::fputs(usage, argc < 2 ? stderr : stdout);
    return argc < 2 ? 2 : 0;
  }
  Options o;
  o.config.block = {32, 1, 1};
  if (std::string message = parseOptions(argc, argv, o); !message.empty())
    return fail(message);
  std::ifstream file(o.file, std::ios::binary);
  if (!file)
    return fail("cannot read '" + o.file + "'");
  std::stringstream text;
  text << file.rdbuf();
  sim::Diagnostic diag;
  auto module = sim::Module::load(text.str(), diag);
  if (!module) {
    std::fprintf(stderr, "%s\n", diag.format(o.file).c_str());
    return 2;
  }
  if (o.list)
    return listEntries(*module);
  if (o.entry.empty() && module->entries().size() == 1)
    o.entry = module->entries()[0];
  const std::vector<sim::Param> *params = module->params(o.entry);
  if (!params)
    return fail(o.entry.empty()
                    ? "the file has several kernels: choose one with --entry"
                    : "the module has no kernel '" + o.entry + "'");
  if (params->size() != o.args.size())
    return fail("kernel '" + o.entry + "' takes " +
                std::to_string(params->size()) + " arguments, " +
                std::to_string(o.args.size()) + " were given");
  std::vector<std::byte> buffer(
      params->empty() ? 0 : params->back().offset + params->back().size);
  std::map<unsigned, sim::Npy> arrays;
  for (unsigned i = 0; i < params->size(); ++i)
    if (std::string message =
            packArgument(o.args[i], (*params)[i], buffer, arrays, i, o.config);
        !message.empty())
      return fail("argument " + std::to_string(i) + ": " + message);
  sim::Report report;
  std::string error;
  if (!module->launch(o.entry, o.config, buffer, report, error))
    return fail(error);
  std::printf("%s\n",
              (o.json ? report.toJson(o.gpu) : report.summary(o.gpu)).c_str());
  for (auto &[index, path] : o.outputs) {
    if (!arrays.count(index))
      return fail("argument " + std::to_string(index) + " is not an array");
    if (!arrays[index].write(path, error))
      return fail(error);
  }
  return report.ok ? 0 : 1;
}
