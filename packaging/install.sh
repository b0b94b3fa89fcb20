#!/bin/sh
# Installs Wavetank from the unpacked release archive that holds this script. It needs no network.
#
#   sh install.sh                   into /usr/local as root, else into ~/.local
#   sh install.sh --prefix DIR      into DIR
#   sh install.sh --uninstall       remove what it installed; takes --prefix too
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prefix=
uninstall=no

fail() {
  echo "error: $1" >&2
  [ -z "${2:-}" ] || echo "hint: $2" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    --prefix)
      [ $# -ge 2 ] || fail "--prefix needs a directory" "use --prefix /opt/wavetank"
      prefix=$2
      shift 2
      ;;
    --uninstall)
      uninstall=yes
      shift
      ;;
    -h | --help)
      sed -n '2,6s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) fail "unexpected argument \`$1\`" "use --prefix DIR or --uninstall" ;;
  esac
done

if [ -z "$prefix" ]; then
  if [ "$(id -u)" = 0 ]; then
    prefix=/usr/local
  else
    prefix=${HOME:?}/.local
  fi
fi

bin=$prefix/bin/wavetank
man=$prefix/share/man/man1
bash_completion=$prefix/share/bash-completion/completions/wavetank
zsh_completion=$prefix/share/zsh/site-functions/_wavetank
fish_completion=$prefix/share/fish/vendor_completions.d/wavetank.fish

if [ "$uninstall" = yes ]; then
  rm -f "$bin" "$man"/wavetank.1 "$man"/wavetank-*.1 "$bash_completion" "$zsh_completion" "$fish_completion"
  echo "removed Wavetank from $prefix"
  exit 0
fi

[ "$(uname -s)" = Linux ] || fail "this archive holds Linux programs, and this system is $(uname -s)"
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no binary for the processor $(uname -m)" "build from source with cargo build --release" ;;
esac
[ -f "$here/linux/$arch/wavetank" ] || fail "this archive has no binary for $arch" "use the archive of both architectures"

if command -v sha256sum >/dev/null; then
  (cd "$here" && sha256sum --check --quiet SHA256SUMS) || fail "a file differs from SHA256SUMS" "unpack the archive again"
else
  echo "warning: sha256sum is not installed, so the files were not checked" >&2
fi

# Installs file $1 as $2 with mode $3. The new file replaces a running program without disturbing it.
place() {
  mkdir -p "$(dirname "$2")" || fail "cannot create $(dirname "$2")" "use --prefix with a directory you may write to"
  cp "$1" "$2.new" && chmod "$3" "$2.new" && mv -f "$2.new" "$2" || fail "cannot write $2"
}

place "$here/linux/$arch/wavetank" "$bin" 755
for page in "$here"/share/man/man1/*.1; do
  place "$page" "$man/$(basename "$page")" 644
done
place "$here/share/completions/wavetank.bash" "$bash_completion" 644
place "$here/share/completions/_wavetank" "$zsh_completion" 644
place "$here/share/completions/wavetank.fish" "$fish_completion" 644

echo "installed $("$bin" --version) as $bin"
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) echo "hint: add $prefix/bin to PATH" ;;
esac
