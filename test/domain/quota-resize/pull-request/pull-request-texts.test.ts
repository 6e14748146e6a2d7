import { execFileSync } from 'node:child_process';
import * as fc from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import type { LimitChange } from '../../../../domain/quota-resize/model/decision.ts';
import type { BodyFacts } from '../../../../domain/quota-resize/pull-request/body.ts';
import {
  type ChangeFacts,
  commentMarker,
  decisionOfComment,
  decisionOfCommit,
  markedComment,
  pullRequestTexts,
  targetsOfCommit,
  templateChecks,
} from '../../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import { resolve } from '../policy/policies.ts';

const target = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };
const cpu: LimitChange = {
  resource: 'requests.cpu',
  from: '2',
  to: '3600m',
  used: '2',
  demand: '1',
  reason: 'Usage is 2 of 2 CPU (100 %), and the threshold is 80 %.',
};
const memory: LimitChange = { ...cpu, resource: 'limits.memory', from: '4Gi', to: '6Gi' };
const texts = pullRequestTexts();

function facts(changes: readonly LimitChange[] = [cpu], more: Partial<ChangeFacts> = {}): ChangeFacts {
  const quotas = [{ quota: 'compute', changes }];
  return { target, decisionId: '0a1b2c3d', repository: 'acme/gitops', quotas, ...more };
}

function bodyFacts(more: Partial<BodyFacts> = {}): BodyFacts {
  return {
    target,
    decision: {
      id: '0a1b2c3d',
      decidedAt: Date.UTC(2026, 10, 20, 10, 15),
      evidence: ['ReplicaSet web still needs 2 pods that the quota denied.'],
      approvalRequirement: null,
    },
    policy: resolve({ threshold: '70', 'cpu-increment': '50' }, { 'cooldown-minutes': '15' }).policy,
    repository: 'acme/gitops',
    base: 'main',
    paths: ['team-a/quota.yaml'],
    quotas: [
      {
        quota: 'compute',
        changes: [cpu],
        how: 'in acme/gitops, found in `team-a/quota_a.yaml:4` by the path template `teams/{{ .Namespace }}`',
        inGit: {},
      },
    ],
    leftOut: [],
    temporalUi: null,
    ...more,
  };
}

function isLegalBranch(name: string): boolean {
  try {
    execFileSync('git', ['check-ref-format', '--branch', name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('the branch of a decision', () => {
  it('names cluster, namespace, quota and decision', () => {
    expect(texts.branch(target, '0a1b2c3d')).toBe('headroom/prod/team-a/compute/0a1b2c3d');
  });

  it('keeps the dots of a quota name, but none that git forbids', () => {
    expect(texts.branch({ ...target, quota: 'gpu.v1.compute' }, 'x')).toContain('/gpu.v1.compute/');
    const dotted = pullRequestTexts({ branch: 'q.{{quota}}/{{id}}' });
    for (const quota of [
      'compute.lock',
      'lock',
      'a.lock.lock',
      '.a',
      'a.',
      'a..b',
      '-a',
      '@',
      'a@{b',
      'ä b',
      '~^:?*[\\',
    ]) {
      expect(isLegalBranch(texts.branch({ ...target, quota }, 'x')), `quota ${quota}`).toBe(true);
      expect(isLegalBranch(dotted.branch({ ...target, quota }, 'x')), `quota ${quota}, by a template`).toBe(true);
    }
  });

  it('stays legal and short for a quota name of 253 characters', () => {
    const name = texts.branch({ ...target, quota: `${'a'.repeat(200)}.${'b'.repeat(52)}` }, '0a1b2c3d');
    expect(name.length).toBeLessThan(200);
    expect(isLegalBranch(name)).toBe(true);
  });

  it('tells any two targets apart', () => {
    const part = fc.string({
      minLength: 1,
      maxLength: 12,
      unit: fc.constantFrom('a', 'b', '.', '-', '_', '/', 'é', '2', 'e'),
    });
    const locations = fc.record({ cluster: part, namespace: part, quota: part });
    fc.assert(
      fc.property(locations, locations, (first, second) => {
        const same = JSON.stringify(first) === JSON.stringify(second);
        expect(texts.branch(first, 'x') === texts.branch(second, 'x')).toBe(same);
      }),
    );
  });

  it('is a legal name for whatever a cluster is called', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 100, unit: 'binary' }), (cluster) => {
        expect(texts.branch({ ...target, cluster }, 'x')).toMatch(
          /^headroom\/(?!\.)(?!.*\.\.)(?!.*\/\.)[A-Za-z0-9._/-]+\/team-a\/compute\/x$/,
        );
      }),
    );
  });
});

