// The folder with the installed tools is the root, so that Next.js does not go looking for one. Nothing is built a second
// time, so no cache is written; nothing of the package is in what a browser gets, so that is not minified.

import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export default {
  turbopack: { root },
  outputFileTracingRoot: root,
  distDir: process.env.NEXT_DIST_DIR,
  experimental: { turbopackFileSystemCacheForBuild: false },
  webpack(config, { isServer }) {
    config.cache = false;
    config.optimization.minimize &&= isServer;
    return config;
  },
};
