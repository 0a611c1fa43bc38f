#!/bin/sh
# Installs @NAME@ @VERSION@ from an archive, after its checksum was compared. Made by `cargo xtask dist`.
set -eu

usage() {
    cat <<'USAGE'
Installs @NAME@ @VERSION@.

  sh install.sh [--from WHERE] [--prefix FOLDER]

  --from WHERE      the folder or the address (https://…) that has the archive and SHA256SUMS
                    [default: $@VARIABLE@_FROM, or this script's own folder]
  --prefix FOLDER   where to install: FOLDER/bin, FOLDER/share
                    [default: $@VARIABLE@_PREFIX, or ~/.local]
USAGE
}

fail() {
    echo "error: $1" >&2
    exit 1
}

# The system, as the archives are named.
find_target() {
    case "$(uname -s) $(uname -m)" in
@TARGETS@
        *) fail "there is no archive for $(uname -s) on $(uname -m)" ;;
    esac
}

# Brings a file from WHERE into the work folder.
take() {
    case "$from" in
        http://* | https://*)
            if command -v curl >/dev/null 2>&1; then
                curl --fail --silent --show-error --location --output "$work/$1" "$from/$1"
            elif command -v wget >/dev/null 2>&1; then
                wget --quiet --output-document="$work/$1" "$from/$1"
            else
                fail "neither curl nor wget is installed"
            fi
            ;;
        *)
            [ -f "$from/$1" ] || fail "$from has no $1"
            cp "$from/$1" "$work/$1"
            ;;
    esac
}

sha256_of() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    else
        fail "neither sha256sum nor shasum is installed, so the archive cannot be checked"
    fi
}

from="${@VARIABLE@_FROM:-}"
prefix="${@VARIABLE@_PREFIX:-}"
while [ $# -gt 0 ]; do
    case "$1" in
        --from | --prefix)
            [ $# -ge 2 ] || fail "$1 needs a value"
            if [ "$1" = --from ]; then from="$2"; else prefix="$2"; fi
            shift 2
            ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 64 ;;
    esac
done

if [ -z "$from" ] && [ -f "$0" ]; then
    beside="$(cd "$(dirname "$0")" && pwd)"
    [ ! -f "$beside/SHA256SUMS" ] || from="$beside"
fi
[ -n "$from" ] || fail "no address is known yet from which the archive could be had; name a folder or an address with --from"
from="${from%/}"
if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || fail "there is no HOME; name a folder with --prefix"
    prefix="$HOME/.local"
fi

target="$(find_target)"
folder="@NAME@-@VERSION@-$target"
archive="$folder.tar.gz"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

take SHA256SUMS
expected="$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/SHA256SUMS")"
[ -n "$expected" ] || fail "SHA256SUMS has no line for $archive"
take "$archive"
actual="$(sha256_of "$work/$archive")"
[ "$actual" = "$expected" ] || fail "the checksum of $archive is wrong: it is $actual, and $expected is expected; nothing was installed"

tar -xzf "$work/$archive" -C "$work"
# The program goes last and is moved into place: one that runs is not written over, and one that is there is whole.
mkdir -p "$prefix/bin" "$prefix/share/doc/@NAME@"
cp -R "$work/$folder/share/." "$prefix/share/"
for text in "$work/$folder"/*; do
    [ ! -f "$text" ] || cp "$text" "$prefix/share/doc/@NAME@/"
done
cp "$work/$folder/bin/@NAME@" "$prefix/bin/.@NAME@.new"
chmod 755 "$prefix/bin/.@NAME@.new"
mv -f "$prefix/bin/.@NAME@.new" "$prefix/bin/@NAME@"

echo "installed $("$prefix/bin/@NAME@" --version) into $prefix"
case ":${PATH:-}:" in
    *":$prefix/bin:"*) echo "go on with: @NAME@" ;;
    *) echo "hint: $prefix/bin is not on your PATH; put this into your shell's settings: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
case "${SHELL:-}" in
    *zsh) echo "hint: zsh completes after this, before compinit: fpath=(\"$prefix/share/zsh/site-functions\" \$fpath)" ;;
esac
