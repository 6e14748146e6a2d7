{{- /*
Labels and annotations of an object: (list . "worker"), of one that belongs to a process; (list . "" $annotations), with some of its own.
*/ -}}
{{- define "headroom.meta" -}}
{{- $root := index . 0 -}}
{{- $labels := dict "app.kubernetes.io/part-of" "headroom" -}}
{{- if and (gt (len .) 1) (index . 1) }}{{ $_ := set $labels "app.kubernetes.io/name" (printf "headroom-%s" (index . 1)) }}{{ end -}}
{{- $annotations := dict -}}
{{- if gt (len .) 2 }}{{ $annotations = index . 2 }}{{ end -}}
labels:
  {{- toYaml (merge $labels $root.Values.labels) | nindent 2 }}
{{- with merge (dict) $annotations $root.Values.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* The admission webhooks of the controllers that are switched on, as a list in YAML. */ -}}
{{- define "headroom.webhooks" -}}
{{- $on := list -}}
{{- if ne .Values.webhooks.certificates "none" -}}
{{- range .Files.Get "files/webhooks.yaml" | fromYamlArray -}}
{{- if dig .controller "enabled" false $.Values.config }}{{ $on = append $on . }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toYaml $on -}}
{{- end }}

{{- /* headroom.yaml: what the values say, and what follows from the rest of them. */ -}}
{{- define "headroom.config" -}}
{{- $own := dict "kubernetes" (dict "systemNamespace" .Release.Namespace) -}}
{{- if dig "github" "owner" "" .Values.config -}}
{{- if eq .Values.secrets.github.kind "app" -}}
{{- $_ := set $own "github" (dict "appIdFile" "/etc/headroom/github/app-id" "installationIdFile" "/etc/headroom/github/installation-id" "privateKeyFile" "/etc/headroom/github/private-key.pem") -}}
{{- else -}}
{{- $_ := set $own "github" (dict "tokenFile" "/etc/headroom/github/token") -}}
{{- end -}}
{{- end -}}
{{- if dig "webhooks" "enabled" false .Values.config -}}
{{- $_ := set $own "webhooks" (dict "address" "0.0.0.0:8082" "secretFile" "/etc/headroom/webhooks/secret") -}}
{{- end -}}
{{- with .Values.secrets.temporalTls -}}
{{- if .name -}}
{{- $tls := dict "tlsClientCertPath" "/etc/headroom/temporal/tls.crt" "tlsClientKeyPath" "/etc/headroom/temporal/tls.key" -}}
{{- if .caKey }}{{ $_ := set $tls "tlsServerCaCertPath" (printf "/etc/headroom/temporal/%s" .caKey) }}{{ end -}}
{{- $_ := set $own "temporal" $tls -}}
{{- end -}}
{{- end -}}
{{- range include "headroom.webhooks" . | fromYamlArray -}}
{{- $served := dict "webhookAddress" (printf "0.0.0.0:%v" .port) -}}
{{- if eq $.Values.webhooks.certificates "cert-manager" -}}
{{- $_ := set $served "webhookCertificate" (printf "/tls/%s" .name) -}}
{{- end -}}
{{- $_ := set $own .controller $served -}}
{{- end -}}
{{- toYaml (mergeOverwrite (deepCopy .Values.config) $own) -}}
{{- end }}

{{- define "headroom.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- /* A rule of egress: (list "to and ports" protocols). */ -}}
{{- define "headroom.egress" -}}
{{- $rule := index . 0 -}}
- {{ with $rule.to }}to:
    {{- toYaml . | nindent 4 }}
  {{ end }}ports:
    {{- range $port := $rule.ports }}
    {{- range rest $ }}
    - port: {{ $port }}
      protocol: {{ . }}
    {{- end }}
    {{- end }}
{{- end }}
