//! `wavetank fleet manifest`: a fleet in a Kubernetes cluster, as YAML.

use serde_json::{Value, json};
use wavetank_nats::{BrokerFiles, BrokerSetup};
use wavetank_units::{Code, ExitCode, UserError};

use super::broker_folder::{CA, CONFIG, CONTROLLER_SEED, seed_file};
use super::broker_init::expiry;
use super::manifest_files::{CarriedFiles, FOLDER};
use crate::cli::FleetManifestArgs;
use crate::output;

/// Port of the broker.
const PORT: u16 = 4222;
/// User and group of all containers, as in the program's own image.
const USER: u32 = 65_532;
/// Folder with the certificate and the seed of an agent.
const AGENT_FILES: &str = "/etc/wavetank";
const BROKER_FILES: &str = "/etc/nats";
/// Mode of mounted secrets: their owner is root, and the group is that of the containers.
const SECRET_MODE: u32 = 0o440;
/// Exit code of a run that was refused before anything was sent. Such a run is tried again.
const REFUSED: u8 = ExitCode::Refused as u8;
/// How often the controller is started again while agents are not there yet.
const ATTEMPTS: u32 = 8;

/// Prints the objects. They contain new keys.
pub(super) fn manifest(args: &FleetManifestArgs) -> Result<u8, UserError> {
    output::print(&text(args)?)?;
    Ok(ExitCode::Pass as u8)
}

/// Returns all objects, as YAML documents.
fn text(args: &FleetManifestArgs) -> Result<String, UserError> {
    let carried = CarriedFiles::read(args)?;
    let names = Names::new(args);
    let files = names.broker_files()?;
    let mut objects = vec![
        names.secret("controller", controller_files(&files)),
        names.secret("agents", names.agent_files(&files)),
        names.secret("broker", broker_files(&files)),
        names.fleet_file(),
        names.broker(),
        names.service(),
        names.agents(),
        names.controller(&carried),
    ];
    if carried.has_files() {
        objects.push(names.experiment(&carried));
    }
    if !carried.secrets.is_empty() {
        objects.push(names.secret("secrets", carried.secrets.clone()));
    }
    let mut text =
        "# Made by `wavetank fleet manifest`. It contains secret keys: do not store it.\n".to_owned();
    for object in objects {
        let yaml = serde_saphyr::to_string(&object).map_err(|error| not_made(&error))?;
        text.push_str("---\n");
        text.push_str(&yaml);
    }
    Ok(text)
}

fn not_made(error: &dyn std::fmt::Display) -> UserError {
    UserError::refused(
        Code::ManifestNotMade,
        format!("cannot make the manifest: {error}"),
        "use names of letters, digits and `-`",
    )
}

fn controller_files(files: &BrokerFiles) -> Vec<(String, String)> {
    vec![(CA.to_owned(), files.ca.clone()), (CONTROLLER_SEED.to_owned(), files.controller.seed().to_owned())]
}

fn broker_files(files: &BrokerFiles) -> Vec<(String, String)> {
    vec![
        (CONFIG.to_owned(), files.config.clone()),
        ("server.pem".to_owned(), files.certificate.clone()),
        ("server.key".to_owned(), files.certificate_key.clone()),
    ]
}

/// The names in the objects of one fleet.
struct Names<'a> {
    args: &'a FleetManifestArgs,
    agents: Vec<String>,
}

impl<'a> Names<'a> {
    fn new(args: &'a FleetManifestArgs) -> Self {
        Self { args, agents: (0..args.agents).map(|index| format!("agent-{index}")).collect() }
    }

    /// Returns the name of an object of the fleet.
    fn of(&self, part: &str) -> String {
        format!("{}-{part}", self.args.name)
    }

    fn broker_files(&self) -> Result<BrokerFiles, UserError> {
        let (service, namespace) = (self.of("broker"), &self.args.namespace);
        let hosts = [
            format!("{service}.{namespace}.svc.cluster.local"),
            format!("{service}.{namespace}.svc"),
            format!("{service}.{namespace}"),
            service,
        ];
        let setup = BrokerSetup {
            fleet: &self.args.name,
            agents: &self.agents,
            hosts: &hosts,
            listen: "0.0.0.0",
            port: i32::from(PORT),
            dir: BROKER_FILES.as_ref(),
            valid_until: expiry(),
        };
        BrokerFiles::make(&setup).map_err(|error| not_made(&error))
    }

