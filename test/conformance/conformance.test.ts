import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bareAnnotation,
  fittingDeficit,
  percentWithoutSign,
  settledBurst,
  settledEngine,
  wholePieces,
  widerTable,
} from './quota-resize/deviations.ts';
import { runConformance } from './run.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const SAMPLE = join(import.meta.dirname, '../cases');

/** Exactly: a case that passes no more, or is no longer asked, shows here. */
const COUNTS = { passed: 412, failed: 0, notApplicable: 95 };

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'conformance-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function write(files: Readonly<Record<string, unknown>>): void {
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** What is reported of a folder with these files. */
function report(files: Readonly<Record<string, unknown>>) {
  write(files);
  return runConformance(directory);
}

/** Runs the command on a folder with these files. */
function conformance(files: Readonly<Record<string, unknown>>) {
  write(files);
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, directory], { encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n'), stderr: stderr.trimEnd() };
}

const cmp = (a: string, b: string, expected: number) => ({ kind: 'cmp', input: { a, b }, expected });

describe('the sample of cases', () => {
  it('agrees with the domain wherever the domain answers, and has as many answers as it ever had', () => {
    const { lines, passed, failed, notApplicable } = runConformance(SAMPLE);
    expect(lines.filter((line) => /^(?:disagrees|unknown shape)/.test(line))).toEqual([]);
    expect({ passed, failed, notApplicable }).toEqual(COUNTS);
  });

  it('has no kind that nobody has looked at, in the files of the controllers that there are', () => {
    const { lines } = runConformance(SAMPLE);
    expect(lines.filter((line) => line.includes('no adapter answers for this kind'))).toEqual([]);
    expect(lines.filter((line) => line.includes('no controller of Headroom answers'))).toEqual([]);
  });

  it('is answered whole for quantities and messages, and for every kind of the threshold engine', () => {
    const kinds = [
      'threshold-decide',
      'event-parse',
      'quantize',
      'is-countable',
      'pod-requests',
      'collect-deficits',
      'workload-deficit',
      'threshold-engine',
    ];
    const left = runConformance(SAMPLE).lines.filter((line) => /^not (?:applicable|compared)/.test(line));
    expect(left.filter((line) => /: (quantity|event) /.test(line))).toEqual([]);
    expect(left.filter((line) => kinds.some((kind) => line.includes(`quota-resize-peer ${kind}:`)))).toEqual([]);
    expect(left.filter((line) => kinds.some((kind) => line.includes(`quota-resize-derived ${kind}:`)))).toEqual([]);
  });
});

describe('the kinds of quotas', () => {
  it('are answered, but for operations on sets of names and for what the API server decides', () => {
    const lines = runConformance(SAMPLE).lines.filter((line) => /: quota /.test(line));
    const kinds = lines.map((line) => /^not applicable: quota (\w+):/.exec(line)?.[1] ?? line);
    expect(kinds.toSorted()).toEqual([
      expect.stringMatching(/^not compared: quota discoverySync workersBlocked: /),
      'objectCountHandles',
      'podHandles',
      'quotaDifference',
      'quotaIntersection',
      'serviceHandles',
    ]);
  });

  it('are answered as well for what the sample asks of others only', () => {
    const kase = (kind: string, input: object, expected: unknown) => ({ kind, input, expected });
    const inScope = { scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] };
    const outcome = report({
      'quota.json': [
        kase('podMatchingResources', { resources: ['requests.example.com/gpu', 'services'] }, [
          'requests.example.com/gpu',
        ]),
        kase('objectCountMatchingResources', { resource: 'jobs.batch', resources: ['count/jobs.batch', 'cpu'] }, [
          'count/jobs.batch',
        ]),
        kase('pvcMatchingScopes', { pvc: { spec: { volumeAttributesClassName: 'gold' } }, selectors: [inScope] }, [
          inScope,
        ]),
        kase('serviceMatchingScopes', { service: {}, selectors: [inScope] }, []),
        kase('claimMatchingScopes', { claim: {}, selectors: [inScope] }, []),
        kase('calculateUsage', { hard: { pods: '9', storage: '1' }, pods: [{}, {}] }, { pods: '2' }),
        kase('podConstraints', { pod: { spec: { containers: [{ name: 'a' }] } }, required: ['pods'] }, { error: '' }),
        kase('quotaIsZero', { a: { cpu: '0' } }, true),
      ],
    });
    expect(outcome).toEqual({ lines: [], passed: 8, failed: 0, notApplicable: 0 });
  });

  it('are answered for a resource that cannot be listed, under whatever name the case says so', () => {
    const quota = { metadata: { name: 'q', namespace: 'team-a' }, spec: { hard: { pods: '2' } } };
    const sync = (input: object, statusUsed: object, error: string | null) => ({
      kind: 'syncResourceQuota',
      input: { quota, pods: [{}], listedResource: 'pods', ...input },
      expected: { statusHard: { pods: '2' }, statusUsed, updateStatusCalled: true, error },
    });
    const { passed, failed } = report({
      'quota.json': [
        sync({ listerError: true }, {}, 'error listing'),
        sync({ failingResource: 'pods' }, {}, 'error listing'),
        sync({ failingResource: 'services', listFails: false }, { pods: '1' }, null),
      ],
    });
    expect({ passed, failed }).toEqual({ passed: 3, failed: 0 });
  });
});

