//! What was written to the files, and what a disk may have of it when the power goes.

use std::collections::BTreeMap;
use std::path::Path;

use rand::RngExt as _;
use rand::rngs::StdRng;

/// What is written together survives together (the atomic unit of common disks).
const SECTOR: usize = 512;

/// One thing that was done to a file.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The name of the file.
    pub(crate) file: String,
    /// When it was done, Unix nanoseconds.
    pub(crate) at_ns: u64,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Written { at: usize, bytes: Vec<u8> },
    Cut { length: usize },
    Flushed,
    Removed,
}

impl Step {
    /// Whether this made everything before it durable.
    pub(crate) fn is_flush(&self) -> bool {
        matches!(self.what, What::Flushed)
    }
}

/// Reads what `journal.c` has written.
pub(crate) fn read_journal(mut journal: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    while !journal.is_empty() {
        let (head, rest) = journal.split_at(32);
        let word = |at: usize| u32::from_ne_bytes(head[at..at + 4].try_into().unwrap());
        let long = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().unwrap());
        let (path, rest) = rest.split_at(word(4) as usize);
        let path = Path::new(std::str::from_utf8(path).unwrap());
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let at = usize::try_from(long(8)).unwrap();
        let length = usize::try_from(long(16)).unwrap();
        let (what, rest) = match u8::try_from(word(0)).unwrap() {
            b'W' => {
                let (bytes, rest) = rest.split_at(length);
                (What::Written { at, bytes: bytes.to_vec() }, rest)
            }
            b'T' => (What::Cut { length: at }, rest),
            b'S' => (What::Flushed, rest),
            b'U' => (What::Removed, rest),
            other => panic!("a step of kind {other}"),
        };
        steps.push(Step { file, at_ns: long(24), what });
        journal = rest;
    }
    steps
}

/// What becomes of the writes that were not flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// None of them is there.
    Gone,
    /// All of them are there.
    There,
    /// Each sector is there or not.
    Torn,
}

/// The files after the power went behind the last of `steps`. A disk that `lies` says flushed and does nothing.
pub(crate) fn after_the_cut(
    steps: &[Step],
    fate: Fate,
    lies: bool,
    dice: &mut StdRng,
) -> BTreeMap<String, Vec<u8>> {
    let mut files: BTreeMap<String, (Vec<u8>, Vec<&Step>)> = BTreeMap::new();
    for step in steps {
        let (durable, waiting) = files.entry(step.file.clone()).or_default();
        match &step.what {
            What::Flushed if lies => {}
            What::Flushed => waiting.drain(..).for_each(|step| apply(durable, &step.what)),
            What::Removed => {
                files.remove(&step.file);
            }
            What::Written { .. } | What::Cut { .. } => waiting.push(step),
        }
    }
    let survive = |(file, (mut durable, waiting)): (String, (Vec<u8>, Vec<&Step>))| {
        for step in waiting {
            match fate {
                Fate::Gone => {}
                Fate::There => apply(&mut durable, &step.what),
                Fate::Torn => tear(&mut durable, &step.what, dice),
            }
        }
        (file, durable)
    };
    files.into_iter().map(survive).collect()
}

fn apply(file: &mut Vec<u8>, what: &What) {
    match what {
        What::Written { at, bytes } => {
            let end = at + bytes.len();
            if file.len() < end {
                file.resize(end, 0);
            }
            file[*at..end].copy_from_slice(bytes);
        }
        What::Cut { length } => file.resize(*length, 0),
        What::Flushed | What::Removed => {}
    }
}

/// Some sectors of it. Those of a file that has grown and did not get their bytes are zero.
fn tear(file: &mut Vec<u8>, what: &What, dice: &mut StdRng) {
    let What::Written { at, bytes } = what else {
        if dice.random_bool(0.5) {
            apply(file, what);
        }
        return;
    };
    let mut from = 0;
    while from < bytes.len() {
        // Sectors of the disk, wherever the write began.
        let to = bytes.len().min((at + from) / SECTOR * SECTOR + SECTOR - at);
        if dice.random_bool(0.5) {
            apply(file, &What::Written { at: at + from, bytes: bytes[from..to].to_vec() });
        }
        from = to;
    }
}
