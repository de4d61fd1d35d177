#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and uses dstok in clean Debian 12 systems: the Debian packages (without a network), the routes of pkg.py from an
# installed copy, and the packages installed by apt where nothing of the build is.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tests/pkg/clean_chroot.sh CHROOT      (as root, on Debian with debootstrap)

  CHROOT  a Debian 12 made by `debootstrap --variant=minbase bookworm CHROOT`; made when there is none.
          It is not changed: CHROOT.build and CHROOT.use are copies, made anew each time.

DEBOOTSTRAP_MIRROR names another mirror, DSTOK_JOBS how many programs may run at once (all cores). The packages end in CHROOT.build/build/*.deb.
TEXT
}

[ $# = 1 ] && [ "${1#-}" = "$1" ] || { usage >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "clean_chroot: run it as root" >&2; exit 1; }
# Mounts in a namespace of their own: they are gone when this script is.
[ "${DSTOK_OWN_MOUNTS-}" = 1 ] || exec unshare --mount env DSTOK_OWN_MOUNTS=1 bash "$0" "$@"
base=$(readlink -f "$1")
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
jobs=${DSTOK_JOBS:-$(nproc)}
version=$(sed -n '1s/^dstok (\(.*\)-.*/\1/p' "$root/debian/changelog")

say() { printf '== %s\n' "$*"; }

# inside CHROOT COMMAND...: with an environment that holds nothing of this machine
inside() {
    local where=$1
    shift
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy="$http_proxy"} chroot "$where" "$@"
}

# fresh CHROOT: a copy of the clean system
fresh() {
    rm -rf --one-file-system "$1"
    cp -a "$base" "$1"
    cp -L /etc/resolv.conf "$1/etc/resolv.conf"
    mount -t proc proc "$1/proc"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$1/dev/pts"
    inside "$1" apt-get update -q
}

[ -d "$base" ] || debootstrap --variant=minbase bookworm "$base" ${DEBOOTSTRAP_MIRROR:+"$DEBOOTSTRAP_MIRROR"}

say "1. the packages, built by a user without a network"
fresh "$base.build"
mkdir -p "$base.build/build/dstok-$version"
if [ "$(git -C "$root" rev-parse --show-toplevel 2>/dev/null)" = "$root" ]; then
    (cd "$root" && git ls-files -co --exclude-standard -z | tar c --null -T - --ignore-failed-read) |
        tar x -C "$base.build/build/dstok-$version"
else
    tar c -C "$root" --exclude=./build . | tar x -C "$base.build/build/dstok-$version"
fi
inside "$base.build" apt-get install -y -q --no-install-recommends build-essential lintian
inside "$base.build" apt-get build-dep -y -q --no-install-recommends "/build/dstok-$version"
inside "$base.build" useradd builder
inside "$base.build" chown -R builder /build
as_builder() {
    unshare --net env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/build DEB_BUILD_OPTIONS="parallel=$jobs" \
        chroot --userspec=builder "$base.build" bash -euc "cd /build/dstok-$version && $1"
}
as_builder 'dpkg-buildpackage -us -uc -b'
as_builder 'lintian --fail-on error --tag-display-limit 0 ../*.changes'
as_builder 'debian/rules clean && test ! -e build/debian'

say "2. an installed copy: find_package, pkg-config, add_subdirectory, the example service"
as_builder 'cmake -B build/release -DCMAKE_BUILD_TYPE=Release -DDSTOK_BUILD_TESTS=OFF >/dev/null &&
    cmake --build build/release --target dstok_product >/dev/null &&
    DSTOK_BUILD=build/release python3 tests/pkg/pkg.py && DSTOK_BIN=build/release/bin/dstok python3 tests/pkg/man.py'

say "3. the packages in a system of their own"
fresh "$base.use"
mkdir "$base.use/debs"
find "$base.build/build" -maxdepth 1 -name '*.deb' -not -name '*-dbgsym_*' -exec cp -t "$base.use/debs" {} +
cp -r "$root/debian/tests" "$base.use/debs"
inside "$base.use" bash -euc 'apt-get install -y -q --no-install-recommends /debs/dstok_*.deb /debs/libdstok0_*.deb
    dstok encode --json <<<"Hello"
    for other in libdstok-dev libdsx0 libjansson4; do if dpkg -s $other 2>/dev/null; then exit 1; fi; done'
inside "$base.use" bash -euc 'apt-get install -y -q --no-install-recommends /debs/*.deb
    apt-get install -y -q --no-install-recommends $(sed -n "s/^Depends://p" /debs/tests/control | tr , " ")
    /debs/tests/service
    dsexplain --version
    pkg-config --exists --print-errors dsx
    apt-get purge -y -q dsexplain dstok libdsx-dev libdsx0 libdstok-dev libdstok0
    test -z "$(find / -xdev \( -name "*dstok*" -o -name "libdsx*" -o -name "dsexplain*" \) -not -path "/debs/*" \
        -not -path "/tmp/*" -print)"'
say "done: $(cd "$base.build/build" && echo *.deb)"
