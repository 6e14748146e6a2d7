/** What a pod's claims ask of a node: kube-scheduler's VolumeBinding, VolumeZone, VolumeRestrictions and CSI limits. */
import type { Claim, ClusterState, PersistentVolume, StorageClass } from '../model/cluster-state.ts';
import type { Labels } from '../model/pod.ts';
import type { Misfit } from './misfit.ts';
import { matchesTerms } from './node-selection.ts';

/** A volume that will be attached to the node: of this driver, under this name. */
interface Attachment {
  readonly driver: string;
  readonly unique: string;
}

export interface VolumeNeeds {
  /** Why no node at all will do; null where some might. */
  readonly blocked: { readonly by: Misfit; readonly detail: string } | null;
  /** What every volume asks of the node's labels and name, with the name of the claim. */
  readonly places: readonly { readonly claim: string; readonly allows: (labels: Labels, node: string) => boolean }[];
  readonly attachments: readonly Attachment[];
  /** Its claims that one pod may use at a time (`ReadWriteOncePod`). */
  readonly onePodClaims: readonly ClaimUse[];
}

/** How many pods that are placed use a claim; all classes of pods that name it share this. */
export interface ClaimUse {
  readonly claim: string;
  podCount: number;
}

type Place = VolumeNeeds['places'][number];

const NO_PROVISIONER = 'kubernetes.io/no-provisioner';
const BETA_ZONE = 'failure-domain.beta.kubernetes.io/zone';
const BETA_REGION = 'failure-domain.beta.kubernetes.io/region';
const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const ZONES = [BETA_ZONE, BETA_REGION, ZONE, REGION];
const NOTHING: VolumeNeeds = { blocked: null, places: [], attachments: [], onePodClaims: [] };

export type VolumeState = Pick<ClusterState, 'claims' | 'volumes' | 'storageClasses'>;

/** Reads claims by their names, for one state of the cluster. */
export class VolumeBook {
  readonly #claims: ReadonlyMap<string, Claim>;
  readonly #volumes: ReadonlyMap<string, PersistentVolume>;
  readonly #classes: ReadonlyMap<string, StorageClass>;
  readonly #uses = new Map<string, ClaimUse>();

  constructor({ claims, volumes, storageClasses }: VolumeState) {
    this.#claims = new Map(claims.map((claim) => [`${claim.namespace}/${claim.name}`, claim]));
    this.#volumes = new Map(volumes.map((volume) => [volume.name, volume]));
    this.#classes = new Map(storageClasses.map((storageClass) => [storageClass.name, storageClass]));
  }

  needsOf(namespace: string, names: readonly string[]): VolumeNeeds {
    if (names.length === 0) return NOTHING;
    const each = names.map((name) => this.#needsOf(namespace, name));
    return {
      blocked: each.find(({ blocked }) => blocked !== null)?.blocked ?? null,
      places: each.flatMap(({ places }) => places),
      attachments: each.flatMap(({ attachments }) => attachments),
      onePodClaims: [...new Set(each.flatMap(({ onePodClaims }) => onePodClaims))],
    };
  }

  #needsOf(namespace: string, name: string): VolumeNeeds {
    const claim = this.#claims.get(`${namespace}/${name}`);
    if (claim === undefined) return blockedBy('ClaimMissing', `its PersistentVolumeClaim ${name} does not exist`);
    const volume = claim.volume ?? claim.wantedVolume;
    const needs = volume === undefined ? this.#unbound(claim) : this.#bound(claim, volume);
    // A pod that runs with the claim takes room all the same, so all else is as it would be.
    const blocked = whyNotUsable(claim) ?? needs.blocked;
    const onePodClaims = claim.isOfOnePod === true ? [this.#useOf(claim)] : [];
    return { ...needs, blocked, onePodClaims };
  }

  #useOf({ namespace, name }: Claim): ClaimUse {
    const key = `${namespace}/${name}`;
    const use = this.#uses.get(key) ?? { claim: name, podCount: 0 };
    this.#uses.set(key, use);
    return use;
  }

  #bound(claim: Claim, name: string): VolumeNeeds {
    const volume = this.#volumes.get(name);
    if (volume === undefined) {
      return blockedBy('ClaimNotBound', `the PersistentVolume ${name} of its claim ${claim.name} does not exist`);
    }
    const { nodeAffinity, driver, handle, zones = {} } = volume;
    const places: Place[] = [];
    if (nodeAffinity !== null) {
      places.push({ claim: claim.name, allows: (labels) => matchesTerms(nodeAffinity, labels, null) });
    }
    if (Object.keys(zones).length > 0) places.push({ claim: claim.name, allows: (labels) => inZone(zones, labels) });
    return { ...NOTHING, places, attachments: driver === null ? [] : [attachmentOf(driver, handle)] };
  }

  #unbound({ namespace, name, storageClass, selectedNode }: Claim): VolumeNeeds {
    const found = storageClass === null ? undefined : this.#classes.get(storageClass);
    if (found === undefined) {
      const why = storageClass === null ? 'no StorageClass' : `the StorageClass ${storageClass}, which does not exist`;
      return blockedBy('ClaimNotBound', `its PersistentVolumeClaim ${name} is not bound and has ${why}`);
    }
    if (found.bindsAtOnce) {
      return blockedBy('ClaimNotBound', `its PersistentVolumeClaim ${name} waits for a volume, before any node counts`);
    }
    if (found.provisioner === '' || found.provisioner === NO_PROVISIONER) {
      return blockedBy('ClaimNotBound', `nothing makes a volume for its PersistentVolumeClaim ${name}`);
    }
    const { allowedTopologies } = found;
    const places: Place[] = [];
    if (selectedNode !== undefined) places.push({ claim: name, allows: (_labels, node) => node === selectedNode });
    if (allowedTopologies !== null) {
      places.push({ claim: name, allows: (labels) => matchesTerms(allowedTopologies, labels, null) });
    }
    return {
      ...NOTHING,
      places,
      attachments: [attachmentOf(found.provisioner, `${namespace}/${name}`)],
    };
  }
}

/** Why no pod may use the claim that does not already, whatever its volume asks for. */
function whyNotUsable({ name, isLost, isDeleting, volume, wantedVolume }: Claim): VolumeNeeds['blocked'] {
  const by = 'ClaimNotBound';
  const claim = `its PersistentVolumeClaim ${name}`;
  if (isLost) return { by, detail: `${claim} has lost its volume` };
  if (isDeleting === true) return { by, detail: `${claim} is being deleted` };
  if (volume !== null || wantedVolume === undefined) return null;
  return { by, detail: `${claim} is not bound to the PersistentVolume ${wantedVolume} that it names` };
}

function blockedBy(by: Misfit, detail: string): VolumeNeeds {
  return { ...NOTHING, blocked: { by, detail } };
}

function attachmentOf(driver: string, handle: string): Attachment {
  return { driver, unique: `${driver}/${handle}` };
}

/** Zones by a volume's labels (`a__b` are two). A node without any such label is in a cluster of one zone. */
function inZone(zones: Labels, labels: Labels): boolean {
  if (!ZONES.some((key) => Object.hasOwn(labels, key))) return true;
  return ZONES.every((key) => {
    const allowed = zones[key];
    if (allowed === undefined) return true;
    const value = labels[key] ?? labels[stableKey(key)];
    return value !== undefined && allowed.split('__').includes(value);
  });
}

function stableKey(key: string): string {
  if (key === BETA_ZONE) return ZONE;
  return key === BETA_REGION ? REGION : key;
}
