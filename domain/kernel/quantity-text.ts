/** Amounts for people, with their unit. */
import { listText } from './sentence.ts';
import { formatQuantity, parseQuantity, type Quantity, quantityOrNull } from './quantity.ts';
import { type ResourceList, resourceEntries } from './resource-list.ts';

/** The unit in which a resource is counted. */
interface Unit {
  readonly one: string;
  readonly many: string;
  /** Bytes are written with Kubernetes' suffixes, everything else as a decimal number. */
  readonly isBytes: boolean;
}

const NANOS = 10n ** 9n;

const COUNTED: Readonly<Record<string, readonly [one: string, many: string]>> = {
  pods: ['pod', 'pods'],
  services: ['Service', 'Services'],
  'services.loadbalancers': ['Service of type LoadBalancer', 'Services of type LoadBalancer'],
  'services.nodeports': ['Service with node ports', 'Services with node ports'],
  secrets: ['Secret', 'Secrets'],
  configmaps: ['ConfigMap', 'ConfigMaps'],
  persistentvolumeclaims: ['PersistentVolumeClaim', 'PersistentVolumeClaims'],
  replicationcontrollers: ['ReplicationController', 'ReplicationControllers'],
  resourcequotas: ['ResourceQuota', 'ResourceQuotas'],
};

/** `3.6 CPU`, `4Gi memory`, `1 pod`: an amount of a quota's resource, with its unit. One that cannot be read stays as it is. */
export function quantityText(resource: string, quantity: string): string {
  const unit = unitOf(resource);
  const read = quantityOrNull(quantity);
  const amount = read === null ? quantity : amountText(unit, read);
  return `${amount} ${amount === '1' ? unit.one : unit.many}`;
}

/** `2 of 4 CPU`: a part of an amount of the same resource. */
export function shareText(resource: string, part: string, whole: string): string {
  return `${amountText(unitOf(resource), parseQuantity(part))} of ${quantityText(resource, whole)}`;
}

/** `1 CPU (requests.cpu) and 2 pods`: several amounts; the resource's name is added where the unit is ambiguous. */
export function amountsText(amounts: ResourceList): string {
  const parts = resourceEntries(amounts).map(([resource]) => {
    const text = quantityText(resource, amounts[resource] ?? '0');
    return COUNTED[resource] === undefined && !text.endsWith(resource) ? `${text} (${resource})` : text;
  });
  return listText(parts);
}

function unitOf(resource: string): Unit {
  const counted = COUNTED[resource.slice(resource.lastIndexOf('/') + 1)] ?? COUNTED[resource.replace(/^count\//, '')];
  if (counted !== undefined) return { one: counted[0], many: counted[1], isBytes: false };
  if (resource.startsWith('count/')) {
    const kind = resource.slice('count/'.length);
    return { one: `${kind} object`, many: `${kind} objects`, isBytes: false };
  }
  // A limit of a storage class: `fast.storageclass.storage.k8s.io/requests.storage`.
  const isOfClass = resource.includes('.storageclass.storage.k8s.io/');
  const name = (isOfClass ? resource.slice(resource.lastIndexOf('/') + 1) : resource).replace(
    /^(?:requests|limits)\./,
    '',
  );
  if (name === 'cpu') return { one: 'CPU', many: 'CPU', isBytes: false };
  const isBytes = ['memory', 'storage', 'ephemeral-storage'].includes(name) || name.startsWith('hugepages-');
  const unit = name === 'ephemeral-storage' ? 'ephemeral storage' : name;
  return { one: unit, many: unit, isBytes };
}

function amountText(unit: Unit, quantity: Quantity): string {
  return unit.isBytes ? bytesText(quantity) : decimalText(quantity.nano);
}

/** `3.6`, exactly. */
function decimalText(nano: bigint): string {
  const magnitude = nano < 0n ? -nano : nano;
  const fraction = (magnitude % NANOS).toString().padStart(9, '0').replace(/0+$/, '');
  return `${nano < 0n ? '-' : ''}${magnitude / NANOS}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The longest text that is easy to read, such as `1500Mi` and `123456k`. */
const READABLE = 7;

/**
 * With Kubernetes' suffixes. An amount without a short text (1288490189 bytes) is rounded and marked: `about 1.2Gi`.
 */
function bytesText({ nano }: Quantity): string {
  const texts = (['BinarySI', 'DecimalSI'] as const).map((format) => formatQuantity({ nano, format }));
  const [shortest = ''] = texts.toSorted((a, b) => a.length - b.length);
  if (shortest.length <= READABLE) return shortest;
  const bytes = Number(nano) / 1e9;
  const step = Math.min(6, Math.floor(Math.log2(Math.abs(bytes)) / 10));
  const rounded = Math.round((bytes / 1024 ** step) * 100) / 100;
  return `about ${rounded}${['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][step]}`;
}
