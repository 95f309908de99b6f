// What `import "verify-wasm/explain"` means for a program that is bundled: the module that `Verifier.explain` asks becomes
// part of the bundle. It is compiled when somebody asks for the first time. Does not start the core.

import { provideExplainer } from "./explainer.js";
import { base64 } from "./generated/explain_base64.js";
import { inlinedModule } from "./inlined.js";

provideExplainer(() => inlinedModule(base64));
