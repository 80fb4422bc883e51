// RUN: tile-opt %s -split-input-file -verify-diagnostics

// What the verifiers of encodings reject: those of shared memory, and of the
// types that use them.

// expected-error @+1 {{expected 'vec' to hold powers of two, found 3}}
module attributes {ttg.enc = #ttg.swizzled_shared<{vec = 3, perPhase = 1, maxPhase = 8, order = [1, 0]}>} {}

// -----

// expected-error @+1 {{expected 'maxPhase' to hold powers of two, found 0}}
module attributes {ttg.enc = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 0, order = [1, 0]}>} {}

// -----

// expected-error @+1 {{expected 'order' to hold each of 0 to 1 once, found [0, 2]}}
module attributes {ttg.enc = #ttg.amd_rotating_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 2]}>} {}

// -----

// expected-error @+1 {{expected a shared layout of at least one dimension, found none}}
module attributes {ttg.enc = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = []}>} {}

// -----

// expected-error @+1 {{expected 'swizzlingByteWidth' to be 0, 32, 64 or 128, found 48}}
module attributes {ttg.enc = #ttg.nvmma_shared<{swizzlingByteWidth = 48, transposed = false, elementBitWidth = 16}>} {}

// -----

// expected-error @+1 {{expected 'elementBitWidth' to be 8, 16, 32 or 64, found 4}}
module attributes {ttg.enc = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 4}>} {}

// -----

// expected-error @+1 {{expected 'elementBitWidth' to be 8 with 'fp4Padded', which is for pairs of 4-bit numbers in bytes, found 16}}
module attributes {ttg.enc = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, fp4Padded = true}>} {}

// -----

// expected-error @+1 {{expected two dimensions with 'transposed', found one}}
module attributes {ttg.enc = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16, rank = 1}>} {}

// -----

// expected-error @+1 {{'CGALayout' has a basis of 3 coordinates, expected 2}}
module attributes {ttg.enc = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, rank = 2, CGALayout = [[1, 0, 0]]}>} {}

// -----

// expected-error @+1 {{expected at least one pair of interval and padding}}
module attributes {ttg.enc = #ttg.padded_shared<[] {order = [1, 0], shape = [32, 64]}>} {}

// -----

// expected-error @+1 {{expected each interval once, found 32 twice}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+4, 32:+8] {order = [1, 0], shape = [32, 64]}>} {}

// -----

// expected-error @+1 {{expected 'padding' to hold powers of two, found 3}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+3] {order = [1, 0], shape = [32, 64]}>} {}

// -----

// expected-error @+1 {{expected 'shape' to hold powers of two, found 48}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 48]}>} {}

// -----

// expected-error @+1 {{expected 'shape' to have rank 2, like 'order', found 1}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32]}>} {}

// -----

// expected-error @+1 {{unknown key "offset"}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32], offset = []}>} {}

// -----

// expected-error @+1 {{expected key 'block'}}
module attributes {ttg.enc = #ttg.padded_shared<[32:+4] {offset = [[0, 1]]}>} {}

// -----

// expected-error @+1 {{expected 'alignment' to hold powers of two, found 12}}
module attributes {ttg.enc = #ttg.shared_linear<{offset = [[0, 1], [1, 0]]}, alignment = 12>} {}

// -----

// expected-error @+1 {{invalid linear layout}}
module attributes {ttg.enc = #ttg.shared_linear<{offset = [[0, 1], [0, 4]]}, alignment = 16>} {}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @+1 {{expected 'partitionDim' to be below the rank of the layout, 2, found 2}}
module attributes {ttg.enc = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 2, partitionLayout = #shared}>} {}

// -----

// expected-error @+1 {{expected 'partitionLayout' to be an encoding of shared memory that is not partitioned itself}}
module attributes {ttg.enc = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0, partitionLayout = #ttg.shared_memory}>} {}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @+1 {{expected a shape of rank 2, like the encoding (or 3 for an array of buffers), found [32]}}
tt.func private @f(!ttg.memdesc<32xf16, #shared, #ttg.shared_memory>)

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{expected dimensions of a buffer that are powers of two, found [3, 48]}}
tt.func private @f(!ttg.memdesc<3x48xf16, #shared, #ttg.shared_memory>)

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{expected a view no larger than the whole buffer, [32], found [64]}}
tt.func private @f(!ttg.memdesc<64xf16, #shared, #ttg.shared_memory, mutable, 32>)

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{expected a whole buffer of no fewer dimensions than the view, [2, 64], found [64]}}
tt.func private @f(!ttg.memdesc<2x64xf16, #shared, #ttg.shared_memory, mutable, 64>)

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// expected-error @+1 {{expected an encoding of memory, found one of registers}}
tt.func private @f(!ttg.memdesc<64xf16, #blocked, #ttg.shared_memory>)

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{expected elements that are numbers or pointers, found 'vector<2xf16>'}}
tt.func private @f(!ttg.memdesc<64xvector<2xf16>, #shared, #ttg.shared_memory>)

// -----

// expected-error @+1 {{expected a memory descriptor of at least one dimension, found none}}
tt.func private @f(!ttg.memdesc<f16, #ttg.shared_memory, #ttg.shared_memory>)

// -----

// Rows that are shorter than what the swizzle mixes, in one block and in two.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// expected-error @+1 {{a swizzle of 128 bytes needs rows of at least 64 elements, but they have 32}}
tt.func private @f(!ttg.memdesc<3x64x32xf16, #shared, #ttg.shared_memory, mutable>)

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>
// expected-error @+1 {{a swizzle of 128 bytes needs rows of at least 64 elements, but they have 32}}
tt.func private @f(!ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory>)

// -----

// expected-error @+1 {{'CGALayout' has a block at part 2 of dimension 0, which has 2 parts}}
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[2, 0]]}>

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{expected dimensions of a whole buffer that are powers of two, found [48]}}
tt.func private @f(!ttg.memdesc<32xf16, #shared, #ttg.shared_memory, mutable, 48>)

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
// expected-error @+1 {{expected elements of at least 8 bits outside of shared memory, found 'i1'}}
module attributes {ttg.ty = !ttg.memdesc<128x128xi1, #tmem, #ttnvgpu.tensor_memory>} {}
