{{- define "hotset.name" -}}
{{- if contains "hotset" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-hotset{{ end }}
{{- end }}

{{- define "hotset.selector" -}}
app.kubernetes.io/name: hotset
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "hotset.labels" -}}
{{ include "hotset.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "hotset.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "hotset.loopback" -}}
{{- if or (hasPrefix "127." .Values.metrics.address) (eq "::1" .Values.metrics.address) }}yes{{ end }}
{{- end }}

{{- /* Mistakes that would show later, on the nodes. */}}
{{- define "hotset.check" -}}
{{- $config := .Values.config | default "" }}
{{- if regexMatch "(?m)^\\s*\\[\\s*protect\\s*\\.\\s*cgroups" $config }}
{{- fail "config: [protect.cgroups] needs the node's systemd, which a pod cannot ask; install hotsetd on the node for it" }}
{{- end }}
{{- if regexMatch "(?m)^\\s*lock_mb\\s*=\\s*[1-9]" $config }}
{{- fail "config: lock_mb opens files of the node, which a pod does not see; install hotsetd on the node for it" }}
{{- end }}
{{- with .Values.metrics }}
{{- if and (or .annotations .podMonitor.enabled) (include "hotset.loopback" $) (not $.Values.sidecars) }}
{{- fail (printf "metrics: Prometheus cannot reach %s; set metrics.address to 0.0.0.0, or add a container to sidecars that hands the metrics on" .address) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Of each container with hotsetd. */}}
{{- define "hotset.container" -}}
image: {{ include "hotset.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  runAsUser: 0
  runAsGroup: 0
  privileged: false
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
    # As in the unit of systemd. IPC_LOCK is for mlockall, SYS_NICE for SCHED_FIFO, KILL for [protect.kill].
    # SYS_RESOURCE is for pressure triggers and oom_score_adj. SETUID and SETGID are for the process without
    # rights that serves status and metrics.
    add: [IPC_LOCK, KILL, SETGID, SETUID, SYS_NICE, SYS_RESOURCE]
  # On nodes with SELinux other types may not write the kernel's settings. Other nodes ignore it.
  seLinuxOptions:
    type: spc_t
  {{- if semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version }}
  # The runtime's profile lets no container signal a process of the node.
  appArmorProfile:
    type: Unconfined
  {{- end }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - name: config
    mountPath: /etc/hotset
    readOnly: true
  # For more than reading: a write to /proc/pressure/memory has the kernel wake hotsetd.
  - name: proc
    mountPath: /host/proc
  - name: sysctls
    mountPath: /host/proc/sys
    readOnly: true
    {{- include "hotset.recursive" . | nindent 4 }}
  - name: sys
    mountPath: /host/sys
    readOnly: true
    {{- include "hotset.recursive" . | nindent 4 }}
  {{- range $number, $path := .Values.writable }}
  - name: writable-{{ $number }}
    mountPath: /host{{ $path }}
  {{- end }}
  - name: run
    mountPath: /host/run/hotset
  # Where `hotset status` looks for the socket.
  - name: run
    mountPath: /run/hotset
  - name: learned
    mountPath: /host/var/lib/hotset
{{- end }}

{{- /* What is mounted below /sys, such as debugfs, is read-only as well, where the node can do that. */}}
{{- define "hotset.recursive" -}}
{{- if semverCompare ">=1.31-0" .Capabilities.KubeVersion.Version -}}
recursiveReadOnly: IfPossible
{{- end }}
{{- end }}