describe('the kinds of the resizer', () => {
  it('are known, every one: those that nobody answers are not applicable, with the reason', () => {
    const lines = runConformance(SAMPLE).lines.filter((line) => line.includes('quota-resize-'));
    expect(lines).toContainEqual(
      'not applicable: quota-resize-derived headroom-decide: the shrinking headroom strategy is a later one, 19 not run',
    );
  });

  it('tell a pull request that people merged from one that they closed, and one that is found from a new one', () => {
    const lifecycle = (input: object, expected: object) => ({ kind: 'pr-lifecycle', input, expected });
    const full = { hard: { pods: '10' }, used: { pods: '10' } };
    const { lines, passed, failed } = report({
      'quota-resize-x.json': [
        lifecycle({ leasePr: 5, pr: { open: false, merged: true } }, { leasePr: 0, lastGrowSet: true }),
        lifecycle({ leasePr: 5, pr: { open: false, merged: false } }, { leasePr: 0, lastGrowSet: false }),
        lifecycle({ leasePr: 5, leaseDirection: 'grow', pr: { open: true } }, { leasePr: 5 }),
        lifecycle({ ...full, openPrFound: 42 }, { findCalls: 1, createCalls: 0, leasePr: 42 }),
        lifecycle({ ...full, used: { pods: '1' }, openPrFound: 0, createdPr: 7 }, { createCalls: 0, leasePr: 0 }),
      ],
    });
    expect(lines).toEqual([expect.stringMatching(/^not compared: quota-resize-x pr-lifecycle findCalls: /)]);
    expect({ passed, failed }).toEqual({ passed: 5, failed: 0 });
  });
});

