// The folder with the installed tools is the root, so that Next.js does not go looking for one.

import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export default { turbopack: { root }, outputFileTracingRoot: root, distDir: process.env.NEXT_DIST_DIR };
