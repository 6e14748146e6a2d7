import { describe, expect, it } from 'vitest';
import { editLocation } from '../../../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { FileEdit } from '../../../../../../domain/quota-resize/git/locate/location/location.ts';
import { type Scan, scanQuotas } from '../../../../../../domain/quota-resize/git/locate/scan/scan.ts';

type Files = Readonly<Record<string, string>>;

function scanned(files: Files): Scan {
  const scan = scanQuotas({ paths: Object.keys(files).toSorted(), texts: new Map(Object.entries(files)) });
  if (scan.kind !== 'scanned') {
    throw new Error(`asks for ${scan.paths.join(', ')}`);
  }
  return scan;
}

/** What raising the limits of a quota does to the files; the reason, as a text, where it is refused. */
function raised(files: Files, quota: string, limits: Record<string, string>): readonly FileEdit[] | string {
  const { quotas, unlocated } = scanned(files);
  const location = quotas.find(({ namespace, name }) => `${namespace}/${name}` === quota);
  if (location === undefined) {
    return unlocated.map(({ message }) => message).join('\n');
  }
  const tree = { paths: Object.keys(files).toSorted(), texts: new Map(Object.entries(files)) };
  const edited = editLocation(tree, location, limits);
  return edited.kind === 'edited' ? edited.edits : edited.message;
}

/** The one changed file. */
function changed(files: Files, quota: string, limits: Record<string, string>): string {
  const edits = raised(files, quota, limits);
  if (typeof edits === 'string' || edits.length !== 1) {
    throw new Error(typeof edits === 'string' ? edits : `${edits.length} files changed`);
  }
  return edits[0]?.after ?? '';
}

function manifest(hard: string, { name = 'compute', namespace = 'team-a' } = {}): string {
  const metadata = namespace === '' ? `  name: ${name}\n` : `  name: ${name}\n  namespace: ${namespace}\n`;
  return `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n${metadata}spec:\n  hard:\n${hard}`;
}

const twoOverlays = (overlay: string, more: Files = {}): Files => ({
  'base/kustomization.yaml': 'resources:\n- quota.yaml\n',
  'base/quota.yaml': manifest('    requests.cpu: "2"\n    pods: 10\n', { namespace: '' }),
  'overlays/a/kustomization.yaml': overlay,
  'overlays/b/kustomization.yaml': 'namespace: team-b\nresources:\n- ../../base\n',
  ...more,
});