describe('the command', () => {
  it('names a case that disagrees, with both answers, and ends with 1', () => {
    const { status, lines } = conformance({ 'quantity.json': [cmp('1', '1000m', 0), cmp('1', '2', 1)] });
    expect(lines).toEqual([
      "disagrees: quantity cmp: input { a: '1', b: '2' }: expected 1, got -1",
      '0 not applicable',
      '1 passed, 1 failed',
    ]);
    expect(status).toBe(1);
  });

  it('counts apart what nobody answers, each kind with the reason, and ends with 0', () => {
    const { status, lines } = conformance({
      'quantity.json': [
        cmp('1', '1', 0),
        { kind: 'sqrt', input: '4', expected: '2' },
        { kind: 'sqrt', input: '9', expected: '3' },
      ],
      'teapot.json': [{ kind: 'brew', input: {}, expected: 'tea' }],
      'lights-out-more.json': [
        { kind: 'e2e', input: {}, expected: {} },
        { kind: 'controller', input: {}, expected: { requeueAfter: '>0' } },
      ],
    });
    expect(lines).toEqual([
      'not applicable: lights-out-more e2e: a whole cluster, which the integration tests of lights-out start, 1 not run',
      'not applicable: lights-out-more controller: the pace of the other operator; Headroom sleeps until the next transition, 1 not run',
      'not applicable: quantity sqrt: no adapter answers for this kind, 2 not run',
      'not applicable: teapot: no controller of Headroom answers for files of this name, 1 not run',
      '5 not applicable',
      '1 passed, 0 failed',
    ]);
    expect(status).toBe(0);
  });

  it('takes a case of a known kind that it cannot read as failed', () => {
    const { lines, passed, failed } = report({
      'event.json': [{ message: 'x', expected: { class: 'cosmicRay' } }],
      'lights-out.json': [{ kind: 'batcher', input: { workloads: 'three' }, expected: { batchSizes: [3] } }],
    });
    expect(lines[0]).toMatch(/^unknown shape: event message: input 'x': expected: .* at class$/);
    expect(lines[1]).toMatch(/^unknown shape: lights-out batcher: input \{ workloads: 'three' \}: input: /);
    expect({ passed, failed }).toEqual({ passed: 0, failed: 2 });
  });

  it('neither passes nor fails a case with a key that no adapter reads, and counts it with the name of the key', () => {
    const pods = (more: object) => ({
      kind: 'drain-filter',
      input: { pods: [{ name: 'a' }, { name: 'b', ...more }] },
      expected: { evict: ['a', 'b'] },
    });
    const batches = (input: object, expected: object) => ({ kind: 'batcher', input, expected });
    const outcome = report({
      'node-group.json': [pods({}), pods({ colour: 'red' }), pods({ colour: 'blue', phase: 7 })],
      'lights-out.json': [
        batches({ workloads: 3, teapots: 1 }, { batchSizes: [3] }),
        batches({ workloads: 3 }, { batchSizes: [3], delay: '30s' }),
      ],
    });
    expect(outcome).toEqual({
      lines: [
        'not applicable: lights-out batcher: no adapter reads input.teapots, 1 not run',
        'not applicable: lights-out batcher: no adapter reads expected.delay, 1 not run',
        'not applicable: node-group drain-filter: no adapter reads input.pods[].colour, 2 not run',
      ],
      passed: 1,
      failed: 0,
      notApplicable: 4,
    });
  });

  it('says which keys of a case it did not compare, and compares the others', () => {
    const controller = (expected: object) => ({ kind: 'controller', input: { deployment: 3 }, expected });
    const { lines, passed, failed } = report({
      'lights-out.json': [controller({ replicas: 3, requeueAfter: 1 }), controller({ replicas: 4, requeueAfter: 1 })],
    });
    expect(lines[0]).toMatch(
      /^disagrees: lights-out controller: .*: expected \{ replicas: 4 \}, got \{ replicas: 3 \}$/,
    );
    expect(lines[1]).toBe(
      'not compared: lights-out controller requeueAfter: the pace of the other operator; Headroom sleeps until the next transition, 1 passed without it',
    );
    expect({ passed, failed }).toEqual({ passed: 1, failed: 1 });
  });

  it('takes an error of the domain as a disagreement and goes on', () => {
    const { lines, passed, failed } = report({ 'quantity.json': [cmp('one', '1', 0), cmp('1', '1', 0)] });
    expect(lines[0]).toContain('got an error: quantities must match the regular expression');
    expect({ passed, failed }).toEqual({ passed: 1, failed: 1 });
  });

  it('says in one sentence what it cannot read, and ends with 2', () => {
    expect(conformance({})).toMatchObject({
      status: 2,
      stderr: `conformance: there is no case file (*.json) in ${directory}`,
    });
    expect(() => report({ 'quantity.json': '[{' })).toThrow(/^\S+quantity\.json is not a list of cases: .+$/);
    expect(() => runConformance(join(directory, 'nowhere'))).toThrow(/^cannot read the folder \S+nowhere: .+$/m);
  });
});

