//! The TypeScript that is committed is what the records of today give.

use std::path::Path;

use authority_schema::{Schemas, typescript};

#[test]
fn the_committed_types_are_those_of_the_records() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pkg/src");
    let files = typescript::files(&Schemas::of_everything()).unwrap();
    let differences = typescript::differences(&folder, &files).unwrap();
    assert_eq!(differences, [""; 0], "run `cargo xtask codegen` and commit");
}
