{{/* Names and labels, the environment, and the parts that pods have in common. */}}

{{- define "runyard.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "runyard.fullname" -}}
{{- $name := include "runyard.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* The labels that never change: selectors of existing objects cannot be changed. */}}
{{- define "runyard.selectorLabels" -}}
app.kubernetes.io/name: {{ include "runyard.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The labels of pods. They have no version: a new version of the chart alone replaces no pod. */}}
{{- define "runyard.podLabels" -}}
{{ include "runyard.selectorLabels" . }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "runyard.labels" -}}
{{ include "runyard.podLabels" . }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "runyard.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end }}

{{- define "runyard.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "runyard.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end }}

{{- define "runyard.secretName" -}}
{{- if .Values.secret.existing -}}
{{ .Values.secret.existing }}
{{- else -}}
{{ include "runyard.fullname" . }}
{{- end -}}
{{- end }}

{{- define "runyard.workspacesClaim" -}}
{{- if .Values.workspaces.existingClaim -}}
{{ .Values.workspaces.existingClaim }}
{{- else if .Values.workspaces.create -}}
{{ include "runyard.fullname" . }}-workspaces
{{- end -}}
{{- end }}

{{/* The name of the metrics port of one process of a pod; the first is 0. Process 2 has the next port, and so on. */}}
{{- define "runyard.metricsPort" -}}
metrics{{ if . }}-{{ . }}{{ end }}
{{- end }}

{{/* A value as the text of a variable. Helm reads every number as a float: without this, 67108864 is 6.7108864e+07. */}}
{{- define "runyard.text" -}}
{{- if kindIs "map" . -}}
{{ toJson . }}
{{- else if and (kindIs "float64" .) (eq (floor .) .) -}}
{{ int64 . }}
{{- else -}}
{{ toString . }}
{{- end -}}
{{- end }}

{{/* The variables that every pod has. They win over the Secret. */}}
{{- define "runyard.env" -}}
- name: RUNYARD_HOST
  value: {{ .Values.listen | quote }}
- name: RUNYARD_PORT
  value: "8000"
- name: RUNYARD_METRICS_HOST
  value: {{ .Values.listen | quote }}
- name: RUNYARD_METRICS_PORT
  value: {{ include "runyard.text" .Values.metrics.port | quote }}
- name: RUNYARD_DRAIN_SECONDS
  value: {{ include "runyard.text" .Values.shutdown.drainSeconds | quote }}
- name: RUNYARD_STOP_SECONDS
  value: {{ include "runyard.text" .Values.shutdown.stopSeconds | quote }}
- name: RUNYARD_WORKSPACES
  value: /workspaces
{{- with .Values.app.path }}
- name: RUNYARD_APP
  value: {{ . | quote }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: RUNYARD_{{ upper $name }}
  value: {{ include "runyard.text" $value | quote }}
{{- end }}
{{- end }}

{{/* The fields of a pod that do not depend on what it runs. Give it the root and the values of the component. */}}
{{- define "runyard.podBasics" -}}
{{- $root := .root -}}
enableServiceLinks: false # a Service named `runyard` would add RUNYARD_PORT and others
automountServiceAccountToken: false
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- toYaml (mustMergeOverwrite (deepCopy $root.Values.podSecurityContext) (.own.podSecurityContext | default dict)) | nindent 2 }}
{{- end }}

{{- define "runyard.containerBasics" -}}
{{- $root := .root -}}
image: {{ include "runyard.image" $root }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
securityContext:
  {{- toYaml (mustMergeOverwrite (deepCopy $root.Values.containerSecurityContext) (.own.containerSecurityContext | default dict)) | nindent 2 }}
resources:
  {{- toYaml .own.resources | nindent 2 }}
env:
  {{- include "runyard.env" $root | nindent 2 }}
  {{- with .own.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
envFrom:
  - secretRef:
      name: {{ .secretName }}
  {{- with .own.extraEnvFrom }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumeMounts: # all that may be written; the rest of the file system is read-only
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
  - {name: var-tmp, mountPath: /var/tmp}
  - {name: workspaces, mountPath: /workspaces}
  {{- if $root.Values.app.configMap }}
  - {name: app, mountPath: {{ $root.Values.app.mountPath }}, readOnly: true}
  {{- end }}
  {{- with .own.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "runyard.volumes" -}}
{{- $root := .root -}}
volumes:
  {{- range list "data" "tmp" "var-tmp" }}
  - name: {{ . }}
    emptyDir: {sizeLimit: {{ $root.Values.scratch.sizeLimit }}}
  {{- end }}
  - name: workspaces
    {{- if and .claim (include "runyard.workspacesClaim" $root) }}
    persistentVolumeClaim:
      claimName: {{ include "runyard.workspacesClaim" $root }}
    {{- else }}
    emptyDir: {sizeLimit: {{ $root.Values.workspaces.sizeLimit }}}
    {{- end }}
  {{- with $root.Values.app.configMap }}
  - name: app
    configMap:
      name: {{ . }}
  {{- end }}
  {{- with .own.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Startup and readiness need the database. Liveness asks for /metrics, which answers without it. */}}
{{- define "runyard.probes" -}}
{{- $probes := .root.Values.probes -}}
startupProbe:
  httpGet: {path: {{ .ready }}, port: {{ .port }}}
  periodSeconds: 2
  timeoutSeconds: {{ $probes.timeoutSeconds }}
  failureThreshold: {{ div (add (int64 $probes.startupSeconds) 1) 2 }}
readinessProbe:
  httpGet: {path: {{ .ready }}, port: {{ .port }}}
  periodSeconds: {{ $probes.periodSeconds }}
  timeoutSeconds: {{ $probes.timeoutSeconds }}
  failureThreshold: {{ $probes.readinessFailures }}
livenessProbe:
  httpGet: {path: /metrics, port: metrics}
  periodSeconds: {{ $probes.periodSeconds }}
  timeoutSeconds: {{ $probes.timeoutSeconds }}
  failureThreshold: {{ $probes.livenessFailures }}
{{- end }}

{{/* Where a pod may run. */}}
{{- define "runyard.placement" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- with .own.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .own.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.topologySpread }}
{{- if .enabled }}
{{- $spread := . }}
topologySpreadConstraints:
  {{- range .topologyKeys }}
  - topologyKey: {{ . }}
    maxSkew: {{ $spread.maxSkew }}
    whenUnsatisfiable: {{ $spread.whenUnsatisfiable }}
    labelSelector:
      matchLabels:
        {{- include "runyard.selectorLabels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ $component }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Seconds from the begin of the end of a pod to SIGKILL. */}}
{{- define "runyard.graceSeconds" -}}
{{- $s := .root.Values.shutdown -}}
{{ ceil (addf .preStop $s.drainSeconds $s.stopSeconds $s.marginSeconds) }}
{{- end }}

{{/* A change of the created Secret replaces the pods. */}}
{{- define "runyard.podAnnotations" -}}
{{- if not .root.Values.secret.existing }}
checksum/secret: {{ toJson .root.Values.secret.data | sha256sum }}
{{- end }}
{{- with .own.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}
