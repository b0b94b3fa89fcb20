//! [`ServicePlan`]: how to run a service: its files, its configuration check, its processes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};
use wavetank_topology::own::NginxConfig;
use wavetank_topology::render::{
    HAPROXY_CONFIG, HAPROXY_OUTPUT, HAPROXY_SOCKET, HostResources, NGINX_CONFIG, NGINX_OUTPUT, NGINX_SOCKET,
    OutputParser, haproxy, nginx, sale_program,
};
use wavetank_topology::{
    Command, CustomConfig, Haproxy, Host, Lab, NftBalancer, Nginx, NginxPage, NginxWork, Rendered, Serve,
    Service, ServiceKind,
};
use wavetank_units::UserError;

use super::certificate::certificate;
use super::counters::CounterSource;
use super::own_haproxy;
use super::own_nginx::{self, CONF_FOLDER};
use super::process::Launch;
use super::program::{NginxPaths, Program, found, lua_modules};
use super::syslog::{SERVICE_VARIABLE, SyslogPlaces};
use crate::file_error;
use crate::response::system;

/// The page `/` of a static file server.
const INDEX: &str = "<!doctype html><title>wavetank lab</title><p>It works.</p>\n";
/// The content of generated pages.
const FILLER: &[u8; 64] = b"The quick brown fox jumps over the lazy dog, again and again..\r\n";

/// The files, checks and processes of a service.
#[derive(Debug, Default)]
pub(super) struct ServicePlan {
    /// The processes to start, one for each copy; empty for a service without processes.
    pub(super) launches: Vec<Launch>,
    /// How the program checks its own configuration.
    pub(super) check: Option<Check>,
    /// Where it reports its counters.
    pub(super) counters: Option<CounterSource>,
    /// The program's version.
    pub(super) version: Option<String>,
    /// Where it logs by the syslog protocol.
    pub(super) syslog: SyslogPlaces,
}

/// How a program checks its configuration. All copies have the same directives, so checking the
/// first one is enough.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) launch: Launch,
    pub(super) rendered: Rendered,
    /// The name of the user's own configuration, for messages.
    pub(super) own: Option<String>,
    /// How the program's output is parsed.
    pub(super) parser: OutputParser,
}

/// Makes plans for the services of one host.
pub(super) struct Planner<'a> {
    pub(super) host: &'a Host,
    /// The host's folder.
    pub(super) folder: &'a Path,
    /// The topology file, for messages.
    pub(super) file: &'a str,
    /// Whether nothing will be started. Large pages are left out then, because no program reads
    /// them in a check.
    pub(super) only_checked: bool,
    /// Whether this process is a host with mounts of its own, and not a test.
    pub(super) is_host: bool,
}

