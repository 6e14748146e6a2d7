import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { editQuota, findQuotas, locateQuota } from '../../../domain/quota-resize/manifest.ts';

const target = { namespace: 'team-a', name: 'compute' };

function quota({ name = 'compute', namespace = 'team-a', cpu = '"2"' } = {}): string {
  const line = namespace === '' ? '' : `  namespace: ${namespace}\n`;
  return `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: ${name}\n${line}spec:\n  hard:\n    requests.cpu: ${cpu}\n`;
}

describe('findQuotas', () => {
  it('lists every quota of a multi-document file with the lines, places and texts of its limits', () => {
    const text = `# header\n---\n${quota()}---\nkind: Namespace\napiVersion: v1\nmetadata: {name: team-a}\n---\n${quota({ name: 'objects', namespace: '', cpu: '500m # half' })}`;
    const { quotas, problem } = findQuotas(text, 'team-a/quota.yaml');
    expect(problem).toBeUndefined();
    expect(quotas).toEqual([
      {
        path: 'team-a/quota.yaml',
        name: 'compute',
        namespace: 'team-a',
        line: 6,
        hard: [
          {
            resource: 'requests.cpu',
            line: 10,
            range: [expect.any(Number), expect.any(Number)],
            source: '"2"',
            value: '2',
          },
        ],
      },
      {
        path: 'team-a/quota.yaml',
        name: 'objects',
        line: 19,
        hard: [
          {
            resource: 'requests.cpu',
            line: 22,
            range: [expect.any(Number), expect.any(Number)],
            source: '500m',
            value: '500m',
          },
        ],
      },
    ]);
    for (const { range, source } of quotas.flatMap(({ hard }) => hard)) {
      expect(text.slice(...range)).toBe(source);
    }
  });

  it('finds the quotas inside a List, and those of a ResourceQuotaList that leaves their kind out', () => {
    const list = `apiVersion: v1\nkind: List\nitems:\n- kind: ConfigMap\n  apiVersion: v1\n  metadata: {name: x}\n- apiVersion: v1\n  kind: ResourceQuota\n  metadata:\n    name: compute\n  spec: {hard: {pods: 3}}\n`;
    const typed =
      'apiVersion: v1\nkind: ResourceQuotaList\nitems:\n- metadata: {name: objects, namespace: team-a}\n  spec: {hard: {pods: "3"}}\n';
    expect(findQuotas(list, 'a').quotas.map(({ name, line }) => ({ name, line }))).toEqual([
      { name: 'compute', line: 10 },
    ]);
    expect(findQuotas(typed, 'a').quotas.map(({ name }) => name)).toEqual(['objects']);
  });

  it('passes over objects of other kinds and of other API groups', () => {
    const text = `apiVersion: quota.openshift.io/v1\nkind: ResourceQuota\nmetadata: {name: compute}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: compute}\ndata:\n  quota.yaml: |\n    kind: ResourceQuota\n`;
    expect(findQuotas(text, 'a')).toEqual({ quotas: [] });
  });

  it('reports a document that is not YAML and reads the others all the same', () => {
    const text = `{{- if .Values.quota }}\nkind: ResourceQuota\n{{- end }}\n---\n${quota()}`;
    const { quotas, problem } = findQuotas(text, 'a');
    expect(quotas.map(({ name }) => name)).toEqual(['compute']);
    expect(problem).toMatchObject({ kind: 'NotYaml', line: 1 });
  });

  it('an unclosed quote ends with its document', () => {
    const text = `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: "broken\n---\n${quota()}`;
    const { quotas, problem } = findQuotas(text, 'a');
    expect(quotas.map(({ name }) => name)).toEqual(['compute']);
    expect(problem?.kind).toBe('NotYaml');
  });

  it('reports an unquoted template expression although it happens to parse', () => {
    const { problem } = findQuotas(quota({ cpu: '{{ .Values.cpu }}' }), 'a');
    expect(problem).toEqual({
      kind: 'NotYaml',
      line: 8,
      message: 'not YAML: the template expression {{ .Values.cpu }} is not quoted',
    });
  });

  it('says nothing of a broken file that has no ResourceQuota', () => {
    expect(findQuotas('{{- range .x }}\nkind: Deployment\n{{ end }}', 'a')).toEqual({ quotas: [] });
  });

  it('a document whose keys are there twice is not YAML', () => {
    expect(findQuotas(`${quota()}    requests.cpu: "3"\n`, 'a').problem).toMatchObject({ line: 9 });
  });

  it('never follows aliases in a circle', () => {
    const text =
      'apiVersion: v1\nkind: List # ResourceQuota\nitems: &all\n- &self\n  apiVersion: v1\n  kind: List\n  items: *all\n- *self\n';
    expect(findQuotas(text, 'a').quotas).toEqual([]);
  });
});

