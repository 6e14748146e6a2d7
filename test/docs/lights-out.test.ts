/** What people read of LightsOutSchedules must be what the code has: every word of it, and none besides. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import * as names from '../../domain/lights-out/schedule/names.ts';
import { readSchedule } from '../../domain/lights-out/schedule/read-schedule.ts';
import { scheduleSpec, scheduleStatus } from '../../domain/lights-out/schedule/schedule.ts';
import { SYSTEM_NAMESPACES } from '../../domain/lights-out/schedule/scope.ts';
import { createCommandLine } from '../../starter/cli/command-line.ts';
import { settingEntries } from '../../starter/config.ts';
import { commandDescriptions } from '../../workflows/lights-out/messages.ts';
import { chartValue, entriesOf, pairsOf, read, ROOT, sectionOf, unionMembers } from './reading.ts';

const page = read('docs/lights-out.md');
const runbook = read('docs/operations/lights-out.md');

function sorted(words: Iterable<string>): readonly string[] {
  return [...new Set(words)].toSorted();
}

/** The first groups of every match. */
function found(source: string, pattern: RegExp): readonly string[] {
  return [...source.matchAll(pattern)].map(([, word = '']) => word);
}

const DECISIONS = ['decide', 'events', 'approval', 'failed-write', 'scaling', 'calendar-problems']
  .map((file) => read(`domain/lights-out/decide/${file}.ts`))
  .join('\n');
/** The sources of the workflow, as one text. */
const WORKFLOW = readdirSync(join(ROOT, 'workflows/lights-out'))
  .map((file) => read(`workflows/lights-out/${file}`))
  .join('\n');

