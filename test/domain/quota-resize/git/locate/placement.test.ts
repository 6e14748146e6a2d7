import { describe, expect, it } from 'vitest';
import { placeQuota } from '../../../../../domain/quota-resize/git/locate/locate-quota.ts';
import { isLedBy, isSamePlace, placementOf, textsOf } from '../../../../../domain/quota-resize/git/locate/placement.ts';
import type { Placement } from '../../../../../domain/quota-resize/model/placement.ts';
import type { QuotaPlace } from '../../../../../domain/quota-resize/git/locate/location.ts';
import type { SourceHint } from '../../../../../domain/quota-resize/git/locate/source-candidate.ts';
import { ask, type Files } from '../../../../layouts/tree.ts';

const hint: SourceHint = { from: 'template', path: 'team-a', said: 'the path template' };
const RESOURCES = ['pods', 'requests.cpu'];

function placed(files: Files): QuotaPlace {
  const wanted = { namespace: 'team-a', name: 'compute', cluster: 'prod', resources: RESOURCES };
  const { answer } = ask(files, (tree) => placeQuota(tree, wanted, hint));
  if (answer.kind !== 'placed') throw new Error(JSON.stringify(answer));
  return answer.place;
}

const quota = (hard: string, before = '') =>
  `${before}apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: compute, namespace: team-a}\nspec:\n  hard: ${hard}\n`;

const BOTH = '{pods: 10, requests.cpu: "2"}';
const kept = placementOf(placed({ 'team-a/quota.yaml': quota(BOTH) }), RESOURCES, { hint, tried: 1 });

describe('a kept place', () => {
  it('says the file, the field and the text of every value, in JSON', () => {
    expect(JSON.parse(JSON.stringify(kept))).toEqual({
      hint,
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
    expect(isSamePlace(kept, placed({ 'team-a/quota.yaml': moved }), RESOURCES)).toBe(true);
  });

  it('is another one in another file, in another field, or where a value is gone', () => {
    expect(isSamePlace(kept, placed({ 'team-a/q.yaml': quota(BOTH) }), RESOURCES)).toBe(false);
    expect(isSamePlace(kept, placed({ 'team-a/quota.yaml': quota('{pods: 10}') }), RESOURCES)).toBe(false);
    const overlay = {
      'team-a/kustomization.yaml':
        'resources: [quota.yaml]\npatches:\n  - patch: |\n      apiVersion: v1\n      kind: ResourceQuota\n      metadata: {name: compute}\n      spec: {hard: {pods: 12, requests.cpu: "3"}}\n',
      'team-a/quota.yaml': quota(BOTH),
    };
    expect(isSamePlace(kept, placed(overlay), RESOURCES)).toBe(false);
  });

  it('says nothing about resources that were not asked for when it was found', () => {
    const onlyPods: Placement = {
      ...kept,
      values: { pods: { path: 'team-a/quota.yaml', field: 'spec.hard.pods', text: '10' } },
    };
    const now = placed({ 'team-a/quota.yaml': quota(BOTH) });
    expect(isSamePlace(onlyPods, now, RESOURCES)).toBe(true);
    expect(isSamePlace(onlyPods, now, ['requests.cpu'])).toBe(false);
  });

  it('is led to as long as the same is known, in the same order', () => {
    const annotation: SourceHint = { from: 'annotation', path: 'elsewhere', said: 'the annotation' };
    const scan: SourceHint = { from: 'scan', said: 'a search' };
    expect(isLedBy(kept, [scan, { ...hint }])).toBe(true);
    expect(isLedBy(kept, [annotation, scan, hint])).toBe(false);
    expect(isLedBy(kept, [scan, { ...hint, path: 'team-b' }])).toBe(false);
    expect(isLedBy(kept, [])).toBe(false);
  });
});
