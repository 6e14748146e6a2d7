/** What people read must be what the code does: the words of the product, and links that lead somewhere. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventTypes } from '../../domain/quota-resize/model/event-reasons.ts';
import { blockedReasons } from '../../domain/quota-resize/model/memory.ts';
import { failureTypes } from '../../domain/kernel/failures.ts';
import { commandSignals } from '../../workflows/quota-resize/messages.ts';
import { firstCells, read, ROOT, unionMembers } from './reading.ts';

const phases = unionMembers('domain/quota-resize/model/verdict.ts', 'Phase');
const reasons = unionMembers('domain/quota-resize/model/verdict.ts', 'Reason');

describe('the runbook', () => {
  const runbook = read('docs/operations.md');

  it('explains every reason once, and none that there is not', () => {
    const section = runbook.slice(runbook.indexOf('## Reasons'), runbook.indexOf('## Activities that retry'));
    expect(firstCells(section).toSorted()).toEqual(reasons.toSorted());
  });

  it('lists exactly the reasons of a block under "Blocked", besides a foreign commit', () => {
    const section = runbook.slice(runbook.indexOf('### Blocked'), runbook.indexOf('### Waiting for the cluster'));
    const others = blockedReasons.filter((reason) => reason !== 'ForeignCommit');
    expect(firstCells(section).toSorted()).toEqual(others.toSorted());
  });

  it('explains every failure of an activity that a person can mend by waiting or acting', () => {
    const section = runbook.slice(runbook.indexOf('## Activities that retry'), runbook.indexOf('## How to'));
    const shown = Object.keys(failureTypes).filter((type) => type !== 'ForgeRejected' && type !== 'InvalidInput');
    expect(firstCells(section).toSorted()).toEqual(shown.toSorted());
  });
});

describe('the section of usage episodes', () => {
  const runbook = read('docs/operations.md');
  const section = runbook.slice(runbook.indexOf('## Usage episodes'), runbook.indexOf('## One budget for GitHub'));
  const words = firstCells(section);

  it('explains every phase, reason and metric once, and none that there is not', () => {
    const verdict = 'domain/quota-usage/verdict.ts';
    const source = read('starter/quota-usage/metrics.ts');
    const metrics = new Set([...source.matchAll(/'(headroom_usage_\w+)'/g)].map(([, name = '']) => name));
    const existing = [...unionMembers(verdict, 'UsagePhase'), ...unionMembers(verdict, 'UsageReason'), ...metrics];
    expect(words.toSorted()).toEqual(existing.toSorted());
  });

  it('has its alerts on metrics that there are', () => {
    const used = [...section.matchAll(/expr: .*?(headroom_usage_\w+?)(?:_bucket)?\b/g)].map(([, name = '']) => name);
    expect(used).toHaveLength(2);
    expect(words).toEqual(expect.arrayContaining(used));
  });
});

describe('the README', () => {
  const readme = read('README.md');
  const section = (from: string, to: string): string => readme.slice(readme.indexOf(from), readme.indexOf(to));

  it('has every phase in its table, and every reason with some phase', () => {
    const table = section('**Phases**', '[The runbook]');
    expect(firstCells(table)).toEqual(expect.arrayContaining(phases));
    const named = [...table.matchAll(/`(\w+)`/g)].map(([, word = '']) => word);
    expect(reasons.filter((reason) => !named.includes(reason))).toEqual([]);
    expect(
      named.filter((word) => ![...phases, ...reasons, 'HeadroomPhase', 'resume', 'approve'].includes(word)),
    ).toEqual([]);
  });

  it('has every Event of the resizer with its type', () => {
    const table = section('**Events on the quota**', '**Phases**');
    const rows = [...table.matchAll(/^\| `(\w+)` +\| (\w+)/gm)].map(([, reason = '', type = '']) => [reason, type]);
    const own = rows.filter(([reason]) => reason !== 'UsageWrong');
    expect(Object.fromEntries(own)).toEqual(eventTypes);
  });

  it('has every operator command', () => {
    const table = section('| command        |', '**Stop everything');
    expect(firstCells(table)).toEqual(Object.keys(commandSignals));
  });

  it('has every annotation', () => {
    const [, list = ''] = /PLAIN_SETTINGS = \[([^\]]+)\]/.exec(read('domain/quota-resize/policy/annotations.ts')) ?? [];
    const plain = [...list.matchAll(/'([\w-]+)'/g)].map(([, name]) => `resizer.io/${name}`);
    const documented = firstCells(section('## Annotations', '## Configuration'));
    const perResource = ['threshold', 'increment', 'min', 'max'].map((name) => `resizer.io/<resource>-${name}`);
    expect(documented.toSorted()).toEqual([...plain, ...perResource].toSorted());
  });

  it('names only make targets and npm scripts that there are', () => {
    const makefile = read('Makefile');
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const documents = [
      'README.md',
      'docs/testing.md',
      'docs/operations.md',
      'docs/forge.md',
      'docs/lights-out.md',
      'docs/node-groups.md',
    ];
    for (const document of documents) {
      const text = read(document);
      for (const [, target = ''] of text.matchAll(/`make (\w+)/g)) expect(makefile).toContain(`\n${target}: `);
      for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?(\w[\w:-]*)/g))
        expect(Object.keys(scripts)).toContain(script);
    }
  });
});

it('every relative link of the documents leads to a file', () => {
  const documents = [
    'README.md',
    'CHANGELOG.md',
    ...['docs', 'docs/adr'].flatMap((folder) =>
      readdirSync(join(ROOT, folder))
        .filter((file) => file.endsWith('.md'))
        .map((file) => `${folder}/${file}`),
    ),
  ];
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\(([^)#]+)[^)]*\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^https?:/.test(link) && !existsSync(join(ROOT, dirname(document), link)))
      .map((link) => `${document}: ${link}`),
  );
  expect(broken).toEqual([]);
});