describe('plain manifests', () => {
  it.each([
    [
      'an alias is written out at its own place',
      '    requests.cpu: &cpu "2"\n    limits.cpu: *cpu # same\n',
      'limits.cpu',
      '    requests.cpu: &cpu "2"\n    limits.cpu: "4" # same\n',
    ],
    [
      'a plain string stays a string',
      '    requests.memory: 4Gi\n    limits.cpu: 500m\n',
      'limits.cpu',
      '    requests.memory: 4Gi\n    limits.cpu: "4"\n',
    ],
    ['a number stays a number', '    limits.cpu: 2 # two\n', 'limits.cpu', '    limits.cpu: 4 # two\n'],
    [
      'a comment with the key stays',
      '    # limits.cpu: "2"\n    limits.cpu: "2"\n',
      'limits.cpu',
      '    # limits.cpu: "2"\n    limits.cpu: "4"\n',
    ],
    [
      'a line separator in a comment ends no line',
      '    # a\u2028limits.cpu: "2"\n    limits.cpu: "2"\n',
      'limits.cpu',
      '    # a\u2028limits.cpu: "2"\n    limits.cpu: "4"\n',
    ],
  ])('%s', (_name, hard, key, after) => {
    expect(changed({ 'q.yaml': manifest(hard) }, 'team-a/compute', { [key]: '4' })).toBe(manifest(after));
  });

  it('a value that a merge key brings gets a line of its own, others of the same defaults stay', () => {
    const item = (namespace: string, hard: string): string =>
      `- apiVersion: v1\n  kind: ResourceQuota\n  metadata: {name: compute, namespace: ${namespace}}\n  spec:\n    hard:\n${hard}`;
    const list = (second: string): string =>
      `apiVersion: v1\nkind: List\nitems:\n${item('team-a', '      &d\n      pods: 10\n      limits.cpu: 2\n')}${item('team-b', second)}`;
    const text = list('      <<: *d\n      services: 3\n');
    expect(changed({ 'q.yaml': text }, 'team-b/compute', { 'limits.cpu': '4' })).toBe(
      list('      <<: *d\n      limits.cpu: 4\n      services: 3\n'),
    );
    expect(raised({ 'q.yaml': text }, 'team-a/compute', { pods: '20' })).toMatch(/anchor &d/);
  });

  it('a key before a merge that brings it too is not touched', () => {
    const text = manifest('    limits.cpu: 2\n    <<: *d\n').replace('metadata:', 'x: &d {limits.cpu: 3}\nmetadata:');
    expect(raised({ 'q.yaml': text }, 'team-a/compute', { 'limits.cpu': '4' })).toMatch(/<</);
  });

  it('a whole mapping that is an alias is not touched', () => {
    const text = `x: &d {pods: 3}\n${manifest('').replace('  hard:\n', '  hard: *d\n')}`;
    expect(raised({ 'q.yaml': text }, 'team-a/compute', { pods: '4' })).toMatch(/&d|\*d/);
  });

  it('one of many quotas in a file with CRLF, a byte order mark and no newline at its end', () => {
    const text =
      `\uFEFF# all\n${['a', 'b', 'c'].map((team) => manifest('    pods: 3\n', { namespace: `team-${team}` })).join('---\n')}`
        .trimEnd()
        .replaceAll('\n', '\r\n');
    const after = changed({ 'q.yaml': text }, 'team-c/compute', { pods: '4' });
    expect(after).toBe(`${text.slice(0, -1)}4`);
  });

  it('JSON with tabs, and a number that becomes a text', () => {
    const json = JSON.stringify(
      {
        apiVersion: 'v1',
        kind: 'ResourceQuotaList',
        items: [{ metadata: { name: 'compute', namespace: 'team-a' }, spec: { hard: { pods: 3, 'limits.cpu': 2 } } }],
      },
      null,
      '\t',
    );
    const after = changed({ 'q.json': json }, 'team-a/compute', { 'limits.cpu': '2500m' });
    expect(after).toBe(json.replace('"limits.cpu": 2', '"limits.cpu": "2500m"'));
  });

  it('the same quota in two files is in neither', () => {
    const files = { 'a.yaml': manifest('    pods: 3\n'), 'b.yaml': manifest('    pods: 3\n') };
    const { quotas, unlocated } = scanned(files);
    expect(quotas).toEqual([]);
    expect(unlocated[0]).toMatchObject({ reason: 'FoundTwice' });
  });

  it('a document that is no YAML does not hide the one after it', () => {
    const text = `kind: ResourceQuota\nmetadata:\n  name: {{ .x }}\n---\n${manifest('    pods: 3\n')}`;
    expect(changed({ 'q.yaml': text }, 'team-a/compute', { pods: '4' })).toBe(text.replace('pods: 3', 'pods: 4'));
  });
});