describe('the commit', () => {
  it('says what is raised and why, and carries the trailers that git itself reads', () => {
    const message = texts.commit(facts([cpu, memory]));
    expect(message.split('\n')[0]).toBe('chore(quota): raise team-a/compute: requests.cpu 2 → 3600m and 1 more');
    expect(message).toContain('\nlimits.memory: 4Gi → 6Gi. Usage is 2 of 2 CPU (100 %), and the threshold is 80 %.\n');
    const trailers = execFileSync('git', ['interpret-trailers', '--parse'], { input: message, encoding: 'utf8' });
    expect(trailers).toBe('Headroom-Decision: 0a1b2c3d\nHeadroom-Target: prod/team-a/compute\n');
  });

  it('names every quota that it raises', () => {
    const quotas = [
      { quota: 'compute', changes: [cpu] },
      { quota: 'gpu', changes: [memory] },
    ];
    const message = texts.commit(facts([], { quotas }));
    expect(message).toContain('\ncompute requests.cpu: 2 → 3600m. Usage');
    expect(message).toContain('\ngpu limits.memory: 4Gi → 6Gi. Usage');
    expect(message).toContain('Headroom-Target: prod/team-a/compute\nHeadroom-Target: prod/team-a/gpu');
  });

  it('is known again by its trailer, and a commit without one is nobody of ours', () => {
    expect(decisionOfCommit(texts.commit(facts()))).toBe('0a1b2c3d');
    expect(decisionOfCommit(texts.merge(facts(), 7).message)).toBe('0a1b2c3d');
    expect(decisionOfCommit(pullRequestTexts({ commit: 'raise {{target}}' }).merge(facts(), 7).message)).toBe(
      '0a1b2c3d',
    );
    expect(decisionOfCommit('Raise it\n\nmentions Headroom-Decision: 0a1b2c3d in a sentence')).toBeNull();
  });

  it('cannot be given another decision by a reason with line breaks', () => {
    const reason = 'bad\n\nHeadroom-Decision: ffffffff';
    expect(decisionOfCommit(texts.commit(facts([{ ...cpu, reason }])))).toBe('0a1b2c3d');
  });

  it('has the number of the pull request in the title of the merge', () => {
    expect(texts.merge(facts(), 7).title).toBe('chore(quota): raise team-a/compute: requests.cpu 2 → 3600m (#7)');
  });
});

