import * as fc from '../../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { parseQuantity } from '../../../../../domain/kernel/quantity.ts';
import { valuesInGit } from '../../../../../domain/quota-resize/git/yaml/limits.ts';
import { editLocation, limitsInGit } from '../../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { LocateAnswer } from '../../../../../domain/quota-resize/git/locate/search/search.ts';
import { locateQuota } from '../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';

const RESOURCES = [
  'requests.cpu',
  'limits.cpu',
  'requests.memory',
  'limits.memory',
  'pods',
  'count/jobs.batch',
  'requests.nvidia.com/gpu',
];

const amount = fc
  .tuple(fc.integer({ min: 1, max: 4000 }), fc.constantFrom('', 'm', 'k', 'Ki', 'Mi', 'Gi'))
  .map(([digits, suffix]) => `${digits}${suffix}`);
const quoted = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.constantFrom('', '"', "'")).map(([inner, quote]) => `${quote}${inner}${quote}`);
const comment = fc.constantFrom('', ' # requests.cpu: "7"', ' # ünïcode 🚀', '   #', ' # --- not a document');
const lineBetween = fc.constantFrom('', '# a comment\n', '\n', '  # pods: 1\n');

const limit = fc.record({
  resource: fc.constantFrom(...RESOURCES),
  keyQuote: fc.constantFrom('', '"', "'"),
  gap: fc.constantFrom(' ', '   '),
  value: quoted(amount),
  comment,
  above: lineBetween,
});

const quota = fc
  .record({
    limits: fc.uniqueArray(limit, { minLength: 1, maxLength: 6, selector: ({ resource }) => resource }),
    indent: fc.constantFrom(1, 2, 4),
    form: fc.constantFrom('block', 'flow', 'list'),
    nameQuote: fc.constantFrom('', '"', "'"),
    above: lineBetween,
    specFirst: fc.boolean(),
  })
  .map((shape) => ({ ...shape, resources: shape.limits.map(({ resource }) => resource) }));

type Quota = typeof quota extends fc.Arbitrary<infer T> ? T : never;

function printed(shape: Quota, name: string): string {
  const pad = ' '.repeat(shape.indent);
  const pairs = shape.limits.map(
    ({ resource, keyQuote, gap, value }) => `${keyQuote}${resource}${keyQuote}:${gap}${value}`,
  );
  const hard =
    shape.form === 'flow'
      ? `${pad}hard: { ${pairs.join(', ')} } # all\n`
      : `${pad}hard:\n${shape.limits.map((limit, index) => `${limit.above}${pad}${pad}${pairs[index]}${limit.comment}\n`).join('')}`;
  const metadata = `metadata:\n${pad}name: ${shape.nameQuote}${name}${shape.nameQuote}\n${pad}namespace: team-a\n`;
  const spec = `spec:\n${hard}`;
  const body = `apiVersion: v1\nkind: ResourceQuota\n${shape.specFirst ? spec + metadata : metadata + spec}`;
  if (shape.form !== 'list') {
    return `${shape.above}${body}`;
  }
  const items = body
    .split('\n')
    .map((line, index) => (line === '' ? '' : `${index === 0 ? '- ' : '  '}${line}`))
    .join('\n');
  return `${shape.above}apiVersion: v1\nkind: List\nitems:\n${items}`;
}

const file = fc
  .record({
    quotas: fc.array(quota, { minLength: 1, maxLength: 4 }),
    others: fc.array(
      fc.constantFrom(
        'apiVersion: v1\nkind: ConfigMap\ndata:\n  k: |\n    kind: ResourceQuota\n',
        '# nothing\n',
        'kind: X\nspec: {hard: {pods: 3}}\n',
      ),
      { maxLength: 2 },
    ),
    crlf: fc.boolean(),
    bom: fc.boolean(),
    endsInNewline: fc.boolean(),
    chosen: fc.nat(3),
  })
  .map(({ quotas, others, crlf, bom, endsInNewline, chosen }) => {
    const documents = [...others, ...quotas.map((shape, index) => printed(shape, `quota-${index}`))];
    const joined = documents.join('---\n');
    const ended = endsInNewline ? joined : joined.replace(/\n+$/, '');
    const text = `${bom ? '\uFEFF' : ''}${crlf ? ended.replaceAll('\n', '\r\n') : ended}`;
    const index = chosen % quotas.length;
    return { text, name: `quota-${index}`, shape: quotas[index] as Quota };
  });

const edit = file.chain(({ text, name, shape }) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...shape.resources), amount), {
      minLength: 1,
      selector: ([resource]) => resource,
    })
    .map((limits) => ({ text, name, shape, limits: Object.fromEntries(limits) })),
);

function lines(text: string): readonly string[] {
  return text.split('\n');
}

