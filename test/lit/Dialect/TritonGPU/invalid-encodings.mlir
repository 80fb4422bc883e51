// RUN: tile-opt %s -split-input-file -verify-diagnostics

// What the verifiers of encodings reject: those of registers.

// expected-error @+1 {{'order' is [1, 1], expected each of 0 to 1 once}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 1]}>} {}

// -----

// expected-error @+1 {{'warpsPerCTA' has rank 1, but 'order' has rank 2}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4], order = [1, 0]}>} {}

// -----

// expected-error @+1 {{'threadsPerWarp' holds 3, expected powers of two}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 3], warpsPerCTA = [4, 1], order = [1, 0]}>} {}

// -----

// expected-error @+1 {{'sizePerThread' holds 0, expected powers of two}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [0, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>} {}

// -----

// expected-error @+1 {{a blocked layout has at least one dimension}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [], threadsPerWarp = [], warpsPerCTA = [], order = []}>} {}

// -----

// expected-error @+1 {{expected key 'order'}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4]}>} {}

// -----

// expected-error @+1 {{unknown key "colour"}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], colour = 3}>} {}

// -----

// expected-error @+1 {{'sizePerThread' takes a list of non-negative integers, found [1, -8]}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, -8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>} {}

// -----

// expected-error @+1 {{'CGALayout' has a basis of 1 coordinates, expected 2}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1]]}>} {}

// -----

// expected-error @+1 {{'CGALayout' takes a list of bases like [[0, 1], [2, 0]], found [1, 0]}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [1, 0]}>} {}

// -----

// expected-error @+1 {{expected key 'CTASplitNum'}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CTAsPerCGA = [2]}>} {}

// -----

// expected-error @+1 {{'CTASplitNum' splits a dimension in 4, but it has 2 blocks}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CTAsPerCGA = [2], CTASplitNum = [4], CTAOrder = [0]}>} {}

// -----

// expected-error @+1 {{a basis has 1 coordinates, expected 2}}
module attributes {ttg.enc = #ttg.cta_layout<{rank = 2, bases = [[1]]}>} {}

// -----

// expected-error @+1 {{expected key 'block'}}
module attributes {ttg.enc = #ttg.linear<{register = [[0, 1]], lane = [], warp = []}>} {}

// -----

// expected-error @+1 {{'lane' has a basis of 1 coordinates, expected 2}}
module attributes {ttg.enc = #ttg.linear<{register = [[0, 1]], lane = [[1]], warp = [], block = []}>} {}

// -----

// expected-error @+1 {{expected at least one basis: the rank of the layout is unknown without}}
module attributes {ttg.enc = #ttg.linear<{register = [], lane = [], warp = [], block = []}>} {}

// -----

// A coordinate of 1 cannot be reached.
// expected-error @+1 {{invalid linear layout}}
module attributes {ttg.enc = #ttg.linear<{register = [[2]], lane = [], warp = [], block = []}>} {}

// -----

// expected-error @+1 {{'lane' has the coordinate 16777216, which is out of range}}
module attributes {ttg.enc = #ttg.linear<{register = [[1]], lane = [[16777216]], warp = [], block = []}>} {}

// -----

// expected-error @+1 {{'dim' is 2, but the parent has rank 2}}
module attributes {ttg.enc = #ttg.slice<{dim = 2, parent = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>}>} {}

// -----

// expected-error @+1 {{'parent' has at least two dimensions, found 1}}
module attributes {ttg.enc = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>}>} {}

// -----

// expected-error @+1 {{'parent' is a distributed encoding, found #ttg.shared_memory}}
module attributes {ttg.enc = #ttg.slice<{dim = 0, parent = #ttg.shared_memory}>} {}

// -----

// expected-error @+1 {{'dim' takes a non-negative integer, found -1}}
module attributes {ttg.enc = #ttg.slice<{dim = -1, parent = #ttg.shared_memory}>} {}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// expected-error @+1 {{'opIdx' is 2, expected 0 or 1}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 2, parent = #blocked}>} {}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// expected-error @+1 {{'kWidth' is for parents that are matrix instructions; this one is blocked}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 0, parent = #blocked, kWidth = 2}>} {}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// expected-error @+1 {{'kWidth' is missing: this parent is a matrix instruction}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 0, parent = #mma}>} {}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// expected-error @+1 {{'kWidth' is 3, expected a power of two}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 3}>} {}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// expected-error @+1 {{'opIdx' is 1, but wgmma takes only its left operand from registers}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>} {}

// -----

// expected-error @+1 {{'parent' is a blocked encoding or that of a matrix instruction}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 1, parent = #ttg.shared_memory}>} {}

// -----

// expected-error @+1 {{'versionMajor' is 1, expected 2 (mma) or 3 (wgmma)}}
module attributes {ttg.enc = #ttg.nvidia_mma<{versionMajor = 1, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 16]}>} {}

// -----

// expected-error @+1 {{'instrShape' is [16, 16], expected [16, 8] for mma version 2}}
module attributes {ttg.enc = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 16]}>} {}

// -----

// expected-error @+1 {{'instrShape' is [16, 12, 16], expected [16, N, K] for mma version 3}}
module attributes {ttg.enc = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 12, 16]}>} {}

// -----

// expected-error @+1 {{'warpsPerCTA' is [2, 2], expected groups of 4 warps along M for mma version 3}}
module attributes {ttg.enc = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 64, 16]}>} {}

// -----

// expected-error @+1 {{'warpsPerCTA' has rank 1, expected 2, or 3 for a batch of products}}
module attributes {ttg.enc = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4], instrShape = [16, 8]}>} {}

// -----

// expected-error @+1 {{'version' is 5, expected 1 to 4}}
module attributes {ttg.enc = #ttg.amd_mfma<{version = 5, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>} {}

// -----

// expected-error @+1 {{'instrShape' is [32, 32], expected [M, N, K]}}
module attributes {ttg.enc = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32], isTransposed = true}>} {}

// -----

// expected-error @+1 {{'elementBitWidth' is 16, expected 32 or 64}}
module attributes {ttg.enc = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true, elementBitWidth = 16}>} {}

// -----

// expected-error @+1 {{'tilesPerWarp' has rank 1, but 'warpsPerCTA' has rank 2}}
module attributes {ttg.enc = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2], tilesPerWarp = [1]}>} {}

// -----

// expected-error @+1 {{'isTranspose' takes true or false, found 1}}
module attributes {ttg.enc = #ttg.amd_wmma<{version = 1, isTranspose = 1, warpsPerCTA = [2, 2]}>} {}

// -----

// expected-error @+1 {{'version' is 4, expected 1 to 3}}
module attributes {ttg.enc = #ttg.amd_wmma<{version = 4, isTranspose = true, warpsPerCTA = [2, 2]}>} {}