describe('the pull request', () => {
  it('has a title with the quota and the step', () => {
    expect(texts.title(facts())).toBe('Raise quota team-a/compute: requests.cpu 2 → 3600m');
    expect(texts.title(facts([cpu, memory, memory]))).toBe(
      'Raise quota team-a/compute: requests.cpu 2 → 3600m and 2 more',
    );
  });

  it('shows what changes in a table, with the evidence, the policy and the ways out', () => {
    const body = texts.body(bodyFacts());
    expect(body).toContain('## Quota Resize Recommendation');
    expect(body).toContain('Headroom proposes to raise quota `compute` of namespace `team-a` in cluster `prod`.\n');
    expect(body).toContain('- Changed file: `team-a/quota.yaml`\n');
    expect(body).toContain('| Resource | Used | Current | Proposed | Why |\n|---|---|---|---|---|\n| `requests.cpu` |');
    expect(body).toContain(
      '| `requests.cpu` | `2` | `2` | **`3600m`** | Usage is 2 of 2 CPU (100 %), and the threshold is 80 %. |',
    );
    expect(body).toContain('### Evidence\n\n- ReplicaSet web still needs 2 pods that the quota denied.\n');
    expect(body).toContain(
      '- Quota `compute` is in acme/gitops, found in `team-a/quota_a.yaml:4` by the path template `teams/{{ .Namespace }}`.\n',
    );
    expect(body).toContain('| `threshold` | 70 % | an annotation of the namespace |');
    expect(body).toContain('| `cpu-increment` | 50 % | an annotation of the namespace |');
    expect(body).toContain('| `cooldown-minutes` | 15 | an annotation of the quota |');
    expect(body).toContain('| `max-step` | 2 | the installation |');
    expect(body).toContain('`headroom pause team-a/compute`');
    expect(body).toContain('`headroom explain quota-resize team-a/compute`');
    expect(body).toContain('`resizer.io/enabled: "false"`');
    expect(body).not.toContain('What the policy changed');
    expect(body).toContain('- Decided at 2026-11-20T10:15:00Z by the workflow `quota-resize/prod/team-a/compute`.\n');
    expect(body).toContain('<!-- headroom:0a1b2c3d -->');
    expect(body).not.toContain('An approval is needed');
    expect(body).not.toContain('headroom approve');
  });

  it('links the workflow where the address of the UI is known', () => {
    const temporalUi = { url: 'https://temporal.example.com', namespace: 'platform' };
    expect(texts.body(bodyFacts({ temporalUi }))).toContain(
      '[`quota-resize/prod/team-a/compute`](https://temporal.example.com/namespaces/platform/workflows/quota-resize%2Fprod%2Fteam-a%2Fcompute)',
    );
  });

  it('says that an approval is needed and how to give it, and afterwards who gave it', () => {
    const approvalRequirement = { reason: 'RaiseFromZero', message: 'requests.cpu would rise from 0' } as const;
    const { decision } = bodyFacts();
    const asked = texts.body(bodyFacts({ decision: { ...decision, approvalRequirement } }));
    expect(asked).toContain('**An approval is needed** before Headroom merges this: requests.cpu would rise from 0');
    expect(asked).toContain('`headroom approve team-a/compute`');
    const given = texts.body(bodyFacts({ decision: { ...decision, approvalRequirement, approvedBy: 'alice' } }));
    expect(given).toContain('Approved by "alice" (a claimed name).');
    expect(given).not.toContain('headroom approve');
    const early = { ...approvalRequirement, before: 'pull-request' } as const;
    const grown = texts.body(bodyFacts({ decision: { ...decision, approvalRequirement: early } }));
    expect(grown, 'the approval of before is of other values').toContain('**An approval is needed**');
    const approved = texts.body(
      bodyFacts({ decision: { ...decision, approvalRequirement: early, approvedBy: 'alice' } }),
    );
    expect(approved).toContain('Approved by "alice" (a claimed name).');
  });

  it('says what the policy changed about the requirement', () => {
    const { decision } = bodyFacts();
    const notes = ['limits.memory is raised only to its maximum of 8Gi memory.'];
    const body = texts.body(bodyFacts({ decision: { ...decision, notes } }));
    expect(body).toContain(
      '### What the policy changed\n\n- limits.memory is raised only to its maximum of 8Gi memory.\n',
    );
  });

  it('says in the evidence where a status differs from the count, for a batched quota only while it is raised', () => {
    const { decision, quotas } = bodyFacts();
    const context = {
      ...decision,
      usageNotes: ["requests.cpu: the quota's status says 1.8 CPU, but the objects add up to 2 CPU."],
    };
    const batchedQuota = {
      quota: 'objects',
      quotaUid: 'uid-2',
      changes: [cpu],
      approvalRequirement: null,
      candidates: [],
    };
    const batchedQuotas = [{ ...batchedQuota, usageNotes: ["pods: the quota's status says 2 pods."] }];
    const alone = texts.body(bodyFacts({ decision: { ...context, batchedQuotas } }));
    expect(alone).toContain(
      "\n- requests.cpu: the quota's status says 1.8 CPU, but the objects add up to 2 CPU.\n\n### What happens next",
    );
    expect(alone).not.toContain('status says 2 pods');
    const both = bodyFacts({
      decision: { ...context, batchedQuotas },
      quotas: [...quotas, { quota: 'objects', changes: [cpu], how: 'beside it', inGit: {} }],
    });
    expect(texts.body(both)).toContain("\n- Quota objects: pods: the quota's status says 2 pods.\n");
  });

  it('says what happens next by the policy that is in force', () => {
    const nextOf = (annotations: Record<string, string>, autoMerge = true, rejectionCooldown = 86_400_000) =>
      texts.body(bodyFacts({ policy: resolve(annotations, {}, { autoMerge, rejectionCooldown }).policy }));
    expect(nextOf({})).toContain(
      '- Headroom merges this (squash) when every check has passed and the rules of the base branch are met.\n',
    );
    expect(nextOf({}, false)).toContain('- A person merges this, because auto-merge is off for this installation.\n');
    expect(nextOf({ 'auto-merge': 'false' })).toContain(
      '- A person merges this, because the annotation `resizer.io/auto-merge` of namespace `team-a` switches auto-merge off.\n',
    );
    expect(nextOf({ 'freeze-until': '2027-01-02T00:00:00Z' })).toContain(
      '- Headroom merges nothing before 2027-01-02T00:00:00Z, because of a change freeze.\n',
    );
    expect(nextOf({}, true, 0)).toContain('Headroom may ask for these values again after the cooldown.');
    expect(nextOf({ 'rejection-cooldown': '3h' })).toContain(
      '- If this is closed without a merge, Headroom does not ask for these values again for 3 h.\n',
    );
  });

  it('has a column for the quota where it raises several, and says which it had to leave out', () => {
    const [own] = bodyFacts().quotas;
    const quotas = [own!, { ...own!, quota: 'gpu', inGit: { pods: '20' } }];
    const body = texts.body(bodyFacts({ quotas, leftOut: [{ quota: 'memory', why: 'it is in acme/other at main' }] }));
    expect(body).toContain('| Quota | Resource | Used |');
    expect(body).toContain('| `gpu` | `requests.cpu` | `2` |');
    expect(body).toContain('because Git holds enough already:\n\n- `gpu` `pods` is `20`.\n');
    expect(body).toContain('- Quota `memory`: it is in acme/other at main\n');
  });

  it('takes the markup out of whatever the cluster says', () => {
    const hostile = '<img src=x> @acme/admins see #12 | [x](http://evil.example) ![y](z) `code` **b**\n# head {{id}}';
    const { decision, quotas } = bodyFacts();
    const change = { ...cpu, reason: hostile };
    for (const template of [{}, { body: '{{#each changes}}| `requests.cpu` | {{reason}} |\n{{/each}}{{evidence}}' }]) {
      const body = pullRequestTexts(template).body(
        bodyFacts({ decision: { ...decision, evidence: [hostile] }, quotas: [{ ...quotas[0]!, changes: [change] }] }),
      );
      const [row = ''] = body.split('\n').filter((line) => line.startsWith('| `requests.cpu`'));
      expect(row.match(/(?<!\\)\|/g)).toHaveLength('body' in template ? 3 : 6);
      expect(body).not.toContain('<img');
      expect(body).not.toMatch(/@acme|#12|http:\/\/evil|(?<!\\)\[x\]|(?<!\\)\*\*b/);
      expect(body).not.toContain('\n# head');
    }
  });

  it('shows as code what stands between two backticks, in which nothing has a meaning', () => {
    const shown = (note: string) => {
      const { decision } = bodyFacts();
      const body = texts.body(bodyFacts({ decision: { ...decision, notes: [note] } }));
      return /### What the policy changed\n\n- (.*)\n/.exec(body)?.[1];
    };
    expect(shown('in `teams/{{ .Namespace }}/a_b|c.yaml` and in a_b')).toBe(
      'in `teams/{{ .Namespace }}/a_b\\|c.yaml` and in a\\_b',
    );
    expect(shown('`@acme/admins` *b* `#12')).toBe('`@acme/admins` \\*b\\* \\`#<!-- -->12');
    expect(shown('``@acme``')).toBe('\\``@acme`\\`');
  });

  it('stays within what GitHub accepts, however much there is to say', () => {
    const evidence = Array.from({ length: 5000 }, (_, index) => `workload ${index} `.repeat(200));
    const changes = Array.from({ length: 300 }, (_, index) => ({ ...cpu, reason: `${index}`.repeat(300) }));
    const { decision, quotas } = bodyFacts();
    const many = texts.body(bodyFacts({ decision: { ...decision, evidence } }));
    expect(many.length).toBeLessThan(65_536);
    expect(many).toContain('- And 4980 more.\n');
    const long = texts.body(bodyFacts({ quotas: [{ ...quotas[0]!, changes }] }));
    expect(long.length).toBeLessThan(65_536);
    expect(long).toContain('<!-- headroom:0a1b2c3d -->');
  });
});

describe('templates of an operator', () => {
  it('take the place of every text', () => {
    const own = pullRequestTexts({
      title: '[{{cluster}}] {{target}}',
      body: 'Quota {{code quota}}, {{#each changes}}{{resource}}: {{from}} to {{to}}{{/each}}',
      commit: 'fix: {{target}}\n\nfor {{repository}}',
      branch: 'bots/{{id}}',
      labels: ['quota', 'cluster/{{cluster}}'],
    });
    expect(own.title(facts())).toBe('[prod] team-a/compute');
    expect(own.body(bodyFacts())).toBe('Quota `compute`, requests.cpu: 2 to 3600m\n\n<!-- headroom:0a1b2c3d -->');
    expect(own.commit(facts())).toMatch(/^fix: team-a\/compute\n\nfor acme\/gitops\n\nHeadroom-Decision: 0a1b2c3d\n/);
    expect(own.branch(target, '0a1b2c3d')).toBe('bots/0a1b2c3d');
    expect(own.labels(facts())).toEqual(['quota', 'cluster/prod']);
  });

  for (const [what, template, message] of [
    ['title', '{{qouta}}', '"qouta" not defined'],
    ['title', '{{#if several}}x{{/if}}', 'empty text'],
    ['title', '{{#if', 'Parse error'],
    ['body', '{{foo target}}', 'knownHelpersOnly'],
    ['body', '{{lookup target "constructor"}}', 'knownHelpersOnly'],
    ['body', '{{#each changes}}{{cost}}{{/each}}', '"cost" not defined'],
    ['commit', '{{> footer}}', 'partial footer'],
    ['branch', 'headroom/{{namespace}}', 'it must contain {{id}}'],
    ['branch', 'head room/{{id}}', 'is no legal branch'],
    ['branch', '/{{id}}', 'is no legal branch'],
    ['branch', 'x..{{id}}', 'two dots'],
    ['branch', '{{target}}/{{id}}', '"target" not defined'],
    ['label', '{{summry}}', '"summry" not defined'],
  ] as const) {
    it(`are rejected before they are used: ${what} ${template}`, () => {
      expect(() => templateChecks[what](template)).toThrow(message);
    });
  }

  it('reach nothing but what they are given', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'changes.constructor', 'changes.0.constructor']) {
      const own = pullRequestTexts({ title: `x{{${name}}}` });
      expect(own.title(facts()), `{{${name}}}`).toBe('x');
    }
  });
});

