// Where the module behind `explain` comes from.
//
// An entry point says how it is got; in browsers `verify-wasm/explain` does, from a file of its own. Both must speak of
// the same place, so this file alone is never bundled into those two. The module is compiled when somebody asks for
// the first time.

let load: (() => WebAssembly.Module) | undefined;
let compiled: WebAssembly.Module | undefined;

/** Says how the module is got; called by the entry point, or in browsers by `verify-wasm/explain`, while imported. */
export function provideExplainer(loader: () => WebAssembly.Module): void {
  load = loader;
}

/** The compiled module; `undefined` when nobody has said how it is got. */
export function explainerModule(): WebAssembly.Module | undefined {
  compiled ??= load?.();
  return compiled;
}
