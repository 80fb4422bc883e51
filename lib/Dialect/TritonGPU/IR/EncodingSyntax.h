//===-- EncodingSyntax.h - Reading and printing encodings -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Encodings print as `<{key = value, ...}>`. The reader takes the keys in any
// order, reports those that are missing, unknown or of the wrong kind, and
// leaves defaults alone. Checks beyond the syntax belong to the verifiers.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TRITONGPU_IR_ENCODINGSYNTAX_H
#define TILE_LIB_TRITONGPU_IR_ENCODINGSYNTAX_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "tile/Dialect/TritonGPU/IR/Attributes.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::triton::gpu {

class EncodingReader {
public:
  explicit EncodingReader(AsmParser &parser)
      : parser(parser), loc(parser.getCurrentLocation()) {}

  /// Reads `{...}`.
  ParseResult readKeys();

  /// Each of these succeeds without touching `value` where an optional key is
  /// absent; a required key that is absent is an error.
  ParseResult uints(StringRef key, SmallVectorImpl<unsigned> &value,
                    bool required = true);
  ParseResult uintValue(StringRef key, unsigned &value, bool required = true);
  ParseResult boolean(StringRef key, bool &value, bool required = true);
  ParseResult attribute(StringRef key, Attribute &value, bool required = true);
  ParseResult bases(StringRef key, LinearLayout::DimBases &value,
                    bool required = true);
  /// `CGALayout = [[..]]` or the older CTAsPerCGA, CTASplitNum, CTAOrder; one
  /// block where there is neither. A rank of 0 means: as many as the bases say,
  /// else `defaultRank`.
  ParseResult ctaLayout(unsigned rank, CTALayoutAttr &value,
                        unsigned defaultRank = 0);
  /// A layout from the bases under the keys `inDims`; the keys after the first
  /// `numRequired` may be absent.
  ParseResult linearLayout(ArrayRef<StringRef> inDims, unsigned numRequired,
                           std::optional<LinearLayout> &value);
  bool has(StringRef key) const { return keys && keys.contains(key); }

  /// Reports keys that nothing has asked for.
  ParseResult finish();

  InFlightDiagnostic error() { return parser.emitError(loc); }

private:
  Attribute take(StringRef key, bool required, bool &failed);

  AsmParser &parser;
  SMLoc loc;
  DictionaryAttr keys;
  llvm::StringSet<> taken;
};

/// Helpers of the printers; each prints `key = value`.
void printUInts(AsmPrinter &printer, StringRef key, ArrayRef<unsigned> value);
void printBases(AsmPrinter &printer, StringRef key,
                const LinearLayout::DimBases &value);
/// `, CGALayout = ...` unless a cluster has one block.
void printCTALayout(AsmPrinter &printer, CTALayoutAttr layout);
/// The bases of the in dims, separated by commas.
void printLinearLayout(AsmPrinter &printer, const LinearLayout &layout,
                       bool skipEmptyBlock = false);

/// Checks of the verifiers.
using EmitError = function_ref<InFlightDiagnostic()>;
LogicalResult verifyPowersOfTwo(EmitError emitError, StringRef name,
                                ArrayRef<unsigned> values);
LogicalResult verifyRank(EmitError emitError, StringRef name, size_t found,
                         StringRef expectedName, size_t expected);
LogicalResult verifyOrder(EmitError emitError, ArrayRef<unsigned> order);
LogicalResult verifyCTALayout(EmitError emitError, CTALayoutAttr layout,
                              unsigned rank);
/// The dims of a layout are `inDims` and dim0, dim1, ..., and it reaches every
/// element.
LogicalResult verifyLinearLayout(EmitError emitError,
                                 const LinearLayout &layout,
                                 ArrayRef<StringRef> inDims);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_IR_ENCODINGSYNTAX_H
