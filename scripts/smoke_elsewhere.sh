#!/usr/bin/env bash
# Runs a kernel with the wheels in dist/ where this machine's own interpreters are not enough (as root):
#   scripts/smoke_elsewhere.sh python3.14|aarch64 [WHEEL]
# python3.14: the newest Debian, in a folder of its own. aarch64: Debian's Python 3.13 for it, under qemu-user.
set -euo pipefail
cd "$(dirname "$0")/.."
what=$1
mkdir -p .setup/roots
root=$PWD/.setup/roots/$what
need() { command -v "$1" >/dev/null || apt-get install -y -qq --no-install-recommends "$2" >/dev/null; }

case $what in
  python3.14)
    wheel=${2:-$(ls dist/tile_compiler-*-abi3-*x86_64.whl)}
    need mmdebstrap mmdebstrap
    # Lists of the newest release are valid for a week only, which a clock or a mirror may have passed.
    [ -x "$root/usr/bin/python3.14" ] ||
      mmdebstrap --quiet --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' \
        --include=python3.14-venv,ca-certificates sid "$root" http://deb.debian.org/debian
    mkdir -p "$root/smoke/scripts"
    cp "$wheel" scripts/smoke.sh "$root/smoke/scripts/"
    cp -r examples "$root/smoke/"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    cp -r /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    ls -d "$root/dev/null" >/dev/null 2>&1 || mknod -m 666 "$root/dev/null" c 1 3
    chroot "$root" /smoke/scripts/smoke.sh "/smoke/scripts/$(basename "$wheel")" /usr/bin/python3.14
    ;;
  aarch64)
    wheel=${2:-$(ls dist/tile_compiler-*-abi3-*aarch64.whl)}
    need mmdebstrap mmdebstrap
    need qemu-aarch64-static qemu-user-static
    [ -x "$root/usr/bin/python3.13" ] || {
      scripts/packages_of.sh trixie arm64 "$root" libc6 libstdc++6 libgcc-s1 zlib1g libexpat1 libffi8 libssl3t64 \
        libbz2-1.0 liblzma5 python3.13-minimal libpython3.13-minimal libpython3.13-stdlib
      ln -sfn usr/lib "$root/lib"
    }
    # Programs that it starts would not run, so pip of this machine installs.
    packages=$root/packages
    rm -rf "$packages"
    .setup/wheel-3.12/bin/python -m pip install -q --disable-pip-version-check --target "$packages" --only-binary=:all: \
      --python-version 3.13 --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 "$wheel[interpreter]"
    export PYTHONPATH=$packages TILE_CACHE_DIR=$root/cache
    for example in vector_add softmax matmul; do
      qemu-aarch64-static -L "$root" "$root/usr/bin/python3.13" "examples/$example.py"
    done
    echo "==> $(basename "$wheel"): $(qemu-aarch64-static -L "$root" "$root/usr/bin/python3.13" -c 'import platform; print(platform.machine(), platform.python_version())')"
    ;;
  *) echo "error: python3.14 or aarch64, not $what" >&2; exit 2 ;;
esac
