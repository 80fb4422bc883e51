//===-- sim.cpp - `tile._C.sim`: the PTX simulator ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thin layer: addresses and sizes go in, a report comes out. `tile.sim`
// turns arrays and numbers into those.
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "SimBindings.h"

#include "tile/Rules/Rules.h"
#include "tile/Simulator/Assumptions.h"
#include "tile/Simulator/Debugger.h"
#include "tile/Simulator/Demangle.h"
#include "tile/Simulator/Gpus.h"
#include "tile/Simulator/Module.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace tile;

namespace {
using Triple = std::array<unsigned, 3>;
using Range = std::tuple<uint64_t, uint64_t, std::string, bool>;
using Forbidden =
    std::tuple<uint32_t, uint64_t, uint64_t, std::string, std::string>;
using Array =
    std::tuple<uint64_t, std::string, uint32_t, std::vector<uint64_t>>;

std::shared_ptr<const sim::Module> load(const std::string &text,
                                        const std::string &name) {
  sim::Diagnostic diag;
  std::shared_ptr<const sim::Module> module;
  {
    nb::gil_scoped_release release;
    module = sim::Module::load(text, diag);
  }
  if (!module)
    throw nb::value_error(diag.format(name).c_str());
  return module;
}

nb::list params(const sim::Module &module, const std::string &entry) {
  const std::vector<sim::Param> *list = module.params(entry);
  if (!list)
    throw nb::key_error(entry.c_str());
  nb::list out;
  for (const sim::Param &p : *list)
    out.append(nb::make_tuple(p.name, std::string(sim::nameOf(p.type)),
                              p.offset, p.size, p.isArray));
  return out;
}

/// What one GPU launches, and the bytes of its arguments.
struct Member {
  std::string bytes;
  sim::GroupMember member;
};

std::unique_ptr<Member>
prepare(std::shared_ptr<const sim::Module> module, const std::string &entry,
        Triple grid, Triple block, nb::bytes args,
        const std::vector<Range> &allocations, Triple cluster,
        uint32_t dynamicShared, unsigned checks, uint64_t maxInstructions,
        unsigned threads, bool counters, bool deterministic,
        const std::vector<Array> &arrays, uint64_t scheduleSeed,
        uint32_t timelines, const std::vector<Forbidden> &forbidden,
        uint32_t assumptions, uint8_t undefinedByte, int undefinedLoad,
        sim::Debugger *debugger) {
  auto made = std::make_unique<Member>();
  made->bytes.assign(static_cast<const char *>(args.data()), args.size());
  made->member.module = std::move(module);
  made->member.entry = entry;
  sim::LaunchConfig &config = made->member.config;
  config.assumptions = assumptions;
  config.grid = grid;
  config.block = block;
  config.cluster = cluster;
  config.dynamicShared = dynamicShared;
  config.checks = checks;
  config.maxInstructions = maxInstructions;
  config.threads = threads;
  config.counters = counters;
  config.deterministic = deterministic;
  config.timelines = timelines;
  config.undefinedByte = undefinedByte;
  config.undefinedLoad = undefinedLoad;
  config.debugger = debugger;
  for (const auto &[param, low, high, name, other] : forbidden)
    config.forbidden.push_back({param, low, high, name, other});
  for (const auto &[base, element, bytes, sizes] : arrays)
    config.arrays.push_back({base, element, bytes, sizes});
  config.scheduleSeed = scheduleSeed;
  for (const auto &[base, size, name, writable] : allocations)
    config.allocations.push_back({base, size, name, writable});
  return made;
}

std::vector<sim::Report> launch(const std::vector<Member *> &given) {
  // Ctrl-C ends a launch; Python's handlers run on the main thread only.
  bool interrupted = false;
  std::vector<sim::GroupMember> members;
  for (const Member *one : given) {
    sim::GroupMember &member = members.emplace_back(one->member);
    member.args = std::as_bytes(std::span(one->bytes));
    member.config.interrupted = [&interrupted] {
      nb::gil_scoped_acquire acquire;
      interrupted = interrupted || PyErr_CheckSignals() != 0;
      return interrupted;
    };
  }
  std::vector<sim::Report> reports;
  std::string error;
  bool started;
  {
    nb::gil_scoped_release release;
    started = sim::launchGroup(members, reports, error);
  }
  if (interrupted) {
    // What handlers raised says where the kernels were.
    nb::python_error error;
    error.value().attr("reports") = nb::cast(reports);
    throw error;
  }
  if (!started)
    throw nb::value_error(error.c_str());
  return reports;
}

/// Null for no name: that of the report.
const sim::Gpu *findGpu(const std::string &name) {
  const sim::Gpu *gpu = sim::Gpu::find(name);
  if (!gpu && !name.empty())
    throw nb::value_error(
        ("unknown GPU '" + name + "'; known are " + sim::Gpu::names()).c_str());
  return gpu;
}

/// What is found, by which rules, and what can be switched.
void populateConstants(nb::module_ &m) {
  nb::dict assumptions;
  for (const sim::AssumptionName &known : sim::assumptionNames)
    assumptions[nb::str(known.name.data())] = unsigned(known.bit);
  m.attr("ASSUMPTIONS") = assumptions;
  nb::dict kinds;
  for (const FindingKind &kind : findingKinds)
    kinds[kind.name] = nb::make_tuple(kind.meaning, kind.remedy);
  m.attr("KINDS") = kinds;
  nb::list rules;
  for (const RuleText &rule : ruleTexts)
    if (*rule.kind)
      rules.append(nb::make_tuple(rule.kind, rule.text));
  m.attr("RULES") = rules;
  m.attr("CHECK_NONE") = unsigned(sim::CheckNone);
  m.attr("CHECK_RACES") = unsigned(sim::CheckRaces);
  m.attr("CHECK_UNINITIALIZED") = unsigned(sim::CheckUninitialized);
  m.attr("CHECK_ASYNC") = unsigned(sim::CheckAsync);
  m.attr("CHECK_BARRIERS") = unsigned(sim::CheckBarriers);
  m.attr("CHECK_GLOBAL") = unsigned(sim::CheckGlobal);
  m.attr("CHECK_UNDEFINED") = unsigned(sim::CheckUndefined);
  m.attr("CHECK_ALL") = unsigned(sim::CheckAll);
}
} // namespace

