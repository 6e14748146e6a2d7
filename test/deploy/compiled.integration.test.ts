/** What Node compiles when a pod starts: the container of the chart that has it do so, and the programs with what came of it. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERYTHING } from '../kernel/stack/chart.ts';
import { startOf } from '../kernel/stack/programs.ts';
import { whyNoRoot } from '../image/root.ts';
import { compilingContainerOf, containerOf, deploymentOf, processesOf } from './pods.ts';
import { rendered } from './rendered.ts';

const run = promisify(execFile);
const PROGRAMS = ['worker', 'starter'] as const;
const SAFE = 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes';
const FOLDER = '/var/cache/headroom';
const KEEPS = { name: 'NODE_COMPILE_CACHE', value: FOLDER };

describe('the pods of the chart', () => {
  it.each(['together', 'apart'] as const)('compile their program first, with processes %s', async (processes) => {
    const objects = await rendered({ ...EVERYTHING, processes });
    expect(processesOf(objects)).toHaveLength(processes === 'together' ? 2 : 10);
    for (const process of processesOf(objects)) {
      const container = containerOf(process, objects);
      const compiling = compilingContainerOf(process, objects);
      const { image, imagePullPolicy, resources, securityContext } = container;
      expect(compiling).toEqual({
        name: 'compile',
        image,
        imagePullPolicy,
        resources,
        securityContext,
        args: [container.args?.[0], '--help'],
        env: [KEEPS],
        volumeMounts: [{ name: 'headroom-compiled', mountPath: FOLDER }],
      });
      expect(securityContext?.readOnlyRootFilesystem).toBe(true);
      expect(container.env).toContainEqual(KEEPS);
      // Nobody who takes a process over may leave code for its next start.
      expect(container.volumeMounts).toContainEqual({ name: 'headroom-compiled', mountPath: FOLDER, readOnly: true });
      const { metadata, spec } = deploymentOf(process, objects).spec?.template ?? {};
      expect(spec?.volumes).toContainEqual({ name: 'headroom-compiled', emptyDir: { sizeLimit: '64Mi' } });
      expect(metadata?.annotations).toMatchObject({ [SAFE]: 'headroom-compiled' });
    }
  });

  it('compile it as it is started: with what is added to the environment and mounted', async () => {
    const variable = { name: 'NODE_OPTIONS', value: '--require=/agent/agent.js' };
    const mount = { name: 'agent', mountPath: '/agent' };
    const objects = await rendered({
      image: { pullPolicy: 'Always' },
      worker: { extraEnv: [variable] },
      pods: { annotations: { [SAFE]: 'agent' }, extraVolumeMounts: [mount] },
    });
    const compiling = compilingContainerOf('worker', objects);
    expect(compiling).toMatchObject({ imagePullPolicy: 'Always', env: [KEEPS, variable] });
    expect(compiling.volumeMounts).toContainEqual(mount);
    expect(compilingContainerOf('starter', objects).env).toEqual([KEEPS]);
    expect(deploymentOf('worker', objects).spec?.template.metadata?.annotations).toMatchObject({
      [SAFE]: 'headroom-compiled,agent',
    });
  });

  it.each(['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE'])('have nothing of it where %s says so', async (name) => {
    const variable = { name, value: '/kept' };
    const objects = await rendered({ worker: { extraEnv: [variable] }, pods: { annotations: { [SAFE]: 'agent' } } });
    const { metadata, spec } = deploymentOf('worker', objects).spec?.template ?? {};
    expect(spec?.initContainers).toBeUndefined();
    expect(spec?.volumes?.filter((volume) => volume.name === 'headroom-compiled')).toEqual([]);
    expect(metadata?.annotations?.[SAFE]).toBe('agent');
    const { env, volumeMounts } = containerOf('worker', objects);
    expect(env?.filter((one) => one.name.includes('COMPILE_CACHE'))).toEqual([variable]);
    expect(volumeMounts?.filter(({ mountPath }) => mountPath === FOLDER)).toEqual([]);
    expect(containerOf('starter', objects).env).toContainEqual(KEEPS);
  });
});

describe.each(PROGRAMS)('the %s', (name) => {
  /** Holds what Node has compiled. */
  let made: string;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'headroom-compiled-'));
    made = join(folder, 'made');
    const { stdout, stderr } = await started(made, ['--help']);
    expect(stdout).toContain(`Usage: ${name}`);
    expect(stderr).toContain(`${name}.js to temporary file`);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the program until it ends by itself, as it does without a cluster. Node says in `stderr` what it does with the folder. */
  async function started(cache: string, args: readonly string[], wrapper: readonly string[] = []) {
    const program = await startOf(name);
    const [command = '', ...rest] = [...wrapper, program.command, ...program.args, ...args];
    const env = {
      ...program.env,
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: cache,
      NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
      CLUSTER_NAME: 'test',
      KUBECONFIG: join(folder, 'no-kubeconfig'),
    };
    return await run(command, rest, { env, timeout: 60_000 }).then(
      ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
      ({ stdout, stderr, code }: { stdout: string; stderr: string; code: number }) => ({ stdout, stderr, code }),
    );
  }

  /** Another folder with the same files, after they were changed. */
  async function changed(label: string, change: (file: string) => Promise<void>): Promise<string> {
    const other = join(folder, label);
    await cp(made, other, { recursive: true });
    const files = (await readdir(other, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(files).toHaveLength(1);
    for (const file of files) await change(join(file.parentPath, file.name));
    return other;
  }

  const IS_ACCEPTED = new RegExp(`/${name}\\.js was accepted`);

  it('starts with what was compiled for its settings to be printed', async () => {
    const { stdout, stderr } = await started(made, []);
    expect(stdout).toContain('no-kubeconfig');
    expect(stderr).toMatch(IS_ACCEPTED);
  });

  it.each<[string, (file: string) => Promise<void>]>([
    ['garbage', async (file) => await writeFile(file, Buffer.alloc(100_000, 'garbage'))],
    ['only half of it', async (file) => await truncate(file, 1_000_000)],
    ['an empty file', async (file) => await truncate(file, 0)],
    ['another byte', async (file) => await flipped(file, 1_000_000)],
    // Node's checksum of the source.
    ['what belongs to another source', async (file) => await flipped(file, 12)],
  ])('starts all the same with %s in place of it', async (label, change) => {
    const { stdout, stderr } = await started(await changed(label, change), []);
    expect(stdout).toContain('no-kubeconfig');
    expect(stderr).not.toMatch(IS_ACCEPTED);
    expect(stderr).toMatch(/reading cache from/);
  });

  it('starts all the same, and prints its settings, where nothing can be written', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect(await started(join(file, 'compiled'), ['--help'])).toMatchObject({ code: 0 });
    expect((await started(join(file, 'compiled'), [])).stdout).toContain('no-kubeconfig');
  });

  it('starts all the same where the volume is full, read-only and empty', async (context) => {
    const reason = await whyNoRoot();
    context.skip(reason !== undefined, reason);
    const volume = await mkdtemp(join(folder, 'volume-'));
    const mounted = (options: string) => [
      'unshare',
      '--mount',
      'sh',
      '-c',
      `mount -t tmpfs -o ${options} none "$0" && exec "$@"`,
      volume,
    ];
    const full = await started(volume, ['--help'], mounted('size=64k'));
    expect([full.code, full.stdout]).toEqual([0, expect.stringContaining(`Usage: ${name}`)]);
    expect((await started(volume, [], mounted('size=64k'))).stdout).toContain('no-kubeconfig');
    const empty = await started(volume, [], mounted('ro'));
    expect([empty.stdout, empty.stderr]).toEqual([
      expect.stringContaining('no-kubeconfig'),
      expect.stringContaining('Cannot create cache directory'),
    ]);
  });
});

async function flipped(file: string, at: number): Promise<void> {
  const bytes = await readFile(file);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
  await writeFile(file, bytes);
}
