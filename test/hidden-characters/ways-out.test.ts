/**
 * Text that people read shows all of its characters: what turns the reading direction around, or is not seen at all, never
 * leaves Headroom as it is. Events are in `event.integration.test.ts`.
 */
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../domain/quota-resize/model/decision.ts';
import { markedComment, pullRequestTexts } from '../../domain/quota-resize/pull-request/pull-request-texts.ts';
import { createLog } from '../../platform/log/log.ts';
import { allowed, denied, type AdmissionRequest } from '../../starter/admission/review.ts';
import { runCommandLine } from '../../starter/cli/command-line.ts';
import { Output } from '../../starter/cli/output.ts';
import { shownStatus } from '../../workflows/kernel/details.ts';
import { brief } from '../../workflows/kernel/visibility.ts';
import { resolve } from '../domain/quota-resize/policy/policies.ts';

/** Reads "approved by alice" backwards, ends in a tag that is not seen, and moves the cursor of a terminal. */
const HIDDEN = 'a\u202eecila\u2066\u3164\u{e0101}b\u200bc\u{e0041}d\u061ce\u009b2Jf\u001b[1Ag\rh';
const hidden = /[\p{Cf}\p{Cc}\p{DI}]/u;
/** Line breaks, and tabs, are what makes a text readable. */
const hiddenInText = /[\p{Cf}\p{DI}]|[^\P{Cc}\n\t]/u;

const target = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };
const change = { resource: 'requests.cpu', from: '2', to: '3', used: '2', demand: '1', reason: HIDDEN };

describe('a pull request', () => {
  const name = `count/${HIDDEN}.example.com`;
  const quotas = [{ quota: 'compute', changes: [{ ...change, resource: name, used: HIDDEN }], how: HIDDEN, inGit: {} }];
  const facts = { target, decisionId: '0a1b2c3d', repository: 'acme/gitops', quotas };
  const texts = pullRequestTexts({ labels: ['{{summary}}'], branch: 'x/{{namespace}}/{{quota}}/{{id}}' });

  it.each([
    ['title', texts.title(facts)],
    ['commit', texts.commit(facts)],
    ['squash commit', Object.values(texts.merge(facts, 7)).join('\n')],
    ['label', texts.labels(facts).join('\n')],
    ['branch', texts.branch({ ...target, namespace: HIDDEN, quota: HIDDEN }, '0a1b2c3d')],
    ['comment', markedComment('0a1b2c3d', 'key', HIDDEN)],
  ])('has none in its %s', (_, text) => {
    expect(text).not.toMatch(hiddenInText);
    expect(text).toMatch(/U\+202E|_202e_/);
  });

  it('has none in its description, in whatever field they come', () => {
    const approved: Pick<Decision, 'approvedBy'> = { approvedBy: HIDDEN };
    const body = texts.body({
      target,
      decision: {
        id: '0a1b2c3d',
        decidedAt: 0,
        evidence: [HIDDEN],
        notes: [HIDDEN],
        usageNotes: [HIDDEN],
        approvalRequirement: { reason: 'MaxStepExceeded', message: HIDDEN },
        ...approved,
      },
      policy: resolve({ reviewers: HIDDEN }, { [`${HIDDEN}-max`]: '3' }).policy,
      repository: HIDDEN,
      base: HIDDEN,
      branchBy: 'annotation',
      paths: [HIDDEN],
      quotas: [
        {
          ...quotas[0],
          quota: 'compute',
          changes: quotas[0]?.changes ?? [],
          how: HIDDEN,
          notProved: HIDDEN,
          inGit: { [name]: HIDDEN },
        },
      ],
      leftOut: [{ quota: HIDDEN, why: HIDDEN }],
      temporalUi: { url: 'https://temporal.example', namespace: HIDDEN },
    });
    expect(body).not.toMatch(hiddenInText);
  });

  it('keeps those of a template of the operator, such as a joined emoji', () => {
    const own = pullRequestTexts({ title: '👩‍💻 {{target}}' });
    expect(own.title(facts)).toBe('👩‍💻 team-a/compute');
  });
});

