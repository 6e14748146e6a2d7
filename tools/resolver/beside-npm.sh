# beside-npm.sh FOLDER…: what Go does while npm installs, which leaves it a core. It fetches the modules of these folders of tools/,
# and compiles those of the first, the smallest: its build then only has to link. It may go on beside the build of another server.
# Where anything fails, the build says why.

command -v go >/dev/null || exit 0
for built in "${XDG_CACHE_HOME:-$HOME/.cache}"/headroom/"$1"-*/"$1"; do
  [ ! -x "$built" ] || exit 0
done

cd "$(dirname "$0")/.." || exit
# As go-build.ts has them, without which Go compiles all of it again.
export GOFLAGS=-mod=readonly GOWORK=off
(cd "$1" && go list -deps tool && GOGC="${GOGC:-400}" nice go list -deps -export -trimpath tool) &
shift
for folder; do (cd "$folder" && go list -deps tool); done
wait
