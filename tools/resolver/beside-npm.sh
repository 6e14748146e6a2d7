# beside-npm.sh PID FOLDER…: what Go does while npm installs, which leaves it a core. It fetches the modules of these folders of
# tools/, and compiles those of the first, the smallest: its build then only has to link. It may go on beside the build of another
# server, but no longer than the process PID, which is make. Where anything fails, the build says why.

make=$1
shift
command -v go >/dev/null || exit 0
for built in "${XDG_CACHE_HOME:-$HOME/.cache}"/headroom/"$1"-*/"$1"; do
  [ ! -x "$built" ] || exit 0
done

cd "$(dirname "$0")/.." || exit
# As go-build.ts has them, without which Go compiles all of it again.
export GOFLAGS=-mod=readonly GOWORK=off

# Ends a command when make is gone: what a shell starts with & does not hear Ctrl-C, and `npm install` may have failed.
while_make_lives() {
  kill -0 "$make" || exit
  "$@" &
  command=$!
  (
    while kill -0 "$make"; do
      sleep 1
      kill -0 "$command" || exit
    done
    kill "$command"
  ) &
  wait "$command"
}

# A server on PATH is not built.
fetch() { ! command -v "$1" && cd "$1" && while_make_lives go list -deps tool; }

(fetch "$1" && while_make_lives nice go list -deps -export -trimpath tool) &
shift
for folder; do (fetch "$folder"); done
wait
