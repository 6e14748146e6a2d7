import type { DrivenMachine } from '../../../../domain/node-group/machine/driven-machine.ts';
import { machineOf } from '../builders.ts';

export function drivenOf(over: Partial<DrivenMachine> = {}): DrivenMachine {
  return {
    ...machineOf('web-1', 'web'),
    isForPods: true,
    askedAt: null,
    readyAt: null,
    lastError: '',
    finalizers: [],
    ownerReferences: [],
    drainsFirst: false,
    goesUndrained: false,
    ...over,
  };
}
