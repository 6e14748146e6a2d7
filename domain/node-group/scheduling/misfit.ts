/** Why a pod does not fit a node, by the rule of kube-scheduler that says so. */
export type Misfit =
  | 'Cordoned'
  | 'Taint'
  | 'NodeSelector'
  | 'PodCount'
  | 'Resources'
  | 'HostPorts'
  | 'ClaimMissing'
  | 'ClaimNotBound'
  | 'ClaimInUse'
  | 'VolumeElsewhere'
  | 'AttachLimit'
  | 'DeviceClaims'
  | 'Spread'
  | 'PodAffinity'
  | 'PodAntiAffinity'
  | 'ExistingAntiAffinity'
  /** The labels of a namespace decide it, and are not known: it counts as fitting nowhere, so no node comes for it and none goes. */
  | 'NamespaceUnknown'
  /** Its namespace, or one with pods that run there, is beyond its budget of terms: nobody asks whom they mean, so it counts as a misfit. */
  | 'TooManyTerms';

/** Whether a pod fits a node; where it does not, which rule says so and a few words with the name of what is in the way. */
export type FitResult =
  | { readonly kind: 'fits' }
  | { readonly kind: 'misfit'; readonly by: Misfit; readonly detail: string };

/** Rules that pods which are placed later can satisfy: what fails by another one does not fit later either. */
export function canChange(misfit: Misfit): boolean {
  return misfit === 'Spread' || misfit === 'PodAffinity';
}
