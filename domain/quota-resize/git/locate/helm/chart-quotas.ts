/** The quotas of Helm charts, with the place in a values file or template that each limit comes from. */
import { isQuantity } from '../../../../kernel/quantity.ts';
import type { ValueEdit } from '../../yaml/value-edit.ts';
import { isTemplate, looksLikeValues, templateOf } from './chart.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { otherUseOf } from './other-uses.ts';
import { type Draft, instances, type Limit } from './template-quotas.ts';
import { namePatternOf } from './name-pattern.ts';
import { type Release, releasesOf, valuesFile } from './release.ts';
import type { SourceNote } from '../location/limit-location.ts';
import { isWithin } from '../tree/paths.ts';
import type { ResolvedQuota, RivalValue } from '../resolve/resolved.ts';
import { quotasOfTemplate } from './template.ts';
import type { TreeReader } from '../tree/tree-reader.ts';

/** The quotas of the charts whose templates are among the files. */
export function chartQuotas(
  reader: TreeReader,
  files: readonly string[],
  deliveries: readonly Delivery[],
  values: readonly string[],
): readonly ResolvedQuota[] {
  const templates = new Map<string, string[]>();
  for (const path of files) {
    const chart = templateOf(reader, path);
    if (chart !== undefined && isTemplate(reader, path) && reader.text(path)?.includes('ResourceQuota') === true) {
      templates.set(chart, [...(templates.get(chart) ?? []), path]);
    }
  }
  // Counts releases that are not listed too: a release whose values files set no limits uses the limits of the chart.
  const uses = new Map<string, number>();
  const drafts = [...templates].flatMap(([chart, paths]) => {
    const releases = releasesOf(reader, chart, deliveries, values);
    return paths.flatMap((path) =>
      quotasOfTemplate(reader.text(path) ?? '').flatMap((quota) => {
        const all = releases.map((release) => ({ release, quotas: instances(path, quota, release) }));
        const made = all.filter(({ release }) => release.unnamed !== true);
        const chosen = chosenReleases(made);
        const users = made.filter((draft) => chosen.includes(draft) || isWithin(draft.release.path, chart));
        for (const { limits } of users.flatMap(({ quotas }) => quotas)) {
          for (const limit of limits) {
            uses.set(limitKey(limit), (uses.get(limitKey(limit)) ?? 0) + 1);
          }
        }
        const own = chosen.flatMap(({ quotas }) => quotas);
        return chosen.some(({ release }) => release.delivery !== undefined) ? own : withRivals(own, all);
      }),
    );
  });
  return drafts.map((draft) => resolvedChartQuota(reader, draft, uses));
}

/**
 * Adds values files that nothing assigns to the chart but that set limits of the same quota: it is unknown which of
 * them counts.
 */
function withRivals(
  own: readonly Draft[],
  made: readonly { readonly release: Release; readonly quotas: readonly Draft[] }[],
): readonly Draft[] {
  const unnamed = made.flatMap(({ release, quotas }) =>
    release.unnamed === true ? quotas.filter(({ limits }) => limits.some(({ path }) => path === release.path)) : [],
  );
  const isSame = (first: Draft, second: Draft): boolean =>
    first.namespace === second.namespace && first.name === second.name;
  return [
    ...own.map((draft) => ({ ...draft, rivals: unnamed.filter((other) => isSame(draft, other)) })),
    ...unnamed.filter((other) => other.namespace === undefined || !own.some((draft) => isSame(draft, other))),
  ];
}

function limitKey({ path, line, valueLocation }: Limit): string {
  return JSON.stringify([path, line, valueLocation?.pointer ?? null]);
}

/**
 * The releases to consider: those that a delivery installs; otherwise those whose values files set limits; otherwise
 * only the chart's own values.
 */
function chosenReleases<T extends { readonly release: Release; readonly quotas: readonly Draft[] }>(
  made: readonly T[],
): readonly T[] {
  const delivered = made.filter(({ release }) => release.delivery !== undefined);
  if (delivered.length > 0) {
    return delivered;
  }
  const setting = made.filter(({ release, quotas }) =>
    quotas.some(({ limits }) => limits.some(({ path }) => path === release.path && path !== valuesFile(release.chart))),
  );
  const chosen = setting.length > 0 ? setting : made.slice(0, 1);
  // A release that takes every limit from the chart's own values still has a quota of its own if it sets a different
  // namespace or name.
  const identities = new Set(chosen.flatMap(({ quotas }) => quotas.map(identityOf)));
  const further = made.filter(
    (draft) =>
      !chosen.includes(draft) &&
      draft.release.path !== valuesFile(draft.release.chart) &&
      draft.quotas.some((quota) => quota.namespace !== undefined && !identities.has(identityOf(quota))),
  );
  return [...chosen, ...further];
}

