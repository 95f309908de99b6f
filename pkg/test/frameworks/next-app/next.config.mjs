// The folder with the frameworks is above this one, the package under test above that.

import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export default { turbopack: { root }, outputFileTracingRoot: root };
