//===-- PipelineStage.cpp - Stages of a compile as pipelines --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Support/PipelineStage.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
struct NamedPoint {
  ExtensionPoint point;
  StringLiteral name;
};

constexpr NamedPoint kPoints[] = {
    {ExtensionPoint::TTIRStart, "ttir-start"},
    {ExtensionPoint::TTIREnd, "ttir-end"},
    {ExtensionPoint::LayoutsStart, "layouts-start"},
    {ExtensionPoint::LoopsStart, "loops-start"},
    {ExtensionPoint::CopiesStart, "copies-start"},
    {ExtensionPoint::CopiesEnd, "copies-end"},
    {ExtensionPoint::LLIRStart, "llir-start"},
    {ExtensionPoint::BeforeLowering, "before-lowering"},
    {ExtensionPoint::LLIREnd, "llir-end"},
};
} // namespace

std::optional<ExtensionPoint> triton::findExtensionPoint(StringRef name) {
  for (const NamedPoint &known : kPoints)
    if (known.name == name)
      return known.point;
  return std::nullopt;
}

LogicalResult PassAdder::checkInserted(
    function_ref<LogicalResult(const Twine &)> errorHandler) const {
  for (StringRef text : inserted) {
    auto [name, passes] = text.split(':');
    if (!findExtensionPoint(name)) {
      std::string message;
      llvm::raw_string_ostream os(message);
      os << "'" << name << "' is no extension point; the points are ";
      llvm::interleaveComma(kPoints, os,
                            [&](const NamedPoint &known) { os << known.name; });
      return errorHandler(message);
    }
    std::string error;
    llvm::raw_string_ostream os(error);
    OpPassManager parsed(pm.getOpAnchorName());
    if (passes.empty() || failed(parsePassPipeline(passes, parsed, os)))
      return errorHandler(
          "cannot insert '" + passes + "' at " + name + ": " +
          (error.empty() ? "no pass" : StringRef(error).trim()));
  }
  return success();
}

void PassAdder::operator()(std::unique_ptr<Pass> pass) const {
  if (!llvm::is_contained(disabled, pass->getArgument()))
    pm.addPass(std::move(pass));
}

void PassAdder::at(ExtensionPoint point) const {
  for (StringRef text : inserted) {
    auto [name, passes] = text.split(':');
    if (findExtensionPoint(name) != point)
      continue;
    LogicalResult parsed = parsePassPipeline(passes, pm);
    (void)parsed;
    assert(succeeded(parsed) && "checked before the stage is built");
  }
}
