/** What the programs say and with what they end when they are called in a wrong way, or only asked for help. */
import { describe, expect, it, vi } from 'vitest';
import { freePort } from '../kernel/servers/free-port.ts';
import { headroom, runProgram } from './run-program.ts';

// Each starts a process of its own, and many start at once.
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
    expect(stdout).toContain(`Usage: ${program} [--flag value ...]`);
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

  it('says that the kubeconfig is not there, and ends with 2', async () => {
    const { code, stdout } = await runProgram(program, [], {
      ...CLUSTER,
      KUBECONFIG: '/nowhere/kubeconfig',
    });
    expect(code).toBe(2);
    expect(stdout).toMatch(/\/nowhere\/kubeconfig/);
  });
});
