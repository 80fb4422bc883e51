#!/usr/bin/env bash
# Installs what the project needs: Debian packages (as root, or through sudo) and
# a virtual environment in .venv, made with $PYTHON (with the argument `packages`,
# the Debian packages only). Each step is skipped when it was done before.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
mkdir -p .setup

say() { printf '\033[1m==> %s\033[0m\n' "$*"; }

install_debian_packages() {
  local wanted missing=()
  mapfile -t wanted < scripts/debian-packages.txt
  # A Python of the distribution's own has its headers and venv in packages.
  if [ "$(readlink -f "$(command -v "$python")")" = "$(readlink -f /usr/bin/python3)" ]; then
    wanted+=(python3-dev python3-venv)
  fi
  for package in "${wanted[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Installing Debian packages: ${missing[*]}"
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "error: not root, and no sudo; install these packages by hand: ${missing[*]}" >&2; exit 1; }
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >.setup/apt.log 2>&1 ||
    { tail -20 .setup/apt.log >&2; exit 1; }
}

make_venv() {
  local stamp=.setup/venv.sum
  local sum
  sum=$( (cat scripts/requirements-dev.txt python/tile-compat.pth; "$python" -VV) | sha256sum)
  if [ -x .venv/bin/python ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ]; then return 0; fi
  say "Making .venv with $("$python" --version)"
  "$python" -m venv --clear .venv
  .venv/bin/python -m pip install -q --disable-pip-version-check -r scripts/requirements-dev.txt
  # The package is used in place: python/ holds the sources, and the dev build
  # writes the extension module beside them.
  .venv/bin/python - <<'PY'
import pathlib, sysconfig
site = pathlib.Path(sysconfig.get_paths()["purelib"])
package = pathlib.Path("python").resolve()
hook = (package / "tile-compat.pth").read_text()
(site / "tile-editable.pth").write_text(f"{package}\n{hook}")
PY
  echo "$sum" > "$stamp"
}

# The command `tile`, which a wheel would bring.
make_command() {
  [ ! -x .venv/bin/tile ] || return 0
  printf '#!%s\nimport sys\n\nfrom tile.cli import main\n\nsys.exit(main())\n' "$PWD/.venv/bin/python" > .venv/bin/tile
  chmod +x .venv/bin/tile
}

install_debian_packages
[ "${1:-}" = packages ] || { make_venv; make_command; }
