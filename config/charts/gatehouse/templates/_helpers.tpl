{{- define "gatehouse.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The pods that answer requests, and not those of Jobs. */}}
{{- define "gatehouse.serving" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/component: service
{{- end }}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "gatehouse.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "gatehouse.podSecurity" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "gatehouse.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* The settings of a process that works on the database. Parameters: root, database (the Secret with its URL, and the key). */}}
{{- define "gatehouse.environment" -}}
{{- with .root -}}
- name: BASE_URL
  value: {{ .Values.baseUrl | quote }}
- name: TRUST_PROXY
  value: {{ .Values.trustProxy | quote }}
- name: NOTIFICATIONS
  value: {{ .Values.database.notifications }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- with .database.secretName }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.database.key }}
{{- end }}
{{- end }}

{{/* Only for the pods that serve requests: Jobs do not export. Attribute values are percent-encoded; urlquery encodes a space as a plus sign. */}}
{{- define "gatehouse.telemetry" -}}
{{- with .Values.telemetry }}
{{- if .endpoint -}}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
- name: OTEL_EXPORTER_OTLP_PROTOCOL
  value: {{ .protocol }}
- name: OTEL_TRACES_SAMPLER
  value: {{ .sampler }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ .samplerRatio | quote }}
{{- if .resourceAttributes }}
{{- $pairs := list }}
{{- range $name, $value := .resourceAttributes }}
{{- $pairs = append $pairs (printf "%s=%s" $name (toString $value | urlquery | replace "+" "%20")) }}
{{- end }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ join "," $pairs | quote }}
{{- end }}
{{- if .headersSecretName }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef:
      name: {{ .headersSecretName }}
      key: {{ .headersKey }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
