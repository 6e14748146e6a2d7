import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const RESOLVER = join(import.meta.dirname, '../../../tools/resolver/main.ts');
/** Commands of the shell, without those that are stood in for. */
const NEEDED = ['sh', 'dirname', 'mkdir', 'cat', 'chmod', 'touch'];

let home: string;
let bin: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'resolver-package-'));
  bin = join(home, 'bin');
  mkdirSync(bin);
  for (const name of NEEDED) put(name, `exec /bin/${name} "$@"`);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function put(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

const WITH_TLS = 'printf "memcached 1.6.99\\n-p, --port\\n-Z, --enable-ssl\\n"';

/** A stand-in for Debian's tools, which has memcached once its lists are made, and a package of libraries. */
function installApt(memcached: string): void {
  put(
    'apt-get',
    `echo "$*" >> '${join(home, 'apt')}'
case "$*" in
  *update) touch '${join(home, 'lists')}' ;;
  *download*) if [ ! -e '${join(home, 'lists')}' ]; then echo 'E: Unable to locate package memcached' >&2; exit 100; fi
    for name in "$@"; do case "$name" in memcached|lib*) touch "$name.deb" ;; esac; done ;;
esac`,
  );
  put('apt-cache', 'printf "memcached\\n  Depends: adduser\\n  Depends: libc6\\n  Depends: libevent-2.1-7\\n"');
  put(
    'dpkg',
    `case "$2" in
  */lib*) mkdir -p "$3/usr/lib/x-gnu"; touch "$3/usr/lib/x-gnu/libevent.so" ;;
  *) mkdir -p "$3/usr/bin"; cat > "$3/usr/bin/memcached" <<'END'
#!/bin/sh
${memcached}
END
chmod +x "$3/usr/bin/memcached" ;;
esac`,
  );
}

async function resolve(): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const env = { PATH: bin, HOME: home, XDG_CACHE_HOME: join(home, 'cache') };
  return await new Promise((done) => {
    execFile(process.execPath, [RESOLVER, 'memcached'], { env }, (error, stdout, stderr) => {
      done({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

describe('the resolver of packages', () => {
  it('takes the one on PATH, if it is of the version and has TLS', async () => {
    put('memcached', WITH_TLS);
    expect(await resolve()).toMatchObject({ code: 0, stdout: `${join(bin, 'memcached')}\n` });
  });

  it('makes lists of its own where the machine has none, unpacks the package once, and leaves nothing half-done', async () => {
    put('memcached', 'printf "memcached 1.6.99\\n-p, --port\\n"');
    installApt(WITH_TLS);
    const first = await resolve();
    expect(first.code).toBe(0);
    expect(readFileSync(join(home, 'apt'), 'utf8').trim().split('\n')).toEqual([
      '-q download memcached',
      expect.stringMatching(/^-o Dir::State=\S+ -o Dir::Cache=\S+ -q update$/),
      expect.stringMatching(/^-o Dir::State=\S+ -o Dir::Cache=\S+ -q download memcached$/),
    ]);
    rmSync(join(bin, 'apt-get'));
    expect(await resolve()).toEqual({ ...first, stderr: '' });
    const [folder = ''] = readdirSync(join(home, 'cache', 'headroom'));
    expect(readdirSync(join(home, 'cache', 'headroom', folder)).toSorted()).toEqual(['lock', 'unpacked']);
  });

  it('unpacks the libraries that the machine lacks beside it', async () => {
    installApt(`case "$LD_LIBRARY_PATH" in */usr/lib/x-gnu) ;; *) exit 127 ;; esac
[ -e "\${LD_LIBRARY_PATH##*:}/libevent.so" ] || exit 127
${WITH_TLS}`);
    expect(await resolve()).toMatchObject({ code: 0 });
    expect(readFileSync(join(home, 'apt'), 'utf8')).toMatch(/download libevent-2\.1-7\n$/);
  });

  it('without apt-get it says in one sentence what to install', async () => {
    const { code, stderr } = await resolve();
    expect(code).toBe(69);
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      'memcached 1.6 is not on PATH, and could not be unpacked from a package (there is no apt-get here): install memcached 1.6 with TLS',
    );
  });
});
