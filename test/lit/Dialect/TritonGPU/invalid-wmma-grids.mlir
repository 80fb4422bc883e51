// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{the last of which counts fastest}}
#rows_first = #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = [[1, 0], [0, 1]]}}>

// -----

// expected-error @+1 {{the last of which counts fastest}}
#a_gap = #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = [[0, 2]]}}>

// -----

// expected-error @+1 {{expected a 'ctaLayout' of bases 'register' and 'warp'}}
#lanes = #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {lane = [[0, 1]]}}>

// -----

// expected-error @+1 {{expected a 'ctaLayout' of bases 'register' and 'warp'}}
#three = #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = [[0, 0, 1]]}}>
