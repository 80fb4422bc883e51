// RUN: tile-opt %s -split-input-file -verify-diagnostics

// What the verifiers of encodings reject: those of registers.

// expected-error @+1 {{expected 'order' to hold each of 0 to 1 once, found [1, 1]}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 1]}>} {}

// -----

// expected-error @+1 {{expected 'warpsPerCTA' to have rank 2, like 'order', found 1}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4], order = [1, 0]}>} {}

// -----

// expected-error @+1 {{expected 'threadsPerWarp' to hold powers of two, found 3}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 3], warpsPerCTA = [4, 1], order = [1, 0]}>} {}

// -----

// expected-error @+1 {{expected 'sizePerThread' to hold powers of two, found 0}}
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [0, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>} {}

// -----

// expected-error @+1 {{expected a blocked layout of at least one dimension, found none}}
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

// expected-error @+1 {{expected 'dim' to be below the rank of the parent, 2, found 2}}
module attributes {ttg.enc = #ttg.slice<{dim = 2, parent = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>}>} {}

// -----

// expected-error @+1 {{expected 'parent' to have at least two dimensions, found 1}}
module attributes {ttg.enc = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>}>} {}

// -----

// expected-error @+1 {{expected 'parent' to be a distributed encoding, found #ttg.shared_memory}}
module attributes {ttg.enc = #ttg.slice<{dim = 0, parent = #ttg.shared_memory}>} {}

// -----

// expected-error @+1 {{'dim' takes a non-negative integer, found -1}}
module attributes {ttg.enc = #ttg.slice<{dim = -1, parent = #ttg.shared_memory}>} {}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// expected-error @+1 {{expected 'opIdx' to be 0 or 1, found 2}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 2, parent = #blocked}>} {}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// expected-error @+1 {{expected no 'kWidth' beside a blocked parent, found}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 0, parent = #blocked, kWidth = 2}>} {}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// expected-error @+1 {{expected 'kWidth' beside a parent that is a matrix instruction, found none}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 0, parent = #mma}>} {}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// expected-error @+1 {{expected 'kWidth' to be a power of two, found 3}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 3}>} {}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// expected-error @+1 {{expected 'opIdx' to be 0, as wgmma takes only its left operand from registers, found 1}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>} {}

// -----

// expected-error @+1 {{expected 'parent' to be a blocked encoding or that of a matrix instruction}}
module attributes {ttg.enc = #ttg.dot_op<{opIdx = 1, parent = #ttg.shared_memory}>} {}

// -----

// expected-error @+1 {{expected 'versionMajor' to be 2 (mma) or 3 (wgmma), found 1}}
module attributes {ttg.enc = #ttg.nvidia_mma<{versionMajor = 1, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 16]}>} {}

// -----

// expected-error @+1 {{expected 'instrShape' to be [16, 8] for mma version 2 (with a leading 1 in a batch), found [16, 16]}}
module attributes {ttg.enc = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 16]}>} {}

// -----

// expected-error @+1 {{expected 'instrShape' to be [16, N, K] for mma version 3, with N a multiple of 8 up to 256, found [16, 12, 16]}}
module attributes {ttg.enc = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 12, 16]}>} {}

// -----

// expected-error @+1 {{expected 'warpsPerCTA' to have rank 2, or 3 for a batch of products, found 1}}
module attributes {ttg.enc = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4], instrShape = [16, 8]}>} {}

// -----

// expected-error @+1 {{expected 'version' to be 1 to 4, found 5}}
module attributes {ttg.enc = #ttg.amd_mfma<{version = 5, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>} {}

// -----

// expected-error @+1 {{expected 'instrShape' to be [M, N, K], found [32, 32]}}
module attributes {ttg.enc = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32], isTransposed = true}>} {}

// -----

// expected-error @+1 {{expected 'elementBitWidth' to be 32 or 64, found 16}}
module attributes {ttg.enc = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true, elementBitWidth = 16}>} {}

// -----

// expected-error @+1 {{expected 'tilesPerWarp' to have rank 2, like 'warpsPerCTA', found 1}}
module attributes {ttg.enc = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2], tilesPerWarp = [1]}>} {}

// -----

// expected-error @+1 {{'isTranspose' takes true or false, found 1}}
module attributes {ttg.enc = #ttg.amd_wmma<{version = 1, isTranspose = 1, warpsPerCTA = [2, 2]}>} {}

// -----

// expected-error @+1 {{expected 'version' to be 1 to 3, found 4}}
module attributes {ttg.enc = #ttg.amd_wmma<{version = 4, isTranspose = true, warpsPerCTA = [2, 2]}>} {}
