//! `fleet manifest`: objects that Kubernetes knows, key by key.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, PodSpec, Secret, Service};
use k8s_openapi::serde::Serialize;
use k8s_openapi::serde::de::DeserializeOwned;
use serde_json::Value;
use wavetank_testkit::{Outcome, Program, TestDir};

fn manifest(words: &str) -> Outcome {
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).args(["fleet", "manifest", "--kubernetes"]);
    program.args(words.split_whitespace()).run()
}

/// Reads an object as the published type, and checks that the type has each of its keys.
#[track_caller]
fn known<T: DeserializeOwned + Serialize>(object: &Value) -> T {
    let read: T = serde_json::from_value(object.clone()).expect("the type has these keys and values");
    assert_eq!(&serde_json::to_value(&read).expect("it encodes"), object, "a key is unknown");
    read
}

/// The restricted pod security standard, and requests of each container.
fn check_pod(pod: &PodSpec) {
    let security = pod.security_context.as_ref().expect("a pod has one");
    assert_eq!((security.run_as_non_root, pod.automount_service_account_token), (Some(true), Some(false)));
    assert_eq!(security.seccomp_profile.as_ref().expect("a profile").type_, "RuntimeDefault");
    for container in &pod.containers {
        let security = container.security_context.as_ref().expect("a container has one");
        assert_eq!(security.allow_privilege_escalation, Some(false));
        assert_eq!(security.capabilities.as_ref().expect("some").drop, Some(vec!["ALL".to_owned()]));
        let requests = container.resources.as_ref().and_then(|resources| resources.requests.as_ref());
        assert!(["cpu", "memory"].iter().all(|name| requests.is_some_and(|all| all.contains_key(*name))));
        let words = container.args.iter().flatten();
        assert!(words.clone().all(|word| !word.starts_with("SU")), "a seed is on a command line");
    }
}

#[test]
fn a_manifest_has_objects_that_kubernetes_knows() {
    let words = "--agents 3 --name dc1 --namespace shop --allow 10.0.0.0/8 --image wt:1 --claim runs -- \
                 http://shop.test/?a=$(X) -r 1k/s -d 60s";
    let outcome = manifest(words);
    let text = &outcome.expect_exit(0).stdout;
    let objects: Vec<Value> = text
        .split("\n---\n")
        .skip(1)
        .map(|document| serde_saphyr::from_str(document).expect("a document of YAML"))
        .collect();
    let (mut names, mut pods, mut seeds) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
    for object in &objects {
        assert_eq!(object["metadata"]["namespace"], "shop");
        names.insert(format!("{} {}", object["kind"], object["metadata"]["name"]).replace('"', ""));
        match object["kind"].as_str().expect("a kind") {
            "Secret" => {
                let files = known::<Secret>(object).string_data.expect("files");
                let own = files.iter().filter(|(_, text)| text.starts_with("SU"));
                seeds.extend(own.map(|(_, seed)| seed.clone()));
            }
            "ConfigMap" => drop(known::<ConfigMap>(object)),
            "Service" => drop(known::<Service>(object)),
            "Deployment" => {
                let spec = known::<Deployment>(object).spec.expect("a specification");
                pods.push(spec.template.spec.expect("a pod"));
            }
            "Job" => {
                let spec = known::<Job>(object).spec.expect("a specification");
                let pod = spec.template.spec.expect("a pod");
                if pod.containers[0].name == "agent" {
                    assert_eq!(
                        (spec.completion_mode.as_deref(), spec.backoff_limit),
                        (Some("Indexed"), Some(0))
                    );
                    assert_eq!((spec.completions, spec.parallelism), (Some(3), Some(3)));
                } else {
                    let words = pod.containers[0].args.clone().expect("arguments");
                    assert_eq!(words[..2], ["run", "http://shop.test/?a=$$(X)"]);
                }
                pods.push(pod);
            }
            kind => panic!("{kind}"),
        }
    }
    let expected = [
        "ConfigMap dc1-fleet",
        "Deployment dc1-broker",
        "Job dc1-agents",
        "Job dc1-controller",
        "Secret dc1-agents",
        "Secret dc1-broker",
        "Secret dc1-controller",
        "Service dc1-broker",
    ];
    assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    // Three agents and the controller, each with a seed that is in one secret alone.
    assert_eq!(seeds.len(), 4);
    assert!(seeds.iter().all(|seed| seed.starts_with("SU") && text.matches(seed.as_str()).count() == 1));
    assert_eq!(pods.len(), 3);
    pods.iter().for_each(check_pod);
    // The controller's fleet file is one, and names the agents by their index.
    let place = TestDir::new();
    let file = objects.iter().find(|object| object["kind"] == "ConfigMap").expect("a fleet file");
    place.write("fleet.yaml", file["data"]["fleet.yaml"].as_str().expect("a text"));
    let hosts = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(place.path());
    let hosts = hosts.args(["fleet", "hosts", "--fleet", "fleet.yaml"]).run();
    assert!(hosts.expect_exit(0).stdout.contains("agent-2"), "{hosts}");
}