describe('a base of two overlays', () => {
  const patch = (namespace?: string): string =>
    `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n${namespace === undefined ? '' : `  namespace: ${namespace}\n`}spec:\n  hard:\n    pods: "20"\n`;

  it.each([
    ['no newline at its end', 'namespace: team-a\nresources:\n- ../../base'],
    ['CRLF', 'namespace: team-a\r\nresources:\r\n- ../../base\r\n'],
    ['a flow sequence', 'namespace: team-a\nresources: [../../base]\n'],
    ['an empty list of patches', 'namespace: team-a\npatches: []\nresources: [../../base]\n'],
    ['a prefix', 'namespace: team-a\nnamePrefix: p-\nresources: [../../base]\n'],
    ['JSON', '{\n  "namespace": "team-a",\n  "resources": ["../../base"]\n}\n'],
    ['a document mark and comments', '# mine\n---\nnamespace: team-a # ours\nresources:\n- ../../base\n# the end\n'],
  ])('is patched in an overlay with %s, and never changed itself', (_name, overlay) => {
    const name = overlay.includes('namePrefix') ? 'p-compute' : 'compute';
    const files = twoOverlays(overlay);
    const edits = raised(files, `team-a/${name}`, { pods: '20' });
    expect(edits).toMatchObject([{ path: 'overlays/a/kustomization.yaml' }, { before: null }]);
    const [kustomization, added] = edits as readonly FileEdit[];
    expect(added?.after.replaceAll('\r', '')).toBe(patch());
    const after = {
      ...files,
      [kustomization?.path ?? '']: kustomization?.after ?? '',
      [added?.path ?? '']: added?.after ?? '',
    };
    const located = scanned(after).quotas.map((quota) => [quota.namespace, quota.name, quota.values['pods']?.text]);
    expect(located).toEqual([
      ['team-a', name, '20'],
      ['team-b', 'compute', '10'],
    ]);
    // Asked again, the patch that is there now is changed, and nothing else.
    expect(changed(after, `team-a/${name}`, { pods: '30' })).toBe(added?.after.replace('"20"', '"30"'));
    // Another limit goes into the same patch.
    expect(changed(after, `team-a/${name}`, { 'requests.cpu': '4' })).toContain('pods: "20"');
  });

  it.each(['|', '|-', '|+'])('an inline patch in a %s block is changed in its line', (header) => {
    const inline = manifest('    pods: 15 # more\n', { namespace: '' }).trimEnd().replaceAll('\n', '\n      ');
    const overlay =
      `namespace: team-a\nresources:\n- ../../base\npatches:\n- patch: ${header}\n      ${inline}\n- path: other.yaml\n`.replaceAll(
        '\n',
        '\r\n',
      );
    const files = twoOverlays(overlay, { 'overlays/a/other.yaml': 'kind: X\napiVersion: v1\nmetadata: {name: x}\n' });
    expect(changed(files, 'team-a/compute', { pods: '20' })).toBe(overlay.replace('pods: 15', 'pods: 20'));
    const line = scanned(files).quotas.find(({ namespace }) => namespace === 'team-a')?.values['pods']?.line ?? 0;
    expect(overlay.split('\n')[line - 1]).toContain('pods: 15');
  });

  it('a JSON patch is changed at its value', () => {
    const overlay = `namespace: team-a\nresources: [../../base]\npatches:\n- target: {kind: ResourceQuota}\n  patch: |-\n    - op: replace\n      path: /spec/hard/pods\n      value: 15\n    - op: add\n      path: /spec/hard/count~1jobs.batch\n      value: "3"\n`;
    expect(changed(twoOverlays(overlay), 'team-a/compute', { pods: '20' })).toBe(
      overlay.replace('value: 15', 'value: 20'),
    );
    expect(changed(twoOverlays(overlay), 'team-a/compute', { 'count/jobs.batch': '4' })).toBe(
      overlay.replace('"3"', '"4"'),
    );
  });

  it('a folded patch is left alone, and one that goes before it is written', () => {
    const overlay = `namespace: team-a\nresources: [../../base]\npatches:\n- patch: ${JSON.stringify(manifest('    pods: 15\n', { namespace: '' }))}\n`;
    const edits = raised(twoOverlays(overlay), 'team-a/compute', { pods: '20' });
    expect(edits).toMatchObject([{ path: 'overlays/a/kustomization.yaml' }, { before: null }]);
  });

  it('a patch file that two overlays share is changed for neither', () => {
    const shared = manifest('    pods: 15\n', { namespace: '' });
    const overlay = (namespace: string): string =>
      `namespace: ${namespace}\nresources:\n- ../../base\npatches:\n- path: ../shared.yaml\n`;
    const files = twoOverlays(overlay('team-a'), {
      'overlays/b/kustomization.yaml': overlay('team-b'),
      'overlays/shared.yaml': shared,
    });
    const edits = raised(files, 'team-a/compute', { pods: '20' });
    expect(edits).toMatchObject([
      { path: 'overlays/a/kustomization.yaml' },
      { path: expect.stringMatching(/^overlays\/a\//), before: null },
    ]);
  });
});

describe('values of a chart', () => {
  const chart = (values: string, template?: string): Files => ({
    'chart/Chart.yaml': 'name: quota\nversion: 1.0.0\n',
    'chart/values.yaml': values,
    'chart/templates/quota.yaml':
      template ??
      'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n  hard:\n    {{- toYaml .Values.hard | nindent 4 }}\n',
  });

  it('a string value that becomes whole stays a string', () => {
    const values = 'hard:\n  requests.cpu: 500m # half\n  pods: 10\n';
    expect(changed(chart(values), 'team-a/compute', { 'requests.cpu': '2' })).toBe(values.replace('500m', '"2"'));
    expect(changed(chart(values), 'team-a/compute', { pods: '20' })).toBe(values.replace('pods: 10', 'pods: 20'));
  });

  it('a merged value becomes a key of its own; a whole alias is left alone', () => {
    const merged = 'defaults: &defaults\n  pods: 10\nhard:\n  <<: *defaults\n  requests.cpu: "2"\n';
    expect(changed(chart(merged), 'team-a/compute', { pods: '20' })).toBe(
      merged.replace('<<: *defaults\n', '<<: *defaults\n  pods: 20\n'),
    );
    const aliased = 'defaults: &defaults\n  pods: 10\nhard: *defaults\n';
    expect(raised(chart(aliased), 'team-a/compute', { pods: '20' })).toMatch(/defaults/);
  });

  it('one value that two limits take is not changed for one of them', () => {
    const template =
      'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n  hard:\n    requests.cpu: {{ .Values.cpu | quote }}\n    limits.cpu: {{ .Values.cpu | quote }}\n';
    expect(raised(chart('cpu: 2\n', template), 'team-a/compute', { 'limits.cpu': '4' })).toMatch(/cpu/);
  });
});
