#!/usr/bin/env bash
# Makes .setup/sysroot/<machine>, which wheels are linked against:
#   scripts/sysroot.sh x86_64|aarch64
# It has the C library of Debian 11. Its symbols are those of glibc 2.28 (scripts/glibc_stubs.py), so that wheels run on
# older systems than the one that builds them. For another machine than this one it also has LLVM, MLIR, the C++
# library and Python's headers, all of them Debian's packages. Nothing of it is installed on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
machine=$1
glibc=2.28
case $machine in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) echo "error: no sysroot for $machine; there are x86_64 and aarch64" >&2; exit 2 ;;
esac
triple=$machine-linux-gnu
root=.setup/sysroot/$machine
stamp=$root/made.sum
sum=$(cat scripts/sysroot.sh scripts/packages_of.sh scripts/glibc_stubs.py | sha256sum)
[ "$(cat "$stamp" 2>/dev/null)" != "$sum" ] || exit 0

# Which packages are taken from which release.
old=(libc6 libc6-dev linux-libc-dev libgcc-10-dev libgcc-s1)
common=(libstdc++-12-dev zlib1g-dev libzstd-dev)
foreign=(libmlir-22-dev libmlir-22 mlir-22-tools llvm-22-dev llvm-22 llvm-22-tools llvm-22-linker-tools libllvm22)
headers=(libpython3.13-dev)

download() { scripts/packages_of.sh "$1" "$architecture" "$root" "${@:2}"; }

rm -rf "$root"
mkdir -p "$root"
echo "==> Making $root"
download bookworm "${common[@]}"
if [ "$machine" != "$(uname -m)" ]; then
  download bookworm "${foreign[@]}"
  download trixie "${headers[@]}"
fi
download bullseye "${old[@]}"
# Debian 11 has /lib apart from /usr.
cp -a "$root/lib/." "$root/usr/lib/"
rm -rf "$root/lib" "$root/lib64"
ln -s usr/lib "$root/lib"
ln -s usr/lib "$root/lib64"
# The unwinder of GCC 12 wants glibc 2.35. The one of GCC 10 does the same and wants nothing new. Compilers look for
# both libraries in one folder.
gcc=$root/usr/lib/gcc/$triple
cp -a "$gcc/10/." "$gcc/12/"
rm -rf "$gcc/10"
# Links of packages that begin with / are meant to begin at the root of the system.
find "$root" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(realpath -sm --relative-to="$(dirname "$link")" "$root$(readlink "$link")")" "$link"
done
python3 scripts/glibc_stubs.py --version $glibc --triple $triple "$root"
echo "$sum" > "$stamp"
