import { describe, expect, it } from 'vitest';
import type { SourceCandidate } from '../../../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import type { TreeSnapshot } from '../../../../../../domain/quota-resize/git/locate/location/location.ts';
import { locateQuota } from '../../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';
import {
  chooseFiles,
  symbolicLink,
  tooCostly,
  tooLarge,
  type UnreadFile,
} from '../../../../../../domain/quota-resize/git/locate/tree/unread.ts';
import type { Files } from '../../../../../layouts/tree.ts';

const wanted = { namespace: 'team-a', name: 'compute', cluster: 'prod', resources: ['pods'] };
const template: SourceCandidate = { from: 'template', path: 'ns/team-a', learntFrom: 'the path template' };
const anywhere: SourceCandidate = { from: 'scan', learntFrom: 'a search' };
const QUOTA =
  'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n  hard:\n    pods: 2\n';
const costly = tooCostly('5 s of CPU time');
const large = tooLarge(2_340_000, { fileBytes: 1_000_000 });

function located(files: Files, unread: Readonly<Record<string, UnreadFile>>, candidate: SourceCandidate = anywhere) {
  const tree: TreeSnapshot = {
    paths: [...Object.keys(files), ...Object.keys(unread)].toSorted(),
    texts: new Map(Object.entries(files)),
    unread: new Map(Object.entries(unread)),
  };
  return locateQuota(tree, wanted, candidate);
}

describe('a file that is not read', () => {
  it('of another namespace stops nothing, and is named with the quota that was found', () => {
    expect(located({ 'ns/team-a/q.yaml': QUOTA }, { 'ns/team-b/evil.yaml': costly })).toMatchObject({
      kind: 'located',
      location: {
        path: 'ns/team-a/q.yaml',
        how: expect.stringMatching(/\. Not read: ns\/team-b\/evil\.yaml takes more than 5 s of CPU time to read$/),
      },
    });
  });

  it.each([anywhere, template])('is the answer where nothing else has the quota', (candidate) => {
    expect(located({}, { 'ns/team-a/q.yaml': costly }, candidate)).toMatchObject({
      kind: 'unlocated',
      reason: 'ContentTooCostly',
      message: expect.stringContaining('ns/team-a/q.yaml'),
    });
  });

  it('and that is too large where the quota is expected is the answer, with both sizes', () => {
    expect(located({}, { 'ns/team-a/q.yaml': large }, template)).toMatchObject({
      kind: 'unlocated',
      reason: 'ContentTooCostly',
      message: expect.stringContaining('has 2.4 MB, more than the 1 MB that are read of a file'),
    });
  });

  it('and that is a symbolic link where the quota is expected is refused by its name', () => {
    expect(located({}, { 'ns/team-a/q.yaml': symbolicLink }, template)).toMatchObject({
      kind: 'unlocated',
      reason: 'Unplaceable',
      message: expect.stringContaining('ns/team-a/q.yaml:1: is a symbolic link, which is not followed'),
    });
  });

  it('and that is called like the namespace may hold the quota a second time: a person has to settle that', () => {
    expect(located({ 'ns/team-a/q.yaml': QUOTA }, { 'old/team-a.yaml': costly })).toMatchObject({
      kind: 'unlocated',
      reason: 'ContentTooCostly',
      message: expect.stringContaining('is at ns/team-a/q.yaml:4, but may be in old/team-a.yaml as well'),
    });
  });

  it('beside the quota and merely large, such as the definitions of an operator, is named and stops nothing', () => {
    expect(located({ 'ns/team-a/q.yaml': QUOTA }, { 'ns/team-a/crds.yaml': large }, template)).toMatchObject({
      kind: 'located',
      location: { how: expect.stringContaining('Not read: ns/team-a/crds.yaml has 2.4 MB') },
    });
  });

  it('and that patches the quota leaves its value uncertain', () => {
    const files = {
      'ns/team-a/kustomization.yaml': 'resources:\n- q.yaml\npatches:\n- path: patch.yaml\n',
      'ns/team-a/q.yaml': QUOTA,
    };
    expect(located(files, { 'ns/team-a/patch.yaml': large }, template)).toMatchObject({
      kind: 'unlocated',
      message: expect.stringContaining('ns/team-a/patch.yaml has 2.4 MB'),
    });
  });

  it('and that is the kustomization of the quota leaves nobody to build it', () => {
    const answer = located({ 'ns/team-a/q.yaml': QUOTA }, { 'ns/team-a/kustomization.yaml': costly }, template);
    expect(answer).toMatchObject({ kind: 'unlocated', message: expect.stringContaining('kustomization.yaml') });
  });

  it('and that holds values of the chart leaves its values uncertain', () => {
    const files = {
      'chart/Chart.yaml': 'name: quotas\nversion: 1.0.0\n',
      'chart/templates/quota.yaml':
        'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n  hard:\n    pods: {{ .Values.pods }}\n',
      'chart/values.yaml': 'pods: 2\n',
    };
    expect(located(files, {})).toMatchObject({ kind: 'located' });
    const candidate: SourceCandidate = {
      from: 'argocd',
      learntFrom: 'an Application',
      path: 'chart',
      valueFiles: ['more.yaml'],
    };
    expect(located(files, { 'more.yaml': large }, candidate)).toMatchObject({
      kind: 'unlocated',
      reason: 'ContentTooCostly',
      message: expect.stringContaining('more.yaml has 2.4 MB'),
    });
  });

  it('and that may use a base makes it one that others share, so that the overlay gets a patch', () => {
    const files = {
      'base/kustomization.yaml': 'resources:\n- q.yaml\n',
      'base/q.yaml': QUOTA.replace('  namespace: team-a\n', ''),
      'ns/team-a/kustomization.yaml': 'namespace: team-a\nresources:\n- ../../base\n',
    };
    const edits = (unread: Readonly<Record<string, UnreadFile>>): unknown => {
      const answer = located(files, unread, template);
      return answer.kind === 'located' ? answer.location.edits['pods']?.kind : answer;
    };
    expect(edits({})).toBe('replace');
    expect(edits({ 'ns/team-b/kustomization.yaml': costly })).toBe('patch');
  });
});

describe('what a lookup reads', () => {
  const limits = { fileBytes: 1000, lookupBytes: 2500 };
  const file = (path: string, size?: number) => ({ path, size });

  it('leaves out what is larger than the limit of a file', () => {
    const { read, unread, bytes } = chooseFiles([file('a', 1000), file('b', 1001)], 0, limits);
    expect(read).toEqual(['a']);
    expect([...unread.keys()]).toEqual(['b']);
    expect(bytes).toBe(1000);
  });

  it('is the smallest files where not all fit, whoever is named first', () => {
    const asked = [file('b/1', 999), file('b/2', 999), file('b/3', 999), file('a/quota', 100)];
    const { read, unread, bytes } = chooseFiles(asked, 0, limits);
    expect(read).toEqual(['a/quota', 'b/1', 'b/2']);
    expect([...unread.keys()]).toEqual(['b/3']);
    expect(bytes).toBe(2098);
  });

  it('is bounded for small files too, where each counts for a part of a request', () => {
    const asked = Array.from({ length: 5 }, (_, index) => file(`${index}`, 1));
    const { read, unread, bytes } = chooseFiles(asked, 0, limits, 1000);
    expect(read).toEqual(['0', '1']);
    expect([...unread.keys()]).toEqual(['2', '3', '4']);
    expect(bytes).toBe(2000);
  });

  it('counts what the lookup read before', () => {
    expect(chooseFiles([file('a', 600)], 2000, limits)).toMatchObject({ read: [], bytes: 2000 });
  });
});
