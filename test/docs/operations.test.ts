/** The operations pages have one shape, and every word of the product that an operator meets. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { controllerNames } from '../../domain/kernel/controllers.ts';
import { failureTypes } from '../../domain/kernel/failures.ts';
import { sharedMonitoring } from '../../domain/kernel/monitoring/shared-monitoring.ts';
import { eventTypes } from '../../domain/quota-resize/model/event-reasons.ts';
import { blockedReasons } from '../../domain/quota-resize/model/memory.ts';
import { controllerMonitoring } from '../../domain/registry.ts';
import { operationsPages, withAlerts } from '../../tools/monitoring/page.ts';
import { commandSignals } from '../../workflows/quota-resize/messages.ts';
import { entriesOf, pairsOf, read, ROOT, sectionOf, unionMembers, withoutCode } from './reading.ts';

const pages = readdirSync(join(ROOT, 'docs/operations')).map((file) => `docs/operations/${file}`);
const headings = ['What you see', 'What it means', 'Who acts', 'What to do', 'Alerts'];

describe('every operations page', () => {
  it('is of a controller, or of what all share, and the entry leads to it', () => {
    // What those two do is part of what all controllers share.
    const own = controllerNames.filter((name) => !['lease-gc', 'github-budget'].includes(name));
    expect(pages.toSorted()).toEqual([...own, 'shared'].map((name) => `docs/operations/${name}.md`).toSorted());
    expect(operationsPages.toSorted()).toEqual(pages.toSorted());
    const entry = read('docs/operations.md');
    for (const page of pages) expect(entry).toMatch(new RegExp(`^- .*\\(${page.replace('docs/', '')}\\)`, 'm'));
  });

  it.each(pages)('%s has the same five headings', (page) => {
    expect([...withoutCode(read(page)).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual(headings);
  });

  it.each(pages)('%s has its alerts as the code has them today (npm run docs:metrics)', (page) => {
    expect(read(page)).toBe(withAlerts(page, read(page)));
  });

  it('has an alert that another one has not', () => {
    const alerts = [sharedMonitoring, ...Object.values(controllerMonitoring)].flatMap((one) => one.alerts);
    const shown = pages.flatMap((page) =>
      [...sectionOf(read(page), '## Alerts').matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name),
    );
    expect(shown.toSorted()).toEqual(alerts.map(({ name }) => name).toSorted());
  });
});

it('the page of what all share explains every failure of an activity that a person can mend by waiting or acting', () => {
  const section = sectionOf(read('docs/operations/shared.md'), '### Activities that retry');
  const shown = Object.keys(failureTypes).filter((type) => type !== 'ForgeRejected' && type !== 'InvalidInput');
  expect(entriesOf(section).toSorted()).toEqual(shown.toSorted());
});

it('the page of what all share has every phase of the budget', () => {
  const phases = unionMembers('domain/github-budget/summary.ts', 'BudgetPhase');
  expect(entriesOf(sectionOf(read('docs/operations/shared.md'), '### Phases of the budget')).toSorted()).toEqual(
    phases.toSorted(),
  );
});

describe('the operations page of quotas', () => {
  const page = read('docs/operations/quota-resize.md');
  const phases = unionMembers('domain/quota-resize/model/verdict.ts', 'Phase');
  const reasons = unionMembers('domain/quota-resize/model/verdict.ts', 'Reason');

  it('explains every reason once, and none that there is not', () => {
    expect(entriesOf(sectionOf(page, '## What it means')).toSorted()).toEqual(reasons.toSorted());
  });

  it('lists exactly the reasons of a block under "Blocked", besides a foreign commit', () => {
    const others = blockedReasons.filter((reason) => reason !== 'ForeignCommit');
    expect(entriesOf(sectionOf(page, '### Blocked')).toSorted()).toEqual(others.toSorted());
  });

  it('has every phase in its list, and every reason with some phase', () => {
    const section = sectionOf(page, '### Phases');
    const list = section.slice(section.indexOf('\n- '));
    expect(entriesOf(list).toSorted()).toEqual(phases.toSorted());
    const named = [...list.matchAll(/`(\w+)`/g)].map(([, word = '']) => word);
    expect(reasons.filter((reason) => !named.includes(reason))).toEqual([]);
    expect(named.filter((word) => ![...phases, ...reasons, 'resume', 'approve'].includes(word))).toEqual([]);
  });

  it('draws no phase that there is not', () => {
    const [, diagram = ''] = /```mermaid\n(stateDiagram[^`]*)```/.exec(page) ?? [];
    const drawn = [...diagram.matchAll(/^ +(\S+) --> ([^\s:]+)/gm)].flatMap(([, from = '', to = '']) => [from, to]);
    expect(drawn.filter((phase) => phase !== '[*]' && !phases.includes(phase))).toEqual([]);
    expect(phases.filter((phase) => !drawn.includes(phase)).toSorted()).toEqual(['Blocked', 'Ended', 'Paused']);
  });

  it('has every Event of the resizer with its type', () => {
    const existing = Object.entries(eventTypes).map(([reason, type]) => `${reason} ${type}`);
    expect(pairsOf(sectionOf(page, '### Events')).toSorted()).toEqual(existing.toSorted());
  });

  it('has every operator command', () => {
    expect(entriesOf(sectionOf(page, '### Send a command'))).toEqual(Object.keys(commandSignals));
  });
});

describe('the operations page of counts', () => {
  it.each([
    ['### Phases', 'UsagePhase'],
    ['## What it means', 'UsageReason'],
  ])('has under "%s" each of the union once, and none that there is not', (heading, union) => {
    const existing = unionMembers('domain/quota-usage/verdict.ts', union);
    expect(entriesOf(sectionOf(read('docs/operations/quota-usage.md'), heading)).toSorted()).toEqual(
      existing.toSorted(),
    );
  });
});
