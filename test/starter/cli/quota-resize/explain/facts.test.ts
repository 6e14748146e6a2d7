import { describe, expect, it } from 'vitest';
import { resolvePolicy } from '../../../../../domain/quota-resize/policy/resolve.ts';
import { explain, type Explanation, type ExplainInput } from '../../../../../starter/cli/quota-resize/explain/facts.ts';
import { explanationText } from '../../../../../starter/cli/quota-resize/explain/text.ts';
import { loadConfig } from '../../../../../starter/config.ts';
import { policyDefaults } from '../../../../../domain/quota-resize/settings.ts';
import type { QuotaObservation } from '../../../../../domain/quota-resize/model/observation.ts';
import {
  decision,
  demand,
  lease,
  NOW,
  observation,
  openDecision,
} from '../../../../domain/quota-resize/model/observations.ts';

const target = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };

interface Given {
  readonly observed?: Partial<QuotaObservation>;
  readonly env?: Readonly<Record<string, string>>;
  readonly argv?: readonly string[];
  readonly file?: string;
  readonly namespace?: Readonly<Record<string, string>>;
  readonly quota?: Readonly<Record<string, string>>;
  readonly input?: Partial<ExplainInput>;
}

/** The explanation of a quota of `requests.cpu: 10` of which 9 are used, in a process with this configuration. */
function explained({ observed, env = {}, argv = [], file, namespace, quota, input }: Given = {}): Explanation {
  const config = loadConfig({
    env: { CLUSTER_NAME: 'prod', ...(file === undefined ? {} : { HEADROOM_CONFIG: 'headroom.yaml' }), ...env },
    argv,
    program: 'command line',
    readFile: () => file ?? '',
  });
  const { policy, warnings } = resolvePolicy({
    defaults: policyDefaults(config),
    namespace: { name: target.namespace, annotations: namespace },
    quotaAnnotations: quota,
  });
  return explain({
    target,
    observation: observation({ policy, warnings, ...observed }),
    whatIf: null,
    status: null,
    episodeUnknown: null,
    provenance: config,
    settings: { from: 'command line', worker: null, notes: [], differences: [] },
    troubles: [],
    now: NOW,
    ...input,
  });
}

describe('where a number comes from', () => {
  it('is told for every layer', () => {
    const { resources, policy } = explained({
      file: 'resize:\n  cooldownMinutes: 30\n',
      env: { INCREMENT: '50', FREEZE_UNTIL: '' },
      argv: ['--max-step', '3'],
      namespace: { 'resizer.io/threshold': '70', 'resizer.io/steps': 'cpu=1' },
      quota: { 'resizer.io/requests.cpu-threshold': '85', 'resizer.io/cpu-max': '14' },
    });
    expect(resources).toEqual([
      {
        resource: 'requests.cpu',
        used: '9',
        hard: '10',
        share: '90',
        threshold: { value: '85', from: { layer: 'quota', name: 'resizer.io/requests.cpu-threshold' } },
        increment: { value: '50', from: { layer: 'environment', name: 'INCREMENT' } },
        minimum: null,
        maximum: { value: '14', from: { layer: 'quota', name: 'resizer.io/cpu-max' } },
        step: { value: '1', from: { layer: 'namespace', name: 'resizer.io/steps' } },
        missing: '0',
        proposed: '14',
        why: expect.stringContaining('Usage is 9 of 10 CPU (90 %), and the threshold is 85 %.'),
      },
    ]);
    const from = Object.fromEntries(
      policy.map((entry) => [entry.setting, [entry.value, entry.from.layer, entry.from.name]]),
    );
    expect(from).toMatchObject({
      mode: ['observe', 'built-in', 'built-in default'],
      threshold: ['70%', 'namespace', 'resizer.io/threshold'],
      'cooldown-minutes': ['30', 'file', 'headroom.yaml line 2 (resize.cooldownMinutes)'],
      'max-step': ['3', 'flag', '--max-step'],
      'freeze-until': ['none', 'built-in', 'built-in default'],
      'merge-windows': ['always', 'built-in', 'built-in default'],
      'approval-timeout': ['never', 'built-in', 'built-in default'],
      'requests.cpu-threshold': ['85%', 'quota', 'resizer.io/requests.cpu-threshold'],
    });
  });

  it('is the dry run, where that is why it observes', () => {
    const { policy } = explained({
      env: { DRY_RUN: 'true', HEADROOM_MODE: 'propose' },
      namespace: { 'resizer.io/mode': 'propose' },
    });
    expect(policy.find(({ setting }) => setting === 'mode')).toEqual({
      setting: 'mode',
      value: 'observe',
      from: { layer: 'environment', name: 'DRY_RUN' },
    });
  });
});

