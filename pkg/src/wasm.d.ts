// How Workers and their bundlers type an imported module.

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
