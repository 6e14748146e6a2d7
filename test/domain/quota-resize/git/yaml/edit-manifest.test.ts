import { describe, expect, it } from 'vitest';
import { QuantityError } from '../../../../../domain/kernel/quantity.ts';
import { editLocation } from '../../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { TreeSnapshot, QuotaLocation } from '../../../../../domain/quota-resize/git/locate/location/location.ts';
import { locateQuota } from '../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';

const PATH = 'team-a/quota.yaml';
const head = 'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n';

function withHard(hard: string): string {
  return `${head}  hard:\n${hard}`;
}

function treeOf(text: string): TreeSnapshot {
  return { paths: [PATH], texts: new Map([[PATH, text]]) };
}

/** The place of the quota; throws the reason where there is none. */
function located(text: string, resources: readonly string[]): QuotaLocation {
  const wanted = { namespace: 'team-a', name: 'compute', cluster: 'prod', resources };
  const answer = locateQuota(treeOf(text), wanted, { from: 'annotation', path: PATH, learntFrom: 'the annotation' });
  if (answer.kind !== 'located') {
    throw new Error(answer.kind === 'missingFiles' ? answer.paths.join(', ') : answer.message);
  }
  return answer.location;
}

/** Edits and returns the text; throws the reason where that is refused. */
function edited(text: string, limits: Record<string, string>): string {
  const result = editLocation(treeOf(text), located(text, Object.keys(limits)), limits);
  if (result.kind !== 'edited') {
    throw new Error(result.message);
  }
  return result.edits[0]?.after ?? text;
}

