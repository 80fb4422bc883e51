//===-- TritonGPUCTALayout.td - Over a cluster -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In a file of its own because the interfaces of encodings return this class,
// so that its declaration must come before theirs.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_CTALAYOUT_TD
#define TILE_TRITONGPU_CTALAYOUT_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUAttrBase.td"

def TTG_CTALayoutAttr : TTG_Attr<"CTALayout", "cta_layout"> {
  let summary = "how the blocks of a cluster share a tensor";
  let description = [{
    Given by one basis for each bit of the index of a block in its cluster. It is
    the step of this bit, in units of one block's part of the tensor. A
    zero basis means that the two blocks hold the same data.

    Encodings print it as `CGALayout = [[1, 0]]`, and leave it out where the
    cluster has one block. The older form of three keys is read too:
    `CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]`.

    Example, standing alone: `#ttg.cta_layout<{rank = 2, bases = [[1, 0]]}>`.
  }];
  let parameters = (ins
    "unsigned":$rank,
    ArrayRefParameter<"int32_t", "`rank` values for each bit">:$flatBases,
    ArrayRefParameter<"unsigned">:$CTAsPerCGA,
    ArrayRefParameter<"unsigned">:$CTASplitNum,
    ArrayRefParameter<"unsigned">:$CTAOrder
  );
  // The last three parameters follow from the first two, so only these builders
  // make an attribute.
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "unsigned":$rank,
                     "::llvm::ArrayRef<std::vector<int32_t>>":$bases)>,
    AttrBuilder<(ins "::llvm::ArrayRef<unsigned>":$CTAsPerCGA,
                     "::llvm::ArrayRef<unsigned>":$CTASplitNum,
                     "::llvm::ArrayRef<unsigned>":$CTAOrder)>
  ];
  let extraClassDeclaration = [{
    /// One block per cluster.
    static CTALayoutAttr getDefault(::mlir::MLIRContext *context, unsigned rank);
    /// `numCTAs` blocks that split the tensor along the dimensions in `order`,
    /// from the slowest one inwards as far as `shape` (if not empty) allows.
    static CTALayoutAttr getSplit(::mlir::MLIRContext *context, unsigned numCTAs,
                                  ::llvm::ArrayRef<int64_t> shape,
                                  ::llvm::ArrayRef<unsigned> order);
    unsigned getNumBases() const { return getFlatBases().size() / getRank(); }
    ::llvm::ArrayRef<int32_t> getBasis(unsigned i) const {
      return getFlatBases().slice(i * getRank(), getRank());
    }
    std::vector<std::vector<int32_t>> getBases() const;
    unsigned getNumCTAs() const { return 1u << getNumBases(); }
    bool isDefault() const { return getNumBases() == 0; }
    /// block -> (dim0, dim1, ...), each dim as large as the split.
    ::mlir::triton::LinearLayout getLinearLayout() const;
    /// Without dimension `dim`; with a new dimension of size 1 at `dim`; with
    /// dimension i of the result being dimension order[i].
    CTALayoutAttr dropDim(unsigned dim) const;
    CTALayoutAttr insertDim(unsigned dim) const;
    CTALayoutAttr permute(::llvm::ArrayRef<int32_t> order) const;
  }];
  let hasCustomAssemblyFormat = 1;
}

#endif // TILE_TRITONGPU_CTALAYOUT_TD
