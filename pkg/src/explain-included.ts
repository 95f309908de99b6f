// What `import "verify-wasm/explain"` means in Workers and Edge runtimes, where the main entry point has brought the module
// behind `Verifier.explain` along already: nothing, so that the same program runs everywhere.

export {};