void tile::python::populateSim(nb::module_ &m) {
  populateDebugger(m);
  m.def(
      "gpu_of_target",
      [](const std::string &target) {
        sim::SimulatedGpu gpu = target.starts_with("gfx")
                                    ? sim::amdgcn::gpuOf(target)
                                    : sim::ptx::gpuOf(target);
        if (!gpu.rates)
          throw nb::value_error(
              ("the simulator does not run '" + target + "'").c_str());
        nb::dict facts;
        facts["name"] = std::string(gpu.rates->name);
        facts["multiprocessors"] = gpu.multiprocessors;
        facts["clock"] = gpu.rates->clock;
        facts["bytes_per_second"] = gpu.rates->bytesPerSecond;
        return facts;
      },
      nb::arg("target"),
      "What the cost model takes for 'sm_100' or 'gfx942': rates a second.");
  nb::class_<sim::Report>(m, "Report", "What a launch did.")
      .def_ro("ok", &sim::Report::ok, "True if nothing was found.")
      .def_ro("output", &sim::Report::output, "What the kernel printed.")
      .def_ro("timeline", &sim::Report::timeline, "Events, as Chrome has them.")
      .def_ro("seconds", &sim::Report::seconds, "Host time of the launch.")
      .def_ro("undefined_loads", &sim::Report::undefinedLoads,
              "Numbers of the module's loads that left lanes undefined.")
      .def_prop_ro("warp_instructions",
                   [](const sim::Report &r) { return r.counters.totalWarp(); })
      .def_prop_ro("lane_instructions",
                   [](const sim::Report &r) { return r.counters.totalLane(); })
      .def_prop_ro(
          "assembly_lines",
          [](const sim::Report &r) {
            nb::dict lines;
            for (const auto &[number, line] : r.assemblyLines)
              lines[nb::int_(number)] = nb::make_tuple(
                  line.warpInstructions, line.sectors, line.bankConflicts);
            return lines;
          },
          "By line of the assembly: instructions of warps, sectors of global "
          "memory, bank conflicts.")
      .def_prop_ro("messages",
                   [](const sim::Report &r) {
                     std::vector<std::string> out;
                     for (const sim::Finding &f : r.findings)
                       out.push_back(f.format());
                     return out;
                   })
      .def(
          "summary",
          [](const sim::Report &r, const std::string &gpu) {
            return r.summary(findGpu(gpu));
          },
          nb::arg("gpu") = "")
      .def(
          "to_json",
          [](const sim::Report &r, const std::string &gpu) {
            return r.toJson(findGpu(gpu));
          },
          nb::arg("gpu") = "")
      .def(
          "roofline_json",
          [](const sim::Report &r, const std::string &gpu, double blocks) {
            return r.rooflineJson(findGpu(gpu), blocks);
          },
          nb::arg("gpu") = "", nb::arg("blocks") = 0.0,
          "What the launch, or so many blocks like its, take by the cost "
          "model.");

  nb::class_<sim::Module>(m, "Module", "A parsed PTX module.")
      .def_prop_ro("entries", &sim::Module::entries, "Names of the kernels.")
      .def_prop_ro("target",
                   [](const sim::Module &module) {
                     return std::string(module.target());
                   })
      .def_prop_ro(
          "undefined_loads",
          [](const sim::Module &module) {
            nb::list out;
            for (const sim::UndefinedLoad &l : module.undefinedLoads())
              out.append(nb::make_tuple(l.file, l.line, l.column));
            return out;
          },
          "(file, line, column) of loads that leave lanes undefined.")
      .def("params", &params, nb::arg("entry"),
           "(name, type, offset, size, is_array) of each parameter.")
      .def(
          "static_shared",
          [](const sim::Module &module, const std::string &entry) {
            return module.staticShared(entry);
          },
          nb::arg("entry"));

  nb::class_<Member>(m, "Member", "What one GPU of a group launches.");
  m.def(
      "member", &prepare, nb::arg("module"), nb::arg("entry"), nb::arg("grid"),
      nb::arg("block"), nb::arg("args"), nb::arg("allocations"),
      nb::arg("cluster") = Triple{1, 1, 1}, nb::arg("dynamic_shared") = 0,
      nb::arg("checks") = unsigned(sim::CheckAll),
      nb::arg("max_instructions") = 0, nb::arg("threads") = 0,
      nb::arg("counters") = true, nb::arg("deterministic") = true,
      nb::arg("arrays") = std::vector<Array>{}, nb::arg("schedule_seed") = 0,
      nb::arg("timelines") = 0, nb::arg("forbidden") = std::vector<Forbidden>{},
      nb::arg("assumptions") = 0, nb::arg("undefined_byte") = 0,
      nb::arg("undefined_load") = -1, nb::arg("debugger").none() = nb::none(),
      nb::keep_alive<0, 21>(),
      "A kernel with its arguments; `args` is the parameter buffer, "
      "`allocations` the memory it may touch as (address, size, name, "
      "writable), `arrays` what lies there as (address, element type, its "
      "bytes, shape).");
  m.def("launch", &launch, nb::arg("members"),
        "Runs kernels at once, each on a GPU of its own; a report for each.");
  m.def("load", &load, nb::arg("ptx"), nb::arg("name") = "<ptx>",
        "Parses PTX; ValueError names the line of a mistake.");
  m.def("demangle", &sim::demangle, nb::arg("name"),
        "The name of a C++ function as its source has it.");
  populateConstants(m);
}
