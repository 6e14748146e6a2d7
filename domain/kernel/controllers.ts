/** The controllers of Headroom. For a new name here, the compiler lists everything that is missing. */
export const controllerNames = [
  'quota-resize',
  'quota-usage',
  'lights-out',
  'memcached',
  'node-group',
  'lease-gc',
  'github-budget',
] as const;

export type ControllerName = (typeof controllerNames)[number];
