/** What the programs say and with what they end when they are called in a wrong way, or only asked for help. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { freePort } from '../kernel/servers/free-port.ts';
import { startOf } from '../kernel/stack/programs.ts';
import { headroom, runProgram } from './run-program.ts';

// Some start processes of their own, and many start at once.
vi.setConfig({ testTimeout: 180_000 });

const CLUSTER = { CLUSTER_NAME: 'test' };

describe.concurrent('headroom, called in a wrong way,', () => {
  it.each<[string[], string]>([
    [['explode'], "error: unknown command 'explode'"],
    [['status'], "error: missing required argument 'namespace/quota'"],
    [['explain', 'compute'], '"compute" is not <namespace>/<quota>, such as team-a/compute'],
    [['approve', 'team-a/compute/x'], '"team-a/compute/x" is not <namespace>/<quota>'],
    [['approve', '/compute'], '"/compute" is not <namespace>/<quota>'],
    [['status', 'a/b', 'c'], 'too many arguments'],
    [['list', '--output', 'xml'], 'Allowed choices are text, json, table.'],
    [['gc', '--soon'], "error: unknown option '--soon'"],
    [['explain', 'memcached', 'team-a/sessions'], 'error: ask headroom memcached explain\n'],
    [['usage', 'team-a', '--all-resources'], 'error: of a namespace or a quota every limit is shown'],
    [['lights-out', 'preview', '--csv'], 'error: --csv is a form of --workloads: add it'],
    [['lights-out', 'wake', 'nights', '--for', '1y'], '--for: "1y" is no span of time: write 3h, 90m or 2d'],
  ])('says what is wrong with %j, and ends with 2', async (args, message) => {
    const { code, stdout, stderr } = await headroom(args, CLUSTER);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/\n\(headroom (?:\S+ )*--help (?:lists the commands|says what it takes)\)\n$/);
    expect(stderr).not.toContain('    at ');
  });

  it('says that the name of the cluster is missing, with the flag that it knows, and ends with 2', async () => {
    const { code, stderr } = await headroom(['list']);
    expect(code).toBe(2);
    expect(stderr).toContain('CLUSTER_NAME, --cluster-name');
    expect((await headroom(['--cluster-name', 'no spaces', 'list'])).stderr).toContain('at most 63 letters');
  });

  it('says what is wrong with the arguments of a command together, and ends with 2', async () => {
    const { code, stdout, stderr } = await headroom(['pause'], CLUSTER);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: name one thing: a target such as team-a\/compute, /);
  });

  it('lists its commands when it gets none, and ends with 2', async () => {
    const { code, stderr } = await headroom([], CLUSTER);
    expect(code).toBe(2);
    for (const name of [
      'gc',
      'list',
      'status',
      'pause',
      'resume',
      'approve',
      'reject',
      'reconcile-now',
      'skip-cooldown',
    ]) {
      expect(stderr).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    }
  });
});

describe.concurrent('headroom without Temporal', () => {
  it('says in one sentence where it looked, and ends with 1', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const { code, stdout, stderr } = await headroom(['list'], { ...CLUSTER, TEMPORAL_ADDRESS: address });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      new RegExp(`^Temporal cannot be reached at ${address}: .*\\. Set TEMPORAL_ADDRESS, or start Temporal\\.\\n$`),
    );
  });
});

describe.concurrent('headroom as a program of its own', () => {
  it.each<[string[], number]>([
    [['--help'], 0],
    [['explode'], 2],
    [['status', 'team-a'], 2],
    [['sources', '--repo', 'test/layouts/plain'], 0],
    [['sources', '--repo', '/nowhere'], 2],
  ])('says and ends with %j as it does in the process of a test', async (args, code) => {
    const outcome = await runProgram('headroom', args, CLUSTER);
    expect(outcome.code).toBe(code);
    expect(outcome).toEqual(await headroom(args, CLUSTER));
  });

  it('ends with 1 where Temporal is away, with nothing that keeps it running', async () => {
    const env = { ...CLUSTER, TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    expect(await runProgram('headroom', ['list'], env)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Temporal cannot be reached at [^\n]*\n$/),
    });
  });

  it('reads its standard input', async () => {
    const args = ['lights-out', 'preview', '--file', '-'];
    expect(await runProgram('headroom', args, {}, 'kind: ConfigMap\n')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'standard input has no LightsOutSchedule\n',
    });
  });

  it('is silent where its reader has read enough, as head has', async () => {
    const { command, args, env } = await startOf('headroom');
    const child = spawn(command, [...args, 'sources', '--repo', 'test/layouts/plain'], {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const ended = once(child, 'exit');
    expect(await text(child.stderr)).toBe('');
    expect(await ended).toEqual([0, null]);
  });
});

describe.concurrent('--help', () => {
  it('of headroom says what each command does, and ends with 0', async () => {
    const { code, stdout } = await headroom(['--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/approve .*approve the open pull request for its values and its head/);
    expect((await headroom(['approve', '--help'])).stdout).toMatch(
      /--by <name> +who gives the command \(default: your user name\)/,
    );
  });

  it.each(['worker', 'starter'] as const)('of the %s shows every setting, and ends with 0', async (program) => {
    const { code, stdout } = await runProgram(program, ['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: ${program} [controller ...] [--flag value ...]`);
    expect(stdout).toContain('--mode, HEADROOM_MODE');
    expect(stdout).toContain('Default: observe');
  });
});

describe.concurrent.each(['worker', 'starter'] as const)('the %s with a bad configuration', (program) => {
  it('says every problem, starts nothing, and ends with 2', async () => {
    const { code, stdout, stderr } = await runProgram(program, ['--mod', 'propose'], {
      THRESHOLD: 'much',
      HEADROOM_MODE: 'guess',
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('The configuration has 4 problems:');
    expect(stderr).toContain('--mod: is not a flag: did you mean --mode?');
    expect(stderr).toMatch(/THRESHOLD.*"much".*expected a percentage/);
    expect(stderr).toMatch(/HEADROOM_MODE.*"guess".*expected "observe" or "propose"/);
    expect(stderr).toMatch(/CLUSTER_NAME.*is required/);
    expect(stderr).not.toContain('    at ');
  });

  it('does not start for a controller that is not switched on, and ends with 2', async () => {
    const { code, stderr, stdout } = await runProgram(program, ['node-group', 'quota-resize'], {
      ...CLUSTER,
      HEALTH_ADDRESS: '127.0.0.1:0',
      METRICS_ADDRESS: '127.0.0.1:0',
    });
    expect(code).toBe(2);
    expect(`${stdout}${stderr}`).toContain('node-group');
    expect(`${stdout}${stderr}`).toContain('is not switched on: switch it on in the configuration');
  });

  it('says which proxy and which authorities cannot be used, without the password, and ends with 2', async () => {
    const { code, stdout, stderr } = await runProgram(program, [], {
      ...CLUSTER,
      HTTPS_PROXY: 'socks5://me:SECRET@proxy.example:1080',
      HEADROOM_CA_FILE: '/nowhere/authorities.pem',
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('HTTPS_PROXY: "…@proxy.example:1080" is not valid: expected the URL of a proxy, such as');
    expect(stderr).toContain('HEADROOM_CA_FILE: cannot read "/nowhere/authorities.pem": ');
    expect(stderr).not.toContain('SECRET');
  });

  it('says that the kubeconfig is not there, and ends with 2', async () => {
    const { code, stdout } = await runProgram(program, [], {
      ...CLUSTER,
      KUBECONFIG: '/nowhere/kubeconfig',
    });
    expect(code).toBe(2);
    expect(stdout).toMatch(/\/nowhere\/kubeconfig/);
  });
});
