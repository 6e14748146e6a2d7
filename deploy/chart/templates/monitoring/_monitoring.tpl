{{- /* Labels and annotations of what other programs look for by a label: (list . labels). */ -}}
{{- define "headroom.monitoringMeta" -}}
{{- $root := index . 0 -}}
labels:
  {{- toYaml (merge (dict "app.kubernetes.io/part-of" "headroom") (index . 1) $root.Values.labels) | nindent 2 }}
{{- with $root.Values.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A group of rules, with links to where the documents are: (list . file). */ -}}
{{- define "headroom.ruleGroup" -}}
{{- $root := index . 0 -}}
{{- $root.Files.Get (index . 1) | replace "runbook_url: docs/" (printf "runbook_url: %sdocs/" $root.Values.monitoring.rules.documents) | trim -}}
{{- end }}
