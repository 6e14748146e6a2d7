/**
 * Advice on keeping a field out of Git, so that a GitOps engine does not scale up at night what a schedule put to
 * sleep.
 */

/**
 * Advice about a manager that scales workloads up again: one sentence without its full stop. Argo CD and Flux are
 * recognized by their controllers' names in managed fields; for any other manager the advice is general.
 */
export function excludeAdvice(manager: string): string {
  if (/argo/i.test(manager)) {
    return 'In Argo CD, ignore the field: ignoreDifferences with jsonPointers /spec/replicas (of a CronJob /spec/suspend), and the sync option RespectIgnoreDifferences=true';
  }
  if (/helm-controller/i.test(manager)) {
    return 'In Flux, leave replicas (suspend) out of the chart values, or name /spec/replicas (/spec/suspend) in spec.driftDetection.ignore of the HelmRelease';
  }
  if (/kustomize-controller|flux|gotk/i.test(manager)) {
    return 'In Flux, leave replicas (of a CronJob suspend) out of the manifest in Git: kustomize-controller sets only what is in it';
  }
  return 'Keep this manager from setting the field, or leave the workload out with excludeLabels';
}
