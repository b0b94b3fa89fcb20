//! A client for the conformance suite of connectrpc: each case becomes an experiment file, which
//! `wavetank try` runs, and what that prints becomes the result.
//!
//!     connectconformance --mode client … -- grpc_conformance_client WAVETANK PROTOS calls
//!
//! `PROTOS` is the folder with the suite's `.proto` files. With `calls`, every case that one step
//! can make is a `grpc.call`. With `conversations`, all cases without a timeout are `grpc.open`,
//! `grpc.send` and `grpc.end`.

mod experiment;
mod trace;

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::{Map, Value, json};

use experiment::Case;

/// The package of the suite.
const PACKAGE: &str = "connectrpc.conformance.v1";
/// Cases that run in parallel.
const WORKERS: usize = 4;

/// Why a case has no result.
type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// What all cases share.
struct Client {
    wavetank: String,
    pool: DescriptorPool,
    /// Whether calls that one step can make are a conversation too.
    converses: bool,
    /// The folder of the experiment files, which contains the descriptions of the service.
    folder: PathBuf,
}

fn main() -> Result<(), Trouble> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().ok_or("the arguments are WAVETANK PROTOS calls|conversations");
    let (wavetank, protos, form) = (argument()?, argument()?, argument()?);
    let set = protox::compile([format!("{protos}/connectrpc/conformance/v1/client_compat.proto")], [protos])?;
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join(experiment::DESCRIPTORS), set.encode_to_vec())?;
    let pool = DescriptorPool::from_file_descriptor_set(set)?;
    let client = Client { wavetank, pool, converses: form == "conversations", folder: folder.path().into() };
    let (input, output) = (Mutex::new(io::stdin()), Mutex::new(io::stdout()));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                let (client, input, output) = (&client, &input, &output);
                scope.spawn(move || client.work(worker, input, output))
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker reports its errors"))
    })
}

impl Client {
    /// Runs cases until there are no more.
    fn work(
        &self,
        worker: usize,
        input: &Mutex<impl Read>,
        output: &Mutex<impl Write>,
    ) -> Result<(), Trouble> {
        let (mut number, suffix) = (0, worker);
        loop {
            let Some(bytes) = next(&mut *input.lock().expect("no worker panics"))? else { return Ok(()) };
            let request = serde_json::to_value(self.decode("ClientCompatRequest", &bytes)?)?;
            number += 1;
            let result = self.result(&request, &format!("{suffix}-{number}"));
            let result = result.unwrap_or_else(|trouble| json!({"error": {"message": trouble.to_string()}}));
            let mut answer = json!({"testName": request["testName"]});
            if let Some((to, from)) = answer.as_object_mut().zip(result.as_object()) {
                to.extend(from.clone());
            }
            let bytes = self.message("ClientCompatResponse", answer)?.encode_to_vec();
            let mut output = output.lock().expect("no worker panics");
            output.write_all(&u32::try_from(bytes.len())?.to_be_bytes())?;
            output.write_all(&bytes)?;
            output.flush()?;
        }
    }

    /// Returns the result of a case as JSON.
    fn result(&self, request: &Value, name: &str) -> Result<Value, Trouble> {
        let case = Case::new(request, self.converses)?;
        let mut tls = Map::new();
        for (key, contents) in case.tls_files()? {
            let file = format!("{name}.{key}.pem");
            std::fs::write(self.folder.join(&file), contents)?;
            tls.insert(key.to_owned(), file.into());
        }
        let file = self.folder.join(format!("{name}.yaml"));
        std::fs::write(&file, case.experiment(&tls).to_string())?;
        let mut command = Command::new(&self.wavetank);
        let output = command.arg("try").arg(&file).args(["--format", "json", "--think"]).output()?;
        let printed: Value = serde_json::from_slice(&output.stdout)?;
        trace::result(self, &case, &printed)
    }

    /// Reads bytes as a message of the suite.
    fn decode(&self, name: &str, bytes: &[u8]) -> Result<DynamicMessage, Trouble> {
        let of = self.pool.get_message_by_name(&format!("{PACKAGE}.{name}")).ok_or("no such message")?;
        Ok(DynamicMessage::decode(of, bytes)?)
    }

    /// Makes a message of the suite from JSON.
    fn message(&self, name: &str, json: Value) -> Result<DynamicMessage, Trouble> {
        let of = self.pool.get_message_by_name(&format!("{PACKAGE}.{name}")).ok_or("no such message")?;
        Ok(DynamicMessage::deserialize(of, json)?)
    }
}

/// Reads the next message: its length in 32 bits, then itself. `None` at the end.
fn next(input: &mut impl Read) -> Result<Option<Vec<u8>>, Trouble> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut bytes = vec![0; usize::try_from(u32::from_be_bytes(length))?];
    input.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}