describe('a deviation', () => {
  const quota = { hard: { 'requests.cpu': '10' }, used: { 'requests.cpu': '9' } };

  it('has an expectation of its own for pieces, and none for what is measured', () => {
    const rule = wholePieces();
    expect(rule.applies({ resource: 'pods' }, '3600m')).toBe(true);
    expect(rule.expected({ resource: 'pods' }, '3600m')).toBe('4');
    expect(rule.applies({ resource: 'pods' }, '4')).toBe(false);
    expect(rule.applies({ resource: 'requests.cpu' }, '3600m')).toBe(false);
    expect(rule.applies({ resource: 'requests.nvidia.com/gpu' }, '1200m')).toBe(true);
  });

  it('reads a percentage with or without its sign, for all resources or for one', () => {
    const annotations = { 'resizer.io/cpu-increment': '20' };
    expect(percentWithoutSign.applies({ ...quota, annotations }, {})).toBe(true);
    expect(percentWithoutSign.expected({ ...quota, annotations }, {})).toMatchObject({
      targets: { 'requests.cpu': '12000000000n' },
    });
    expect(percentWithoutSign.applies({ ...quota, annotations: { 'resizer.io/cpu-increment': '20%' } }, {})).toBe(
      false,
    );
    const bare = { 'resizer.io/threshold': '95' };
    expect(bareAnnotation.applies({ ...quota, annotations: bare }, {})).toBe(true);
    expect(bareAnnotation.expected({ ...quota, annotations: bare }, {})).toEqual({
      needsResize: false,
      targets: {},
      triggers: [],
    });
  });

  it('is about a deficit only where the quota has the capacity', () => {
    const upstream = { needsResize: true, targets: { 'requests.cpu': '10800m' }, triggers: ['requests.cpu:event'] };
    const fitting = { hard: { 'requests.cpu': '10' }, used: { 'requests.cpu': '7' }, deficit: { 'requests.cpu': '2' } };
    expect(fittingDeficit.applies(fitting, upstream)).toBe(true);
    expect(fittingDeficit.expected(fitting, upstream)).toEqual({ needsResize: false, targets: {}, triggers: [] });
    expect(fittingDeficit.applies({ ...fitting, deficit: { 'requests.cpu': '4' } }, upstream)).toBe(false);
  });

  it('settles what was refused below the threshold, at a round number', () => {
    const refused = { hard: { 'requests.cpu': '2' }, used: { 'requests.cpu': '2' }, deficit: { 'requests.cpu': '1' } };
    const upstream = { needsResize: true, targets: { 'requests.cpu': '3600m' }, triggers: ['requests.cpu:event'] };
    expect(settledBurst.applies(refused, upstream)).toBe(true);
    expect(settledBurst.expected(refused, upstream)).toMatchObject({ targets: { 'requests.cpu': '3800000000n' } });
    expect(settledBurst.applies(refused, { ...upstream, triggers: ['requests.cpu:metric'] })).toBe(false);
    const engine = { incrementFactor: 0.2, hard: { cpu: '2' }, used: { cpu: '2' } };
    expect(settledEngine.applies(engine, { targets: { cpu: '3600m' } })).toBe(true);
    expect(settledEngine.expected(engine, { targets: { cpu: '3600m' } })).toEqual({ targets: { cpu: '3800000000n' } });
    expect(settledEngine.applies(engine, { targets: { cpu: '2400m' } })).toBe(false);
    expect(settledEngine.applies({ ...engine, incrementFactor: 0 }, { targets: { cpu: '3' } })).toBe(false);
  });

  it('looks for a row with the resource and its limit, whatever stands between them', () => {
    const expected = { contains: ['my-quota', '| cpu | 10 |'] };
    expect(widerTable.applies({}, expected)).toBe(true);
    expect(widerTable.expected({}, expected)).toEqual({ contains: ['my-quota'], rows: [['cpu', '10']] });
  });
});
