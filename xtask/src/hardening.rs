//! What the package's tests are given from outside: deliveries with their native verdicts, and the module with a
//! counter.
//!
//! The deliveries come from the program `deliveries` of `verify-wasm/hardening`. The counter is a global of the
//! module, exported as `instructions`, to which every instruction adds one before it is executed. So a test can
//! count, through the package and exactly, what a verdict took, and find that it does not depend on where a signature
//! is wrong.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use walrus::ir::{
    BinaryOp, Binop, Const, GlobalGet, GlobalSet, Instr, InstrLocId, InstrSeqId, Value, dfs_in_order,
};
use walrus::{ConstExpr, GlobalId, LocalFunction, Module, ValType};

use crate::workspace::Workspace;
use crate::{process, programs};

/// What the test command tries, the same each time.
pub(crate) const DELIVERIES: u64 = 2_000;
/// What they are made of.
pub(crate) const SEED: u64 = 1;

/// Writes so many deliveries and returns the file.
pub(crate) fn deliveries(workspace: &Workspace, count: u64, seed: u64) -> Result<PathBuf> {
    let path = folder(workspace)?.join("deliveries.jsonl");
    println!("deliveries: {count} of seed {seed}");
    programs::build(workspace, &["--example", "deliveries"])?;
    let file = File::create(&path).with_context(|| format!("{} cannot be written", path.display()))?;
    let program = workspace.target().join("debug/examples/deliveries");
    process::run(
        std::process::Command::new(program)
            .args(["--count", &count.to_string(), "--seed", &seed.to_string()])
            .stdout(file),
    )?;
    Ok(path)
}

/// Writes the built module with a counter in it and returns the file.
pub(crate) fn counted_module(workspace: &Workspace) -> Result<PathBuf> {
    let shipped = workspace.root().join("pkg/dist/esm/core.wasm");
    let path = folder(workspace)?.join("counted.wasm");
    let bytes = count_instructions(&shipped)?;
    fs::write(&path, bytes).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(path)
}

fn folder(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target().join("hardening");
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder)
}

fn count_instructions(path: &Path) -> Result<Vec<u8>> {
    let mut module = Module::from_file(path).with_context(|| format!("{} is no module", path.display()))?;
    let counter = module.globals.add_local(ValType::I64, true, false, ConstExpr::Value(Value::I64(0)));
    module.exports.add("instructions", counter);
    for (_, function) in module.funcs.iter_local_mut() {
        for sequence in sequences(function) {
            let instructions = &mut function.block_mut(sequence).instrs;
            let counted = std::mem::take(instructions);
            instructions.extend(counted.into_iter().flat_map(|instruction| count_one(counter, instruction)));
        }
    }
    Ok(module.emit_wasm())
}

/// Every sequence of instructions in a function: its body, blocks, loops and branches.
fn sequences(function: &LocalFunction) -> Vec<InstrSeqId> {
    struct Collect(Vec<InstrSeqId>);
    impl<'i> walrus::ir::Visitor<'i> for Collect {
        fn start_instr_seq(&mut self, sequence: &'i walrus::ir::InstrSeq) {
            self.0.push(sequence.id());
        }
    }
    let mut found = Collect(Vec::new());
    dfs_in_order(&mut found, function, function.entry_block());
    found.0
}

/// Adds one to the counter, then executes the instruction.
fn count_one(counter: GlobalId, (instruction, place): (Instr, InstrLocId)) -> [(Instr, InstrLocId); 5] {
    let no_place = InstrLocId::default();
    [
        (Instr::GlobalGet(GlobalGet { global: counter }), no_place),
        (Instr::Const(Const { value: Value::I64(1) }), no_place),
        (Instr::Binop(Binop { op: BinaryOp::I64Add }), no_place),
        (Instr::GlobalSet(GlobalSet { global: counter }), no_place),
        (instruction, place),
    ]
}