impl Planner<'_> {
    /// Writes all files of `service` and returns its plan.
    pub(super) fn plan(&self, service: &Service) -> Result<ServicePlan, UserError> {
        match &service.kind {
            ServiceKind::Nginx(work) => self.nginx(service, work),
            ServiceKind::Haproxy(work) => self.haproxy(service, work),
            ServiceKind::Serve(work) => self.serve(service, work),
            ServiceKind::Command(work) => self.command(service, work),
            ServiceKind::Ipvs(work) => self.ipvs(service, work),
            ServiceKind::DirectRouting(_) | ServiceKind::Nat(_) => {
                let steering = NftBalancer::for_service(service, self.host)
                    .expect("only kernel balancers are planned here");
                self.steering(service, steering)
            }
        }
    }

    fn nginx(&self, service: &Service, work: &Nginx) -> Result<ServicePlan, UserError> {
        let binary = Program::NGINX.find(&work.own)?;
        let means = means_inside(nginx_modules(work, &binary)?);
        let rendered = nginx(self.host, service, work, &means).map_err(|error| self.user_error(&error))?;
        if let Some(own) = &work.own.config {
            return self.own_nginx(service, own, &binary, rendered);
        }
        let mut launches = Vec::new();
        for folder in self.folders(service)? {
            write(&folder.join(NGINX_CONFIG), rendered.text.as_bytes())?;
            fs::create_dir_all(folder.join("tmp")).map_err(|error| unwritten(&folder, &error))?;
            self.nginx_files(&folder, work)?;
            let mut words = vec![text(&binary), "-p".to_owned(), format!("{}/", text(&folder))];
            words.extend(["-c", NGINX_CONFIG].map(str::to_owned));
            launches.push(Launch {
                folder,
                words,
                name: None,
                environment: Vec::new(),
                sockets: &[NGINX_SOCKET],
            });
        }
        let check = check(&launches, &["-t"], rendered, None, NGINX_OUTPUT);
        let version = Program::NGINX.version(&binary);
        Ok(ServicePlan {
            launches,
            check,
            counters: Some(CounterSource::Socket(NGINX_SOCKET)),
            version,
            ..ServicePlan::default()
        })
    }

    /// Plans an nginx with the user's own configuration. Relative names in it start where they
    /// would for an installed nginx.
    fn own_nginx(
        &self,
        service: &Service,
        own: &CustomConfig,
        binary: &Path,
        rendered: Rendered,
    ) -> Result<ServicePlan, UserError> {
        let paths = NginxPaths::of(binary);
        let config = format!("{CONF_FOLDER}/{NGINX_CONFIG}");
        let (mut launches, mut read) = (Vec::new(), NginxConfig::default());
        for folder in self.folders(service)? {
            let prepare = || {
                fs::create_dir_all(folder.join(CONF_FOLDER))?;
                fs::write(folder.join(&config), &rendered.text)?;
                own_nginx::link_files(&folder, own, &paths)?;
                let read = own_nginx::read_with_included(&folder, &rendered.text);
                if self.is_host {
                    own_nginx::prepare_logs(&folder, &read, &paths.error_log)?;
                }
                Ok(read)
            };
            read = prepare().map_err(|error| unwritten(&folder, &error))?;
            let mut words = vec![text(binary), "-p".to_owned(), format!("{}/", text(&folder))];
            words.extend(["-c", &config].map(str::to_owned));
            if !read.says_daemon {
                words.extend(["-g", "daemon off;"].map(str::to_owned));
            }
            let environment = own_environment(service, Some(own));
            launches.push(Launch { folder, words, name: None, environment, sockets: &[] });
        }
        let check = check(&launches, &["-t"], rendered, Some(own.name.clone()), NGINX_OUTPUT);
        // Copies with one configuration have one page, which answers for any of them.
        let status = read.status.take().filter(|_| service.copies == 1);
        let syslog = SyslogPlaces { targets: read.syslog.into_iter().collect(), ..SyslogPlaces::default() };
        let version = Program::NGINX.version(binary);
        let counters = status.map(|page| CounterSource::OwnNginx(own_nginx::status_place(&page)));
        Ok(ServicePlan { launches, check, counters, version, syslog })
    }

    fn nginx_files(&self, folder: &Path, work: &Nginx) -> Result<(), UserError> {
        if work.tls {
            certificate(self.host, folder)?;
        }
        match &work.work {
            NginxWork::Static { pages } => {
                let root = folder.join("www");
                fs::create_dir_all(&root).map_err(|error| unwritten(&root, &error))?;
                write(&root.join("index.html"), INDEX.as_bytes())?;
                let pages = if self.only_checked { &[] } else { pages.as_slice() };
                pages.iter().try_for_each(|page| page_file(&root, page))
            }
            NginxWork::Sale { .. } => {
                let (name, program) = sale_program();
                write(&folder.join(name), program.as_bytes())
            }
            NginxWork::Proxy { .. } => Ok(()),
        }
    }

    fn haproxy(&self, service: &Service, work: &Haproxy) -> Result<ServicePlan, UserError> {
        let binary = Program::HAPROXY.find(&work.own)?;
        let means = means_inside(Vec::new());
        let (mut launches, mut first) = (Vec::new(), None);
        for (copy, folder) in (0_u32..).zip(self.folders(service)?) {
            let rendered =
                haproxy(self.host, service, work, copy, &means).map_err(|error| self.user_error(&error))?;
            write(&folder.join(HAPROXY_CONFIG), rendered.text.as_bytes())?;
            if let Some(own) = &work.own.config {
                own_haproxy::prepare(&folder, own, self.is_host)
                    .map_err(|error| unwritten(&folder, &error))?;
            } else if work.tls {
                certificate(self.host, &folder)?;
            }
            let words = vec![text(&binary), "-db".to_owned(), "-f".to_owned(), HAPROXY_CONFIG.to_owned()];
            launches.push(Launch {
                folder,
                words,
                name: None,
                environment: own_environment(service, work.own.config.as_ref()),
                sockets: &[HAPROXY_SOCKET],
            });
            first.get_or_insert(rendered);
        }
        let own = work.own.config.as_ref().map(|own| own.name.clone());
        let check = check(&launches, &["-c"], first.unwrap_or_default(), own, HAPROXY_OUTPUT);
        let counters = match &work.own.config {
            None => Some(CounterSource::Socket(HAPROXY_SOCKET)),
            Some(own) => own_haproxy::counters(&own.text, &service.listen),
        };
        let syslog = work.own.config.as_ref().map(|own| own_haproxy::syslog(&own.text)).unwrap_or_default();
        let version = Program::HAPROXY.version(&binary);
        Ok(ServicePlan { launches, check, counters, version, syslog })
    }

    fn serve(&self, service: &Service, work: &Serve) -> Result<ServicePlan, UserError> {
        let six =
            self.host.interfaces.iter().flat_map(|one| &one.addresses).any(|(address, _)| address.is_ipv6());
        let all = if six { "[::]" } else { "0.0.0.0" };
        let listen: Vec<String> = service.listen.iter().map(|port| format!("{all}:{port}")).collect();
        // Uses the running executable, even if its file was replaced since.
        let mut words =
            ["/proc/self/exe", "serve", "--listen", &listen.join(",")].map(str::to_owned).to_vec();
        if let Some(connections) = service.connections {
            let each = connections.div_ceil(u64::from(service.copies.max(1)));
            words.extend(["--connections".to_owned(), each.to_string()]);
        }
        if let Some(threads) = work.threads {
            words.extend(["--threads".to_owned(), threads.to_string()]);
        }
        words.extend(work.any.then(|| "--any".to_owned()));
        words.extend(work.tls.then(|| "--tls".to_owned()));
        words.extend(work.options.iter().cloned());
        let launch = |folder| Launch {
            folder,
            words: words.clone(),
            name: Some("wavetank"),
            environment: Vec::new(),
            sockets: &[],
        };
        let launches = self.folders(service)?.into_iter().map(launch).collect();
        let version = Some(format!("wavetank {}", env!("CARGO_PKG_VERSION")));
        Ok(ServicePlan { launches, version, ..ServicePlan::default() })
    }

    fn command(&self, service: &Service, work: &Command) -> Result<ServicePlan, UserError> {
        let mut words = work.words.clone();
        if let Some(path) = words.first().and_then(|word| found(word)) {
            words[0] = text(&path);
        }
        let launch = |folder| Launch {
            folder,
            words: words.clone(),
            name: None,
            environment: work.environment.clone(),
            sockets: &[],
        };
        let launches = self.folders(service)?.into_iter().map(launch).collect();
        Ok(ServicePlan { launches, ..ServicePlan::default() })
    }

    /// Creates a folder for each copy; only files of an earlier start may be in it.
    pub(super) fn folders(&self, service: &Service) -> Result<Vec<PathBuf>, UserError> {
        let folder = self.folder.join(&service.name);
        let copies = service.copies.max(1);
        let of = |copy: u32| if copies == 1 { folder.clone() } else { folder.join((copy + 1).to_string()) };
        let folders: Vec<PathBuf> = (0..copies).map(of).collect();
        folders.iter().try_for_each(|one| fs::create_dir_all(one).map_err(|error| unwritten(one, &error)))?;
        Ok(folders)
    }

    fn user_error(&self, error: &wavetank_grammar::Diagnostic) -> UserError {
        file_error::from_diagnostic(self.file, error)
    }
}

