// How Workers, edge runtimes and their bundlers type an imported module.

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}

// What is used of Node, so that the package compiles without Node's own declarations.
declare module "node:module" {
  export function createRequire(file: string): { (name: string): unknown; resolve(name: string): string };
}