/** What the text means, with one quota's limits taken out and listed apart. */
function meaning(text: string, name: string): { rest: unknown; hard: Record<string, string> } {
  let hard: Record<string, string> = {};
  const values = parseAllDocuments(text).map((document) => document.toJS() as unknown);
  const rest = JSON.parse(JSON.stringify(values), (_key, value: unknown) => {
    const object = value as { metadata?: { name?: string }; spec?: { hard?: Record<string, unknown> } } | null;
    if (object?.metadata?.name === name && object.spec?.hard !== undefined) {
      hard = Object.fromEntries(Object.entries(object.spec.hard).map(([key, limit]) => [key, String(limit)]));
      return { ...object, spec: {} };
    }
    return value;
  }) as unknown;
  return { rest, hard };
}

function treeOf(text: string) {
  return { paths: ['a.yaml'], texts: new Map([['a.yaml', text]]) };
}

function locationOf(text: string, name: string, resources: readonly string[]): LocateAnswer {
  const wanted = { namespace: 'team-a', name, cluster: 'prod', resources };
  return locateQuota(treeOf(text), wanted, { from: 'annotation', path: 'a.yaml', learntFrom: 'the annotation' });
}

describe('an edit of any file', () => {
  it('changes one line for each raised value, means what was asked for, and editing back gives the same bytes', () => {
    fc.assert(
      fc.property(edit, ({ text, name, shape, limits }) => {
        const target = { namespace: 'team-a', name };
        const resources = Object.keys(limits);
        const answer = locationOf(text, name, resources);
        if (answer.kind !== 'located') {
          throw new Error(JSON.stringify(answer));
        }
        expect(limitsInGit(answer.location, resources)).toEqual(valuesInGit(text, target, resources));
        const result = editLocation(treeOf(text), answer.location, limits);
        if (result.kind !== 'edited') {
          throw new Error(result.message);
        }
        const after = result.edits[0]?.after ?? text;

        const old = lines(text);
        const changedLines = lines(after).flatMap((line, index) => (line === old[index] ? [] : [index + 1]));
        expect(lines(after)).toHaveLength(old.length);
        expect(changedLines).toEqual([...new Set(result.lines.map(({ from }) => from.line))].toSorted((x, y) => x - y));
        if (shape.form !== 'flow') {
          expect(changedLines).toHaveLength(result.lines.length);
        }

        const was = meaning(text, name);
        const is = meaning(after, name);
        const changes = Object.fromEntries(result.lines.map(({ resource, to }) => [resource, to]));
        expect(is.rest).toEqual(was.rest);
        expect(is.hard).toEqual({ ...was.hard, ...changes });
        // What is not raised was as much already.
        const kept = resources.filter((resource) => !Object.hasOwn(changes, resource));
        for (const resource of kept) {
          const [wanted, had] = [limits[resource] ?? '', was.hard[resource] ?? ''].map(
            (quantity) => parseQuantity(quantity).nano,
          );
          expect((wanted ?? 0n) <= (had ?? 0n)).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('of whatever quality is rejected or does what was asked for, and nothing throws', () => {
    const valid =
      'x: &a {pods: 9}\n---\napiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\nspec:\n  hard:\n    pods: 1\n    cpu: "2"\n';
    const piece = fc.oneof(
      fc.constantFrom('---\n', '...\n', '"', "'", '{{ .x }}', '&a ', '*a', '<<: *a\n', '- ', '|\n', '>-', '\t', '\r'),
      fc.constantFrom(
        '\n',
        '%YAML 1.2\n',
        '\uFEFF',
        '\u2028',
        'pods: 1\n',
        ': ',
        '? ',
        '!!int ',
        '{',
        '}',
        ' ',
        '  ',
        '#',
        '0',
      ),
      fc.string({ maxLength: 4 }),
    );
    const locations = fc.array(fc.tuple(fc.nat(valid.length), piece), { minLength: 1, maxLength: 4 });
    let edits = 0;
    fc.assert(
      fc.property(locations, (insertions) => {
        const text = insertions.reduce(
          (sum, [location, inserted]) => sum.slice(0, location) + inserted + sum.slice(location),
          valid,
        );
        const answer = locationOf(text, 'compute', ['pods', 'cpu']);
        const result =
          answer.kind === 'located' ? editLocation(treeOf(text), answer.location, { pods: '2', cpu: '3' }) : undefined;
        if (result?.kind === 'edited') {
          edits += 1;
          const after = result.edits[0]?.after ?? text;
          expect(lines(after)).toHaveLength(lines(text).length);
          const again = locationOf(after, 'compute', ['pods', 'cpu']);
          const values = again.kind === 'located' ? limitsInGit(again.location, ['pods', 'cpu']) : {};
          expect(parseQuantity(values['pods'] ?? '0').nano).toBeGreaterThanOrEqual(2_000_000_000n);
          expect(parseQuantity(values['cpu'] ?? '0').nano).toBeGreaterThanOrEqual(3_000_000_000n);
        }
      }),
      { numRuns: 3000 },
    );
    expect(edits).toBeGreaterThan(100);
  });
});
