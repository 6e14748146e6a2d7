/** The real helm renders a raised limit as what was decided, whatever the chart's templates make of the value. */
import { expect, it } from 'vitest';
import {
  compareQuantities,
  isQuantity,
  isSameAmount,
  multiplyByRatio,
  parseQuantity,
} from '../../../../../../domain/kernel/quantity.ts';
import { editLocation } from '../../../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { QuotaLocation } from '../../../../../../domain/quota-resize/git/locate/location/location.ts';
import { roundedLimits } from '../../../../../../domain/quota-resize/git/locate/location/spelling.ts';
import { locateQuota } from '../../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';
import { roundLimitUp } from '../../../../../../domain/quota-resize/sizing/round.ts';
import { amount } from '../../../../../kernel/long.ts';
import { seed } from '../../../../../kernel/seed.ts';
import { chartWithPipes, PIPES_CHART } from '../../../../../layouts/chart-pipes.ts';
import { RealBuilds } from '../../../../../layouts/real-builds.ts';
import { ask, type Files, wholeTree } from '../../../../../layouts/tree.ts';

/** The limits that helm renders; none where it fails. */
async function rendered(real: RealBuilds, files: Files): Promise<Readonly<Record<string, string>>> {
  const built = (await real.of(files)).get(`helm template ${PIPES_CHART} `);
  if (typeof built !== 'object') return {};
  const spec = built[0]?.['spec'] as { readonly hard: Readonly<Record<string, unknown>> } | undefined;
  return Object.fromEntries(Object.entries(spec?.hard ?? {}).map(([key, value]) => [key, String(value)]));
}

/** As the worker finds it, which reads only the files that it needs. */
function locationOf(files: Files, resource: string, hard: Readonly<Record<string, string>>): QuotaLocation | undefined {
  const wanted = { namespace: 'team-a', name: 'compute', cluster: 'prod', resources: [resource], current: hard };
  const candidate = { from: 'argocd', learntFrom: 'the Application', path: PIPES_CHART } as const;
  const { answer } = ask(files, (tree) => locateQuota(tree, wanted, candidate));
  return answer.kind === 'located' ? answer.location : undefined;
}

it('a limit is what was decided, or the next whole number where only those are rendered, or it is not edited', async () => {
  await using real = await RealBuilds.start();
  let raised = 0;
  for (let index = 0; index < amount({ short: 12, long: 100 }); index += 1) {
    const files = chartWithPipes(seed + index);
    const before = await rendered(real, files);
    for (const [resource, current] of Object.entries(before)) {
      const location = locationOf(files, resource, before);
      const text = location?.values[resource]?.text;
      // What is rendered as something else already is not the limit in force.
      if (!isQuantity(current) || location === undefined || text === undefined || !isSameAmount(text, current))
        continue;
      const asked = roundLimitUp(resource, multiplyByRatio(parseQuantity(current), 6n, 5n), text);
      const rounded = roundedLimits(wholeTree(files), location, { [resource]: asked })[resource];
      const edited = editLocation(wholeTree(files), location, { [resource]: rounded ?? asked });
      if (edited.kind === 'unplaceable') {
        expect(edited.message).toContain('cannot be raised');
        continue;
      }
      raised += 1;
      const edits = Object.fromEntries(edited.edits.map(({ path, after }) => [path, after]));
      const after = await rendered(real, { ...files, ...edits });
      const what = { files: { ...files, ...edits }, resource, asked };
      const is = after[resource] ?? '';
      expect({ ...what, is, isThere: isQuantity(is) }).toMatchObject({ isThere: true });
      expect({
        ...what,
        is,
        difference: compareQuantities(parseQuantity(is), parseQuantity(rounded ?? asked)),
      }).toMatchObject({ difference: 0 });
      expect({ ...after, [resource]: before[resource] }).toEqual(before);
    }
  }
  expect(raised).toBeGreaterThan(0);
});
