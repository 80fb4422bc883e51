// RUN: tile-opt %s -split-input-file -verify-diagnostics

tt.func @generic() {
  // expected-error @+1 {{'ttng.cluster_wait' is read in its custom form only; write the generic form as "ttnvgpu.cluster_wait"}}
  "ttng.cluster_wait"() : () -> ()
  tt.return
}

// -----

tt.func @generic_with_properties() {
  // expected-error @+1 {{'ttng.cluster_arrive' is read in its custom form only; write the generic form as "ttnvgpu.cluster_arrive"}}
  "ttng.cluster_arrive"() <{relaxed = false}> : () -> ()
  tt.return
}

// -----

tt.func @generic_with_attributes() {
  // expected-error @+1 {{'ttng.cluster_arrive' is read in its custom form only; write the generic form as "ttnvgpu.cluster_arrive"}}
  "ttng.cluster_arrive"() {relaxed = false} : () -> ()
  tt.return
}

// -----

tt.func @unknown_operation() {
  // expected-error @+1 {{custom op 'ttng.no_such_thing' is unknown}}
  ttng.no_such_thing
  tt.return
}

// -----

// expected-error @+1 {{no_such_encoding}}
#tmem = #ttng.no_such_encoding<blockM = 128>

// -----

// The alias verifies like the operation it stands for.
tt.func @verified() {
  // expected-error @+1 {{'ttnvgpu.async_tma_store_wait' op attribute 'pendings' failed to satisfy constraint}}
  ttng.async_tma_store_wait {pendings = -1 : i32}
  tt.return
}

// -----

// An attribute that says what the operation does would not hold, if nobody knew it.
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
tt.func @arrive(%bar: !ttg.memdesc<2xi64, #bar, #smem, mutable>) {
  // expected-error @+1 {{unknown attribute 'someBlocks' of 'ttnvgpu.arrive_barrier'}}
  ttng.arrive_barrier %bar, 1 {someBlocks = 1 : i32} : !ttg.memdesc<2xi64, #bar, #smem, mutable>
  tt.return
}

