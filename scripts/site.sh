#!/usr/bin/env bash
# Builds the pages of docs/ as a site in build/site. A link to nowhere is an error.
# Once its environment is there, this needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
venv=.setup/site
stamp=$venv/requirements.sum
sum=$( (cat scripts/requirements-site.txt; "$python" -VV) | sha256sum)
if [ ! -x "$venv/bin/python" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$sum" ]; then
  echo "==> Making an environment for the site"
  "$python" -m venv --clear "$venv"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -r scripts/requirements-site.txt
  echo "$sum" > "$stamp"
fi
echo "==> Building build/site"
"$venv/bin/python" -m sphinx -q -W --keep-going -b html -d build/site-trees docs build/site
echo "==> build/site/index.html"
