// The folder with the frameworks is above this one, the package under test above that. Nothing is built a second time, so
// no cache is written.

import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export default {
  turbopack: { root },
  outputFileTracingRoot: root,
  experimental: { turbopackFileSystemCacheForBuild: false },
};
