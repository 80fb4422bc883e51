// RUN: tile-opt %s -split-input-file -verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @source(%x: tensor<128xf32, #blocked>) {
  // expected-error @+1 {{expected a source of encoding #gluon.auto_encoding, found 'tensor<128xf32, #ttg.blocked}}
  %y = gluon.set_auto_layout %x : tensor<128xf32, #blocked> -> tensor<128xf32, #blocked>
  tt.return
}

// -----

tt.func @result(%x: tensor<128xf32, #gluon.auto_encoding>) {
  // expected-error @+1 {{expected a result with a layout of its own, found 'tensor<128xf32, #gluon.auto_encoding>'}}
  %y = gluon.set_auto_layout %x : tensor<128xf32, #gluon.auto_encoding> -> tensor<128xf32, #gluon.auto_encoding>
  tt.return
}
