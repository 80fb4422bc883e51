# cmake -DCLANG=.. -DOBJECT=.. [-DBELOW=..] -DPCH=.. -P: gives the precompiled header OBJECT the name
# PCH, and writes PCH.sum: a digest of the files that OBJECT was made of, and of the precompiled
# header BELOW it. No path is in the digest, so it is the same in all clones.
file(REMOVE ${PCH} ${PCH}.sum)
file(CREATE_LINK ${OBJECT} ${PCH} COPY_ON_ERROR)
execute_process(COMMAND ${CLANG} -module-file-info ${PCH}
                OUTPUT_VARIABLE info RESULT_VARIABLE failed ERROR_VARIABLE error)
string(REGEX MATCHALL "Input file: [^\n]+" inputs "${info}")
if(failed OR NOT inputs)
  message(FATAL_ERROR "${CLANG} does not say what ${PCH} was made of: ${error}")
endif()
set(digests)
if(EXISTS "${BELOW}.sum")
  file(SHA256 ${BELOW}.sum digests)
elseif(BELOW)
  file(SHA256 ${BELOW} digests)
endif()
foreach(input ${inputs})
  string(REGEX REPLACE "^Input file: | \\[[^]]*\\]$" "" path "${input}")
  file(SHA256 "${path}" digest)
  string(APPEND digests " ${digest}")
endforeach()
string(SHA256 sum "${digests}")
file(WRITE ${PCH}.sum "${sum}\n")