function identityOf({ namespace, name }: Draft): string {
  return JSON.stringify([namespace ?? null, name ?? null]);
}

function resolvedChartQuota(reader: TreeReader, draft: Draft, uses: ReadonlyMap<string, number>): ResolvedQuota {
  const { release, template, line, limits, name, namespace } = draft;
  const readable = limits.filter(({ text }) => typeof text === 'string' && isQuantity(text));
  const unnamed: SourceNote[] =
    draft.flow !== undefined
      ? [
          {
            path: template,
            line: draft.flow.line,
            message: `writes ${draft.flow.path} between braces in line ${draft.flow.line}, where it cannot be followed: write a line for each key`,
          },
        ]
      : name === undefined
        ? [
            {
              path: template,
              line,
              message: `computes the name with ${draft.nameSource ?? 'nothing'}, which is not known here`,
            },
          ]
        : [];
  return {
    name: name ?? '',
    ...(name === undefined ? { namePattern: namePatternOf(draft.nameSource ?? '') } : {}),
    namespace,
    ...(release.namespaceBy === undefined || namespace !== release.namespace
      ? {}
      : { namespaceBy: release.namespaceBy }),
    path: template,
    line,
    layout: 'helm',
    values: new Map(
      readable.map((limit) => [
        limit.key,
        {
          value: { path: limit.path, line: limit.line, text: limit.text ?? '' },
          edit: editOf(reader, release, limit, uses),
          ...doubtAbout(reader, release, limit),
        },
      ]),
    ),
    unreadable: limits
      .filter((limit) => !readable.includes(limit))
      .map(({ key, edit, path, line, text }) => ({
        key,
        note: {
          path,
          line,
          reason: 'Unplaceable',
          message:
            edit.kind === 'none'
              ? edit.message
              : `the value of ${key}, ${text ?? 'nothing'}, is not a quantity such as 2, 500m or 4Gi`,
        },
      })),
    obstacles: [...unnamed, ...release.obstacles, ...draft.problems],
    ...(draft.rivals.length === 0 ? {} : { rivals: rivalValues(draft.rivals) }),
    paths: [release.path, template],
    ...(release.delivery === undefined ? {} : { delivery: release.delivery }),
  };
}

/** The limits that those values files set themselves. */
function rivalValues(rivals: readonly Draft[]): readonly RivalValue[] {
  return rivals.flatMap(({ release, limits }) =>
    limits.flatMap(({ key, path, line, text }) =>
      path === release.path ? [{ key, path, line, text: text ?? '' }] : [],
    ),
  );
}

function editOf(reader: TreeReader, release: Release, limit: Limit, uses: ReadonlyMap<string, number>): ValueEdit {
  const users = uses.get(limitKey(limit)) ?? 0;
  if (users > 1) {
    return {
      kind: 'none',
      message: `the value of ${limit.key} at ${limit.path}:${limit.line} may be used by ${users} quotas: give this one a value of its own, or say where with the annotation resizer.io/git-field`,
    };
  }
  const { valueLocation, source } = limit;
  const elsewhere = source === undefined ? undefined : otherUseOf(reader, release.chart, source);
  if (elsewhere?.isCertain === true) {
    return {
      kind: 'none',
      message: `the value of ${limit.key} at ${limit.path}:${limit.line} feeds more than this quota: ${elsewhere.path}:${elsewhere.line} uses it as well; give the quota a value of its own`,
    };
  }
  return valueLocation?.shared === undefined
    ? limit.edit
    : {
        kind: 'none',
        message: `the value of ${limit.key} at ${limit.path}:${limit.line} belongs to the YAML anchor &${valueLocation.shared}, which other places use; write the value out`,
      };
}

/** A use of the value that may be for more than the quota. */
function doubtAbout(reader: TreeReader, { chart }: Release, { key, path, line, source }: Limit): { doubt?: string } {
  const elsewhere = source === undefined ? undefined : otherUseOf(reader, chart, source);
  if (elsewhere === undefined || elsewhere.isCertain) return {};
  const place = `${elsewhere.path}:${elsewhere.line}`;
  return { doubt: `${place} hands on the mapping with the value of ${key} at ${path}:${line}, and may use it` };
}

/** The files of the list that may contain values. */
export function valuesFilesIn(reader: TreeReader, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => looksLikeValues(path) && templateOf(reader, path) === undefined);
}
