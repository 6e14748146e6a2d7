/** How the containers of a pod add up, in whatever amounts are counted: Kubernetes' `AggregateContainerRequests`. */

/** The arithmetic of an amount. */
export interface Sums<Sum> {
  readonly none: Sum;
  readonly add: (a: Sum, b: Sum) => Sum;
  readonly max: (a: Sum, b: Sum) => Sum;
}

interface Containers<Container> {
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
}

/** `Always` on an init container makes it a sidecar, which runs as long as the pod. */
export function isSidecar({ restartPolicy }: { readonly restartPolicy?: unknown }): boolean {
  return restartPolicy === 'Always';
}

/**
 * max(Σ containers + Σ sidecars, max over init container i of (i + the sidecars before it)): init containers run one after the other,
 * each together with the sidecars that were started before.
 *
 * @param amountOf one container; `isPassing` for an init container that runs to its end, which cannot be resized.
 */
export function containersTogether<Container extends { readonly restartPolicy?: unknown }, Sum>(
  { containers, initContainers }: Containers<Container>,
  amountOf: (container: Container, isPassing: boolean) => Sum,
  { none, add, max }: Sums<Sum>,
): Sum {
  let running = none;
  for (const container of containers) running = add(running, amountOf(container, false));
  let sidecars = none;
  let starting = none;
  for (const container of initContainers) {
    if (isSidecar(container)) {
      const amount = amountOf(container, false);
      running = add(running, amount);
      sidecars = add(sidecars, amount);
      starting = max(starting, sidecars);
    } else starting = max(starting, add(amountOf(container, true), sidecars));
  }
  return max(running, starting);
}