#[test]
fn names_that_kubernetes_refuses_are_refused() {
    let check = |words: &str, part: &str| {
        let outcome = manifest(&format!("{words} -- http://shop.test/"));
        assert!(outcome.expect_exit(2).stderr.contains(part), "{outcome}");
    };
    check("--name Shop", "--name `Shop` is not a name");
    check("--namespace a.b", "--namespace `a.b` is not a name");
    check("--memory 1GB", "--memory `1GB` is not a quantity");
    check("--agents 2000", "--agents 2000 is not between");
    let outcome = manifest("");
    assert!(outcome.expect_exit(2).stderr.contains("no arguments of `wavetank run`"), "{outcome}");
    let outcome = Program::new(env!("CARGO_BIN_EXE_wavetank")).args(["fleet", "manifest", "--", "x"]).run();
    assert!(outcome.expect_exit(2).stderr.contains("no form of the manifest"), "{outcome}");
}

const EXPERIMENT: &str = "\
wavetank: 1
name: shop
target: http://shop.test
data: {accounts: {file: data/accounts.csv}}
steps:
  - post: \"/login/${accounts.name}\"
    headers: {x-token: \"${secret:TOKEN}\"}
    file: body.bin
phases:
  - {rate: 100/s, for: 10s}
";

/// The objects of a manifest in a folder.
fn objects(place: &TestDir, words: &[&str]) -> Vec<Value> {
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(place.path());
    let outcome = program.args(["fleet", "manifest", "--kubernetes", "--"]).args(words).run();
    let text = &outcome.expect_exit(0).stdout;
    text.split("\n---\n")
        .skip(1)
        .map(|one| serde_saphyr::from_str(one).expect("a document of YAML"))
        .collect()
}

fn named<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let found = objects.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("no {kind} {name}"))
}

