/** How the pods that Headroom makes differ from those of the operator that made them before, in words. */
import { isRecord } from '../../kernel/record.ts';

/**
 * What the second template of pods has and the first has not, each by its name: arguments and requests as they are written, other
 * fields by their path. Only what was added or changed: nothing of a container is taken away.
 */
export function improvementsOf(before: unknown, after: unknown): readonly string[] {
  const [old, next] = [podOf(before), podOf(after)];
  const former = new Map(containersOf(old).map((container) => [container['name'], container] as const));
  return [
    ...changedFields(old, next, 'the pods', ['containers']),
    ...containersOf(next).flatMap((container) => containerImprovements(former.get(container['name']) ?? {}, container)),
  ];
}

type Fields = Readonly<Record<string, unknown>>;

function containerImprovements(before: Fields, after: Fields): readonly string[] {
  const name = String(after['name']);
  const added = argumentsOf(after).filter((word) => !argumentsOf(before).includes(word));
  return [
    ...(added.length === 0 ? [] : [`the argument${added.length === 1 ? '' : 's'} ${added.join(' ')} of ${name}`]),
    ...['requests', 'limits'].flatMap((kind) => {
      const [old, next] = [before, after].map((container) => amountsOf(container, kind));
      return Object.entries(next ?? {})
        .filter(([resource, amount]) => old?.[resource] !== amount)
        .map(([resource, amount]) => `${kind} of ${String(amount)} ${resource} for ${name}`);
    }),
    ...changedFields(before, after, name, ['name', 'args', 'resources']),
  ];
}

function changedFields(before: Fields, after: Fields, owner: string, others: readonly string[]): readonly string[] {
  return Object.entries(after)
    .filter(([key, value]) => !others.includes(key) && JSON.stringify(before[key]) !== JSON.stringify(value))
    .map(([key]) => `${key} of ${owner}`);
}

function podOf(template: unknown): Fields {
  return isRecord(template) && isRecord(template['spec']) ? template['spec'] : {};
}

function containersOf({ containers }: Fields): readonly Fields[] {
  return Array.isArray(containers) ? containers.filter(isRecord) : [];
}

function argumentsOf({ args }: Fields): readonly unknown[] {
  return Array.isArray(args) ? args : [];
}

function amountsOf({ resources }: Fields, kind: string): Fields {
  const amounts = isRecord(resources) ? resources[kind] : undefined;
  return isRecord(amounts) ? amounts : {};
}
