// webpack, run to its end. What it only warns of counts as an error.

import webpack from "webpack";

/** Bundles as the configuration says. */
export function webpacked(configuration) {
  return new Promise((resolve, reject) => {
    webpack(configuration, (error, stats) => {
      if (error) reject(error);
      else if (stats.hasErrors() || stats.hasWarnings()) reject(new Error(stats.toString("errors-warnings")));
      else resolve();
    });
  });
}
