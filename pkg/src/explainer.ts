// Where the module behind `explain` comes from.
//
// An entry point says how it is got (`explainWith`), or `verify-wasm/explain` does (`provideExplainer`). The latter and the
// question (`explain.ts`) must speak of the same place, so this file is never bundled into one of them alone. The module
// is compiled when somebody asks for the first time.

/** Compiles the module, or answers that it cannot be had. */
export type Loader = () => WebAssembly.Module | undefined;

const loaders: Loader[] = [];
let compiled: WebAssembly.Module | undefined;

/** Says one more way to get the module; called while `verify-wasm/explain` is imported. */
export function provideExplainer(loader: Loader): void {
  loaders.push(loader);
}

/** The compiled module, by the entry point's way or another; `undefined` when there is none, or none leads to it. */
export function explainerModule(own: Loader | undefined): WebAssembly.Module | undefined {
  for (const load of own === undefined ? loaders : [own, ...loaders]) compiled ??= load();
  return compiled;
}
