interface Typed {
  readonly instanceType: string;
}

interface Replaced extends Typed {
  readonly uid: string;
}

interface Replacing extends Typed {
  /** The UID of the node in whose place it comes, by its annotation; absent where nobody says. */
  readonly replaces?: string;
}

/** Which machine is to come in place of which node: in the order of both, of each type the first that is left; some nodes may get none. */
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

/**
 * The machine that comes in place of each node, by the node's UID: as the machines say it. Where one of several was not made, their order
 * would say something else. Machines that an earlier version made do not say it, and go by order and type among the nodes that are left:
 * with a node for which nobody seems to come, the next plan would buy another machine.
 */
export function machinesInPlace<Machine extends Replacing>(
  nodes: readonly Replaced[],
  machines: readonly Machine[],
): ReadonlyMap<string, Machine> {
  const said = machines.flatMap((machine) =>
    machine.replaces === undefined ? [] : [[machine.replaces, machine] as const],
  );
  const known = new Set(said.map(([uid]) => uid));
  const others = pairReplacements(
    nodes.filter(({ uid }) => !known.has(uid)),
    machines.filter(({ replaces }) => replaces === undefined),
  );
  return new Map([...said, ...[...others].map(([{ uid }, machine]) => [uid, machine] as const)]);
}
