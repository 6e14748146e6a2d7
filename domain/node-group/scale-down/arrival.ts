/** How the cluster was when machines were on their way, as it is remembered from plan to plan. */

/** In millicores and bytes. */
export interface Load {
  readonly cpu: number;
  readonly memory: number;
}

/** How it was when a machine was on its way. */
export interface Arrival {
  /** What all pods of the cluster asked for. */
  readonly load: Load;
  /** What the pods that were to go to it asked for. */
  readonly own: Load;
}

/** By the name of the VPSieNode, which it has before it exists. */
export type Arrivals = Readonly<Record<string, Arrival>>;