/// Checks that all configurations of the lab can be made, before any host exists. `file` is the
/// topology file, for messages.
pub(super) fn rehearse(lab: &Lab, file: &str) -> Result<(), UserError> {
    let mut errors = Vec::new();
    for host in &lab.hosts {
        for service in &host.services {
            let outcome = match &service.kind {
                ServiceKind::Nginx(work) => {
                    let modules =
                        Program::NGINX.find(&work.own).and_then(|path| nginx_modules(work, &path))?;
                    nginx(host, service, work, &means_outside(host, modules)).map(drop)
                }
                ServiceKind::Haproxy(work) => {
                    haproxy(host, service, work, 0, &means_outside(host, Vec::new())).map(drop)
                }
                _ => Ok(()),
            };
            if let Err(error) = outcome {
                let error = file_error::from_diagnostic(file, &error);
                // Hosts of one pattern have the same mistake.
                if !errors.contains(&error) {
                    errors.push(error);
                }
            }
        }
    }
    UserError::combine(errors).map_or(Ok(()), Err)
}

fn nginx_modules(work: &Nginx, binary: &Path) -> Result<Vec<String>, UserError> {
    let lua = work.own.config.is_none() && matches!(work.work, NginxWork::Sale { .. });
    if lua { lua_modules(binary) } else { Ok(Vec::new()) }
}

