// RUN: tile-opt %s -split-input-file -verify-diagnostics

// What the verifiers of encodings reject: those of shared memory, and of the
// types that use them.

// expected-error @+1 {{'vec' holds 3, expected powers of two}}
module attributes {ttg.enc = #ttg.swizzled_shared<{vec = 3, perPhase = 1, maxPhase = 8, order = [1, 0]}>} {}

// -----

// expected-error @+1 {{'maxPhase' holds 0, expected powers of two}}
module attributes {ttg.enc = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 0, order = [1, 0]}>} {}

// -----

// expected-error @+1 {{'order' is [0, 2], expected each of 0 to 1 once}}
module attributes {ttg.enc = #ttg.amd_rotating_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 2]}>} {}

// -----

// expected-error @+1 {{a shared layout has at least one dimension}}
module attributes {ttg.enc = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = []}>} {}

// -----

// expected-error @+1 {{'swizzlingByteWidth' is 48, expected 0, 32, 64 or 128}}
module attributes {ttg.enc = #ttg.nvmma_shared<{swizzlingByteWidth = 48, transposed = false, elementBitWidth = 16}>} {}

// -----

// expected-error @+1 {{'elementBitWidth' is 4, expected 8, 16, 32 or 64}}
module attributes {ttg.enc = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 4}>} {}

// -----

// expected-error @+1 {{'fp4Padded' is for pairs of 4-bit numbers in bytes, but 'elementBitWidth' is 16}}
module attributes {ttg.enc = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, fp4Padded = true}>} {}

// -----

// expected-error @+1 {{'transposed' needs two dimensions}}
module attributes {ttg.enc = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16, rank = 1}>} {}

// -----

// expected-error @+1 {{'CGALayout' has a basis of 3 coordinates, expected 2}}
module attributes {ttg.enc = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, rank = 2, CGALayout = [[1, 0, 0]]}>} {}

// -----

// expected-error @+1 {{expected at least one pair of interval and padding}}
module attributes {ttg.enc = #ttg.padded_shared<[] {order = [1, 0], shape = [32, 64]}>} {}

// -----

// expected-error @+1 {{the interval 32 appears twice}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+4, 32:+8] {order = [1, 0], shape = [32, 64]}>} {}

// -----

// expected-error @+1 {{'padding' holds 3, expected powers of two}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+3] {order = [1, 0], shape = [32, 64]}>} {}

// -----

// expected-error @+1 {{'shape' holds 48, expected powers of two}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 48]}>} {}

// -----

// expected-error @+1 {{'shape' has rank 1, but 'order' has rank 2}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32]}>} {}

// -----

// expected-error @+1 {{unknown key "offset"}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32], offset = []}>} {}

// -----

// expected-error @+1 {{expected key 'block'}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+4] {offset = [[0, 1]]}>} {}

// -----

// expected-error @+1 {{'alignment' holds 12, expected powers of two}}
module attributes {ttg.enc = #ttg.shared_linear<{offset = [[0, 1], [1, 0]]}, alignment = 12>} {}

// -----

// expected-error @+1 {{invalid linear layout}}
module attributes {ttg.enc = #ttg.shared_linear<{offset = [[0, 1], [0, 4]]}, alignment = 16>} {}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @+1 {{'partitionDim' is 2, but the layout has rank 2}}
module attributes {ttg.enc = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 2, partitionLayout = #shared}>} {}

// -----

// expected-error @+1 {{'partitionLayout' is an encoding of shared memory that is not partitioned itself}}
module attributes {ttg.enc = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0, partitionLayout = #ttg.shared_memory}>} {}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @+1 {{the encoding has rank 2, expected a shape of rank 2 (or 3 for an array of buffers), found [32]}}
tt.func private @f(!ttg.memdesc<32xf16, #shared, #ttg.shared_memory>)

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{the dimensions of a buffer are powers of two, found [3, 48]}}
tt.func private @f(!ttg.memdesc<3x48xf16, #shared, #ttg.shared_memory>)

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{the view, [64], is larger than the whole buffer, [32]}}
tt.func private @f(!ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable, 32>)

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{the shape of the whole buffer, [64], has fewer dimensions than the view, [2, 64]}}
tt.func private @f(!ttg.memdesc<2x64xf16, #shared, #ttg.shared_memory, mutable, 64>)

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// expected-error @+1 {{a memory descriptor has an encoding of memory, found one of registers}}
tt.func private @f(!ttg.memdesc<64xf16, #blocked, #ttg.shared_memory>)

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{the elements of a memory descriptor are numbers or pointers, found 'vector<2xf16>'}}
tt.func private @f(!ttg.memdesc<64xvector<2xf16>, #shared, #ttg.shared_memory>)

// -----

// expected-error @+1 {{a memory descriptor has at least one dimension}}
tt.func private @f(!ttg.memdesc<f16, #ttg.shared_memory, #ttg.shared_memory>)