#[test]
fn an_experiment_is_carried_with_its_files_and_secrets() {
    let place = TestDir::new();
    place.write("shop.yaml", EXPERIMENT);
    std::fs::create_dir(place.path().join("data")).expect("a folder");
    place.write("data/accounts.csv", "name\nann\nbob\n");
    std::fs::write(place.path().join("body.bin"), [0xff, 0, 0x9f]).expect("a file");
    place.write("token", "planted-secret");
    let objects = objects(&place, &["shop.yaml", "--secret", "TOKEN=@token", "--seed", "7"]);

    let map = known::<ConfigMap>(named(&objects, "ConfigMap", "wavetank-experiment"));
    let (texts, binary) = (map.data.expect("texts"), map.binary_data.expect("others"));
    let job = known::<Job>(named(&objects, "Job", "wavetank-controller"));
    let pod = job.spec.and_then(|spec| spec.template.spec).expect("a pod");
    let volume = pod.volumes.iter().flatten().find(|volume| volume.name == "experiment").expect("a volume");
    let items = volume.config_map.as_ref().and_then(|map| map.items.clone()).expect("files");
    let content = |path: &str| {
        let key = &items.iter().find(|item| item.path == path).unwrap_or_else(|| panic!("no {path}")).key;
        texts.get(key).map(|text| text.as_bytes().to_vec()).or_else(|| Some(binary.get(key)?.0.clone()))
    };
    assert_eq!(items.len(), 3, "{items:?}");
    assert_eq!(content("shop.yaml"), Some(EXPERIMENT.as_bytes().to_vec()));
    assert_eq!(content("data/accounts.csv"), Some(b"name\nann\nbob\n".to_vec()));
    assert_eq!(content("body.bin"), Some(vec![0xff, 0, 0x9f]));

    let container = &pod.containers[0];
    let words = container.args.clone().expect("arguments").join(" ");
    assert!(words.starts_with("run /etc/wavetank/experiment/shop.yaml --seed 7 --fleet "), "{words}");
    assert!(
        container.volume_mounts.iter().flatten().any(|mount| mount.mount_path == "/etc/wavetank/experiment")
    );
    let secret = known::<Secret>(named(&objects, "Secret", "wavetank-secrets"));
    let name = "WAVETANK_SECRET_TOKEN";
    assert_eq!(secret.string_data.expect("values")[name], "planted-secret");
    let variable = &container.env.as_ref().expect("variables")[0];
    let from = variable.value_from.as_ref().and_then(|from| from.secret_key_ref.as_ref()).expect("a secret");
    assert_eq!(
        (variable.name.as_str(), from.name.as_str(), from.key.as_str()),
        (name, "wavetank-secrets", name)
    );
    check_pod(&pod);
    // The files run as they are carried.
    let carried = TestDir::new();
    std::fs::create_dir(carried.path().join("data")).expect("a folder");
    for item in &items {
        std::fs::write(carried.path().join(&item.path), content(&item.path).expect("a file"))
            .expect("a copy");
    }
    let check = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(carried.path());
    check.environment(name, "planted-secret").args(["check", "shop.yaml"]).run().expect_exit(0);
}

#[test]
fn what_a_manifest_cannot_carry_is_refused() {
    let place = TestDir::new();
    let check = |words: &[&str], part: &str| {
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(place.path());
        let outcome = program.args(["fleet", "manifest", "--kubernetes", "--"]).args(words).run();
        assert!(outcome.expect_exit(2).stderr.contains(part), "{outcome}");
    };
    let file = |name: &str, text: &str| place.write(name, text);
    check(&["nowhere.yaml"], "nowhere.yaml");
    check(&["http://shop.test/", "--rate", "fast"], "`fast`");
    check(&["http://shop.test/", "--fleet", "x.yaml"], "--fleet is chosen by the manifest");
    let plain = EXPERIMENT.replace("    headers: {x-token: \"${secret:TOKEN}\"}\n", "");
    let plain = plain.replace("    file: body.bin\n", "    body: x\n");
    std::fs::create_dir(place.path().join("data")).expect("a folder");
    file("data/accounts.csv", "name\nann\n");
    file("shop.yaml", &plain.replace("rate: 100/s", "rate: fast"));
    check(&["shop.yaml"], "`fast`");
    let outside = place.path().join("data/accounts.csv").to_string_lossy().into_owned();
    file("shop.yaml", &plain.replace("data/accounts.csv", &outside));
    check(&["shop.yaml"], "is outside of the experiment's folder");
    file("shop.yaml", &plain);
    file("data/accounts.csv", &format!("name\n{}", "a-long-name-of-a-user\n".repeat(40_000)));
    check(&["shop.yaml"], "bytes, more than");
    // Files on the volume of a claim are not carried.
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(place.path());
    let words = ["fleet", "manifest", "--kubernetes", "--claim", "runs", "--", "/data/shop.yaml"];
    assert!(program.args(words).run().expect_exit(0).stdout.contains("- /data/shop.yaml"));
}
