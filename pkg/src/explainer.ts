// Where the module behind `explain` comes from.
//
// An entry point says how it is got, or `verify-wasm/explain` does. Both must speak of the same place, so this file is
// never bundled into one of them alone. The module is compiled when somebody asks for the first time.

/** Compiles the module, or answers that it cannot be had. */
export type Loader = () => WebAssembly.Module | undefined;

const loaders: Loader[] = [];
let compiled: WebAssembly.Module | undefined;

/** Says one more way to get the module; called while an entry point is imported. */
export function provideExplainer(loader: Loader): void {
  loaders.push(loader);
}

/** The compiled module; `undefined` when nobody has said how it is got, or no way leads to it. */
export function explainerModule(): WebAssembly.Module | undefined {
  for (const load of loaders) compiled ??= load();
  return compiled;
}
