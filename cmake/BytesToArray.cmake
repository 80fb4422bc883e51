# cmake -DIN=... -DOUT=... -P: the bytes of a file as the elements of an array in C.
file(READ "${IN}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE "${OUT}" "${bytes}\n")
