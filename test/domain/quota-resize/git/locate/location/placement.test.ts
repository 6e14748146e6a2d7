import { describe, expect, it } from 'vitest';
import { locateQuota } from '../../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';
import {
  isLedBy,
  isSameLocation,
  placementOf,
  textsOf,
} from '../../../../../../domain/quota-resize/git/locate/location/placement.ts';
import type { Placement } from '../../../../../../domain/quota-resize/model/placement.ts';
import type { QuotaLocation } from '../../../../../../domain/quota-resize/git/locate/location/location.ts';
import type { SourceCandidate } from '../../../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { ask, type Files } from '../../../../../layouts/tree.ts';

const candidate: SourceCandidate = { from: 'template', path: 'team-a', learntFrom: 'the path template' };
const RESOURCES = ['pods', 'requests.cpu'];

function located(files: Files): QuotaLocation {
  const wanted = { namespace: 'team-a', name: 'compute', cluster: 'prod', resources: RESOURCES };
  const { answer } = ask(files, (tree) => locateQuota(tree, wanted, candidate));
  if (answer.kind !== 'located') throw new Error(JSON.stringify(answer));
  return answer.location;
}

const quota = (hard: string, before = '') =>
  `${before}apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: compute, namespace: team-a}\nspec:\n  hard: ${hard}\n`;

const BOTH = '{pods: 10, requests.cpu: "2"}';
const kept = placementOf(located({ 'team-a/quota.yaml': quota(BOTH) }), RESOURCES, { candidate, tried: 1 });

describe('a placement', () => {
  it('says the file, the field and the text of every value, in JSON', () => {
    expect(JSON.parse(JSON.stringify(kept))).toEqual({
      candidate,
      tried: 1,
      values: {
        pods: { path: 'team-a/quota.yaml', field: 'spec.hard.pods', text: '10' },
        'requests.cpu': { path: 'team-a/quota.yaml', field: 'spec.hard["requests.cpu"]', text: '2' },
      },
    });
    expect(textsOf(kept)).toEqual({ pods: '10', 'requests.cpu': '2' });
  });

  it('is the same where lines and values around it, and its own values, have changed', () => {
    const moved = quota('{pods: 10, requests.cpu: "3"}', '# one more line\n');
    expect(isSameLocation(kept, located({ 'team-a/quota.yaml': moved }), RESOURCES)).toBe(true);
  });

  it('is another one in another file, in another field, or where a value is gone', () => {
    expect(isSameLocation(kept, located({ 'team-a/q.yaml': quota(BOTH) }), RESOURCES)).toBe(false);
    expect(isSameLocation(kept, located({ 'team-a/quota.yaml': quota('{pods: 10}') }), RESOURCES)).toBe(false);
    const overlay = {
      'team-a/kustomization.yaml':
        'resources: [quota.yaml]\npatches:\n  - patch: |\n      apiVersion: v1\n      kind: ResourceQuota\n      metadata: {name: compute}\n      spec: {hard: {pods: 12, requests.cpu: "3"}}\n',
      'team-a/quota.yaml': quota(BOTH),
    };
    expect(isSameLocation(kept, located(overlay), RESOURCES)).toBe(false);
  });

  it('says nothing about resources that were not asked for when it was found', () => {
    const onlyPods: Placement = {
      ...kept,
      values: { pods: { path: 'team-a/quota.yaml', field: 'spec.hard.pods', text: '10' } },
    };
    const now = located({ 'team-a/quota.yaml': quota(BOTH) });
    expect(isSameLocation(onlyPods, now, RESOURCES)).toBe(true);
    expect(isSameLocation(onlyPods, now, ['requests.cpu'])).toBe(false);
  });

  it('is led to as long as the same is known, in the same order', () => {
    const annotation: SourceCandidate = { from: 'annotation', path: 'elsewhere', learntFrom: 'the annotation' };
    const scan: SourceCandidate = { from: 'scan', learntFrom: 'a search' };
    expect(isLedBy(kept, [scan, { ...candidate }])).toBe(true);
    expect(isLedBy(kept, [annotation, scan, candidate])).toBe(false);
    const { learntFrom, ...rest } = candidate;
    const reordered = { learntFrom, ...rest };
    expect(isLedBy(kept, [scan, reordered]), 'the fields in another order, as a Lease has them').toBe(true);
    expect(isLedBy(kept, [scan, { ...candidate, path: 'team-b' }])).toBe(false);
    expect(isLedBy(kept, [])).toBe(false);
  });
});
