import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importGraph } from '../../tools/test-run/import-graph.ts';

const ROOT = join(import.meta.dirname, '../..');
const LAYERS = ['domain', 'activities', 'workflows', 'platform', 'worker', 'starter'];

/** Groups of files that import each other in a circle, by Tarjan's strongly connected components. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): number => {
    const own = index.size;
    index.set(file, own);
    low.set(file, own);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      const below = index.has(next) ? (stack.includes(next) ? (index.get(next) ?? own) : own) : visit(next);
      low.set(file, Math.min(low.get(file) ?? own, below));
    }
    if (low.get(file) === own) {
      const circle = stack.splice(stack.indexOf(file));
      if (circle.length > 1) circles.push(circle.toSorted());
    }
    return low.get(file) ?? own;
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return circles;
}

it('no files of the product import each other in a circle, types included', async () => {
  const graph = await importGraph(ROOT, LAYERS);
  expect(graph.size).toBeGreaterThan(300);
  expect(circlesOf(graph)).toEqual([]);
});

it('a circle over three files is found', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', []],
  ]);
  expect(circlesOf(graph)).toEqual([['a', 'b', 'c']]);
});
