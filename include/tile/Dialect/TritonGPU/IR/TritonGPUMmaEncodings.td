//===-- TritonGPUMmaEncodings.td - Accumulators ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_MMAENCODINGS_TD
#define TILE_TRITONGPU_MMAENCODINGS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUAttrBase.td"

/// Implements, beside the methods without a default, those in `methods`.
class TTG_MmaEncoding<string cppName, string attrMnemonic,
                      list<string> methods = []>
    : TTG_DistributedEncoding<
          cppName, attrMnemonic,
          [DeclareAttrInterfaceMethods<MmaEncodingTrait, methods>]>;

def TTG_NvidiaMmaEncodingAttr
    : TTG_MmaEncoding<"NvidiaMmaEncoding", "nvidia_mma",
                      ["getDefaultKWidth", "verifyOperand"]> {
  let summary = "accumulator of an NVIDIA mma or wgmma instruction";
  let description = [{
    Version 2 is the warp-wide `mma.sync` (Turing, Ampere, and later consumer
    parts): `instrShape` is [16, 8], with a leading batch size where the dot
    has rank 3. Version 3 is Hopper's `wgmma`: `instrShape` is [16, N, K], and
    four warps along M form a warp group.

    Example:

    ```mlir
    #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1],
                     instrShape = [16, 128, 16]}>
    ```
  }];
  let parameters = (ins
    "unsigned":$versionMajor,
    "unsigned":$versionMinor,
    ArrayRefParameter<"unsigned">:$warpsPerCTA,
    "::mlir::triton::gpu::CTALayoutAttr":$CTALayout,
    ArrayRefParameter<"unsigned">:$instrShape
  );
  let extraClassDeclaration = [{
    bool isVolta() const { return getVersionMajor() == 1; }
    bool isTuring() const {
      return getVersionMajor() == 2 && getVersionMinor() == 1;
    }
    bool isAmpere() const { return getVersionMajor() == 2; }
    bool isHopper() const { return getVersionMajor() == 3; }
  }];
}

def TTG_AMDMfmaEncodingAttr
    : TTG_MmaEncoding<"AMDMfmaEncoding", "amd_mfma", ["getThreadsPerWarp"]> {
  let summary = "accumulator of an AMD CDNA matrix instruction";
  let description = [{
    `version` counts the generations of CDNA: 1 (gfx908), 2 (gfx90a), 3
    (gfx942), 4 (gfx950). `instrShape` is [M, N, K]. With `isTransposed`, a
    thread's consecutive elements lie along N instead of M. `tilesPerWarp` says
    how many neighbouring instruction tiles a warp computes (default: one in
    each dimension); `elementBitWidth` is 32, or 64 for fp64 accumulators.

    Example:

    ```mlir
    #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2],
                   instrShape = [32, 32, 8], isTransposed = true}>
    ```
  }];
  let parameters = (ins
    "unsigned":$version,
    ArrayRefParameter<"unsigned">:$warpsPerCTA,
    ArrayRefParameter<"unsigned">:$instrShape,
    "bool":$isTransposed,
    "::mlir::triton::gpu::CTALayoutAttr":$CTALayout,
    ArrayRefParameter<"unsigned">:$tilesPerWarp,
    "unsigned":$elementBitWidth
  );
}

def TTG_AMDWmmaEncodingAttr : TTG_MmaEncoding<"AMDWmmaEncoding", "amd_wmma"> {
  let summary = "accumulator of an AMD RDNA matrix instruction";
  let description = [{
    `version` is 1 (gfx11), 2 (gfx12) or 3 (gfx1250). `instrShape` is [M, N, K]
    and [16, 16, 16] unless printed; `tilesPerWarp` as in `amd_mfma`.

    Example:
    `#ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2]}>`
  }];
  let parameters = (ins
    "unsigned":$version,
    "bool":$isTransposed,
    ArrayRefParameter<"unsigned">:$warpsPerCTA,
    "::mlir::triton::gpu::CTALayoutAttr":$CTALayout,
    ArrayRefParameter<"unsigned">:$tilesPerWarp,
    ArrayRefParameter<"unsigned">:$instrShape
  );
}

#endif // TILE_TRITONGPU_MMAENCODINGS_TD
