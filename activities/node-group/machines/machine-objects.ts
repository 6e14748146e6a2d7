import { GROUP, MACHINE_PLURAL, NAMESPACE, VERSION } from '../../../domain/node-group/api/names.ts';

/** Where the objects of machines are. */
export const MACHINES = { group: GROUP, version: VERSION, plural: MACHINE_PLURAL, namespace: NAMESPACE } as const;
