{{- define "herald.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "herald.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "herald.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "herald.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "herald.selectorLabels" -}}
app.kubernetes.io/name: {{ include "herald.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "herald.labels" -}}
{{ include "herald.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "herald.image" -}}
{{- $repository := required "image.repository is required: where your copy of Herald's image is" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "herald.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "herald.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The name of the port that serves everything. */}}
{{- define "herald.adminPort" -}}
{{- ternary "internal" "public" .Values.internal.enabled -}}
{{- end -}}

{{- define "herald.adminService" -}}
{{- include "herald.fullname" . }}{{ if .Values.internal.enabled }}-internal{{ end -}}
{{- end -}}

{{- define "herald.adminUrl" -}}
{{- printf "http://%s:%d" (include "herald.adminService" .) (int (ternary .Values.internal.service.port .Values.service.port .Values.internal.enabled)) -}}
{{- end -}}

{{/* The secret settings, as YAML: name of the setting to name and key in a Secret. Fails if the mode needs another. */}}
{{- define "herald.secretSettings" -}}
{{- $secrets := deepCopy .Values.secrets -}}
{{- $expected := list "HERALD_ADMIN_API_KEY" "HERALD_TOKEN_SECRET" -}}
{{- if eq .Values.mode "cluster" -}}
{{- $expected = concat $expected (list "HERALD_DATABASE_URL" "HERALD_BUS_URL") -}}
{{- end -}}
{{- range $name := $expected -}}
{{- if not (hasKey $secrets $name) -}}
{{- if $.Values.existingSecret -}}
{{- $_ := set $secrets $name (dict "name" $.Values.existingSecret "key" $name) -}}
{{- else if eq $.Values.mode "cluster" -}}
{{- fail (printf "a cluster needs %s: set existingSecret to a Secret with that key, or secrets.%s" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (eq .Values.mode "single") (or (hasKey $secrets "HERALD_DATABASE_URL") (hasKey $secrets "HERALD_BUS_URL")) -}}
{{- fail "a single node uses its own database and no bus: set mode to cluster, or remove HERALD_DATABASE_URL and HERALD_BUS_URL from secrets" -}}
{{- end -}}
{{- toYaml $secrets -}}
{{- end -}}

{{/* The pod, which both modes share. */}}
{{- define "herald.podTemplate" -}}
{{- if and .Values.files.existingClaim .Values.settings.HERALD_FILES_URL -}}
{{- fail "files.existingClaim and settings.HERALD_FILES_URL exclude each other: set one" -}}
{{- end -}}
{{- if lt (int .Values.terminationGracePeriodSeconds) (add (int .Values.preStopSeconds) 15) -}}
{{- fail (printf "terminationGracePeriodSeconds must be at least %d: preStopSeconds, and 15 for Herald to stop" (add (int .Values.preStopSeconds) 15)) -}}
{{- end -}}
metadata:
  labels:
    {{- include "herald.selectorLabels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "herald.serviceAccountName" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  securityContext:
    {{- include "herald.podSecurity" . | nindent 4 }}
  containers:
    - name: herald
      image: {{ include "herald.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve]
      securityContext:
        {{- include "herald.containerSecurity" . | nindent 8 }}
      env:
        - { name: HERALD_HOST, value: "0.0.0.0" }
        - { name: HERALD_PORT, value: "7070" }
        {{- if .Values.internal.enabled }}
        - { name: HERALD_ADMIN_HOST, value: "0.0.0.0" }
        - { name: HERALD_ADMIN_PORT, value: "7071" }
        {{- end }}
        - { name: HERALD_DATA_DIR, value: /data }
        - name: HERALD_NODE_NAME
          valueFrom: { fieldRef: { fieldPath: metadata.name } }
        {{- if .Values.files.existingClaim }}
        - { name: HERALD_FILES_URL, value: "file:///files" }
        {{- else if and (eq .Values.mode "cluster") (not .Values.settings.HERALD_FILES_URL) }}
        - { name: HERALD_LIMIT_FILE_BYTES, value: "1" } # there is no place for files
        {{- end }}
        {{- range $name, $value := .Values.settings }}
        - name: {{ $name }}
          value: {{ (kindIs "float64" $value) | ternary (int64 $value) $value | toString | quote }}
        {{- end }}
        {{- range $name, $from := include "herald.secretSettings" . | fromYaml }}
        - name: {{ $name }}
          valueFrom: { secretKeyRef: { name: {{ $from.name }}, key: {{ $from.key }} } }
        {{- end }}
        {{- with .Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - { name: public, containerPort: 7070 }
        {{- if .Values.internal.enabled }}
        - { name: internal, containerPort: 7071 }
        {{- end }}
      startupProbe:
        httpGet: { path: /healthz, port: public }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: {{ max 1 (div (int .Values.startupSeconds) 2) }}
      livenessProbe:
        httpGet: { path: /healthz, port: public }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        # It may take 2 seconds for the database.
        httpGet: { path: /readyz, port: {{ include "herald.adminPort" . }} }
        periodSeconds: 5
        timeoutSeconds: 4
        failureThreshold: 2
      lifecycle:
        preStop: { sleep: { seconds: {{ .Values.preStopSeconds }} } }
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        {{- if .Values.files.existingClaim }}
        - { name: files, mountPath: /files }
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- if eq .Values.mode "cluster" }}
    - name: data # nothing that matters: a cluster's data is in PostgreSQL, and its files elsewhere
      emptyDir: { sizeLimit: 16Mi }
    {{- else if .Values.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim: { claimName: {{ .Values.persistence.existingClaim }} }
    {{- end }}
    {{- if .Values.files.existingClaim }}
    - name: files
      persistentVolumeClaim: { claimName: {{ .Values.files.existingClaim }} }
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
  {{- else if eq .Values.mode "cluster" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "herald.selectorLabels" . | nindent 10 }}
      matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end -}}

{{- define "herald.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "herald.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}
