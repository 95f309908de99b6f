// What `import "verify-wasm/explain"` means in browsers: the module that `Verifier.explain` asks becomes part of the
// bundle. It is compiled when somebody asks for the first time. Does not start the core.

import { explainText } from "./explain-text.js";
import { provideExplainer } from "./explainer.js";
import { inlinedModule } from "./inlined.js";

provideExplainer(() => inlinedModule(explainText()));
