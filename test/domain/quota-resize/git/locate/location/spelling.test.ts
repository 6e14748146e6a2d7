import { describe, expect, it } from 'vitest';
import { roundedLimits } from '../../../../../../domain/quota-resize/git/locate/location/spelling.ts';
import { editLocation } from '../../../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { QuotaLocation } from '../../../../../../domain/quota-resize/git/locate/location/location.ts';
import { raiseTogether } from '../../../../../../domain/quota-resize/git/locate/location/raise-together.ts';
import { type Scan, scanQuotas } from '../../../../../../domain/quota-resize/git/locate/scan/scan.ts';
import { type Files, wholeTree } from '../../../../../layouts/tree.ts';

function chart(hard: readonly string[], values: string, schema?: object): Files {
  return {
    'quota/Chart.yaml': 'apiVersion: v2\nname: quota\nversion: 1.0.0\n',
    'quota/templates/quota.yaml': `apiVersion: v1
kind: ResourceQuota
metadata:
  name: compute
  namespace: team-a
spec:
  hard:
${hard.map((line) => `    ${line}\n`).join('')}`,
    'quota/values.yaml': values,
    ...(schema === undefined ? {} : { 'quota/values.schema.json': JSON.stringify(schema) }),
  };
}

function scanned(files: Files): Scan {
  const scan = scanQuotas(wholeTree(files));
  if (scan.kind === 'missingFiles') throw new Error(`${scan.paths.join(', ')} are asked for`);
  return scan;
}

function locatedIn(files: Files): QuotaLocation {
  const { quotas, unlocated } = scanned(files);
  const [location] = quotas;
  if (location === undefined) throw new Error(unlocated.map(({ message }) => message).join());
  return location;
}

/** The values after a raise, or why there is none. */
function raised(files: Files, limits: Readonly<Record<string, string>>): string | undefined {
  const edited = editLocation(wholeTree(files), locatedIn(files), limits);
  return edited.kind === 'edited' ? edited.edits[0]?.after : edited.message;
}

describe('a value that a template makes an integer of', () => {
  it.each([
    '{{ .Values.memory | int64 }}',
    '{{ int64 .Values.memory }}',
    '"{{ .Values.memory | int64 | toString }}"',
    '{{ .Values.memory | default 5 | int }}',
    '{{ printf "%d" (.Values.memory | int64) }}',
    '{{ .Values.memory | int64 | printf "%d" | quote }}',
    '{{ .Values.memory | float64 }}',
    '{{ int64 (required "say how much" .Values.memory) | quote }}',
  ])('stays bytes: %s', (expression) => {
    const files = chart([`requests.memory: ${expression}`], 'memory: 1073741824 # agreed\n');
    expect(raised(files, { 'requests.memory': '1229Mi' })).toBe('memory: 1288699904 # agreed\n');
  });

  it('stays so below a with, and in quotes', () => {
    const files = chart(
      ['{{- with .Values.memory | int64 }}', 'requests.memory: {{ . }}', '{{- end }}'],
      "memory: '1073741824'\n",
    );
    expect(raised(files, { 'requests.memory': '1229Mi' })).toBe("memory: '1288699904'\n");
  });

  it('is not raised by a part of a core, but by a whole one', () => {
    const files = chart(['requests.cpu: {{ int .Values.cpu }}'], 'cpu: 3\n');
    const location = locatedIn(files);
    expect(raised(files, { 'requests.cpu': '3600m' })).toBe(
      'ResourceQuota team-a/compute: the value of requests.cpu at quota/values.yaml:1 cannot be raised: its template makes an integer of it, and of 3600m that is another amount: take int away there, or have whole numbers with resizer.io/steps',
    );
    expect(roundedLimits(wholeTree(files), location, { 'requests.cpu': '3600m' })).toEqual({ 'requests.cpu': '4' });
    expect(roundedLimits(wholeTree(files), location, { 'requests.cpu': '4000m' })).toEqual({});
    expect(raised(files, { 'requests.cpu': '4000m' })).toBe('cpu: 4\n');
    const together = raiseTogether(wholeTree(files), [{ location, resource: 'requests.cpu', limit: '3600m' }]);
    expect(together).toMatchObject({ edits: [{ after: 'cpu: 4\n' }], problems: [] });
  });

  it('is not raised above what is exact in JSON', () => {
    const files = chart(['requests.memory: {{ .Values.memory | int64 }}'], 'memory: 1073741824\n');
    expect(raised(files, { 'requests.memory': '9Pi' })).toContain('cannot be raised');
    expect(roundedLimits(wholeTree(files), locatedIn(files), { 'requests.memory': '9Pi' })).toEqual({});
  });

  it.each([
    '{{ .Values.memory | toString | int64 }}',
    '{{ mul .Values.memory 1 }}',
    '{{ printf "%d" .Values.memory }}',
  ])('is computed where it may render to another number: %s', (expression) => {
    const files = chart([`requests.memory: ${expression}`], 'memory: 1073741824\n');
    const { quotas, unlocated } = scanned(files);
    expect(quotas).toEqual([]);
    expect(unlocated[0]?.message).toContain('computes a limit with');
  });
});

describe('a value that the schema of its chart restricts', () => {
  const schema = (type: string) => ({ properties: { cpu: { type }, memory: { type } } });
  const hard = ['requests.cpu: {{ .Values.cpu }}', 'requests.memory: {{ .Values.memory | quote }}'];
  const values = 'cpu: 3\nmemory: 1073741824\n';

  it('keeps its type', () => {
    const limits = { 'requests.cpu': '3600m', 'requests.memory': '1229Mi' };
    expect(raised(chart(hard, values, schema('number')), limits)).toBe('cpu: 3.6\nmemory: 1288699904\n');
    expect(raised(chart(hard, values), limits)).toBe('cpu: 3600m\nmemory: 1229Mi\n');
    expect(raised(chart(hard, 'cpu: "3"\nmemory: 1Gi\n', schema('string')), limits)).toBe(
      'cpu: "3600m"\nmemory: 1229Mi\n',
    );
  });

  it('is not raised where the schema allows no spelling, and by whole numbers where it asks for those', () => {
    const files = chart(hard, values, schema('integer'));
    expect(raised(files, { 'requests.cpu': '3600m' })).toBe(
      'ResourceQuota team-a/compute: the value of requests.cpu at quota/values.yaml:1 cannot be raised: quota/values.schema.json is not known to allow 3600m there',
    );
    expect(roundedLimits(wholeTree(files), locatedIn(files), { 'requests.cpu': '3600m' })).toEqual({
      'requests.cpu': '4',
    });
  });
});
