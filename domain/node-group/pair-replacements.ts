interface Typed {
  readonly instanceType: string;
}

/** Which machine comes in place of which node: in the order of both, of each type the first that is left; some nodes may get none. */
export function pairReplacements<Node extends Typed, Machine extends Typed>(
  nodes: readonly Node[],
  machines: readonly Machine[],
): ReadonlyMap<Node, Machine> {
  const left = [...machines];
  return new Map(
    nodes.flatMap((node) => {
      const at = left.findIndex(({ instanceType }) => instanceType === node.instanceType);
      const [machine] = at < 0 ? [] : left.splice(at, 1);
      return machine === undefined ? [] : [[node, machine] as const];
    }),
  );
}