function refused(text: string, limits: Record<string, string>): string {
  let after: string;
  try {
    after = edited(text, limits);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error(`was edited: ${after}`);
}

describe('a manifest whose limits are raised', () => {
  it('changes the value and tells the line, the old and the new value', () => {
    const text = withHard('    requests.cpu: "2" # for the nightly job\n    pods: 10\n');
    const result = editLocation(treeOf(text), located(text, ['requests.cpu']), { 'requests.cpu': '3' });
    expect(result).toEqual({
      kind: 'edited',
      edits: [{ path: PATH, before: text, after: text.replace('"2"', '"3"') }],
      lines: [{ resource: 'requests.cpu', from: { path: PATH, line: 8, text: '2' }, to: '3', path: PATH }],
    });
  });

  it.each([
    ['double quotes', '"2"', '2400m', '"2400m"'],
    ['single quotes', "'2'", '2400m', "'2400m'"],
    ['a plain number that becomes a text', '2', '2400m', '2400m'],
    ['a plain text that becomes a number', '2400m', '3', '"3"'],
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
    expect(refused(withHard('    cpu: "1"\n'), { cpu: '2', 'requests.cpu': '3' })).toMatch(/sets no requests\.cpu/);
  });

  it('leaves a value that is the same amount as it is written', () => {
    const text = withHard('    requests.cpu: 2000m\n    requests.memory: "1024Mi"\n');
    expect(edited(text, { 'requests.cpu': '2', 'requests.memory': '1Gi' })).toBe(text);
  });

  it('writes a value that is an alias out at its own location', () => {
    const text = `${head}  hard:\n    requests.cpu: &cpu 2\n    limits.cpu: *cpu # like the request\n`;
    expect(edited(text, { 'limits.cpu': '4' })).toBe(text.replace('*cpu', '4'));
  });

  it('does not change a value that other locations share by an anchor', () => {
    const scalar = `${head}  hard:\n    requests.cpu: &cpu 2\n    limits.cpu: *cpu\n`;
    expect(refused(scalar, { 'requests.cpu': '4' })).toMatch(/anchor &|alias \*|merge key <<|<<|sets no limit/);
    const map = `${head}  hard: &hard\n    pods: 3\nx: {hard: *hard}\n`;
    expect(refused(map, { pods: '4' })).toMatch(/anchor &|alias \*|merge key <<|<<|sets no limit/);
    const elsewhere = `x: &hard {pods: 3}\n${head}  hard: *hard\n`;
    expect(refused(elsewhere, { pods: '4' })).toMatch(/anchor &|alias \*|merge key <<|<<|sets no limit/);
    const aliasedSpec = `x: &spec {hard: {pods: 3}}\n${head.replace('spec:\n', 'spec: *spec\n')}`;
    expect(refused(aliasedSpec, { pods: '4' })).toMatch(/anchor &|alias \*|merge key <<|<<|sets no limit/);
    const mergedSpec = `x: &spec {hard: {pods: 3}}\n${head}  <<: *spec\n`;
    expect(refused(mergedSpec, { pods: '4' })).toMatch(/anchor &|alias \*|merge key <<|<<|sets no limit/);
  });

  it('gives a value that a merge key brings a line of its own below it', () => {
    const merged = `x: &hard {pods: "3"}\n${head}  hard:\n    <<: *hard # of all teams\n    requests.cpu: 1\n`;
    expect(edited(merged, { pods: '4' })).toBe(merged.replace('of all teams\n', 'of all teams\n    pods: "4"\n'));
    expect(edited(merged, { 'requests.cpu': '2' })).toBe(merged.replace('requests.cpu: 1', 'requests.cpu: 2'));
    expect(edited(merged, { pods: '4', 'requests.cpu': '2' })).toBe(
      merged.replace('of all teams\n    requests.cpu: 1', 'of all teams\n    pods: "4"\n    requests.cpu: 2'),
    );
  });

  it('rejects a key before a merge that brings it too, which readers take for different values', () => {
    const text = `x: &hard {pods: 3}\n${head}  hard:\n    pods: 5\n    <<: *hard\n`;
    expect(refused(text, { pods: '6' })).toMatch(/anchor &|alias \*|merge key <<|<<|sets no limit/);
  });

  it.each([
    '    limits.cpu: 2\n',
    '    pods: |\n      2\n',
    '    pods: >-\n      2\n    x: 1\n',
    '    pods: "2\n      0"\n',
    '    pods: [2]\n',
    '    pods: {a: 2}\n',
    '    pods:\n',
    '    pods: "{{ .Values.pods }}"\n',
    '    pods: 010\n',
    '    pods: 0x10\n',
    '    pods: *nowhere\n',
    '    pods: !!int "2"\n',
    '    pods: {{ .Values.pods }}\n',
    '    pods: "2\n',
  ])('is left alone with a sentence: %j', (hard) => {
    expect(refused(withHard(hard), { pods: '4' })).toMatch(/\S+ \S+ \S+/);
  });

  it('is left alone without limits, of another namespace, and where it is there twice', () => {
    expect(refused(`${head}  scopes: []\n`, { pods: '4' })).toMatch(/sets no limit/);
    expect(refused(withHard('    pods: 3\n').replace('team-a', 'team-b'), { pods: '4' })).toMatch(/team-b/);
    const twice = `${withHard('    pods: 3\n')}---\n${withHard('    pods: 3\n')}`;
    expect(refused(twice, { pods: '4' })).toMatch(/is in 2 places/);
  });

  it('says the line of the file in an error, also in a later document', () => {
    const text = `# one\n---\nx: 1\n---\n${head}  hard:\n    pods: !!int 3\n`;
    expect(refused(text, { pods: '4' })).toContain(`${PATH}: spec.hard.pods at line 12 has the tag`);
  });

  it('edits JSON that is indented with tabs, and keeps it JSON', () => {
    const json = JSON.stringify(
      { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'compute' }, spec: { hard: { cpu: 2, pods: '3' } } },
      null,
      '\t',
    );
    const result = edited(json, { cpu: '2500m', pods: '4' });
    expect(result).toBe(json.replace('"cpu": 2', '"cpu": "2500m"').replace('"pods": "3"', '"pods": "4"'));
    expect(JSON.parse(result)).toMatchObject({ spec: { hard: { cpu: '2500m', pods: '4' } } });
  });

  it('edits one of several quotas in Lists of several documents', () => {
    const item = (name: string) =>
      `- apiVersion: v1\n  kind: ResourceQuota\n  metadata:\n    name: ${name}\n  spec:\n    hard:\n      pods: 3\n`;
    const list = `apiVersion: v1\nkind: List\nitems:\n${item('objects')}${item('compute')}`;
    const inner = list.replace('kind: List\n', 'kind: ResourceQuotaList\n').replaceAll('compute', 'other');
    const text = `# all\n${inner}---\n---\n${list}---\n${inner}`;
    const at = text.lastIndexOf('pods: 3', text.lastIndexOf('---'));
    expect(edited(text, { pods: '4' })).toBe(`${text.slice(0, at)}pods: 4${text.slice(at + 7)}`);
  });

  it('changes nothing when one of several limits has no location', () => {
    expect(refused(withHard('    pods: 3\n'), { pods: '4', 'requests.cpu': '2' })).toBe(
      `ResourceQuota team-a/compute: it sets no requests.cpu in Git; write the key out (${PATH}:4)`,
    );
  });

  it('throws on a limit that is no quantity', () => {
    expect(() => edited(withHard('    pods: 3\n'), { pods: 'many' })).toThrow(QuantityError);
    expect(() => edited(withHard('    pods: 3\n'), { pods: '4"\n  x: 1' })).toThrow(QuantityError);
  });

  it('finds a name that is written with an escape or through an alias', () => {
    const text = withHard('    pods: 3\n');
    const escaped = text.replace('name: compute', 'name: "comp\\u0075te"');
    expect(edited(escaped, { pods: '4' })).toBe(escaped.replace('pods: 3', 'pods: 4'));
    const aliased = `x: &n compute\n${text.replace('name: compute', 'name: *n')}`;
    expect(edited(aliased, { pods: '4' })).toBe(aliased.replace('pods: 3', 'pods: 4'));
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
