import { randomInt } from 'node:crypto';
import { canListen } from '../../kernel/servers/free-port.ts';

/**
 * The address of this machine behind that of a pod. In the cluster a pod has an address of 10.0.0.0/8: no API server takes those of
 * 127.0.0.0/8 for an endpoint. Its processes have that of 127.0.0.0/8 with the same last three numbers.
 */
export function onThisMachine(podIP: string): string {
  return podIP.replace(/^10\./, '127.');
}

/** As many as will never be taken in a row. */
const ATTEMPTS = 20;

/**
 * An address for one pod, as the cluster has it, whose ports are free on this machine, so that they are those of its containers.
 * Drawn from millions, because other programs draw as well.
 */
export async function newPodIP(ports: readonly number[]): Promise<string> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const podIP = `10.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
    const address = onThisMachine(podIP);
    const free = await Promise.all(ports.map(async (port) => await canListen(port, address)));
    if (free.every(Boolean)) return podIP;
  }
  throw new Error(
    `no address of 127.0.0.0/8 has the ports ${ports.join(' and ')} free: something listens on all addresses`,
  );
}