describe('what happens next', () => {
  it('in mode observe, a recommendation and nothing else', () => {
    const { next, afterwards } = explained();
    expect(next.map(({ phase, reason }) => [phase, reason])).toEqual([
      ['Detecting', 'DemandDebouncing'],
      ['Recommending', 'ThresholdReached'],
    ]);
    expect(next[1]?.detail).toContain('requests.cpu 10 → 12');
    expect(afterwards[0]).toBe('that is all: the mode is observe (built-in default), so nothing is written to GitHub');
  });

  it('in mode propose, a pull request, and who merges it', () => {
    const { next, afterwards } = explained({ env: { HEADROOM_MODE: 'propose' } });
    expect(next.at(-1)).toMatchObject({ phase: 'OpeningPullRequest', reason: 'ThresholdReached' });
    expect(afterwards).toContain('a person merges it: auto-merge is off (built-in default)');
    const free = explained({
      env: { HEADROOM_MODE: 'propose', ENABLE_AUTO_MERGE: 'true' },
      observed: {
        mergeHold: { reason: 'Frozen', until: NOW + 1000, detail: 'merging is frozen until tomorrow' },
      },
    });
    expect(free.afterwards).toContain(
      'it is merged when GitHub says that it is clean (auto-merge is on: environment ENABLE_AUTO_MERGE)',
    );
    expect(free.afterwards).toContain('not merged now: merging is frozen until tomorrow');
  });

  it('an approval is waited for where the policy wants it', () => {
    const early = explained({
      env: { HEADROOM_MODE: 'propose' },
      namespace: { 'resizer.io/approval': 'before-pull-request' },
    });
    expect(early.afterwards[0]).toContain(
      'it waits for approve or reject: every raise of this quota needs an approval',
    );
    const late = explained({ env: { HEADROOM_MODE: 'propose', MAX_STEP: '1' } });
    expect(late.afterwards[0]).toContain('opens a pull request');
    expect(late.afterwards[2]).toContain('it waits for approve or reject: requests.cpu from 10 to 12');
  });

  it('a cooldown is waited for, and what comes after it is told', () => {
    const { next } = explained({
      env: { HEADROOM_MODE: 'propose' },
      observed: { lease: lease({ lastModified: NOW - 10 * 60_000 }) },
    });
    expect(next.map(({ at, reason }) => [at, reason])).toEqual([
      ['2026-11-20T10:00:00Z', 'CoolingDown'],
      ['2026-11-20T10:50:00Z', 'DemandDebouncing'],
      ['2026-11-20T10:50:02Z', 'ThresholdReached'],
    ]);
  });

  it('a quota at ease is left alone, and it is said why', () => {
    const { next, resources } = explained({
      observed: {
        quota: {
          uid: 'u',
          hard: { 'requests.cpu': '10', pods: '0', services: '5' },
          used: { 'requests.cpu': '4', pods: '0' },
        },
      },
    });
    expect(next.map(({ reason }) => reason)).toEqual(['BelowThreshold']);
    expect(Object.fromEntries(resources.map(({ resource, proposed, why }) => [resource, [proposed, why]]))).toEqual({
      'requests.cpu': [null, 'Usage is 40 %, below the threshold of 80 %. No workload needs more of it.'],
      pods: [null, 'A limit of 0 is deliberate, so no threshold raises it.'],
      services: [null, 'Its usage has not been counted yet.'],
    });
  });

  it('a maximum that is reached is said, with its annotation', () => {
    const { resources, next } = explained({ quota: { 'resizer.io/cpu-max': '10' } });
    expect(resources[0]).toMatchObject({
      proposed: null,
      why: expect.stringContaining('resizer.io/cpu-max on the quota'),
    });
    expect(next.map(({ reason }) => reason)).toContain('AtMaximum');
  });

  it('with an open pull request, that is what counts, and a greater requirement would update it', () => {
    const held = openDecision();
    const locked = lease({ holder: `headroom/${held.id}`, decision: held });
    const waiting = explained({ env: { HEADROOM_MODE: 'propose' }, observed: { lease: locked } });
    expect(waiting.next).toHaveLength(1);
    expect(waiting.next[0]?.detail).toMatch(/^pull request #7 \(.*\) is open/);
    expect(waiting.next[0]?.detail).not.toContain('would be updated');
    const grown = explained({
      env: { HEADROOM_MODE: 'propose' },
      observed: { lease: locked, demand: [demand({ 'requests.cpu': '20' })] },
    });
    expect(grown.next[0]?.detail).toContain('so it would be updated (requests.cpu 10 → ');
    expect(grown.evidence).toEqual([
      expect.stringContaining('ReplicaSet web still needs 20 CPU (requests.cpu) for 2 replicas'),
    ]);
  });

  it('the source candidates are listed in their order, and what ends the search', () => {
    const { locations } = explained({
      observed: {
        candidates: [
          {
            from: 'annotation',
            repository: 'acme/teams',
            ref: 'main',
            path: 'a',
            field: 'q.cpu',
            learntFrom: 'an annotation',
          },
          { from: 'scan', learntFrom: 'a scan' },
          { from: 'argocd', learntFrom: 'Argo CD', problem: 'Argo CD applies a tag, which no pull request can change' },
        ],
      },
    });
    expect(locations).toEqual([
      'a of acme/teams at main, q.cpu: an annotation',
      'all of every configured repository: a scan',
      'Argo CD applies a tag, which no pull request can change',
    ]);
  });

  it('a running episode that is paused stays paused', () => {
    const pause = { scope: 'target', kept: 'a key', by: 'alice', at: NOW, reason: 'a freeze' } as const;
    const status = {
      target,
      phase: 'Paused',
      reason: 'Paused',
      detail: 'paused by alice, see [the page](https://example.com)',
      since: '2026-11-20T09:00:00Z',
      decision: decision(),
      approval: null,
      paused: pause,
      rejections: [],
      policy: null,
      lastCommand: null,
    } as const;
    const { next, episode } = explained({ observed: { pause }, input: { status } });
    expect(episode).toEqual({
      phase: 'Paused',
      reason: 'Paused',
      detail: 'paused by alice, see the page',
      since: '2026-11-20T09:00:00Z',
    });
    expect(next).toMatchObject([{ phase: 'Paused', detail: expect.stringContaining('paused by alice') }]);
  });
});

describe('what is used', () => {
  const counting = {
    kind: 'counted',
    differences: [{ resource: 'requests.cpu', used: '1', counted: '9' }],
    unmeasured: [],
  } as const;
  const learntFrom =
    "requests.cpu: the quota's status says 1 CPU, but the objects add up to 9 CPU. Headroom goes by its own count.";

  it('is said to be counted where the mode asks for it, with the layer of the mode, and where the status differs', () => {
    const { usage } = explained({ env: { HEADROOM_USAGE_MODE: 'audit' }, observed: { usage: 'audit', counting } });
    expect(usage).toEqual({
      mode: 'audit',
      from: { layer: 'environment', name: 'HEADROOM_USAGE_MODE' },
      notes: [learntFrom],
    });
    const text = explanationText(explained({ argv: ['--usage-mode', 'own'], observed: { usage: 'own' } }));
    expect(text).toContain(
      '\nWhat is used\n  Headroom counted it from the objects of the namespace, because the mode is own (flag --usage-mode).\n',
    );
  });

  it('is what the status says otherwise, of which there is nothing to say', () => {
    const seen = explained();
    expect(seen.usage).toEqual({ mode: 'off', from: { layer: 'built-in', name: 'built-in default' }, notes: [] });
    expect(explanationText(seen)).not.toContain('What is used');
  });
});

describe('in words', () => {
  it('there is a table, what comes next, the policy with its layers, and what is not understood', () => {
    const text = explanationText(
      explained({
        env: { HEADROOM_MODE: 'propose' },
        namespace: { 'resizer.io/treshold': '70', 'resizer.io/cpu-min': '4' },
        input: {
          whatIf: {
            used: { 'requests.cpu': '9' },
            replicas: [{ kind: 'Deployment', name: 'web', from: 3, to: 10 }],
          },
          episodeUnknown: 'Temporal cannot be reached',
          troubles: ['something could not be read'],
        },
      }),
    );
    expect(text).toMatch(
      /^team-a\/compute in prod at 2026-11-20T10:00:00Z\nAs if Deployment web had 10 replicas instead of 3, and 9 of requests.cpu were used\.\n\n/,
    );
    expect(text).toContain(
      'RESOURCE      USED  HARD  SHARE  THRESHOLD        INCREMENT        BOUNDS             MISSING  PROPOSED  WHY\n',
    );
    expect(text).toContain(
      'requests.cpu  9     10    90 %   80 % (built-in)  20 % (built-in)  min 4 (namespace)  0        12        Usage is 9 of 10 CPU (90 %), and the threshold is 80 %.\n',
    );
    expect(text).toContain('\nWhat runs now\n  Temporal cannot be reached\n');
    expect(text).toContain(
      '\n  now: Detecting (DemandDebouncing). requests.cpu 10 → 12. Headroom waits 2 s before it decides, so that it sees all pods of a rollout.',
    );
    expect(text).toContain(
      '\n  2026-11-20T10:00:02Z (in 2 s): OpeningPullRequest (ThresholdReached). requests.cpu 10 → 12.\n',
    );
    expect(text).toMatch(/\n {2}mode +propose +environment HEADROOM_MODE\n/);
    expect(text).toMatch(/\n {2}cpu-min +4 +namespace annotation resizer\.io\/cpu-min\n/);
    expect(text).toContain('did you mean resizer.io/threshold?\n  something could not be read\n');
    expect(text.endsWith('\n')).toBe(true);
  });
});
