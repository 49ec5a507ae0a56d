//! The manifest of an indexed Job of Kubernetes.
use super::batch::Batch;
use serde_json::{json, Value};

/// What a pod is made of.
#[derive(Clone, Debug)]
pub struct Pod {
    /// An image with `hotset`.
    pub image: String,
    /// Pods at once.
    pub parallelism: usize,
    pub volumes: Vec<Volume>,
    /// The user and the group that write into the campaign's folder.
    pub user: u32,
    pub group: u32,
}

/// A claim, and where pods have it. The campaign's folder and its traces must have the same paths as here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    pub claim: String,
    pub path: String,
}

impl std::str::FromStr for Volume {
    type Err = String;

    fn from_str(text: &str) -> Result<Volume, String> {
        match text.split_once(':') {
            Some((claim, path)) if !claim.is_empty() && path.starts_with('/') => Ok(Volume {
                claim: claim.into(),
                path: path.into(),
            }),
            _ => Err(format!(
                "{text:?}: expected CLAIM:PATH, such as traces:/data"
            )),
        }
    }
}

/// The label of a campaign's Jobs.
pub(super) const LABEL: &str = "hotset.campaign";

/// The Job of a batch. `arguments` are those of `hotset`, all but the number of the line.
pub(super) fn job(
    batch: &Batch,
    pod: &Pod,
    campaign: &str,
    arguments: Vec<String>,
    seconds: u64,
) -> Value {
    let mut words = vec!["hotset".to_string()];
    words.extend(arguments);
    // Kubernetes puts the number of the element in place of the variable.
    words.extend(["--line".into(), "$(ELEMENT)".into()]);
    let memory = format!("{}Mi", batch.mebibytes());
    let places = pod.volumes.iter().enumerate();
    let mounts: Vec<Value> = places
        .clone()
        .map(|(at, volume)| json!({ "name": format!("volume-{at}"), "mountPath": volume.path }))
        .collect();
    let volumes: Vec<Value> = places
        .map(|(at, volume)| {
            json!({
                "name": format!("volume-{at}"),
                "persistentVolumeClaim": { "claimName": volume.claim },
            })
        })
        .collect();
    let index = "metadata.annotations['batch.kubernetes.io/job-completion-index']";
    let elements = batch.elements.len();
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": batch.name, "labels": { LABEL: campaign } },
        "spec": {
            "completionMode": "Indexed",
            "completions": elements,
            "parallelism": pod.parallelism.min(elements),
            // Pods that a drained or lost node took with it begin anew. Others are looked at afterwards: some get
            // a second attempt with more memory and time.
            "backoffLimitPerIndex": 3,
            "maxFailedIndexes": elements,
            "podFailurePolicy": { "rules": [
                { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget" }] },
                { "action": "FailIndex", "onExitCodes": { "operator": "NotIn", "values": [0] } },
            ] },
            "template": {
                "metadata": { "labels": { LABEL: campaign } },
                "spec": {
                    "restartPolicy": "Never",
                    "activeDeadlineSeconds": seconds,
                    "automountServiceAccountToken": false,
                    "securityContext": { "runAsUser": pod.user, "runAsGroup": pod.group },
                    "containers": [{
                        "name": "hotset",
                        "image": pod.image,
                        "command": words,
                        "env": [{
                            "name": "ELEMENT",
                            "valueFrom": { "fieldRef": { "fieldPath": index } },
                        }],
                        "resources": {
                            "requests": { "cpu": "1", "memory": memory },
                            "limits": { "memory": memory },
                        },
                        "securityContext": { "allowPrivilegeEscalation": false },
                        "volumeMounts": mounts,
                    }],
                    "volumes": volumes,
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Limits;

    #[test]
    fn a_volume_has_a_claim_and_an_absolute_path() {
        let volume: Volume = "traces:/data".parse().unwrap();
        assert_eq!((&*volume.claim, &*volume.path), ("traces", "/data"));
        for wrong in ["traces", "traces:data", ":/data"] {
            assert!(wrong.parse::<Volume>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_job_has_an_index_for_each_element_and_the_limits_of_its_tasks() {
        let batch = Batch {
            name: "hotset-0-1-1".into(),
            attempt: 1,
            limits: Limits {
                memory: 128 << 20,
                seconds: 60,
            },
            elements: vec![vec![0, 1], vec![2]],
        };
        let pod = Pod {
            image: "registry.example/hotset".into(),
            parallelism: 16,
            volumes: vec!["traces:/data".parse().unwrap()],
            user: 7,
            group: 8,
        };
        let found = job(&batch, &pod, "hotset-0", vec!["sim".into()], 99);
        let spec = &found["spec"];
        assert_eq!(
            (&spec["completions"], &spec["parallelism"]),
            (&2.into(), &2.into())
        );
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["activeDeadlineSeconds"], 99);
        let container = &pod["containers"][0];
        // More than the task's own limit, which leaves a word.
        assert_eq!(container["resources"]["limits"]["memory"], "192Mi");
        assert_eq!(
            container["command"],
            json!(["hotset", "sim", "--line", "$(ELEMENT)"])
        );
        assert_eq!(
            pod["volumes"][0]["name"],
            container["volumeMounts"][0]["name"]
        );
    }
}
