import { describe, expect, it } from 'vitest';
import { isInScope, namespacesInScope } from '../../../../domain/lights-out/schedule/scope.ts';
import { namespaceOf, specOf, workloadOf } from '../planned.ts';

const dev = { labels: { env: 'dev' } };
const cluster = [
  namespaceOf('team-b', dev),
  namespaceOf('team-a', dev),
  namespaceOf('shop'),
  namespaceOf('temporal', dev),
  namespaceOf('kube-system', dev),
  namespaceOf('kube-public', dev),
  namespaceOf('kube-node-lease', dev),
  namespaceOf('going', { ...dev, isDeleting: true }),
];
const selected = { namespaceSelector: { matchLabels: { env: 'dev' } }, namespaces: [] };

describe('the namespaces of a schedule', () => {
  it('are those it selects and those it names, sorted, without the excluded ones', () => {
    const spec = specOf({ ...selected, namespaces: ['shop', 'nowhere'], excludeNamespaces: ['team-b'] });
    expect(namespacesInScope(spec, cluster, ['temporal'])).toEqual(['shop', 'team-a']);
  });

  it('are never those of the system, protected ones, or ones that are being deleted, even by name', () => {
    const named = ['kube-system', 'kube-public', 'kube-node-lease', 'temporal', 'going', 'team-a'];
    expect(namespacesInScope(specOf({ ...selected, namespaces: named }), cluster, ['temporal'])).toEqual([
      'team-a',
      'team-b',
    ]);
  });

  it('are all of them where the selector is empty, and none where there is none and nothing is named', () => {
    const all = namespacesInScope(specOf({ namespaceSelector: {}, namespaces: [] }), cluster, ['temporal']);
    expect(all).toContain('team-a');
    expect(all).not.toContain('kube-system');
    expect(all).not.toContain('temporal');
    expect(namespacesInScope(specOf({ namespaces: [] }), cluster, [])).toEqual([]);
  });
});

describe('a workload', () => {
  const inScope = (labels: Record<string, string>, over: Parameters<typeof specOf>[0]) =>
    isInScope(workloadOf({ labels }), namespaceOf(), specOf(over), []);

  it('is selected by its kind and left out by its labels', () => {
    expect(inScope({}, { workloadTypes: [] })).toBe(true);
    expect(inScope({}, { workloadTypes: ['StatefulSet', 'Deployment'] })).toBe(true);
    expect(inScope({}, { workloadTypes: ['CronJob'] })).toBe(false);
    expect(inScope({ keep: 'yes' }, { excludeLabels: { matchLabels: { keep: 'yes' } } })).toBe(false);
    expect(inScope({ keep: 'no' }, { excludeLabels: { matchLabels: { keep: 'yes' } } })).toBe(true);
    expect(inScope({ keep: 'yes' }, { excludeLabels: {} })).toBe(true);
  });

  it('is in no scope where its namespace is not', () => {
    expect(isInScope(workloadOf(), null, specOf(), [])).toBe(false);
    expect(isInScope(workloadOf(), namespaceOf(), specOf(), ['team-a'])).toBe(false);
  });
});
