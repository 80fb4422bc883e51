// RUN: tile-opt %s -split-input-file | filecheck %s

// Every attribute in the form in which it prints, and the other forms that are
// read. Encodings print under the aliases that users know.

// CHECK: #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: module attributes {ttg.enc = #blocked}
module attributes {ttg.enc = #ttg.blocked<{order = [1, 0], sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1]}>} {}

// -----

// CHECK: #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = {{\[}}[1], [0]]}>
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1], [0]]}>} {}

// -----

// The older spelling of the same. One block prints nothing.

// CHECK: #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[}}[0, 1], [1, 0], [0, 0]]}>
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [4, 2], CTASplitNum = [2, 2], CTAOrder = [1, 0]}>} {}

// -----

// CHECK: #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {ttg.enc = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>} {}

// -----

// CHECK: #linear = #ttg.linear<{register = {{\[}}[0, 32], [4, 0], [8, 0], [16, 0]], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[}}[1, 0], [2, 0]], block = []}>
module attributes {ttg.enc = #ttg.linear<{register = [[0, 32], [4, 0], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], block = []}>} {}

// -----

// CHECK: #linear = #ttg.linear<{register = [], lane = {{\[}}[1], [2]], warp = {{\[}}[0]], block = {{\[}}[4]]}>
module attributes {ttg.enc = #ttg.linear<{register = [], lane = [[1], [2]], warp = [[0]], block = [[4]]}>} {}

// -----

// Slices and operands of products print in place, their parents as aliases.

#parent = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: #blocked = #ttg.blocked
// CHECK: module attributes {ttg.dot = #ttg.dot_op<{opIdx = 1, parent = #blocked}>, ttg.slice = #ttg.slice<{dim = 1, parent = #blocked}>}
module attributes {ttg.slice = #ttg.slice<{dim = 1, parent = #parent}>, ttg.dot = #ttg.dot_op<{opIdx = 1, parent = #parent}>} {}

// -----

// CHECK: #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], CGALayout = {{\[}}[1, 0]], instrShape = [16, 8]}>
// CHECK: ttg.dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#m = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8], CGALayout = [[1, 0]]}>
module attributes {ttg.dot = #ttg.dot_op<{opIdx = 0, parent = #m, kWidth = 2}>} {}

// -----

// CHECK: #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 2, 2], instrShape = [1, 16, 8]}>
// CHECK: #mma1 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {ttg.a = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 2, 2], instrShape = [1, 16, 8]}>,
                   ttg.b = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>} {}

// -----

// The minor version may be left out.
// CHECK: #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {ttg.a = #ttg.nvidia_mma<{versionMajor = 3, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>} {}

// -----

// CHECK-DAG: #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
// CHECK-DAG: #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = false, CGALayout = {{\[}}[1, 0]], tilesPerWarp = [2, 1], elementBitWidth = 64}>
module attributes {ttg.a = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true, elementBitWidth = 32}>,
                   ttg.b = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = false, elementBitWidth = 64, tilesPerWarp = [2, 1], CGALayout = [[1, 0]]}>} {}

// -----

// CHECK-DAG: #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2]}>
// CHECK-DAG: #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [2, 2], CGALayout = {{\[}}[1, 0]], tilesPerWarp = [2, 1], instrShape = [16, 16, 32]}>
module attributes {ttg.a = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 2], instrShape = [16, 16, 16]}>,
                   ttg.b = #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [2, 2], tilesPerWarp = [2, 1], instrShape = [16, 16, 32], CGALayout = [[1, 0]]}>} {}

// -----

// CHECK: #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0], CGALayout = {{\[}}[1, 0]]}>
// CHECK: #shared1 = #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>
// CHECK: #smem = #ttg.shared_memory
module attributes {ttg.a = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0], CGALayout = [[1, 0]]}>,
                   ttg.b = #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>,
                   ttg.c = #ttg.shared_memory} {}

// -----

// CHECK-DAG: #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8, fp4Padded = true}>
// CHECK-DAG: #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 3}>
// CHECK-DAG: #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = {{\[}}[1, 0, 0]]}>
module attributes {ttg.a = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, rank = 2}>,
                   ttg.b = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8, fp4Padded = true}>,
                   ttg.c = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 3}>,
                   ttg.d = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0, 0]]}>} {}

// -----

// A padded layout that is the identity prints the order and the shape.

// CHECK-DAG: #ttg.padded_shared<[256:+16, 512:+8] {order = [1, 0], shape = [32, 64]}>
// CHECK-DAG: #ttg.padded_shared<[256:+16] {order = [1, 0], shape = [2, 16]}>
// CHECK-DAG: #ttg.padded_shared<[4:+2] {offset = {{\[}}[0, 1], [0, 2], [1, 0], [0, 4]], block = []}>
// CHECK-DAG: #ttg.padded_shared<[4:+2] {offset = {{\[}}[0, 1], [0, 2]], block = {{\[}}[0, 4]]}>
module attributes {ttg.a = #ttg.padded_shared<[256:+16, 512:+8] {order = [1, 0], shape = [32, 64]}>,
                   ttg.b = #ttg.padded_shared<[256:+16] {offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], block = []}>,
                   ttg.c = #ttg.padded_shared<[4:+2] {offset = [[0, 1], [0, 2], [1, 0], [0, 4]], block = []}>,
                   ttg.d = #ttg.padded_shared<[4:+2] {offset = [[0, 1], [0, 2]], block = [[0, 4]]}>} {}

// -----

// CHECK-DAG: #ttg.shared_linear<{offset = {{\[}}[0, 1], [0, 2], [1, 0], [2, 2]]}, alignment = 16>
// CHECK-DAG: #ttg.shared_linear<{offset = {{\[}}[0, 1], [1, 0]], block = {{\[}}[2, 0]]}, alignment = 128>
module attributes {ttg.a = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 2]], block = []}, alignment = 16>,
                   ttg.b = #ttg.shared_linear<{offset = [[0, 1], [1, 0]], block = [[2, 0]]}, alignment = 128>} {}

// -----

// CHECK: #shared = #ttg.swizzled_shared
// CHECK: #shared1 = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0, partitionLayout = #shared}>
#part = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
module attributes {ttg.a = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0, partitionLayout = #part}>} {}

// -----

// CHECK: ttg.a = #ttg.cta_layout<{rank = 2, bases = {{\[}}[1, 0], [0, 0]]}>
module attributes {ttg.a = #ttg.cta_layout<{rank = 2, bases = [[1, 0], [0, 0]]}>} {}

// -----

// CHECK: ttg.a = #ttg<addr_space local>
// CHECK-SAME: ttg.b = #ttg<addr_space global_read|global_write>
module attributes {ttg.a = #ttg<addr_space local>, ttg.b = #ttg<addr_space global_read|global_write>} {}
