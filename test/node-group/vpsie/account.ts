/** What VPSie has of one account: a cluster with its groups and machines. */
import { randomUUID } from 'node:crypto';

/** A machine as it really is, whatever the answers say. */
export interface VpsieMachine {
  readonly identifier: string;
  readonly id: number;
  readonly hostname: string;
  /** The group in which it was made. */
  readonly group: number;
  /** From when on the list has it, in milliseconds of 1970. */
  readonly listedFrom: number;
}

export interface VpsieGroup {
  readonly id: number;
  readonly name: string;
  readonly size: number;
}

/** The sizes of the datacenter; the offerings of the contract are two of their names. */
export const OFFERS = [
  { id: 21, name: 'small', cpu: 2, ram: 4096, disk: 80, price: '20.00', hourly_price: 0.03 },
  { id: 22, name: 'large', cpu: 8, ram: 32_768, disk: 320, price: '160.00', hourly_price: null },
];

export class VpsieAccount {
  readonly cluster = randomUUID();
  readonly datacenter = randomUUID();
  readonly groups: VpsieGroup[] = [];
  readonly machines = new Map<string, VpsieMachine>();
  #next = 100;

  /** The master is in the list too, and is no machine of anybody. */
  readonly master = { identifier: randomUUID(), id: 1, hostname: 'Master-1', node_type: 1 };

  /** How many machines a group has, by VPSie's count: it counts what it lists. */
  countOf(group: number, now: number): number {
    return [...this.machines.values()].filter((machine) => machine.group === group && machine.listedFrom <= now).length;
  }

  addGroup(name: string, size: number): VpsieGroup {
    const group = { id: this.#number(), name, size };
    this.groups.push(group);
    return group;
  }

  addMachine(group: number, listedFrom: number): VpsieMachine {
    const id = this.#number();
    const machine = { identifier: randomUUID(), id, hostname: `Slave-${id}`, group, listedFrom };
    this.machines.set(machine.identifier, machine);
    return machine;
  }

  /** As the list has them. */
  listed(now: number): readonly object[] {
    const machines = [...this.machines.values()].filter(({ listedFrom }) => listedFrom <= now);
    return [this.master, ...machines.map((machine) => ({ ...shown(machine), node_type: 2 }))];
  }

  #number(): number {
    this.#next += 1;
    return this.#next;
  }
}

export function shown({ identifier, id, hostname }: VpsieMachine): object {
  return { identifier, id, hostname, status: 'provisioning' };
}