    fn agent_files(&self, files: &BrokerFiles) -> Vec<(String, String)> {
        let seeds = self.agents.iter().zip(&files.agents);
        let seeds = seeds.map(|(name, key)| (seed_file(name), key.seed().to_owned()));
        std::iter::once((CA.to_owned(), files.ca.clone())).chain(seeds).collect()
    }

    fn url(&self) -> String {
        format!("nats://{}:{PORT}", self.of("broker"))
    }

    fn metadata(&self, part: &str) -> Value {
        json!({"name": self.of(part), "namespace": self.args.namespace, "labels": self.labels(part)})
    }

    fn labels(&self, part: &str) -> Value {
        json!({
            "app.kubernetes.io/name": "wavetank",
            "app.kubernetes.io/instance": self.args.name,
            "app.kubernetes.io/component": part,
        })
    }

    fn secret(&self, part: &str, files: Vec<(String, String)>) -> Value {
        let data: serde_json::Map<_, _> =
            files.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": self.metadata(part),
            "type": "Opaque",
            "stringData": data,
        })
    }

    /// The fleet file of the controller.
    fn fleet_file(&self) -> Value {
        let hosts: serde_json::Map<_, _> = self.agents.iter().map(|name| (name.clone(), json!({}))).collect();
        let file = json!({
            "wavetank_fleet": 1,
            "name": self.args.name,
            "link": self.url(),
            "load": hosts,
        });
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": self.metadata("fleet"),
            "data": {"fleet.yaml": format!("{file}\n")},
        })
    }

    fn broker(&self) -> Value {
        let container = json!({
            "name": "nats",
            "image": self.args.broker_image,
            "args": ["-c", format!("{BROKER_FILES}/{CONFIG}")],
            "ports": [{"name": "nats", "containerPort": PORT}],
            "readinessProbe": {"tcpSocket": {"port": "nats"}, "periodSeconds": 2},
            "resources": {
                "requests": {"cpu": "250m", "memory": "128Mi"},
                "limits": {"memory": "1Gi"},
            },
            "securityContext": container_security(),
            "volumeMounts": [{"name": "files", "mountPath": BROKER_FILES, "readOnly": true}],
        });
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": self.metadata("broker"),
            "spec": {
                "replicas": 1,
                "strategy": {"type": "Recreate"},
                "selector": {"matchLabels": self.labels("broker")},
                "template": {
                    "metadata": {"labels": self.labels("broker")},
                    "spec": {
                        "automountServiceAccountToken": false,
                        "securityContext": pod_security(),
                        "containers": [container],
                        "volumes": [secret_volume("files", &self.of("broker"))],
                    },
                },
            },
        })
    }

    fn service(&self) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": self.metadata("broker"),
            "spec": {
                "selector": self.labels("broker"),
                "ports": [{"name": "nats", "port": PORT, "targetPort": "nats"}],
            },
        })
    }

    /// The agents. Each of them sees its own seed alone.
    fn agents(&self) -> Value {
        let mut words: Vec<String> =
            ["agent", "serve", "--dir", "/data/agent", "--name", "agent-$(AGENT_INDEX)", "--link"]
                .map(str::to_owned)
                .to_vec();
        words.extend([self.url(), "--nats-fleet".to_owned(), self.args.name.clone()]);
        words.extend(["--nats-ca".to_owned(), format!("{AGENT_FILES}/{CA}")]);
        words.extend(["--nats-seed".to_owned(), format!("{AGENT_FILES}/agent.seed")]);
        for target in &self.args.allow {
            words.extend(["--allow".to_owned(), unexpanded(&target.to_string())]);
        }
        let index = "metadata.annotations['batch.kubernetes.io/job-completion-index']";
        let container = json!({
            "name": "agent",
            "image": self.args.image,
            "args": words,
            "env": [{"name": "AGENT_INDEX", "valueFrom": {"fieldRef": {"fieldPath": index}}}],
            "resources": {
                "requests": {"cpu": self.args.cpu, "memory": self.args.memory},
                "limits": {"memory": self.args.memory},
            },
            "securityContext": container_security(),
            "volumeMounts": [
                {"name": "data", "mountPath": "/data"},
                {"name": "keys", "mountPath": format!("{AGENT_FILES}/{CA}"), "subPath": CA, "readOnly": true},
                {
                    "name": "keys", "mountPath": format!("{AGENT_FILES}/agent.seed"),
                    "subPathExpr": seed_file("agent-$(AGENT_INDEX)"), "readOnly": true,
                },
            ],
        });
        let volumes = json!([{"name": "data", "emptyDir": {}}, secret_volume("keys", &self.of("agents"))]);
        let spec = json!({
            "completionMode": "Indexed",
            "completions": self.args.agents,
            "parallelism": self.args.agents,
            "backoffLimit": 0,
        });
        self.job("agents", &spec, &container, &volumes)
    }

    /// The files of the experiment.
    fn experiment(&self, carried: &CarriedFiles) -> Value {
        let (data, binary) = carried.data();
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": self.metadata("experiment"),
            "data": data,
            "binaryData": binary,
        })
    }

    /// The environment variables with the secrets of the experiment.
    fn secret_variables(&self, carried: &CarriedFiles) -> Value {
        let variable = |(name, _): &(String, String)| {
            let key = json!({"name": self.of("secrets"), "key": name});
            json!({"name": name, "valueFrom": {"secretKeyRef": key}})
        };
        carried.secrets.iter().map(variable).collect::<Vec<_>>().into()
    }

    /// The controller. A run that was refused is tried again, until the agents are there.
    fn controller(&self, carried: &CarriedFiles) -> Value {
        let mut words = vec!["run".to_owned()];
        words.extend(carried.words.iter().map(|word| unexpanded(word)));
        let own = ["--fleet", "/etc/wavetank/fleet/fleet.yaml", "--broker", "/etc/wavetank/broker"];
        words.extend(own.map(str::to_owned));
        words.extend(["--runs-dir", "/data/runs"].map(str::to_owned));
        let mut container = json!({
            "name": "controller",
            "image": self.args.image,
            "args": words,
            "resources": {
                "requests": {"cpu": "500m", "memory": "256Mi"},
                "limits": {"memory": "1Gi"},
            },
            "securityContext": container_security(),
            "volumeMounts": [
                {"name": "data", "mountPath": "/data"},
                {"name": "keys", "mountPath": "/etc/wavetank/broker", "readOnly": true},
                {"name": "fleet", "mountPath": "/etc/wavetank/fleet", "readOnly": true},
            ],
        });
        let data = match &self.args.claim {
            Some(claim) => json!({"name": "data", "persistentVolumeClaim": {"claimName": claim}}),
            None => json!({"name": "data", "emptyDir": {}}),
        };
        let mut volumes = vec![
            data,
            secret_volume("keys", &self.of("controller")),
            json!({"name": "fleet", "configMap": {"name": self.of("fleet")}}),
        ];
        if carried.has_files() {
            let map = json!({"name": self.of("experiment"), "items": carried.items()});
            volumes.push(json!({"name": "experiment", "configMap": map}));
            let mounts = container["volumeMounts"].as_array_mut().expect("it is a list");
            mounts.push(json!({"name": "experiment", "mountPath": FOLDER, "readOnly": true}));
        }
        if !carried.secrets.is_empty() {
            container["env"] = self.secret_variables(carried);
        }
        let exit = json!({"containerName": "controller", "operator": "NotIn", "values": [REFUSED]});
        let spec = json!({
            "backoffLimit": ATTEMPTS,
            "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": exit}]},
        });
        self.job("controller", &spec, &container, &volumes.into())
    }

    /// Returns a job of one container that is not started again in its pod.
    fn job(&self, part: &str, spec: &Value, container: &Value, volumes: &Value) -> Value {
        let mut spec = spec.clone();
        spec["template"] = json!({
            "metadata": {"labels": self.labels(part)},
            "spec": {
                "automountServiceAccountToken": false,
                "restartPolicy": "Never",
                "securityContext": pod_security(),
                "containers": [container],
                "volumes": volumes,
            },
        });
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": self.metadata(part), "spec": spec})
    }
}

/// The restricted pod security standard, for the pod.
fn pod_security() -> Value {
    json!({
        "runAsNonRoot": true,
        "runAsUser": USER,
        "runAsGroup": USER,
        "fsGroup": USER,
        "seccompProfile": {"type": "RuntimeDefault"},
    })
}

/// The same, for each container.
fn container_security() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": {"drop": ["ALL"]},
    })
}

fn secret_volume(name: &str, secret: &str) -> Value {
    json!({"name": name, "secret": {"secretName": secret, "defaultMode": SECRET_MODE}})
}

/// Returns an argument in which Kubernetes expands no variables.
fn unexpanded(word: &str) -> String {
    word.replace("$(", "$$(")
}
