// Compiles the module that is inlined as base64, with whatever the environment has for decoding it.

/** Node's `Buffer` and the newer standard method, either of which may be missing. */
declare const Buffer: { from(text: string, encoding: "base64"): Uint8Array<ArrayBuffer> } | undefined;
type Decoding = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

/** Compiles synchronously. */
export function inlinedModule(base64: string): WebAssembly.Module {
  return new WebAssembly.Module(decodeBase64(base64));
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  if (typeof Buffer !== "undefined") return Buffer.from(text, "base64");
  const { fromBase64 } = Uint8Array as Decoding;
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, text);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
