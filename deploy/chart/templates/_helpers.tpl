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

{{- /*
The pairs of worker and starter, as a list in YAML: which controllers each runs (none named: all), and how its names end.
That of the resizer has the names of the one that runs all.
*/ -}}
{{- define "headroom.pairs" -}}
{{- if eq .Values.processes "together" }}
- { runs: [], suffix: "" }
{{- else }}
- { runs: [quota-resize], suffix: "" }
{{- range $pair, $isOn := dict
  "quota-usage" (ne (dig "quotaUsage" "mode" "off" .Values.config) "off")
  "lights-out" (dig "lightsOut" "enabled" false .Values.config)
  "memcached" (dig "memcached" "enabled" false .Values.config)
  "node-group" (dig "nodeGroups" "enabled" false .Values.config) }}
{{- if $isOn }}
- { runs: [{{ $pair }}], suffix: -{{ $pair }} }
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* How the names of the pair end that runs a controller: (list . "node-group"). */ -}}
{{- define "headroom.suffix" -}}
{{- $controller := index . 1 -}}
{{- if and (eq (index . 0).Values.processes "apart") (ne $controller "quota-resize") }}{{ printf "-%s" $controller }}{{ end -}}
{{- end }}

{{- /* Whether a pair runs a controller: (list $pair "node-group"). */ -}}
{{- define "headroom.runs" -}}
{{- $pair := index . 0 -}}
{{- if or (empty $pair.runs) (has (index . 1) $pair.runs) }}true{{ end -}}
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

{{- /* The namespaces of config.kubernetes.deliveryNamespaces as a list in JSON, "*" among them where all others are read as well. */ -}}
{{- define "headroom.deliveryNamespaces" -}}
{{- $written := dig "kubernetes" "deliveryNamespaces" "*" .Values.config -}}
{{- if kindIs "string" $written }}{{ $written = splitList "," $written }}{{ end -}}
{{- $names := list -}}
{{- range $written }}{{ with trim . }}{{ $names = append $names . }}{{ end }}{{ end -}}
{{- toJson (uniq $names) -}}
{{- end }}

{{- /* The definitions that a setting of config names, as a list in JSON. */ -}}
{{- define "headroom.definitions" -}}
{{- $top := index . 0 -}}
{{- $written := dig (index . 1) (index . 2) list $top.Values.config -}}
{{- if kindIs "string" $written }}{{ $written = splitList "," $written }}{{ end -}}
{{- $names := list -}}
{{- range $written }}{{ with trim . }}{{ $names = append $names . }}{{ end }}{{ end -}}
{{- toJson (uniq $names) -}}
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
{{- $_ := set $own "webhooks" (dict "secretFile" "/etc/headroom/webhooks/secret") -}}
{{- end -}}
{{- if .Values.overview.certificate -}}
{{- $_ := set $own "overview" (dict "certificate" "/tls/overview") -}}
{{- end -}}
{{- $temporal := dict -}}
{{- with .Values.secrets.temporalTls -}}
{{- if .name -}}
{{- $_ := set $temporal "tlsClientCertPath" "/etc/headroom/temporal/tls.crt" -}}
{{- $_ := set $temporal "tlsClientKeyPath" "/etc/headroom/temporal/tls.key" -}}
{{- if .caKey }}{{ $_ := set $temporal "tlsServerCaCertPath" (printf "/etc/headroom/temporal/%s" .caKey) }}{{ end -}}
{{- else if .caKey -}}
{{- fail "secrets.temporalTls.caKey: is a key of the Secret secrets.temporalTls.name, which is not set; an authority alone belongs into authorities" -}}
{{- end -}}
{{- end -}}
{{- if .Values.secrets.temporalApiKey }}{{ $_ := set $temporal "apiKeyFile" "/etc/headroom/temporal-api-key/api-key" }}{{ end -}}
{{- if $temporal }}{{ $_ := set $own "temporal" $temporal }}{{ end -}}
{{- with .Values.authorities -}}
{{- if and .configMap .secret }}{{ fail "authorities: is a ConfigMap or a Secret: keep configMap or secret" }}{{ end -}}
{{- if or .configMap .secret }}{{ $_ := set $own "network" (dict "caFile" (printf "/etc/headroom/authorities/%s" .key)) }}{{ end -}}
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

