/** Every controller of Headroom. A new one is a name here; the compiler then lists what else it needs. */
export const controllerNames = ['quota-resize', 'quota-usage', 'lights-out', 'lease-gc', 'github-budget'] as const;

export type ControllerName = (typeof controllerNames)[number];
