//===-- debugger.cpp - `tile._C.sim.Debugger` -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stops launches of the simulator, and looks at them. `tile.debugger` makes a
// debugger of it.
//===----------------------------------------------------------------------===//

#include "SimBindings.h"

#include "tile/Simulator/Debugger.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace tile;

namespace {
using Mark = std::tuple<uint32_t, int, uint32_t, uint32_t,
                        std::vector<std::string>, uint32_t, uint32_t, uint32_t>;
using Breakpoint = std::tuple<uint32_t, bool, std::string, uint32_t,
                              std::vector<uint32_t>, int64_t>;
using Watch = std::tuple<int64_t, uint64_t, uint64_t>;

std::unique_ptr<sim::Debugger>
make(const std::vector<Mark> &marks,
     std::vector<std::pair<uint32_t, uint32_t>> groups, nb::callable handler) {
  std::vector<sim::DebugMark> list;
  for (const auto &[line, kind, scope, function, registers, head, first,
                    count] : marks)
    list.push_back({line, sim::DebugMark::Kind(kind), scope, function,
                    registers, head, first, count});
  return std::make_unique<sim::Debugger>(
      std::move(list), std::move(groups), [handler](sim::DebugReason reason) {
        nb::gil_scoped_acquire acquire;
        return nb::cast<bool>(handler(int(reason)));
      });
}

nb::tuple placeOf(const sim::Place &p) {
  return nb::make_tuple(p.line, p.file, p.sourceLine, p.sourceColumn,
                        p.callFile, p.callLine, p.instruction);
}

nb::bytes bytesOf(const std::vector<std::byte> &data) {
  return nb::bytes(reinterpret_cast<const char *>(data.data()), data.size());
}

nb::list warps(const sim::Debugger &d) {
  nb::list out;
  for (const sim::DebugWarp &w : d.warps()) {
    nb::list fragments;
    for (const sim::DebugFragment &f : w.fragments)
      fragments.append(nb::make_tuple(
          f.lanes, placeOf(f.place), f.mark, f.depth, f.isWaiting, f.waitsFor,
          f.atMbarrier
              ? nb::object(nb::make_tuple(f.mbarrierRank, f.mbarrier, f.phase))
              : nb::none()));
    out.append(nb::make_tuple(w.rank, w.index, w.exited, w.calls, fragments));
  }
  return out;
}
} // namespace

void tile::python::populateDebugger(nb::module_ &m) {
  nb::class_<sim::Debugger>(m, "Debugger", "Stops launches, and looks at them.")
      .def(nb::new_(&make), nb::arg("marks"), nb::arg("groups"),
           nb::arg("handler"),
           "`marks` as (line, kind, scope, function, registers, head, first, "
           "count); "
           "`groups` of warps as (first, how many); "
           "`handler` gets the reason of a stop, and returns whether the "
           "launch goes on.")
      .def("set_breakpoints",
           [](sim::Debugger &d, const std::vector<Breakpoint> &list) {
             std::vector<sim::Debugger::Breakpoint> out;
             for (const auto &[number, isAssembly, file, line, marks, cta] :
                  list)
               out.push_back({number, isAssembly, file, line, marks, cta});
             d.setBreakpoints(std::move(out));
           })
      .def("stop_at_places", &sim::Debugger::stopAtPlaces, nb::arg("yes"),
           nb::arg("cta") = -1, nb::arg("warp") = -1)
      .def("stop_at_instructions", &sim::Debugger::stopAtInstructions,
           nb::arg("yes"), nb::arg("cta") = -1, nb::arg("warp") = -1)
      .def("stop_at_findings", &sim::Debugger::stopAtFindings)
      .def("stop_at", &sim::Debugger::stopAt)
      .def("set_watches",
           [](sim::Debugger &d, const std::vector<Watch> &list) {
             std::vector<sim::DebugWatch> out;
             for (const auto &[cta, address, size] : list)
               out.push_back({cta, address, size});
             d.setWatches(std::move(out));
           })
      .def("pause", &sim::Debugger::pause)
      .def_prop_ro("now", &sim::Debugger::now)
      .def_prop_ro("cta", &sim::Debugger::cta)
      .def_prop_ro("cta_number", &sim::Debugger::ctaNumber)
      .def_prop_ro("rank", &sim::Debugger::rank)
      .def_prop_ro("warp", &sim::Debugger::warp)
      .def_prop_ro("wave_lanes", &sim::Debugger::waveLanes)
      .def_prop_ro(
          "hit",
          [](const sim::Debugger &d) { return std::vector<uint32_t>(d.hit()); })
      .def_prop_ro("arrived",
                   [](const sim::Debugger &d) {
                     return std::vector<uint32_t>(d.arrived());
                   })
      .def_prop_ro("changed",
                   [](const sim::Debugger &d) -> nb::object {
                     if (std::optional<size_t> found = d.changed())
                       return nb::int_(*found);
                     return nb::none();
                   })
      .def_prop_ro("before",
                   [](const sim::Debugger &d) { return bytesOf(d.before()); })
      .def("warps", &warps,
           "(rank, index, exited lanes, calls, fragments); a fragment is "
           "(lanes, "
           "place, mark, depth, waits, what for, mbarrier).")
      .def("mbarriers",
           [](const sim::Debugger &d) {
             nb::list out;
             for (const sim::DebugMbarrier &b : d.mbarriers())
               out.append(nb::make_tuple(b.rank, b.offset, b.phase, b.pending,
                                         b.expected, b.bytes));
             return out;
           })
      .def("barriers",
           [](const sim::Debugger &d) {
             nb::list out;
             for (const sim::DebugBarrier &b : d.barriers())
               out.append(
                   nb::make_tuple(b.rank, b.number, b.arrived, b.expected));
             return out;
           })
      .def("shared", [](const sim::Debugger &d,
                        uint32_t rank) { return bytesOf(d.shared(rank)); })
      .def("shared_names",
           [](const sim::Debugger &d) {
             nb::list out;
             for (const auto &[name, range] : d.sharedNames())
               out.append(nb::make_tuple(name, range.first, range.second));
             return out;
           })
      .def("read_register", &sim::Debugger::readRegister, nb::arg("rank"),
           nb::arg("warp"), nb::arg("name"))
      .def("register_names", &sim::Debugger::registerNames)
      .def("captures",
           [](const sim::Debugger &d, uint32_t rank, uint32_t warp) {
             nb::list out;
             for (const sim::DebugCapture &c : d.captures(rank, warp)) {
               nb::bytes values(reinterpret_cast<const char *>(c.values.data()),
                                c.values.size() * sizeof(uint64_t));
               out.append(nb::make_tuple(c.head, c.stamps, c.counts, values));
             }
             return out;
           })
      .def("entered", &sim::Debugger::entered)
      .def(
          "findings",
          [](const sim::Debugger &d) {
            sim::Report report;
            report.ok = false;
            report.findings = d.findings();
            return report;
          },
          "What was found so far, as a report.")
      .def("places", [](const sim::Debugger &d) {
        nb::list out;
        for (const sim::Place &p : d.places())
          out.append(placeOf(p));
        return out;
      });
}
