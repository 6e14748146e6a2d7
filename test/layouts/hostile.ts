/** Files that cost far more to read than they are long. Each is valid, or invalid in a way that takes long to find. */

const MANIFEST = 'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-b\nspec:\n';

/** A ResourceQuota of another team, whose limits merge two copies of a mapping that merges two copies, forty times. */
export const BILLION_MERGES = `${Array.from({ length: 41 }, (_, level) =>
  level === 0 ? 'x0: &x0 {pods: 1}\n' : `x${level}: &x${level}\n  <<: [*x${level - 1}, *x${level - 1}]\n`,
).join('')}${MANIFEST}  hard:\n    <<: *x40\n`;

/** A mapping that is a part of itself. */
export const ENDLESS_MERGE = `${MANIFEST}  hard: &hard\n    <<: *hard\n`;

function filled(line: (index: number) => string, bytes: number): string {
  const lines: string[] = [];
  for (let index = 0, length = 0; length < bytes; index += 1) {
    lines.push(line(index));
    length += lines[index]?.length ?? 0;
  }
  return lines.join('');
}

/** A flow sequence, which takes five hundred times its length of memory. */
export function manyItems(bytes: number): string {
  return `${MANIFEST}x: [${filled(() => '1,', bytes)}]\n`;
}

/** Files of a given length, by what is special about them. */
export function hostileFiles(bytes: number): Readonly<Record<string, string>> {
  const manifest = `${MANIFEST}  hard:\n    pods: 1\n`;
  return {
    'merges of merges': BILLION_MERGES,
    'a mapping in itself': ENDLESS_MERGE,
    keys: manifest + filled((index) => `k${index}: 1\n`, bytes),
    'equal keys': manifest + filled(() => 'k: 1\n', bytes),
    'keys of an ordered mapping': `${manifest}x: !!omap\n${filled((index) => `- k${index}: 1\n`, bytes)}`,
    'merge keys': `${manifest}x: &x {b: c}\ny:\n${filled(() => '  <<: *x\n', bytes)}`,
    errors: manifest + filled(() => '%\n', bytes),
    'template expressions': manifest + filled(() => 'a: {{ x }}\n', bytes),
    'open brackets': `${manifest}x: ${'['.repeat(bytes)}`,
    'items of a sequence': manyItems(bytes),
    quotas: filled((index) => `${manifest.replace('compute', `q${index}`)}---\n`, bytes),
    'a target like (a|a)*b':
      `resources:\n- quota.yaml\npatches:\n` + filled(() => '- target: {name: (a|a)*b(a|a)*b}\n  patch: "[]"\n', bytes),
  };
}
