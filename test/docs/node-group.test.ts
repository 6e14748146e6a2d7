/** What people read of node groups must be what the code has. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readInstanceTypes } from '../../activities/node-group/provider/kwok/instance-types.ts';
import { nodeGroupSpec, nodeGroupStatus } from '../../domain/node-group/api/node-group-spec.ts';
import { KIND } from '../../domain/node-group/api/names.ts';
import { readNodeGroup } from '../../domain/node-group/api/read-node-group.ts';
import { createCommandLine } from '../../starter/cli/command-line.ts';
import { settingEntries } from '../../starter/config.ts';
import { chartValue, entriesOf, pairsOf, read, sectionOf, unionMembers } from './reading.ts';

const page = read('docs/node-groups.md');
const runbook = read('docs/operations/node-group.md');

/** `scaleUpPolicy.enabled` and so on; what is kept as it is has one row. */
function fieldsOf(type: unknown, path = ''): readonly string[] {
  if (type instanceof z.ZodOptional || type instanceof z.ZodDefault) return fieldsOf(type.unwrap(), path);
  if (type instanceof z.ZodArray && path === 'budgets') return [path, ...fieldsOf(type.element, `${path}[]`)];
  if (!(type instanceof z.ZodObject) || type.def.catchall !== undefined) return [path];
  return Object.entries(type.shape).flatMap(([name, part]) => fieldsOf(part, path === '' ? name : `${path}.${name}`));
}

/** Texts that follow a pattern in a source. */
function matches(file: string, pattern: RegExp): readonly string[] {
  return [...read(file).matchAll(pattern)].map(([, text = '']) => text);
}

describe('the operations page of node groups', () => {
  it.each([
    ['### Phases of a NodeGroup', 'NodeGroupPhase'],
    ['### Reasons of a NodeGroup', 'NodeGroupReason'],
  ])('has under "%s" each of the union once, and none that there is not', (heading, union) => {
    const existing = unionMembers('domain/node-group/decide/verdict.ts', union);
    expect(entriesOf(sectionOf(runbook, heading)).toSorted()).toEqual(existing.toSorted());
  });

  it('has each phase and each reason of a drain once, and none that there is not', () => {
    const steps = 'domain/node-group/drain/steps.ts';
    const [endings = ''] = /interface DrainEnding[^}]*/.exec(read(steps)) ?? [];
    const shown = [
      ...matches(steps, /draining\(\s*'(\w+)'/g),
      ...matches(steps, /\? '(EvictionsRefused)' : '/g),
      ...matches(steps, /\? 'EvictionsRefused' : '(\w+)'/g),
      ...[...endings.matchAll(/'([A-Z]\w+)'/g)].map(([, text = '']) => text),
      ...unionMembers('domain/node-group/drain/drain-progress.ts', 'BlockedReason'),
      'Paused',
      'GloballyPaused',
    ];
    const existing = [...unionMembers(steps, 'DrainPhase'), ...new Set(shown)];
    const section = ['### Phases of a drain', '### Reasons of a drain']
      .map((heading) => sectionOf(runbook, heading))
      .join('');
    expect(entriesOf(section).toSorted()).toEqual(existing.toSorted());
  });

  it('explains every command of the command line', () => {
    const stream = { write: () => true };
    const { program } = createCommandLine({ env: {}, stdout: stream, stderr: stream, readStdin: () => '' });
    const group = program.commands.find((command) => command.name() === 'node-groups');
    const names = (group?.commands ?? []).map((command) => command.name()).filter((name) => name !== 'help');
    expect(entriesOf(sectionOf(runbook, '### Send a command')).toSorted()).toEqual(names.toSorted());
  });

  it('has every Event, with its type', () => {
    const union = /readonly type: '(\w+)'; readonly reason: ([^}]+) \}/g;
    const existing = [...read('activities/node-group/group/group-event.ts').matchAll(union)].flatMap(
      ([, type, reasons = '']) => [...reasons.matchAll(/'(\w+)'/g)].map(([, reason]) => `${reason} ${type}`),
    );
    expect(existing.length).toBeGreaterThan(5);
    expect(pairsOf(sectionOf(runbook, '### Events')).toSorted()).toEqual(existing.toSorted());
  });
});

describe('the page of node groups', () => {
  it('has each reason why a pod gets no node, why a node goes and why it stays', () => {
    const plan = 'domain/node-group/model/plan.ts';
    const unhelped = sectionOf(page, '## Pods that make no node');
    expect(entriesOf(unhelped).toSorted()).toEqual(unionMembers(plan, 'UnhelpedReason').toSorted());
    const stays = sectionOf(page, '### Why a node stays');
    expect(entriesOf(stays).toSorted()).toEqual(unionMembers(plan, 'KeepReason').toSorted());
    const goes = page.slice(page.indexOf('## How nodes are given back'), page.indexOf('### Why a node stays'));
    const reasons = unionMembers('domain/node-group/model/node-group.ts', 'DisruptionReason');
    expect(entriesOf(goes).toSorted()).toEqual(reasons.toSorted());
  });

  it('has a row for each field, and none that there is not', () => {
    expect(entriesOf(sectionOf(page, '## Every field')).toSorted()).toEqual([...fieldsOf(nodeGroupSpec)].toSorted());
    expect(entriesOf(sectionOf(page, '## Status')).toSorted()).toEqual(Object.keys(nodeGroupStatus.shape).toSorted());
  });

  it('has every setting, and values that the chart has', () => {
    const settings = settingEntries.filter(({ group }) => group === 'nodeGroups').map(({ setting }) => setting.env);
    expect(entriesOf(sectionOf(page, '## Settings')).toSorted()).toEqual(settings.toSorted());
    const values = entriesOf(sectionOf(page, '## Switch it on'));
    expect(values).toHaveLength(3);
    for (const value of values) expect(chartValue(value)).toHaveProperty('type');
  });

  it('has only NodeGroups and instance types in its examples that can work', () => {
    const blocks = [...page.matchAll(/^```yaml\n([^`]*?)^```/gm)].map(([, block = '']) => block);
    const groups = blocks.filter((block) => block.includes(`kind: ${KIND}\n`));
    expect(groups).toHaveLength(2);
    for (const group of groups) expect(readNodeGroup(parse(group), { mode: 'observe' }).problems).toEqual([]);
    const types = blocks.find((block) => block.includes('kind: ConfigMap'));
    const { data } = z.object({ data: z.object({ types: z.string() }) }).parse(parse(types ?? ''));
    expect(readInstanceTypes(data.types)).toHaveLength(1);
  });
});
