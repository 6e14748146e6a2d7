/** Which NodeGroup holds a VPSieNode. */
import { listOf } from '../../kernel/pod-requests.ts';
import { labelsOf } from '../scheduling/read-pod.ts';
import { GROUP, GROUP_UID_LABEL, KIND, MACHINE_FINALIZER } from './names.ts';

type Metadata = Readonly<Record<string, unknown>>;

/**
 * The UID of the NodeGroup that holds a machine; null where it has no such label, where the garbage collector could delete it with an
 * owner, or where nothing keeps its object while there is the machine.
 */
export function holderOf(metadata: Metadata): string | null {
  const uid = labelsOf(metadata['labels'])[GROUP_UID_LABEL] ?? '';
  const { finalizers } = metadata;
  const isKept =
    metadata['deletionTimestamp'] !== undefined ||
    (Array.isArray(finalizers) && finalizers.includes(MACHINE_FINALIZER));
  return uid !== '' && isKept && !listOf(metadata['ownerReferences']).some(isGroup) ? uid : null;
}

/** Whether an ownerReference names a NodeGroup. */
export function isGroup({ apiVersion, kind }: Readonly<Record<string, unknown>>): boolean {
  return kind === KIND && typeof apiVersion === 'string' && apiVersion.startsWith(`${GROUP}/`);
}
