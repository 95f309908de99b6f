// What `import "verify-wasm/explain"` means wherever the main entry point has brought the module behind
// `Verifier.explain` along already: nothing, so that the same program runs in browsers and elsewhere.

export {};
