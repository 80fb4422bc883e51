//===-- DimNames.cpp - Names of layout dimensions -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/DimNames.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include <cassert>
#include <mutex>

using namespace llvm;

namespace mlir::triton {

static constexpr StringLiteral kLogicalDims[] = {"dim0", "dim1", "dim2", "dim3",
                                                 "dim4", "dim5", "dim6", "dim7",
                                                 "dim8", "dim9"};

StringRef kDim(unsigned i) {
  if (i < std::size(kLogicalDims))
    return kLogicalDims[i];
  return internDimName(("dim" + Twine(i)).str());
}

SmallVector<StringRef> standardOutDimNames(unsigned rank) {
  SmallVector<StringRef> names;
  for (unsigned i = 0; i < rank; ++i)
    names.push_back(kDim(i));
  return names;
}

StringRef internDimName(StringRef name) {
  for (StringRef known :
       {StringRef(kRegister), StringRef(kLane), StringRef(kWarp),
        StringRef(kBlock), StringRef(kOffset)})
    if (name == known)
      return known;
  for (StringRef known : kLogicalDims)
    if (name == known)
      return known;
  // Never freed: layouts with these names may outlive any static destructor.
  static std::mutex mutex;
  static StringSet<> *names = new StringSet<>();
  std::lock_guard<std::mutex> lock(mutex);
  return names->insert(name).first->getKey();
}

} // namespace mlir::triton