describe('a log', () => {
  it('has none in messages, fields, names of fields and errors', () => {
    const lines: string[] = [];
    const log = createLog({ name: 'worker', level: 'info', destination: { write: (line) => void lines.push(line) } });
    log.child({ quota: HIDDEN }).info({ audit: 'status', [HIDDEN]: HIDDEN, deep: [{ text: HIDDEN }] }, HIDDEN);
    log.error(new Error(HIDDEN));
    expect(lines.join('')).not.toMatch(hiddenInText);
    const text = (line: string): string => JSON.stringify(Object.values(JSON.parse(line) as object));
    expect(lines.map(text).join('\n')).not.toMatch(/[\p{Cf}\p{DI}\u007f-\u009f]/u);
  });
});

describe('the command line', () => {
  function given(isTTY?: boolean) {
    const written = { stdout: '', stderr: '' };
    const stream = (name: keyof typeof written) => ({
      ...(isTTY === undefined ? {} : { isTTY }),
      write: (text: string) => void (written[name] += text),
    });
    const io = { env: {}, stdout: stream('stdout'), stderr: stream('stderr'), readStdin: () => '' };
    return { io, written, output: new Output(io) };
  }

  it('shows none, whatever it prints', () => {
    const { output, written } = given();
    output.line(HIDDEN);
    output.text(`${HIDDEN}\n`);
    output.note(HIDDEN);
    output.fail(HIDDEN, 1);
    expect(`${written.stdout}${written.stderr}`).not.toMatch(hiddenInText);
  });

  it('keeps its own colours', () => {
    const { output, written } = given(true);
    output.line(`\u001b[31mred\u001b[39m ${HIDDEN}`);
    const red = '\u001b[31mred\u001b[39m ';
    expect(written.stdout.slice(0, red.length)).toBe(red);
    expect(written.stdout.slice(red.length)).not.toMatch(hiddenInText);
  });

  it('writes them as escapes in JSON, so that programs read what is there', () => {
    const { output, written } = given();
    output.json({ [HIDDEN]: HIDDEN });
    expect(written.stdout).not.toMatch(hiddenInText);
    expect(JSON.parse(written.stdout)).toEqual({ [HIDDEN]: HIDDEN });
  });

  it('keeps them in a diff that another program reads, and shows them on a terminal', () => {
    const [piped, shown] = [given(), given(true)];
    piped.output.exact(HIDDEN);
    shown.output.exact(HIDDEN);
    expect(piped.written.stdout).toBe(HIDDEN);
    expect(shown.written.stdout).not.toMatch(hiddenInText);
  });

  it('shows none of the arguments that it refuses', async () => {
    const { io, written } = given();
    await runCommandLine([HIDDEN], io);
    await runCommandLine(['status', HIDDEN], io);
    expect(written.stderr).toContain('U+202E');
    expect(written.stderr).not.toMatch(hiddenInText);
  });
});

describe('Temporal', () => {
  it('shows none in the details of a workflow, its status and its lines of the audit log', () => {
    const shown = shownStatus({ phase: 'Blocked', reason: 'NotProved', detail: HIDDEN, facts: [`by ${HIDDEN}`] });
    expect(JSON.stringify(shown)).not.toMatch(hidden);
    expect([shown.detail, ...shown.facts].join(' ')).not.toMatch(hidden);
  });

  it('shows none in a summary, which has no more characters than before', () => {
    expect(brief(HIDDEN)).not.toMatch(hidden);
    expect(brief('\u202e'.repeat(300)).length).toBeLessThanOrEqual(100);
  });
});

describe('an admission webhook', () => {
  const request: AdmissionRequest = { uid: '1', operation: 'CREATE' };

  it('shows none in a refusal', () => {
    expect(denied(request, HIDDEN).status?.message).not.toMatch(hiddenInText);
  });

  it('shows none in a warning, which has no more characters than the API server takes', () => {
    const warnings = allowed(request, [HIDDEN, '\u202e'.repeat(300)]).warnings ?? [];
    expect(warnings.join(' ')).not.toMatch(hidden);
    expect(warnings.map(({ length }) => length <= 256)).toEqual([true, true]);
  });
});