describe('the operations page of schedules', () => {
  it.each([
    ['### Phases', 'LightsOutPhase'],
    ['## What it means', 'LightsOutReason'],
  ])('has under "%s" each of the union once, and none that there is not', (heading, union) => {
    const existing = unionMembers('domain/lights-out/decide/verdict.ts', union);
    expect(entriesOf(sectionOf(runbook, heading)).toSorted()).toEqual(existing.toSorted());
  });

  it('explains every reason of the condition Ready, with the status that it comes with', () => {
    const reasons = /status: '(True|False|Unknown)',\s+reason: (?:'(\w+)'|pauseReason\()/g;
    const existing = [...DECISIONS.matchAll(reasons)].flatMap(([, status, reason]) =>
      (reason === undefined ? ['Paused', 'GloballyPaused'] : [reason]).map((pauseReason) => `${pauseReason} ${status}`),
    );
    const rows = pairsOf(sectionOf(runbook, '### The condition Ready'));
    expect(existing.length).toBeGreaterThan(5);
    expect(rows.toSorted()).toEqual(sorted(existing));
  });

  it('explains every Event, with its type', () => {
    const sources = [DECISIONS, WORKFLOW].join('\n');
    const existing = [
      ...[...sources.matchAll(/type: '(Normal|Warning)',\s+reason: '(\w+)'/g)].map(
        ([, type, reason]) => `${reason} ${type}`,
      ),
      ...found(read('domain/lights-out/decide/run.ts'), /note\('(\w+)'/g).map((reason) => `${reason} Normal`),
    ];
    const rows = pairsOf(sectionOf(runbook, '### Events'));
    expect(existing.length).toBeGreaterThan(10);
    expect(rows.toSorted()).toEqual(sorted(existing));
  });

  it('explains every command of the command line, and names every one of the workflow', () => {
    const section = sectionOf(runbook, '### Send a command');
    expect(entriesOf(section).toSorted()).toEqual(
      commands()
        .map((command) => command.name())
        .toSorted(),
    );
    expect(Object.keys(commandDescriptions).filter((command) => !section.includes(`\`${command}\``))).toEqual([]);
  });

  it('says which metrics each of several processes has, and explains every kind of reconcile request', () => {
    const section = sectionOf(runbook, '### Metrics');
    const [several = ''] = found(section, /(Every starter tells.*?)\n\n/gs);
    expect(found(several, /`((?:lightsout|headroom_lights_out)_\w+|max by \(schedule\))`/g)).toEqual([
      'lightsout_saved_replica_hours_total',
      'max by (schedule)',
      'lightsout_last_reconcile_timestamp_seconds',
      'max by (schedule)',
      'headroom_lights_out_ready',
    ]);
    expect(page).toMatch(/`lightsout_saved_replica_hours_total`[^#]*`max by \(schedule\)`/);
    const kinds = unionMembers('starter/lights-out/reconcile-request.ts', 'ScheduleRequestKind');
    expect(entriesOf(section).toSorted()).toEqual(kinds.toSorted());
  });
});

function commandLine() {
  const stream = { write: () => true };
  return createCommandLine({ env: {}, stdout: stream, stderr: stream, readStdin: () => '' }).program;
}

/** The commands under `headroom lights-out`. */
function commands() {
  const group = commandLine().commands.find((command) => command.name() === 'lights-out');
  return group?.commands.filter((command) => command.name() !== 'help') ?? [];
}

/** `spec.exceptions[].from` and so on, without what a table has one row for: a selector's inside. */
function fieldsOf(type: unknown, path: string): readonly string[] {
  if (type instanceof z.ZodOptional || type instanceof z.ZodDefault) return fieldsOf(type.unwrap(), path);
  if (type instanceof z.ZodArray) return fieldsOf(type.element, `${path}[]`);
  if (!(type instanceof z.ZodObject) || 'matchLabels' in type.shape) return [path.replace(/\[\]$/, '')];
  return Object.entries(type.shape).flatMap(([name, part]) => fieldsOf(part, path === '' ? name : `${path}.${name}`));
}

describe('the page of schedules', () => {
  it('has a row for each field of the spec, and none that there is not', () => {
    const rows = entriesOf(sectionOf(page, '## Every field'));
    expect(rows.toSorted()).toEqual(sorted(fieldsOf(scheduleSpec, '')));
  });

  it('says of each field its default, as the code has it', () => {
    const defaults = Object.entries(scheduleSpec.shape).flatMap(([name, type]) =>
      type instanceof z.ZodDefault && typeof type.def.defaultValue !== 'object'
        ? [[name, String(type.def.defaultValue as unknown)] as const]
        : [],
    );
    const rows = new Map(
      [...sectionOf(page, '## Every field').matchAll(/^\| `([^`]+)`\s*\| `([^`]+)`/gm)].map(
        ([, name, value]) => [name, value] as const,
      ),
    );
    expect(defaults.length).toBeGreaterThan(5);
    expect(defaults.filter(([name, value]) => rows.get(name) !== value)).toEqual([]);
  });

  it('names each field of the status, those inside of others too', () => {
    const section = sectionOf(page, '## Status');
    const rows = entriesOf(section);
    const tops = Object.keys(scheduleStatus.shape);
    expect(sorted(rows.map((row) => row.split('.')[0] ?? '')).filter((row) => tops.includes(row))).toEqual(
      sorted(tops),
    );
    // A condition is Kubernetes' own.
    const inner = fieldsOf(scheduleStatus, '').filter((path) => /[.[]/.test(path) && !path.startsWith('conditions'));
    const leaf = (path: string): string => path.split('.').at(-1) ?? path;
    expect(inner.length).toBeGreaterThan(10);
    expect(
      inner.filter((path) => !section.includes(`\`${leaf(path)}\``) && !section.includes(`.${leaf(path)}\``)),
    ).toEqual([]);
  });

  it('names every annotation, label and finalizer', () => {
    const own = Object.values(names)
      .flat()
      .filter((name) => name.includes('/'));
    expect(own.length).toBeGreaterThan(8);
    expect(own.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it.each(['KeepReason', 'ChangeReason'])('names every word of %s, of which the histories speak', (union) => {
    const section = sectionOf(page, '## Status');
    const missing = unionMembers('domain/lights-out/workload/evaluation.ts', union).filter(
      (word) => !section.includes(`\`${word}\``),
    );
    expect(missing).toEqual([]);
  });

  it('has every setting with its default, and none that there is not', () => {
    const section = sectionOf(page, '## Settings');
    const own = settingEntries.filter(({ group }) => group === 'lightsOut').map(({ setting }) => setting);
    expect(entriesOf(section).toSorted()).toEqual(own.map(({ env }) => env).toSorted());
    for (const { env, default: value } of own) {
      const [row = ''] = section.split('\n').filter((line) => line.startsWith(`| \`${env}\``));
      if (typeof value === 'string') expect(row).toContain(`| \`${value}\``);
    }
  });

  it('names every namespace of the system under what is never touched', () => {
    const section = sectionOf(page, '## What is never touched');
    expect(SYSTEM_NAMESPACES.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
  });

  it('uses only commands and options that there are', () => {
    const existing = new Map(commands().map((command) => [command.name(), command]));
    const general = commandLine().options.map(({ long }) => long);
    const text = [page, runbook, read('README.md')].join('\n');
    const used = [...text.matchAll(/^\s*\$ .*?\blights-out ([a-z-]+)(.*)$/gm)];
    expect(used.length).toBeGreaterThan(5);
    const unknown = used.flatMap(([line, name = '', rest = '']) => {
      const command = existing.get(name);
      const options = [...general, ...(command?.options.map(({ long }) => long) ?? [])];
      const isKnown = command !== undefined && found(rest, /(--[a-z]+)/g).every((option) => options.includes(option));
      return isKnown ? [] : [line];
    });
    expect(unknown).toEqual([]);
  });

  it('has only schedules that can be followed in its examples', () => {
    const blocks = found(page, /^```yaml\n([^`]*?)^```/gm);
    const schedules = blocks.filter((block) => block.includes(`kind: ${names.KIND}\n`));
    expect(schedules.length).toBeGreaterThan(0);
    const parts = blocks.filter((block) => /^(?:exceptions|priorities):/.test(block));
    expect(parts).toHaveLength(2);
    const specs = [
      ...schedules.map((block) => parse(block)),
      ...parts.map((block) => ({
        spec: { upscale: '0 7 * * 1-5', downscale: '0 19 * * 1-5', namespaces: ['a'], ...parse(block) },
      })),
    ];
    for (const spec of specs) expect(readSchedule(spec).problems).toEqual([]);
  });

  it('names every kind of certificate', () => {
    expect(entriesOf(sectionOf(page, '## Switch it on'))).toEqual([
      'webhooks.certificates',
      ...(chartValue('webhooks.certificates').enum ?? []),
    ]);
  });
});

function parse(yaml: string): Record<string, unknown> {
  return parseAllDocuments(yaml)[0]?.toJS() as Record<string, unknown>;
}
