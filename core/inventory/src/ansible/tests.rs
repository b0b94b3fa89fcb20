use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(name: &str, text: &str, expected: &[&str]) {
    let inventory = read_ansible(name, text.as_bytes()).expect("an inventory");
    let host = |host: &Host| {
        let Host { name, address, user, port, identity, jump, .. } = host;
        let shown = [address, user, &port.map(|port| port.to_string()), identity, jump];
        let shown: Vec<&str> = shown.iter().map(|value| value.as_deref().unwrap_or("-")).collect();
        format!("{name} {}", shown.join(" "))
    };
    let mut found: Vec<String> = inventory.hosts.iter().map(host).collect();
    found.extend(inventory.groups.iter().map(|(group, hosts)| format!("{group}: {}", hosts.join(","))));
    assert_eq!(found, expected);
}

#[track_caller]
fn check_refused(name: &str, text: &str, part: &str) {
    let error = read_ansible(name, text.as_bytes()).expect_err("no inventory");
    assert!(error.message.contains(part), "{error}");
}

#[test]
fn an_ini_file() {
    check(
        "hosts",
        "bastion ansible_host=10.0.0.1 # jump\n\n[load]\nload[01:02].x ansible_port=2222\nload01.x ansible_user='op s'\n\
         [db]\ndb1:2200\n[site:children]\nload\ndb\n[site:vars]\nansible_user=ops\nansible_ssh_common_args=\"-o ProxyJump=bastion\"\n\
         [all:vars]\nansible_ssh_private_key_file=~/.ssh/lab\nansible_user={{ me }}\n",
        &[
            "bastion 10.0.0.1 - - ~/.ssh/lab -",
            "load01.x - op s 2222 ~/.ssh/lab bastion",
            "load02.x - ops 2222 ~/.ssh/lab bastion",
            "db1 - ops 2200 ~/.ssh/lab bastion",
            "ungrouped: bastion",
            "load: load01.x,load02.x",
            "db: db1",
            "site: load01.x,load02.x,db1",
            "all: bastion,load01.x,load02.x,db1",
        ],
    );
}

#[test]
fn a_yaml_file() {
    check(
        "hosts.yml",
        "all:\n  vars: {ansible_user: ops}\n  children:\n    load:\n      hosts:\n        load[1:2]: {ansible_port: 22}\n    web:\n      \
         hosts: {web1: {ansible_host: 10.0.0.9, ansible_ssh_common_args: -J gate}}\n      vars: {ansible_user: www}\n",
        &[
            "load1 - ops 22 - -",
            "load2 - ops 22 - -",
            "web1 10.0.0.9 www - - gate",
            "load: load1,load2",
            "web: web1",
            "all: load1,load2,web1",
        ],
    );
}

#[test]
fn mistakes_have_a_line() {
    check_refused("hosts", "[load]\nload1 user\n", "hosts:2: `user` after the host");
    check_refused("hosts", "[load:hosts]\n", "hosts:1: `[load:hosts]` is not a section");
    check_refused("hosts", "a[3:1]\n", "hosts:1: the range 3:1");
    check_refused("hosts", "# nothing\n", "no hosts");
    check_refused("hosts.yml", "all:\n  hosts:\n    -x: {}\n", "hosts.yml:3: `-x` is not the name");
    check_refused("hosts.yml", "all: {hosts: [\n", "hosts.yml:");
}

proptest! {
    #[test]
    fn any_bytes_are_an_inventory_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), yaml: bool) {
        let _ = read_ansible(if yaml { "x.yml" } else { "x" }, &bytes);
    }

    #[test]
    fn any_ini_lines_are_an_inventory_or_an_error(text in "(\\[?[a-c:\\]\\[=' #\"0-9]{0,12}\n){0,8}") {
        let _ = read_ansible("x", text.as_bytes());
    }
}
