#!/usr/bin/env bash
# Unpacks Debian packages of a release and an architecture into a folder, without installing them:
#   scripts/packages_of.sh RELEASE ARCHITECTURE FOLDER PACKAGE...
# The lists are apt's, in a place that nothing else uses. What the packages depend on is not taken.
set -euo pipefail
release=$1 architecture=$2 root=$3
shift 3
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
mkdir -p "$root" "$state"/{lists/partial,cache/archives/partial,debs}
: > "$state/status"
{
  echo "deb http://deb.debian.org/debian $release main"
  # LLVM 22 came to Debian 12 as a security update.
  [ "$release" != bookworm ] || echo "deb http://deb.debian.org/debian-security bookworm-security main"
} > "$state/sources.list"
options=(-o APT::Architecture="$architecture" -o APT::Architectures="$architecture"
  -o Dir::State="$state" -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status"
  -o Dir::Cache="$state/cache" -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o Dir::Etc::preferencesparts=/dev/null -o APT::Sandbox::User=root -o Acquire::Languages=none)
apt-get "${options[@]}" update -qq
(cd "$state/debs" && apt-get "${options[@]}" download -qq "$@")
for package in "$state"/debs/*.deb; do dpkg-deb -x "$package" "$root"; done