{{- /* HTTPS_PROXY and NO_PROXY of both. */ -}}
{{- define "headroom.proxyEnv" -}}
{{- with .Values.proxy -}}
{{- if and .https .secret }}{{ fail "proxy: its URL is a value or in a Secret: keep https or secret" }}{{ end -}}
{{- if or .https .secret -}}
- name: HTTPS_PROXY
  {{- if .https }}
  value: {{ quote .https }}
  {{- else }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: https-proxy
  {{- end }}
- name: NO_PROXY
  value: {{ quote .noProxy }}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* Where the proxy is, as a part of egress: none without a proxy. */ -}}
{{- define "headroom.proxyEgress" -}}
{{- $egress := .Values.networkPolicy.egress.proxy -}}
{{- $ports := $egress.ports -}}
{{- with .Values.proxy.https -}}
{{- $port := regexFind ":[0-9]+/?$" . | trimAll ":/" | default (ternary "443" "80" (hasPrefix "https:" .)) -}}
{{- $ports = append $ports (int $port) | uniq -}}
{{- end -}}
{{- if or .Values.proxy.https .Values.proxy.secret -}}
{{- if not $ports }}{{ fail "networkPolicy.egress.proxy.ports: has to be the port of the proxy that is in the Secret of proxy.secret" }}{{ end -}}
{{- include "headroom.egress" (list (dict "to" $egress.to "ports" $ports) "TCP") -}}
{{- end -}}
{{- end }}

{{- /*
Whether a host is reached without a proxy: (list . "api.github.com"). A range of addresses in noProxy matches no name: whoever means
one says it in networkPolicy.egress.
*/ -}}
{{- define "headroom.isDirect" -}}
{{- $root := index . 0 -}}
{{- $host := index . 1 -}}
{{- $isDirect := not (or $root.Values.proxy.https $root.Values.proxy.secret) -}}
{{- range splitList "," $root.Values.proxy.noProxy -}}
{{- $name := regexReplaceAll ":[0-9]+$" (trim .) "" | trimPrefix "*" | trimPrefix "." -}}
{{- if or (eq (trim .) "*") (and $name (or (eq $host $name) (hasSuffix (printf ".%s" $name) $host))) }}{{ $isDirect = true }}{{ end -}}
{{- end -}}
{{- if $isDirect }}direct{{ end -}}
{{- end }}

{{- /* Where the collector of traces is, as a part of egress: none without one, or behind the proxy. */ -}}
{{- define "headroom.collectorEgress" -}}
{{- $root := . -}}
{{- $egress := .Values.networkPolicy.egress.collector -}}
{{- with .Values.tracing.endpoint -}}
{{- $url := urlParse . -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- if or $egress.to (include "headroom.isDirect" (list $root $url.hostname)) -}}
{{- include "headroom.egress" (list (dict "to" $egress.to "ports" (append $egress.ports (int $port) | uniq)) "TCP") -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* What the worker of a pair alone connects to, and not through the proxy: (list . $pair); none where that is all there is. */ -}}
{{- define "headroom.workerEgress" -}}
{{- $root := index . 0 -}}
{{- $pair := index . 1 -}}
{{- $egress := $root.Values.networkPolicy.egress -}}
{{- $forge := dig "github" "apiUrl" "https://api.github.com" $root.Values.config | urlParse -}}
{{- if include "headroom.runs" (list $pair "quota-resize") }}
{{- if or $egress.forge.to (include "headroom.isDirect" (list $root (get $forge "hostname"))) }}
{{ include "headroom.egress" (list $egress.forge "TCP") }}
{{- end }}
{{- end }}
{{- if and (include "headroom.runs" (list $pair "node-group")) (dig "nodeGroups" "enabled" false $root.Values.config) }}
{{- if or $egress.nodeProvider.to (include "headroom.isDirect" (list $root "api.vpsie.com")) }}
{{ include "headroom.egress" (list $egress.nodeProvider "TCP") }}
{{- end }}
{{- end }}
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
