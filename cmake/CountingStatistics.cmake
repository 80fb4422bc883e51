# cmake -DIN=... -DOUT=... -P: the declarations of passes with statistics of ours.
file(READ "${IN}" text)
string(REPLACE "::mlir::Pass::Statistic" "::mlir::triton::PassStatistic" text "${text}")
file(WRITE "${OUT}" "${text}")
