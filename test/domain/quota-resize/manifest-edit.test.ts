import { describe, expect, it } from 'vitest';
import { editQuota, type Unplaceable, valuesInGit } from '../../../domain/quota-resize/manifest.ts';
import { QuantityError } from '../../../domain/kernel/quantity.ts';

const target = { namespace: 'team-a', name: 'compute' };
const head = 'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n';

function withHard(hard: string): string {
  return `${head}  hard:\n${hard}`;
}

/** Edits and returns the text; fails the test when the edit has no place. */
function edited(text: string, limits: Record<string, string>): string {
  const result = editQuota(text, target, limits);
  if (result.kind !== 'Edited') {
    throw new Error(result.message);
  }
  return result.text;
}

function refused(text: string, limits: Record<string, string>): Unplaceable {
  const result = editQuota(text, target, limits);
  if (result.kind === 'Edited') {
    throw new Error(`was edited: ${result.text}`);
  }
  return result;
}

describe('editQuota', () => {
  it('changes the value and tells the line, the old and the new value', () => {
    const text = withHard('    requests.cpu: "2" # for the nightly job\n    pods: 10\n');
    expect(editQuota(text, target, { 'requests.cpu': '3' })).toEqual({
      kind: 'Edited',
      text: withHard('    requests.cpu: "3" # for the nightly job\n    pods: 10\n'),
      changed: [{ resource: 'requests.cpu', key: 'requests.cpu', line: 8, from: '2', to: '3' }],
    });
  });

  it.each([
    ['double quotes', '"2"', '2400m', '"2400m"'],
    ['single quotes', "'2'", '2400m', "'2400m'"],
    ['a plain number that becomes a text', '2', '2400m', '2400m'],
    ['a plain text that becomes a number', '2400m', '3', '3'],
    ['a plain fraction', '1.5', '2.5', '2.5'],
    ['an explicit string', '!!str 2', '3', '!!str 3'],
    ['an anchor that nobody uses', '&cpu "2"', '3', '&cpu "3"'],
  ])('keeps the style of %s', (_name, before, wanted, after) => {
    const text = withHard(`    requests.cpu:   ${before}   # why\n`);
    expect(edited(text, { 'requests.cpu': wanted })).toBe(withHard(`    requests.cpu:   ${after}   # why\n`));
  });

  it.each(['5e3', '010', '1234567890123456789012'])(
    'quotes %s, which YAML readers take for different numbers',
    (wanted) => {
      expect(edited(withHard('    pods: 2\n'), { pods: wanted })).toBe(withHard(`    pods: "${wanted}"\n`));
    },
  );

  it('keeps CRLF line ends, a byte order mark and a missing newline at the end', () => {
    const text = `\uFEFF${withHard("    pods: 10\n    requests.cpu: '2'")}`.replaceAll('\n', '\r\n');
    expect(edited(text, { 'requests.cpu': '3', pods: '20' })).toBe(
      text.replace("'2'", "'3'").replace('pods: 10', 'pods: 20'),
    );
  });

  it('edits flow mappings, quoted keys and JSON', () => {
    expect(edited(`${head}  hard: {requests.cpu: "2", pods: 3}\n`, { 'requests.cpu': '4', pods: '5' })).toBe(
      `${head}  hard: {requests.cpu: "4", pods: 5}\n`,
    );
    expect(edited(withHard(`    'requests.cpu': 2\n    "pods": 3\n`), { 'requests.cpu': '4', pods: '5' })).toBe(
      withHard(`    'requests.cpu': 4\n    "pods": 5\n`),
    );
    const json = (cpu: string) =>
      `{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"compute"},"spec":{"hard":{"cpu":"${cpu}"}}}`;
    expect(edited(json('2'), { cpu: '3' })).toBe(json('3'));
  });

  it('leaves other documents, quotas and mentions of the key alone', () => {
    const other = head.replace('compute', 'compute-large');
    const rest = `${other}  hard:\n    requests.cpu: "2"\n---\n# requests.cpu: "2"\nkind: X\nspec: {hard: {requests.cpu: "2"}}\n`;
    expect(edited(`${rest}---\n${withHard('    requests.cpu: "2"\n')}---\n${rest}`, { 'requests.cpu': '3' })).toBe(
      `${rest}---\n${withHard('    requests.cpu: "3"\n')}---\n${rest}`,
    );
  });

  it('edits an item of a List', () => {
    const text = `apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: ResourceQuota\n    metadata: {name: compute, namespace: team-a}\n    spec:\n      hard:\n        pods: '3'\n`;
    expect(edited(text, { pods: '4' })).toBe(text.replace("'3'", "'4'"));
  });

  it('edits a file with directives and document end marks', () => {
    const text = `%YAML 1.2\n---\n${withHard('    pods: 3\n')}...\n%TAG !e! tag:example.com,2026:\n---\nx: !e!y 1\n`;
    expect(edited(text, { pods: '4' })).toBe(text.replace('pods: 3', 'pods: 4'));
  });

  it('edits the short name where the file has only that, and the long one as well', () => {
    expect(edited(withHard('    storage: "10Gi"\n'), { 'requests.storage': '20Gi' })).toBe(
      withHard('    storage: "20Gi"\n'),
    );
    expect(edited(withHard('    requests.cpu: "1"\n'), { cpu: '2' })).toBe(withHard('    requests.cpu: "2"\n'));
    const both = withHard('    cpu: "1"\n    requests.cpu: "1"\n');
    expect(edited(both, { 'requests.cpu': '2' })).toBe(withHard('    cpu: "1"\n    requests.cpu: "2"\n'));
    expect(refused(withHard('    cpu: "1"\n'), { cpu: '2', 'requests.cpu': '3' })).toMatchObject({
      reason: 'KeyMissing',
      resource: 'requests.cpu',
    });
  });

  it('leaves a value that is the same amount as it is written', () => {
    const text = withHard('    requests.cpu: 2000m\n    requests.memory: "1024Mi"\n');
    expect(editQuota(text, target, { 'requests.cpu': '2', 'requests.memory': '1Gi' })).toEqual({
      kind: 'Edited',
      text,
      changed: [],
    });
  });

  it('writes a value that is an alias out at its own place', () => {
    const text = `${head}  hard:\n    requests.cpu: &cpu 2\n    limits.cpu: *cpu # like the request\n`;
    expect(edited(text, { 'limits.cpu': '4' })).toBe(text.replace('*cpu', '4'));
  });

  it('does not change a value that other places share by an anchor', () => {
    const scalar = `${head}  hard:\n    requests.cpu: &cpu 2\n    limits.cpu: *cpu\n`;
    expect(refused(scalar, { 'requests.cpu': '4' })).toMatchObject({ reason: 'SharedByAnchor', line: 8 });
    const map = `${head}  hard: &hard\n    pods: 3\nx: {hard: *hard}\n`;
    expect(refused(map, { pods: '4' })).toMatchObject({ reason: 'SharedByAnchor' });
    const elsewhere = `x: &hard {pods: 3}\n${head}  hard: *hard\n`;
    expect(refused(elsewhere, { pods: '4' })).toMatchObject({ reason: 'SharedByAnchor' });
    const merged = `x: &hard {pods: 3}\n${head}  hard:\n    <<: *hard\n    requests.cpu: 1\n`;
    expect(refused(merged, { pods: '4' })).toMatchObject({ reason: 'SharedByAnchor', resource: 'pods' });
    expect(edited(merged, { 'requests.cpu': '2' })).toBe(merged.replace('requests.cpu: 1', 'requests.cpu: 2'));
  });

  it.each([
    ['KeyMissing', '    limits.cpu: 2\n'],
    ['MultiLine', '    pods: |\n      2\n'],
    ['MultiLine', '    pods: >-\n      2\n    x: 1\n'],
    ['MultiLine', '    pods: "2\n      0"\n'],
    ['NotAScalar', '    pods: [2]\n'],
    ['NotAScalar', '    pods: {a: 2}\n'],
    ['NotAQuantity', '    pods:\n'],
    ['NotAQuantity', '    pods: "{{ .Values.pods }}"\n'],
    ['NotAQuantity', '    pods: 010\n'],
    ['NotAQuantity', '    pods: 0x10\n'],
    ['NotAScalar', '    pods: *nowhere\n'],
    ['Tagged', '    pods: !!int "2"\n'],
    ['NotYaml', '    pods: {{ .Values.pods }}\n'],
    ['NotYaml', '    pods: "2\n'],
  ])('refuses with %s: %j', (reason, hard) => {
    const result = refused(withHard(hard), { pods: '4' });
    expect(result.reason).toBe(reason);
    expect(result.line).toEqual(expect.any(Number));
    expect(result.message).not.toBe('');
  });

  it('refuses a quota without limits, one that is not there and one that is there twice', () => {
    expect(refused(`${head}  scopes: []\n`, { pods: '4' })).toMatchObject({ reason: 'KeyMissing', resource: 'pods' });
    expect(refused(withHard('    pods: 3\n').replace('team-a', 'team-b'), { pods: '4' }).reason).toBe('QuotaMissing');
    const twice = `${withHard('    pods: 3\n')}---\n${withHard('    pods: 3\n')}`;
    expect(refused(twice, { pods: '4' }).reason).toBe('QuotaTwice');
  });

  it('changes nothing when one of several limits has no place', () => {
    expect(refused(withHard('    pods: 3\n'), { pods: '4', 'requests.cpu': '2' })).toMatchObject({
      reason: 'KeyMissing',
      resource: 'requests.cpu',
      message: 'spec.hard of compute (line 4) has no requests.cpu; add the key to the file',
    });
  });

  it('throws on a limit that is no quantity', () => {
    expect(() => editQuota(withHard('    pods: 3\n'), target, { pods: 'many' })).toThrow(QuantityError);
    expect(() => editQuota(withHard('    pods: 3\n'), target, { pods: '4"\n  x: 1' })).toThrow(QuantityError);
  });

  it('is not slowed down by a file full of aliases', () => {
    const laughs = Array.from({ length: 12 }, (_, level) => {
      const inner =
        level === 0
          ? 'lol'
          : Array(10)
              .fill(`*l${level - 1}`)
              .join(', ');
      return `l${level}: &l${level} [${inner}]\n`;
    });
    const text = `${laughs.join('')}${withHard('    pods: 3\n')}`;
    expect(edited(text, { pods: '4' })).toBe(text.replace('pods: 3', 'pods: 4'));
  });
});

describe('valuesInGit', () => {
  it('reads the limits as they are written', () => {
    const text = withHard('    requests.cpu: 2000m\n    pods: &p 3\n    services: *p\n    secrets: "{{ x }}"\n');
    expect(valuesInGit(text, target)).toEqual({ 'requests.cpu': '2000m', pods: '3', services: '3' });
  });

  it('answers under the names that were asked for', () => {
    expect(valuesInGit(withHard('    storage: 10Gi\n'), target, ['requests.storage', 'pods'])).toEqual({
      'requests.storage': '10Gi',
    });
  });

  it('is empty when the quota is not in the text', () => {
    expect(valuesInGit('x: 1', target)).toEqual({});
  });
});