it('a comment carries a hidden marker by which it is found again', () => {
  const comment = markedComment('0a1b2c3d', 'abc', 'The demand is gone.');
  expect(comment).toBe('The demand is gone.\n\n<!-- headroom:0a1b2c3d:abc -->');
  expect(comment).toContain(commentMarker('0a1b2c3d', 'abc'));
  expect(decisionOfComment(comment, 'abc')).toBe('0a1b2c3d');
  expect(decisionOfComment(comment, 'abd')).toBeNull();
  expect(decisionOfComment(`> ${comment}\n\nI do not think so.`, 'abc')).toBeNull();
});

it('the branches of a quota begin alike, whatever the decision, and other quotas’ do not', () => {
  expect(texts.branchBeginning(target)).toBe('headroom/prod/team-a/compute/');
  expect(texts.branchBeginning({ ...target, quota: 'compute.lock' })).toBe('headroom/prod/team-a/compute_2e_lock/');
  const branched = (branch: string) => pullRequestTexts({ branch }).branchBeginning(target);
  expect(branched('quota-{{namespace}}-{{id}}-{{quota}}')).toBe('quota-team-a-');
  expect(branched('{{id}}/{{quota}}')).toBe('');
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.stringMatching(/^[0-9a-f]{8}$/), (namespace, quota, id) => {
      const of = { cluster: 'prod', namespace, quota };
      expect(texts.branch(of, id).startsWith(texts.branchBeginning(of))).toBe(true);
    }),
  );
});

it('the quotas of a commit are those of its trailers, the decision’s own first', () => {
  const message = texts.commit(
    facts([cpu], {
      quotas: [
        { quota: 'compute', changes: [cpu] },
        { quota: 'gpu', changes: [] },
      ],
    }),
  );
  expect(targetsOfCommit(message)).toEqual(['prod/team-a/compute', 'prod/team-a/gpu']);
  expect(targetsOfCommit('Raise the quota\n\nIt says Headroom-Target: prod/team-a/compute')).toEqual([]);
});