fn check(
    launches: &[Launch],
    words: &[&str],
    rendered: Rendered,
    own: Option<String>,
    parser: OutputParser,
) -> Option<Check> {
    let mut launch = launches.first()?.clone();
    launch.words.retain(|word| word != "-db");
    launch.words.extend(words.iter().map(|word| (*word).to_owned()));
    Some(Check { launch, rendered, own, parser })
}

/// The resources of a process on this host, read inside the host.
fn means_inside(lua_modules: Vec<String>) -> HostResources {
    let cpus =
        std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX));
    HostResources { cpus, files: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), lua_modules }
}

/// The same before the host exists: the machine's resources, limited by the file.
fn means_outside(host: &Host, lua_modules: Vec<String>) -> HostResources {
    let mut means = means_inside(lua_modules);
    // A host's processes get at most the number of files that the machine allows.
    means.files = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    if let Some(cpus) = &host.limits.cpus {
        means.cpus = means.cpus.min(u32::try_from(cpus.len()).unwrap_or(u32::MAX)).max(1);
    }
    means.files = host.limits.open_files.unwrap_or(means.files);
    means
}

/// Marks processes that may log by syslog, so that their messages find their service.
fn own_environment(service: &Service, own: Option<&CustomConfig>) -> Vec<(String, String)> {
    own.map(|_| (SERVICE_VARIABLE.to_owned(), service.name.clone())).into_iter().collect()
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), UserError> {
    fs::write(path, bytes).map_err(|error| unwritten(path, &error))
}

fn page_file(root: &Path, page: &NginxPage) -> Result<(), UserError> {
    let inside = page.path.trim_start_matches('/');
    let folder_only = inside.is_empty() || inside.ends_with('/');
    let path = if folder_only { root.join(inside).join("index.html") } else { root.join(inside) };
    let fill = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = std::io::BufWriter::new(fs::File::create(&path)?);
        let mut left = page.bytes;
        while left > 0 {
            let part = left.min(FILLER.len() as u64);
            file.write_all(&FILLER[..usize::try_from(part).unwrap_or(FILLER.len())])?;
            left -= part;
        }
        file.flush()
    };
    fill().map_err(|error| unwritten(&path, &error))
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn unwritten(path: &Path, error: &std::io::Error) -> UserError {
    system(&format!("{} cannot be written", path.display()), error)
}