describe('locateQuota', () => {
  it('finds the quota by its exact name', () => {
    const files = [
      { path: 'a.yaml', text: `${quota({ name: 'compute-large' })}---\n${quota()}` },
      { path: 'b.yaml', text: quota({ name: 'my-compute' }) },
    ];
    expect(locateQuota(files, target)).toEqual({ kind: 'Found', path: 'a.yaml', line: 13, namespaceWritten: true });
  });

  it('a document without a namespace matches, one of another namespace does not', () => {
    expect(locateQuota([{ path: 'a.yaml', text: quota({ namespace: '' }) }], target)).toMatchObject({
      kind: 'Found',
      namespaceWritten: false,
    });
    expect(locateQuota([{ path: 'a.yaml', text: quota({ namespace: '""' }) }], target)).toMatchObject({
      kind: 'Found',
    });
    expect(locateQuota([{ path: 'a.yaml', text: quota({ namespace: 'team-b' }) }], target)).toEqual({
      kind: 'NotFound',
      searched: ['a.yaml'],
      others: [{ path: 'a.yaml', line: 4, name: 'compute', namespace: 'team-b' }],
    });
  });

  it('a document without a namespace does not match where the path is not the namespace’s own', () => {
    const files = [{ path: 'a.yaml', text: quota({ namespace: '' }) }];
    expect(locateQuota(files, target, { acceptUnnamed: false })).toMatchObject({ kind: 'NotFound' });
  });

  it('a document that names the namespace wins over one that names none, in any order', () => {
    const files = [
      { path: 'base.yaml', text: quota({ namespace: '' }) },
      { path: 'own.yaml', text: quota() },
    ];
    expect(locateQuota(files, target)).toMatchObject({ kind: 'Found', path: 'own.yaml' });
    expect(locateQuota(files.toReversed(), target)).toMatchObject({ kind: 'Found', path: 'own.yaml' });
  });

  it('names both places of a quota that is there twice', () => {
    const files = [
      { path: 'a.yaml', text: quota() },
      { path: 'b.yaml', text: `---\n${quota()}` },
    ];
    expect(locateQuota(files, target)).toEqual({
      kind: 'FoundTwice',
      places: [
        { path: 'a.yaml', line: 4 },
        { path: 'b.yaml', line: 5 },
      ],
    });
    expect(locateQuota([{ path: 'a.yaml', text: `${quota()}---\n${quota()}` }], target).kind).toBe('FoundTwice');
    const unnamed = quota({ namespace: '' });
    expect(locateQuota([{ path: 'a.yaml', text: `${unnamed}---\n${unnamed}` }], target).kind).toBe('FoundTwice');
  });

  it('names the file that is not YAML when the quota is found nowhere', () => {
    const helm = { path: 'templates/quota.yaml', text: quota({ name: '{{ .Release.Name }}' }) };
    expect(locateQuota([helm, { path: 'b.yaml', text: quota({ name: 'other' }) }], target)).toEqual({
      kind: 'NotYaml',
      places: [{ path: 'templates/quota.yaml', line: 4, message: expect.stringContaining('{{ .Release.Name }}') }],
    });
    expect(locateQuota([helm, { path: 'b.yaml', text: quota() }], target)).toMatchObject({
      kind: 'Found',
      path: 'b.yaml',
    });
  });

  it('a broken document that has not the name of the quota in it cannot be the quota', () => {
    const broken = { path: 'a.yaml', text: 'kind: ResourceQuota\nmetadata:\n  name: "objects\n' };
    expect(locateQuota([broken], target)).toMatchObject({ kind: 'NotFound' });
  });

  it('finds a name that is written with an escape or through an alias', () => {
    expect(locateQuota([{ path: 'a', text: quota({ name: '"comp\\u0075te"' }) }], target).kind).toBe('Found');
    const aliased = 'x: &n compute\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: *n, namespace: team-a}\n';
    expect(locateQuota([{ path: 'a', text: aliased }], target).kind).toBe('Found');
  });

  it('places and edits 1,500 quotas of one file without parsing the file for each', () => {
    const names = Array.from({ length: 1500 }, (_, index) => `team-${index}`);
    const text = names.map((namespace) => quota({ namespace })).join('---\n');
    const asked = names.filter((_, index) => index % 100 === 0);
    const began = performance.now();
    for (const namespace of asked) {
      const one = { namespace, name: 'compute' };
      expect(locateQuota([{ path: 'all.yaml', text }], one).kind).toBe('Found');
      expect(editQuota(text, one, { 'requests.cpu': '3' }).kind).toBe('Edited');
    }
    // Parsing all of it 30 times takes far longer than this on the slowest machine in use.
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
