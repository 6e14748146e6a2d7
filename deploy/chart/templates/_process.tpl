{{- /*
The Deployment of a process of a pair: (dict "root" . "process" "worker" "pair" … "ports" … "mounts" … "volumes" …), the last three in YAML.
*/ -}}
{{- define "headroom.process" -}}
{{- $ := .root -}}
{{- $process := printf "%s%s" .process .pair.suffix -}}
{{- $name := printf "headroom-%s" $process -}}
{{- $own := index $.Values .process -}}
{{- /* Where Node keeps what it has compiled. Whoever has a place of his own for that, or wants none, says so in extraEnv. */ -}}
{{- $compiled := "/var/cache/headroom" -}}
{{- $keeps := true -}}
{{- range $own.extraEnv }}{{ if has .name (list "NODE_COMPILE_CACHE" "NODE_DISABLE_COMPILE_CACHE") }}{{ $keeps = false }}{{ end }}{{ end -}}
{{- $annotations := default (dict) $.Values.pods.annotations -}}
{{- $safe := "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ $.Release.Namespace }}
  {{- include "headroom.meta" (list $ $process) | nindent 2 }}
spec:
  replicas: {{ $own.replicas }}
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ $name }}
  strategy:
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ $name }}
        app.kubernetes.io/part-of: headroom
        {{- with merge (dict) $.Values.pods.labels $.Values.labels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        # Both read it at their start only.
        checksum/config: {{ include "headroom.config" $ | sha256sum }}
        {{- if $keeps }}
        # Nothing is lost with this volume, so no autoscaler has to keep the node for it.
        {{ $safe }}: {{ list "headroom-compiled" (get $annotations $safe) | compact | join "," | quote }}
        {{- $annotations = omit $annotations $safe }}
        {{- end }}
        {{- with $annotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ $name }}
      # The process ends its work within 20 s; the rest is room for a slow node.
      terminationGracePeriodSeconds: 30
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        fsGroup: 1000
        seccompProfile:
          type: RuntimeDefault
      {{- with $.Values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      {{- with $.Values.pods }}
      {{- with .priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with .nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .topologySpread }}
      topologySpreadConstraints:
        {{- range . }}
        - labelSelector:
            matchLabels:
              app.kubernetes.io/name: {{ $name }}
          {{- toYaml . | nindent 10 }}
        {{- end }}
      {{- end }}
      {{- end }}
      {{- if $keeps }}
      initContainers:
        # Has Node compile the program for this processor and keep that in a volume, with which the process takes some 20 MiB less at rest.
        # Where it cannot be written, or does not fit, the process starts without it.
        - name: compile
          image: {{ include "headroom.image" $ }}
          {{- with $.Values.image.pullPolicy }}
          imagePullPolicy: {{ . }}
          {{- end }}
          # Loads the program, prints its settings and needs no configuration.
          args: [{{ .process }}.js, --help]
          env:
            - name: NODE_COMPILE_CACHE
              value: {{ $compiled }}
            {{- include "headroom.proxyEnv" $ | nindent 12 }}
            {{- with $own.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          resources:
            {{- toYaml $own.resources | nindent 12 }}
          securityContext:
            {{- include "headroom.containerSecurity" . | nindent 12 }}
          volumeMounts:
            - name: headroom-compiled
              mountPath: {{ $compiled }}
            {{- with $.Values.pods.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      {{- end }}
      containers:
        - name: {{ .process }}
          image: {{ include "headroom.image" $ }}
          {{- with $.Values.image.pullPolicy }}
          imagePullPolicy: {{ . }}
          {{- end }}
          args: [{{ prepend .pair.runs (printf "%s.js" .process) | join ", " }}]
          env:
            {{- if $keeps }}
            - name: NODE_COMPILE_CACHE
              value: {{ $compiled }}
            {{- end }}
            - name: HEADROOM_CONFIG
              value: /etc/headroom/headroom.yaml
            {{- include "headroom.proxyEnv" $ | nindent 12 }}
            {{- with $.Values.tracing.endpoint }}
            - name: OTEL_EXPORTER_OTLP_ENDPOINT
              value: {{ quote . }}
            {{- end }}
            {{- with $own.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            - name: health
              containerPort: 8081
            - name: metrics
              containerPort: 9090
            {{- with .ports }}
            {{- . | nindent 12 }}
            {{- end }}
          # Only a process that no longer answers is restarted. While Temporal or Kubernetes is away it waits, and is not
          # ready: /readyz says for what.
          livenessProbe:
            httpGet:
              path: /healthz
              port: health
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet:
              path: /readyz
              port: health
            periodSeconds: 5
            timeoutSeconds: 5
          resources:
            {{- toYaml $own.resources | nindent 12 }}
          securityContext:
            {{- include "headroom.containerSecurity" . | nindent 12 }}
          volumeMounts:
            {{- if $keeps }}
            # Read-only, so that whoever takes the process over leaves no code for its next start.
            - name: headroom-compiled
              mountPath: {{ $compiled }}
              readOnly: true
            {{- end }}
            - name: configuration
              mountPath: /etc/headroom/headroom.yaml
              subPath: headroom.yaml
              readOnly: true
            # Not subPaths: kubelet brings a changed Secret into a folder only.
            {{- if $.Values.secrets.temporalTls.name }}
            - name: temporal
              mountPath: /etc/headroom/temporal
              readOnly: true
            {{- end }}
            {{- if $.Values.secrets.temporalApiKey }}
            - name: temporal-api-key
              mountPath: /etc/headroom/temporal-api-key
              readOnly: true
            {{- end }}
            {{- if or $.Values.authorities.configMap $.Values.authorities.secret }}
            - name: authorities
              mountPath: /etc/headroom/authorities
              readOnly: true
            {{- end }}
            {{- with .mounts }}
            {{- . | nindent 12 }}
            {{- end }}
            {{- with $.Values.pods.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        {{- if $keeps }}
        - name: headroom-compiled
          emptyDir:
            # It holds 5 MiB.
            sizeLimit: 64Mi
        {{- end }}
        - name: configuration
          configMap:
            name: headroom
        {{- with $.Values.secrets.temporalTls.name }}
        - name: temporal
          secret:
            secretName: {{ . }}
        {{- end }}
        {{- with $.Values.secrets.temporalApiKey }}
        - name: temporal-api-key
          secret:
            secretName: {{ . }}
        {{- end }}
        {{- with $.Values.authorities.configMap }}
        - name: authorities
          configMap:
            name: {{ . }}
        {{- end }}
        {{- with $.Values.authorities.secret }}
        - name: authorities
          secret:
            secretName: {{ . }}
        {{- end }}
        {{- with .volumes }}
        {{- . | nindent 8 }}
        {{- end }}
        {{- with $.Values.pods.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{- if $.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  namespace: {{ $.Release.Namespace }}
  {{- include "headroom.meta" (list $ $process) | nindent 2 }}
spec:
  maxUnavailable: {{ $.Values.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ $name }}
{{- end }}
{{- end }}
{{- define "headroom.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
